"""Random originals and releases, small and full of oddities, as tables of one connection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from anondb.db import ontology, vgh
from anondb.db.connection import Connection
from tests import toys
from tests.sql.linked_oracle import Column, Value

# a toy ontology in which path similarities are easy: one link apart is 1/2, two 1/3, ...
PARENTS = {
    "thing": [],
    "animal": ["thing"],
    "mammal": ["animal"],
    "bird": ["animal"],
    "cat": ["mammal"],
    "dog": ["mammal"],
    "owl": ["bird"],
}
ANIMALS = (
    ("cat", "mammal", "animal"),
    ("dog", "mammal", "animal"),
    ("owl", "bird", "animal"),
    ("newt", "newt", "animal"),  # the ontology knows nothing of newts
)
QUASI = ["age", "code", "pet"]
VGHS = [None, None, "pets"]

Row = tuple[Value, Value, Value]

_ORIGINAL = st.tuples(
    st.sampled_from(["1", "2", "3", "10", None]),
    st.sampled_from(["a", "ab", "b", "c, d", "xb", None]),
    st.sampled_from(["cat", "dog", "owl", "newt", "stone", None]),
)
_RELEASED = st.tuples(
    st.sampled_from(
        ["1", "2", "[1, 3)", "[1, 3]", "(2, 10]", "[2, 2]", "{1, 2}", "1*", "2.5", "young", "*", None]
    ),
    st.sampled_from(["a", "b", "{a, b}", "{c, d, a}", "a*", "*b", "**", "odd", "*", None]),
    st.sampled_from(["cat", "owl", "newt", "mammal", "bird", "animal", "{cat, owl}", "stone", "*", None]),
)


@dataclass(frozen=True)
class Release:
    """Originals, and what became of each; None if it was suppressed."""

    originals: Sequence[Row]
    released: Sequence[Row | None]

    def columns(self, *, trees: bool = True) -> list[Column]:
        nothing = (None, None, None)
        return [
            Column(
                [row[i] for row in self.originals],
                [(row or nothing)[i] for row in self.released],
                [row is not None for row in self.released],
                ANIMALS if i == 2 and trees else (),
            )
            for i in range(3)
        ]


RELEASES = st.lists(
    st.tuples(_ORIGINAL, st.one_of(_RELEASED, _RELEASED, st.none())), min_size=1, max_size=9
).map(lambda rows: Release([original for original, _ in rows], [released for _, released in rows]))


def prepare(connection: Connection) -> None:
    """Empty tables, the ontology and the hierarchy."""
    ontology.store(connection, "toy", toys.ontology(PARENTS))
    vgh.store(connection, "pets", toys.vgh(*(";".join(row) for row in ANIMALS)), ontology="toy")
    connection.execute(
        "create temporary table original (id int, age text, code text, pet text);"
        "create temporary table release (like original)"
    )


def fill(connection: Connection, release: Release) -> None:
    connection.execute("truncate original, release")
    with connection.cursor() as cursor:
        rows = [(i, *row) for i, row in enumerate(release.originals)]
        cursor.executemany("insert into original values (%s, %s, %s, %s)", rows)
        rows = [(i, *row) for i, row in enumerate(release.released) if row is not None]
        if rows:
            cursor.executemany("insert into release values (%s, %s, %s, %s)", rows)
