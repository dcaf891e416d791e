"""The graph of an ontology: what is wrong with it, and how deep its concepts lie."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from anondb.errors import UsageError
from anondb.ontology.model import ISA, Edge, Ontology, number_senses

_NAMED = 10
_LONGEST_KEY = 2600  # an index entry holds at most 2704 bytes
_SKIP = "or leave out what is broken: --skip-broken"


def depths(ontology: Ontology) -> dict[str, tuple[int, int]]:
    """Each concept's depth on its shortest and on its longest way to a root; raises for a broken graph."""
    _refuse_bad_keys(ontology)
    if broken := _edges_to_nowhere(ontology):
        named = _few(f"{edge.parent} (of {edge.child})" for edge in broken)
        raise _error(ontology, f"unknown parents, missing or obsolete: {named}", f"define them, {_SKIP}")
    if orphans := _orphans(ontology):
        named = _few(orphans)
        raise _error(
            ontology, f"orphans, with neither parents nor children: {named}", f"give them a parent, {_SKIP}"
        )
    parents: dict[str, list[str]] = defaultdict(list)
    for edge in ontology.edges:
        if edge.kind in ISA:
            parents[edge.child].append(edge.parent)
    depths_of: dict[str, tuple[int, int]] = {}
    try:
        order = TopologicalSorter(
            {concept.key: parents.get(concept.key, ()) for concept in ontology.concepts}
        )
        for key in order.static_order():
            above = [depths_of[parent] for parent in parents.get(key, ())]
            depths_of[key] = (
                (min(depth for depth, _ in above) + 1, max(depth for _, depth in above) + 1)
                if above
                else (ontology.root_depth, ontology.root_depth)
            )
    except CycleError as error:
        cycle: Sequence[str] = error.args[1]
        named = " → ".join(reversed(cycle))
        raise _error(ontology, f"a cycle: {named}", "nothing is a kind of itself; break the cycle") from None
    return depths_of


def without_broken(ontology: Ontology) -> Ontology:
    """The ontology without edges to missing concepts, and then without orphans; cycles stay."""
    nowhere = set(_edges_to_nowhere(ontology))
    if not nowhere and not _orphans(ontology):
        return ontology
    ontology = replace(ontology, edges=[edge for edge in ontology.edges if edge not in nowhere])
    orphans = set(_orphans(ontology))
    if len(orphans) == len(ontology.concepts):
        raise _error(ontology, "nothing in it is connected", "it needs is-a edges")
    return replace(
        ontology,
        concepts=[concept for concept in ontology.concepts if concept.key not in orphans],
        lexemes=number_senses(
            (lx.lemma, lx.concept, lx.kind) for lx in ontology.lexemes if lx.concept not in orphans
        ),
    )


def _refuse_bad_keys(ontology: Ontology) -> None:
    keys = [concept.key for concept in ontology.concepts]
    twins = [key for key, count in Counter(keys).items() if count > 1]
    if twins:
        raise _error(ontology, f"concepts that are defined twice: {_few(twins)}", "define each once")
    if long := [key for key in keys if len(key) > _LONGEST_KEY // 4 and len(key.encode()) > _LONGEST_KEY]:
        message = f"a concept's key has more than {_LONGEST_KEY} bytes: {long[0][:40]}…"
        raise _error(ontology, message, "shorten it")


def _edges_to_nowhere(ontology: Ontology) -> list[Edge]:
    keys = {concept.key for concept in ontology.concepts}
    return [edge for edge in ontology.edges if edge.parent not in keys]


def _orphans(ontology: Ontology) -> list[str]:
    """Concepts that nothing connects to the others. Several roots are fine, and so are parts of no known kind."""
    if len(ontology.concepts) == 1 or ontology.kind == "wordnet":  # some verbs stand for themselves
        return []
    connected = {key for edge in ontology.edges for key in (edge.child, edge.parent)}
    return [concept.key for concept in ontology.concepts if concept.key not in connected]


def _error(ontology: Ontology, message: str, hint: str) -> UsageError:
    return UsageError(f"{ontology.place}: {message}" if ontology.place else message, hint=hint)


def _few(names: Iterable[str]) -> str:
    ordered = sorted(set(names))
    more = f", and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    return ", ".join(ordered[:_NAMED]) + more
