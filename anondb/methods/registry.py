"""The methods that a policy can name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anondb.methods.full_domain.grid import MOST_COLUMNS, MOST_NODES
from anondb.methods.full_domain.method import Datafly, Incognito, Optimal
from anondb.methods.fusion.method import Fusion
from anondb.methods.le_diversity.method import LeDiversity
from anondb.methods.mdav.method import Mdav
from anondb.methods.method import ReleaseMethod
from anondb.methods.mondrian.method import Mondrian
from anondb.policy.model import Policy
from anondb.sqltree.tables import Relation

METHODS: Mapping[str, ReleaseMethod] = {
    method.name: method
    for method in (Datafly(), Incognito(), Optimal(), Mondrian(), Fusion(), Mdav(), LeDiversity())
}

FIRST = next(iter(METHODS))
"""The one to begin with."""
COMPARED = (Datafly.name, Incognito.name, Mondrian.name)
"""What a comparison runs unless the caller says otherwise."""
DRAFTED: tuple[Mapping[str, object], ...] = (
    {"algorithm": Mondrian.name, "split": "loss"},
    {"algorithm": Optimal.name},
    {"algorithm": Datafly.name},
)
"""What a draft takes: the first that counts persons, where there are some, and whose lattice is not too large."""
GUIDED = (Datafly.name, Mondrian.name, Optimal.name)
"""What a guide tries, in all their ways: what is quick comes first, as its time may be short."""
STUDIED = (Datafly.name, Incognito.name)
"""What a study of hierarchies anonymizes with unless the caller says otherwise."""


def levelled() -> tuple[ReleaseMethod, ...]:
    """The methods that release each column at one level of its hierarchy."""
    return tuple(method for method in METHODS.values() if method.explorer() is not None)


def listed(methods: Iterable[ReleaseMethod]) -> str:
    """Their names: "a, b or c"."""
    names = [method.name for method in methods]
    return " or ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def method_of(policy: Policy) -> ReleaseMethod:
    """The method that a policy names."""
    return METHODS[policy.method.algorithm]


def other_shapes(target: Relation) -> tuple[Relation, ...]:
    """The tables that a release of this target has with methods that make several."""
    suffixes = dict.fromkeys(suffix for method in METHODS.values() for suffix in method.suffixes())
    return tuple(Relation(target.schema, target.name + suffix) for suffix in suffixes)


def best_for(nodes: int, columns: int) -> tuple[str, bool]:
    """Who finds the best release in a lattice of this size, or else a good one; and whether it is the best."""
    is_small = nodes <= MOST_NODES and columns <= MOST_COLUMNS
    return (Optimal.name, True) if is_small else (Datafly.name, False)
