"""The ontologies of a policy's columns, as compiling sees them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from anondb.errors import Problem, did_you_mean
from anondb.methods.mdav import mdav
from anondb.policy.check import written
from anondb.policy.model import Policy


def ontologies(policy: Policy) -> dict[str, tuple[str, ...]]:
    """The ontologies of each column that is compared by any, in order of preference."""
    named = {c.name: c.ontology or ((mdav.ONTOLOGY,) if c.is_set else ()) for c in policy.quasi}
    return {column: found for column, found in named.items() if found}


def unknown_ontologies(policy: Policy, known: Collection[str]) -> Iterator[Problem]:
    """Columns whose ontology nobody has loaded."""
    pairs = ((column, name) for column, names in ontologies(policy).items() for name in names)
    for column, ontology in pairs:
        if ontology not in known:
            file = ontology if ontology == mdav.ONTOLOGY else f"FILE --name {ontology}"
            yield Problem(
                f"{policy.place} [columns.{written(column)}]",
                f'there is no ontology "{ontology}"',
                did_you_mean(ontology, known) or f"load it first: anondb ontology load {file}",
            )
