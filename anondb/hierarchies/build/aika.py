"""AIKA (Ayala-Rivera): hierarchies built from an ontology's hypernyms, many candidates at a time.

A tree is a value: branches hold their children in the order of their first leaf, so that two trees that
differ in the order of their branches alone are equal, and duplicates go with a set.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

KEPT_MEANING = 0.5
"""How similar (`wup`) an outlier must be to its group; below that, the group's name would say nothing of the value."""


@dataclass(frozen=True)
class Concept:
    """A concept above the values: its direct generalizations, and its shortest depth in the ontology."""

    key: str
    depth: int
    parents: tuple[int, ...] = ()


Hypernyms = Mapping[int, Concept]
Alternatives = Mapping[
    int, Sequence[int]
]  # what a class could be called from another side, the nearest first


@dataclass(frozen=True)
class Values:
    """The values of a column, numbered from 0: the concept of each (none if unknown), and how often it occurs."""

    concepts: tuple[int | None, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Branch:
    """A class and what lies below it: branches, and leaves by number."""

    concept: int | None  # none for a root above several ontologies' roots, or above unknown values
    children: tuple[Branch | int, ...]
    rest: bool = False  # the rare values of the class above, which has the same concept


def branch(concept: int | None, children: Sequence[Branch | int], *, rest: bool = False) -> Branch:
    """A branch with its children sorted, so that equal trees are equal values."""
    return Branch(concept, tuple(sorted(children, key=_first_leaf)), rest)


def leaves(node: Branch | int) -> Iterator[int]:
    """The leaves below a node, in order."""
    if isinstance(node, int):
        yield node
    else:
        for child in node.children:
            yield from leaves(child)


def inner(node: Branch | int) -> Iterator[Branch]:
    """A branch and all branches below it."""
    if isinstance(node, Branch):
        yield node
        for child in node.children:
            yield from inner(child)


def height(node: Branch | int) -> int:
    """The links from a node to its farthest leaf."""
    return 0 if isinstance(node, int) else 1 + max(map(height, node.children))


def base(values: Values, hypernyms: Hypernyms) -> Branch:
    """The smallest hierarchy of hypernyms with all values as leaves, under the root of the ontology.

    Of several generalizations a concept keeps the one that most values share, of these the deepest; classes
    with a single child go. A value that subsumes another one is a leaf below its own concept.
    """
    shared = _values_below(values, hypernyms)
    parents = {concept: _one_parent(concept, hypernyms, shared) for concept in shared}
    below: dict[int, list[Branch | int]] = {concept: [] for concept in shared}
    unknown: list[Branch | int] = []
    for leaf, concept in enumerate(values.concepts):
        (unknown if concept is None else below[concept]).append(leaf)
    roots: list[Branch | int] = []
    top: list[int] = []
    # a concept lies deeper than all its generalizations, on the longest way
    for concept in _deepest_first(parents):
        children = below.pop(concept)
        if not children:
            continue  # all that lies below it was kept below another concept
        node = children[0] if len(children) == 1 else branch(concept, children)
        above = parents[concept]
        if above is None:
            roots.append(node)
            top.append(concept)
        else:
            below[above].append(node)
    if len(top) != 1:
        return branch(None, [*roots, *unknown])
    [root] = roots
    if isinstance(root, Branch) and root.concept == top[0]:
        return branch(top[0], [*root.children, *unknown])
    return branch(top[0], [root, *unknown])


def _values_below(values: Values, hypernyms: Hypernyms) -> dict[int, int]:
    """How many values each concept above them subsumes."""
    shared: dict[int, int] = {}
    for concept in values.concepts:
        pending, seen = [concept], {concept}
        while pending:
            above = pending.pop()
            if above is None:
                continue
            shared[above] = shared.get(above, 0) + 1
            fresh = set(hypernyms[above].parents) - seen
            seen |= fresh
            pending += fresh
    return shared


def _one_parent(concept: int, hypernyms: Hypernyms, shared: Mapping[int, int]) -> int | None:
    """Multiple inheritance resolved: the parent of most values, then the deepest, then the first by its key."""
    return min(
        hypernyms[concept].parents,
        key=lambda parent: (-shared[parent], -hypernyms[parent].depth, hypernyms[parent].key),
        default=None,
    )


def _deepest_first(parents: Mapping[int, int | None]) -> list[int]:
    """The concepts of a forest, each before the one above it."""
    depths: dict[int | None, int] = {None: 0}
    for concept in parents:
        way: list[int] = []
        above: int | None = concept
        while above is not None and above not in depths:
            way.append(above)
            above = parents[above]
        for known, passed in enumerate(reversed(way), start=depths[above] + 1):
            depths[passed] = known
    return sorted(parents, key=lambda concept: -depths[concept])


def reduce_abstractness(root: Branch, values: Values) -> Branch:
    """The hierarchy without what lies above the lowest node where all its branches meet.

    A value that is not known says nothing of where that is: it is taken for one of what the others are.
    """
    known: list[Branch | int] = []
    unknown: list[Branch | int] = []
    for child in root.children:
        is_known = isinstance(child, Branch) or values.concepts[child] is not None
        (known if is_known else unknown).append(child)
    while len(known) == 1 and isinstance(known[0], Branch):
        root = known[0]
        known = list(root.children)
    return branch(root.concept, [*known, *unknown], rest=root.rest)


def reduce_outliers(root: Branch, values: Values, hypernyms: Hypernyms, k: int) -> Branch:
    """Rare values brought together lower down, where their frequencies sum to k or more and their meaning is kept.

    Below a class, the children that hold fewer than k records become one group of the class's own concept; if
    all children are such, they give way to their leaves, so that the class itself holds k one level lower.
    """
    children = [
        child if isinstance(child, int) else reduce_outliers(child, values, hypernyms, k)
        for child in root.children
    ]

    def is_outlier(child: Branch | int) -> bool:
        below = list(leaves(child))
        if sum(values.counts[leaf] for leaf in below) >= k:
            return False
        return all(
            _wup_above(values.concepts[leaf], root.concept, hypernyms) >= KEPT_MEANING for leaf in below
        )

    rare: list[Branch | int] = []
    others: list[Branch | int] = []
    for child in children:
        (rare if is_outlier(child) else others).append(child)
    grouped = [leaf for child in rare for leaf in leaves(child)]
    if len(grouped) < 2 or sum(values.counts[leaf] for leaf in grouped) < k:
        return branch(root.concept, children, rest=root.rest)
    if not others:
        return branch(root.concept, grouped, rest=root.rest)
    return branch(root.concept, [*others, branch(root.concept, grouped, rest=True)], rest=root.rest)


def _wup_above(concept: int | None, above: int | None, hypernyms: Hypernyms) -> float:
    """The `wup` similarity of a concept and one of its generalizations, which is their least common subsumer."""
    if concept is None or above is None:
        return 0.0
    links, layer = 0, {concept}
    while above not in layer:
        layer = {parent for passed in layer for parent in hypernyms[passed].parents}
        if not layer:
            return 0.0
        links += 1
    depth = hypernyms[above].depth
    return 1.0 if links == 0 else 2 * depth / (links + 2 * depth)


def reduce_levels(root: Branch, share: float) -> Branch:
    """The hierarchy without whole levels, until this share of them is kept; those go first that change least."""
    kept = max(1, math.ceil(share * height(root) - 1e-9))
    while height(root) > kept:
        sizes = _classes_by_depth(root)
        # a level hardly finer than the one above it says little; ties go to the more abstract one
        root = _without_depth(
            root, min(range(1, len(sizes)), key=lambda depth: sizes[depth] - sizes[depth - 1])
        )
    return root


def _classes_by_depth(root: Branch) -> list[int]:
    """How many classes the values fall into at each depth above the leaves; a leaf higher up stays itself."""
    layer: list[Branch | int] = [root]
    sizes = []
    while any(isinstance(node, Branch) for node in layer):
        sizes.append(len(layer))
        layer = [below for node in layer for below in ([node] if isinstance(node, int) else node.children)]
    return sizes


def _without_depth(node: Branch, depth: int) -> Branch:
    children: list[Branch | int] = []
    for child in node.children:
        if isinstance(child, int):
            children.append(child)
        elif depth == 1:
            children += child.children
        else:
            children.append(_without_depth(child, depth - 1))
    return branch(node.concept, children, rest=node.rest)


def diversify(
    root: Branch, alternatives: Alternatives, hypernyms: Hypernyms, *, seed: int, perspective: int
) -> Branch:
    """A hierarchy with some of its classes named from another side, drawn by the seed.

    A draw depends on the class alone, so that a class has one name in all hierarchies of a perspective.
    """
    used = {node.concept for node in inner(root) if node.concept is not None}
    renamed: dict[int | None, int] = {}
    for concept in sorted(
        used & alternatives.keys() - {root.concept}, key=lambda concept: hypernyms[concept].key
    ):
        draw = random.Random(f"{seed} {perspective} {hypernyms[concept].key}")
        chosen = draw.choice(alternatives[concept])
        if draw.random() < 0.5 and chosen not in used:
            renamed[concept] = chosen
            used.add(chosen)
    return _renamed(root, renamed)


def _renamed(node: Branch, names: Mapping[int | None, int]) -> Branch:
    children = [child if isinstance(child, int) else _renamed(child, names) for child in node.children]
    return branch(names.get(node.concept, node.concept), children, rest=node.rest)


@dataclass(frozen=True)
class Options:
    """What candidates are made: for which k, which share of the levels, how many perspectives."""

    k: int = 5
    levels: float = 0.75
    perspectives: int = 3
    seed: int = 0


@dataclass(frozen=True)
class Candidate:
    """A hierarchy, and the operations that made it of the base."""

    tree: Branch
    made_by: tuple[str, ...]


def candidates(
    root: Branch, values: Values, hypernyms: Hypernyms, alternatives: Alternatives, options: Options
) -> list[Candidate]:
    """The base and what all combinations of the operations make of it, each tree once, the plainest first."""
    by_tree: dict[Branch, Candidate] = {}
    plainest_first = sorted(product((False, True), repeat=3), key=sum)
    for perspective in range(options.perspectives + 1):
        for abstract, rare, level in plainest_first:
            tree = root
            made_by: list[str] = []
            if abstract:
                tree, made_by = reduce_abstractness(tree, values), [*made_by, "abstractness"]
            if rare:
                tree, made_by = reduce_outliers(tree, values, hypernyms, options.k), [*made_by, "outliers"]
            if level:
                tree, made_by = reduce_levels(tree, options.levels), [*made_by, "levels"]
            if perspective:
                tree = diversify(tree, alternatives, hypernyms, seed=options.seed, perspective=perspective)
                made_by = [*made_by, f"perspective {perspective}"]
            by_tree.setdefault(tree, Candidate(tree, tuple(made_by)))
    return list(by_tree.values())


def _first_leaf(node: Branch | int) -> int:
    return node if isinstance(node, int) else _first_leaf(node.children[0])
