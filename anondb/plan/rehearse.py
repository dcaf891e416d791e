"""Rehearse: a plan's whole SQL, by the code that would run it, without a database to run it on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from anondb.algorithms.lattice import Levels
from anondb.algorithms.outcome import Classes
from anondb.algorithms.registry import ALGORITHMS
from anondb.hierarchy.model import Mask
from anondb.plan import search, stages
from anondb.plan.evaluate import Evaluating, evaluate
from anondb.plan.model import Options, Plan
from anondb.plan.reporting import looked_up
from anondb.plan.verify import Published, measure
from anondb.sqlgen.build import Node
from anondb.sqlgen.models import Models
from anondb.sqlgen.render import render
from anondb.sqlgen.shape import Coded, Scratch

_RECORDS = 10**9  # so many that any suppression above 0 is of some of them
_MASK_LENGTH = 5

_NOTES = {
    "longest": "the run measures the longest value",
    "frequency set": "the run knows how many values there are; NULL comes after them",
    "node": "the search asks this of every node it looks at, of the frequency set or a roll-up; the first is shown",
    "classes of node": "the search puts down the classes of every node it looks at; the first is shown",
    "mask of node": "where records would be masked",
    stages.DISTANT: "until there are none",
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
        return 0 if name == stages.DISTANT else _RECORDS

    def one(self, name: str, statement: Node | str, parameters: Sequence[object] = ()) -> tuple[Any, ...]:
        self.run(name, statement)
        word, _, rest = name.partition(" ")
        match word:
            case "records":
                return (_RECORDS, 0)
            case "longest":
                return (_declared_length(self._coded(rest)),)
            case "labels":
                assert isinstance(statement, Node)
                return (1,) * (len(statement.expressions) - 2) + (False, 0)
            case "node":
                return (1, 1, 0, 1, 1, 0.0)  # a record is left out, so that what becomes of it is shown
            case "diversity" | "closeness" | "compare":
                return (0,)
            case "mask":
                return (True,)
            case "costs":
                return (1, 0.0, 0.0)
            case "open":  # the second round finds nothing to cut
                return (_RECORDS if rest == "1" else 0, 1)
            case "halves":
                return (1, (1,))
            case "different":
                return (_RECORDS, 1)
            case "linkage":
                return (0.0,)
            case "precision":
                assert isinstance(statement, Node)
                return (0.0,) * len(statement.expressions)
            case "whole":
                return (True,)
            case _ if name == "count persons":
                return (_RECORDS,)
        return (_RECORDS, 1, _RECORDS, _RECORDS, _RECORDS**2)

    def rows(
        self, name: str, statement: Node | str, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        if name.startswith(("utility", "risk", "disclosure", "class sizes", "hierarchy")):
            self.run(name, statement)
            return []
        return [self.one(name, statement, parameters)]

    def _coded(self, code: str) -> Coded:
        [found] = [c for c in (*self.plan.quasi, *self.plan.sensitive) if c.code == code]
        return found

    def copy(self, name: str, statement: Node, rows: Iterable[Sequence[object]]) -> None:
        self.run(name, statement)

    def savepoint(self) -> AbstractContextManager[object]:
        return nullcontext()


def script(plan: Plan) -> str:
    """The SQL of a run, in order, each statement under its stage and name."""
    rehearsal = Rehearsal(plan)
    names, fresh = plan.scratch(0), plan.fresh(0)
    rehearsal.stage = "encode"
    encoded = stages.encode(rehearsal, plan, names, Options(allow_empty=True))
    rehearsal.stage = "search"
    models, outcome = _search(rehearsal, plan, names, encoded)
    rehearsal.stage = "publish"
    stages.write(rehearsal, plan, names, encoded, models, outcome, fresh)
    rehearsal.stage = "verify"
    measure(rehearsal, plan, names, encoded, models, outcome, fresh)
    rehearsal.stage = "evaluate"
    published = Published(_RECORDS, 1, _RECORDS, _RECORDS, _RECORDS**2)
    evaluating = Evaluating(rehearsal, plan, names, encoded, outcome, fresh)
    evaluate(evaluating, published, full=False)
    looked_up(evaluating)
    rehearsal.stage = "swap"
    stages.swap(rehearsal, plan, fresh, run=0)
    return "\n".join(_lines(rehearsal.statements))


def _search(
    rehearsal: Rehearsal, plan: Plan, names: Scratch, encoded: stages.Encoded
) -> tuple[Models, Levels | Classes]:
    """A search that partitions needs no more than a round; one of a lattice, no more than a node."""
    if ALGORITHMS[plan.policy.method.algorithm].partitions:
        found = search.search(rehearsal, plan, names, encoded, Options())
        return found.models, found.outcome
    set_up = search.prepare(rehearsal, plan, names, encoded, Options())
    lowest = set_up.lattice.grid.lowest
    set_up.lattice.check(lowest)
    return set_up.asking.models, Levels(lowest, 0)


def _lines(statements: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    yield "begin isolation level repeatable read;"
    for stage, name, text in statements:
        yield f"\n-- {stage}: {name}"
        if starts := [start for start in _NOTES if name.startswith(start)]:
            yield f"-- ({_NOTES[max(starts, key=len)]})"
        yield f"{text};"
    yield "\ncommit;"


def _declared_length(coded: Coded) -> int:
    """Of a varchar(n) or char(n); of a text, a guess."""
    assert isinstance(coded.hierarchy, Mask)
    declared = re.search(r"\((\d+)\)", coded.column.type)
    return min(int(declared[1]), stages.LONGEST_MASK) if declared else _MASK_LENGTH
