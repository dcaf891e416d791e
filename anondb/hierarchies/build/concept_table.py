"""A tree of concepts as a hierarchy that can be stored: labels that read well, and all leaves at level 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from anondb.hierarchies.build.aika import Branch, height, leaves
from anondb.hierarchies.csvfile import split_sense
from anondb.hierarchies.forms import ROOT, VghTable
from anondb.hierarchies.tree import Node


@dataclass(frozen=True)
class Understood:
    """A hierarchy, and the concept of each of its nodes; none where there is none.

    Nodes that repeat a leaf to balance its branch are left out: they mean what the leaf means.
    """

    table: VghTable
    concepts: Mapping[Node, int | None]


def understood(
    tree: Branch,
    labels: Sequence[str],
    concepts: Sequence[int | None],
    names: Mapping[int, Sequence[str]],
) -> Understood:
    """The table of a tree: `labels` and `concepts` of its leaves, `names` of the concepts, best first."""
    levels = height(tree)
    written = [leaf_label(label) for label in labels]
    ways: dict[int, tuple[str, ...]] = {}
    concept_of: dict[Node, int | None] = {}
    for node, way in _labelled(tree, labels, names):
        if isinstance(node, int):
            bottom = levels + 1 - len(way)  # repeated upwards to balance its branch
            ways[node] = (written[node],) * bottom + way[::-1]
            concept_of[0, written[node]] = concepts[node]
        else:
            concept_of[levels + 1 - len(way), way[-1]] = node.concept
    return Understood(VghTable(tuple(ways[leaf] for leaf in range(len(labels)))), concept_of)


def leaf_label(value: str) -> str:
    """A label that is the value once its sense (`#1`) is taken off, also for a value that itself ends like a sense."""
    return value if split_sense(value)[0] == value else f"{value}#1"


def _labelled(
    tree: Branch, labels: Sequence[str], names: Mapping[int, Sequence[str]]
) -> Iterator[tuple[Branch | int, tuple[str, ...]]]:
    """Every node with the labels on the way from the root down to it; a leaf's own is left out."""
    leaf_of = {label: leaf for leaf, label in enumerate(labels)}
    taken: set[str] = set()
    pending: list[tuple[Branch | int, tuple[str, ...]]] = [(tree, ())]
    while pending:
        node, way = pending.pop()
        if isinstance(node, int):
            yield node, way
            continue
        below = set(leaves(node))
        above = way[-1] if way else ""
        # the label of a value may be a class's too, where the value lies below: a dog is a leaf of dog
        label = next(
            label
            for label in _offered(node, above, names)
            if label not in taken and leaf_of.get(label, node) in {node, *below}
        )
        taken.add(label)
        yield node, (*way, label)
        pending += [(child, (*way, label)) for child in reversed(node.children)]


def _offered(node: Branch, above: str, names: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Labels for a class, the best first, without end: one of them is not taken yet."""
    # a name that ends like a sense would lose its end in a release
    plain = [split_sense(name)[0] for name in ([ROOT] if node.concept is None else names[node.concept])]
    if node.rest:
        plain = [f"other {name}" for name in plain]
    yield from plain
    if above:
        yield f"{plain[0]} ({above})"
    yield from (f"{plain[0]} ({number})" for number in count(2))
