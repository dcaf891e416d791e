"""An attacker who knows the rule, every night and every release, and tries all assignments of values: a naive oracle.

One class of a tiny table. Whoever is in it is known night by night, and so is who joined, left and changed; only the
values are not, nor how the persons of a pool were dealt into shares. An assignment is possible if the rule, followed
under it, publishes what was published. `cautious` is the rule of docs/releases.md, written down once more; `patient`
is the one before it, which judges those who wait again in every night.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

K, L, VALUES = 3, 2, "ABC"
Value = dict[int, str]
Shares = tuple[frozenset[int], ...]
Seen = tuple[tuple[tuple[str, int], ...], ...]


@dataclass(frozen=True)
class Night:
    """Who comes and who goes; a changed value is a person who goes, as nobody new is published for him."""

    joins: frozenset[int] = frozenset()
    leaves: frozenset[int] = frozenset()


@dataclass
class State:
    here: set[int] = field(default_factory=set)
    waiting: set[int] = field(default_factory=set)
    cohorts: list[frozenset[int]] = field(default_factory=list)

    def turn(self, night: Night) -> None:
        self.here = (self.here | night.joins) - night.leaves
        self.waiting = (self.waiting | night.joins) - night.leaves

    def published(self, values: Value) -> tuple[tuple[str, int], ...]:
        return tuple(sorted(Counter(values[p] for cohort in self.cohorts for p in cohort).items()))


def meets(persons: frozenset[int] | set[int], values: Value) -> bool:
    return len(persons) >= K and len({values[person] for person in persons}) >= L


def cautious(nights: Sequence[Night], values: Value, shares: Shares, batch: int, leavers: str) -> Seen:
    """Who enters together is judged once, and dealt into shares that go as a whole."""
    state, seen = State(), []
    for number, night in enumerate(nights):
        state.turn(night)
        gone = [c - state.here for c in state.cohorts]
        state.cohorts = [
            cohort
            for cohort, left in zip(state.cohorts, gone, strict=True)
            if not (left and leavers == "drop") and left != cohort
        ]
        if len(state.waiting) >= (K if number == 0 else batch):
            if meets(state.waiting, values):
                dealt = list(shares) if number == 0 else [frozenset(state.waiting)]
                good = all(meets(share, values) for share in dealt)
                state.cohorts += dealt if good else [frozenset(state.waiting)]
            state.waiting = set()
        seen.append(state.published(values))
    return tuple(seen)


def patient(nights: Sequence[Night], values: Value, shares: Shares, batch: int, leavers: str) -> Seen:
    """Who waits is judged each night; k of a cohort leave when they and the rest are diverse."""
    state, seen = State(), []
    for night in nights:
        state.turn(night)
        parts: list[frozenset[int]] = []
        for cohort in state.cohorts:
            left, rest = cohort - state.here, cohort & state.here
            if meets(left, values) and (not rest or meets(rest, values)):
                parts += [frozenset(rest)] if rest else []
            else:
                parts.append(cohort)
        if meets(state.waiting, values):
            parts.append(frozenset(state.waiting))
            state.waiting = set()
        state.cohorts = parts
        seen.append(state.published(values))
    return tuple(seen)


Rule = Callable[[Sequence[Night], Value, Shares, int, str], Seen]


def deals(persons: frozenset[int], batch: int) -> Iterator[Shares]:
    """All ways in which persons can be dealt into shares as equal as possible; at most two, for a tiny table."""
    several = len(persons) // batch
    assert several < 3
    if several < 2:
        yield (persons,)
        return
    for some in itertools.combinations(sorted(persons), (len(persons) + 1) // 2):
        yield frozenset(some), persons - frozenset(some)


def certainty(
    rule: Rule, nights: Sequence[Night], seen: Seen, batch: int, leavers: str
) -> dict[int, Counter[str]]:
    """How many worlds, of those in which this is seen, give each person each value."""
    first = sorted(nights[0].joins)
    later = sorted(frozenset().union(*(night.joins for night in nights[1:])))
    worlds: dict[int, Counter[str]] = {person: Counter() for person in (*first, *later)}
    ways = list(deals(nights[0].joins, batch)) if rule is cautious else [(nights[0].joins,)]
    # the first release tells how often its values occur; only a pool that fails has any
    firsts = _orders(Counter(dict(seen[0]))) if seen[0] else itertools.product(VALUES, repeat=len(first))
    for begun, others in itertools.product(list(firsts), itertools.product(VALUES, repeat=len(later))):
        values = dict(zip((*first, *later), (*begun, *others), strict=True))
        possible = sum(rule(nights, values, shares, batch, leavers) == seen for shares in ways)
        if possible:
            for person, value in values.items():
                worlds[person][value] += possible
    return worlds


def _orders(values: Counter[str]) -> Iterator[tuple[str, ...]]:
    """All different orders of values."""
    if not values.total():
        yield ()
    for value in [value for value, n in values.items() if n]:
        for rest in _orders(values - Counter([value])):
            yield (value, *rest)
