"""Which columns are evaluated by their codes alone: those of many values, whose labels say what they cover."""

from __future__ import annotations

from collections.abc import Sequence

from anondb.run import covered_sql as covering
from anondb.run.encode import Encoded
from anondb.run.publish_sql import Chosen
from anondb.run.statement import Runner, Statement, row
from anondb.sqltree.tables import Scratch

MANY_VALUES = 10_000
"""Of a column: fewer are read as texts, which takes no time that anybody would notice."""


def covered(db: Runner, names: Scratch, encoded: Encoded, chosen: Sequence[Chosen]) -> list[Chosen]:
    """The columns of which nothing but codes needs to be looked at."""
    found = []
    for c, labels in zip(chosen, encoded.nodes, strict=True):
        if c.quasi.is_coarse:
            found.append(c)  # its values are not known one by one, and were looked at when they were counted
        elif labels[0] > MANY_VALUES and (check := covering.are_read_back(names, c)) is not None:
            [read_back] = db.one(Statement(f"labels of {c.quasi.code}", check, answers=row(read_back=False)))
            found += [c] * read_back
    return found
