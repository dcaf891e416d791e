"""Rehearse: a plan's whole SQL, by the code that would run it, without a database to run it on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from anondb.hierarchy.model import Mask
from anondb.plan import stages
from anondb.plan.model import Options, Plan
from anondb.sqlgen.build import Node
from anondb.sqlgen.render import render
from anondb.sqlgen.shape import Quasi

_RECORDS = 1000
_MASK_LENGTH = 5

_NOTES = {
    "longest": "the run measures the longest value",
    "node": "the search asks this of every node it looks at; the first is shown",
    "classes": "at the levels that the search has chosen; the lowest are shown",
    "ranks": "the search goes on with all open partitions until no cut is allowable; one round is shown",
    "insert release": "columns that hold NULLs are compared as arrays, in which NULL equals NULL",
}


class Rehearsal:
    """Stands in for the executor: keeps what it is given, and answers as a small, well-behaved table would."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.stage = ""
        self.statements: list[tuple[str, str, str]] = []

    def run(self, name: str, statement: Node | str, parameters: Sequence[object] = ()) -> int:
        text = statement if isinstance(statement, str) else render(statement, pretty=True)
        self.statements.append((self.stage, name, text))
        return _RECORDS

    def one(self, name: str, statement: Node | str, parameters: Sequence[object] = ()) -> tuple[Any, ...]:
        self.run(name, statement)
        word, _, rest = name.partition(" ")
        match word:
            case "records":
                return (_RECORDS, 0)
            case "longest":
                return (_declared_length(self.plan.quasi[int(rest) - 1]),)
            case "labels":
                assert isinstance(statement, Node)
                return (1,) * (len(statement.expressions) - 2) + (False, 0)
            case "node":
                return (1, 0, 0)
            case "open":  # the second round finds nothing to cut
                return (_RECORDS if rest == "1" else 0, 1)
            case "halves":
                return (1, (1,))
            case "whole":
                return (True,)
        return (_RECORDS, 1, _RECORDS, _RECORDS, _RECORDS**2)

    def rows(
        self, name: str, statement: Node | str, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        return [self.one(name, statement, parameters)]

    def copy(self, name: str, statement: Node, rows: Iterable[Sequence[object]]) -> None:
        self.run(name, statement)


def script(plan: Plan) -> str:
    """The SQL of a run, in order, each statement under its stage and name."""
    rehearsal = Rehearsal(plan)
    names, fresh = plan.scratch(0), plan.fresh(0)
    rehearsal.stage = "encode"
    encoded = stages.encode(rehearsal, plan, names, Options(allow_empty=True))
    rehearsal.stage = "search"
    outcome, _ = stages.search(rehearsal, plan, names, encoded)
    rehearsal.stage = "publish"
    stages.write(rehearsal, plan, names, encoded, outcome, fresh)
    rehearsal.stage = "verify"
    stages.measure(rehearsal, encoded, fresh)
    rehearsal.stage = "swap"
    stages.swap(rehearsal, plan, fresh, run=0)
    return "\n".join(_lines(rehearsal.statements))


def _lines(statements: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    yield "begin isolation level repeatable read;"
    for stage, name, text in statements:
        yield f"\n-- {stage}: {name}"
        for start, note in _NOTES.items():
            if name.startswith(start):
                yield f"-- ({note})"
        yield f"{text};"
    yield "\ncommit;"


def _declared_length(quasi: Quasi) -> int:
    """Of a varchar(n) or char(n); of a text, a guess."""
    assert isinstance(quasi.hierarchy, Mask)
    declared = re.search(r"\((\d+)\)", quasi.column.type)
    return min(int(declared[1]), stages.LONGEST_MASK) if declared else _MASK_LENGTH
