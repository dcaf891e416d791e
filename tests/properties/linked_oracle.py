"""What may be known of persons of linked tables, by the definition of docs/persons.md: naive, one person at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Labels = tuple[object, ...]


@dataclass(eq=False)
class Row:
    """A released row: its table, its labels, and the rows that hang on it."""

    table: str
    labels: Labels
    children: list[Row] = field(default_factory=list)
    parent: Row | None = None
    value: object = None  # of a sensitive column

    def hang(self, child: Row) -> Row:
        child.parent = self
        self.children.append(child)
        return child

    def below(self) -> Iterator[Row]:
        for child in self.children:
            yield child
            yield from child.below()


def choices(person: Row, knows: int) -> Iterator[frozenset[Row]]:
    """Each choice of at most so many rows below, with all rows above them: the rows that are then known."""
    rows = list(person.below())
    for size in range(knows + 1):
        for chosen in itertools.combinations(rows, size):
            known = {person}
            for row in chosen:
                at: Row | None = row
                while at is not None:
                    known.add(at)
                    at = at.parent
            yield frozenset(known)


def matches(person: Row, known: frozenset[Row], root: Row) -> bool:
    """Whether a person has equal rows under the same parents: each known row stands for another row."""
    if person.labels != root.labels:
        return False
    return _embeds(root, person, known)


def _embeds(known: Row, found: Row, rows: frozenset[Row]) -> bool:
    """Whether what is known below a row can be found below another, no two rows in one."""
    wanted = [child for child in known.children if child in rows]
    for chosen in itertools.permutations(found.children, len(wanted)):
        if all(
            (mine.table, mine.labels) == (other.table, other.labels) and _embeds(mine, other, rows)
            for mine, other in zip(wanted, chosen, strict=True)
        ):
            return True
    return False


def tree(row: Row) -> tuple[object, ...]:
    """A row and all that hangs on it, in an order of its own: equal trees are equal."""
    below = sorted((tree(child) for child in row.children), key=repr)
    return (row.table, row.labels, tuple(below))


def matching(persons: Sequence[Row], knows: int | str) -> Iterator[list[Row]]:
    """Of each person and each choice, the persons who match."""
    for person in persons:
        if knows == "all":
            yield [other for other in persons if tree(other) == tree(person)]
            continue
        assert isinstance(knows, int)
        for known in choices(person, knows):
            yield [other for other in persons if matches(other, known, person)]


def fewest(persons: Sequence[Row], knows: int | str) -> int:
    """The fewest persons who match anything that can be known of one of them."""
    return min((len(found) for found in matching(persons, knows)), default=0)


def values(person: Row, table: str) -> set[object]:
    """The sensitive values that a person has in a table."""
    return {row.value for row in (person, *person.below()) if row.table == table}


def fewest_own_values(persons: Sequence[Row], knows: int | str) -> int:
    """The fewest different values of the own rows of those who match."""
    return min((len({p.value for p in found}) for found in matching(persons, knows)), default=0)


def most_sure(persons: Sequence[Row], knows: int | str, table: str) -> float:
    """The largest share of those who match who have one value in a table."""
    most = 0.0
    for found in matching(persons, knows):
        having = [values(person, table) for person in found]
        for value in set().union(*having):
            most = max(most, sum(value in own for own in having) / len(found))
    return most


def supported(persons: Sequence[Row], knows: int | str, k: int) -> list[Row]:
    """Who is left when all are left out, again and again, of whom something can be known that too few match."""
    left = list(persons)
    while True:
        kept = []
        for person in left:
            if knows == "all":
                found = [sum(tree(other) == tree(person) for other in left)]
            else:
                assert isinstance(knows, int)
                found = [sum(matches(o, c, person) for o in left) for c in choices(person, knows)]
            if min(found) >= k:
                kept.append(person)
        if len(kept) == len(left):
            return left
        left = kept


def farthest(persons: Sequence[Row], knows: int | str) -> float:
    """The largest distance of the own values of those who match from those of all persons, all values equally far."""
    everybody = [person.value for person in persons]
    most = 0.0
    for found in matching(persons, knows):
        own = [person.value for person in found]
        gaps = (abs(own.count(v) / len(own) - everybody.count(v) / len(everybody)) for v in set(everybody))
        most = max(most, sum(gaps) / 2)
    return most
