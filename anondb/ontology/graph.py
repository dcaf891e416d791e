"""The graph of an ontology: what is wrong with it, and how deep its concepts lie."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter

from anondb.errors import UsageError
from anondb.ontology.model import ISA, Ontology

_NAMED = 10


def depths(ontology: Ontology) -> dict[str, tuple[int, int]]:
    """Each concept's depth on its shortest and on its longest way to a root; raises for a broken graph."""
    keys = {concept.key for concept in ontology.concepts}
    _refuse_twins([concept.key for concept in ontology.concepts])
    unknown = {edge.parent for edge in ontology.edges if edge.parent not in keys}
    unknown |= {edge.child for edge in ontology.edges if edge.child not in keys}
    if unknown:
        raise UsageError(
            f"unknown concepts in its edges: {_few(unknown)}", hint="define them, or take the edges out"
        )
    parents: dict[str, list[str]] = defaultdict(list)
    for edge in ontology.edges:
        if edge.kind in ISA:
            parents[edge.child].append(edge.parent)
    _refuse_orphans(ontology, parents)
    found: dict[str, tuple[int, int]] = {}
    try:
        for key in TopologicalSorter({key: parents.get(key, ()) for key in keys}).static_order():
            above = [found[parent] for parent in parents.get(key, ())]
            found[key] = (
                (min(depth for depth, _ in above) + 1, max(depth for _, depth in above) + 1)
                if above
                else (ontology.root_depth, ontology.root_depth)
            )
    except CycleError as error:
        cycle: Sequence[str] = error.args[1]
        raise UsageError(
            f"a cycle: {' → '.join(reversed(cycle))}", hint="a concept cannot be a kind of itself; break the cycle"
        ) from None
    return found


def _refuse_twins(keys: Iterable[str]) -> None:
    twins = [key for key, count in Counter(keys).items() if count > 1]
    if twins:
        raise UsageError(f"concepts that are defined twice: {_few(twins)}", hint="define each once")


def _refuse_orphans(ontology: Ontology, parents: dict[str, list[str]]) -> None:
    """Concepts that nothing connects to the others. Several roots are fine: they all have something below."""
    if len(ontology.concepts) == 1:
        return
    connected = set(parents) | {parent for above in parents.values() for parent in above}
    orphans = [concept.key for concept in ontology.concepts if concept.key not in connected]
    if orphans and ontology.kind != "wordnet":  # some verbs stand for themselves
        raise UsageError(
            f"orphans, with neither parents nor children: {_few(orphans)}", hint="give them a parent, or take them out"
        )


def _few(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = f", and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    return ", ".join(ordered[:_NAMED]) + more
