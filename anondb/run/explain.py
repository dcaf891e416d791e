"""Rehearse: a plan's whole SQL, by the code that would run it, without a database to run it on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from anondb.hierarchies.build import columns as build_columns
from anondb.hierarchies.forms import Mask
from anondb.methods.full_domain import search
from anondb.methods.full_domain.lattice import Levels
from anondb.methods.generalize import Generalization
from anondb.methods.process import Job
from anondb.methods.registry import ALGORITHMS
from anondb.run import stages
from anondb.run.kept_columns import judge
from anondb.run.pipeline import create, process_of, swap
from anondb.run.plan import Options, Plan
from anondb.run.swap import Replacement
from anondb.sqltree.build import Node
from anondb.sqltree.render import render
from anondb.sqltree.tables import Coded

_RECORDS = 10**9  # so many that any suppression above 0 is of some of them
_MASK_LENGTH = 5

_NOTES = {
    "values": "the run builds a hierarchy from them and an ontology; its levels are made up here",
    "longest": "the run measures the longest value",
    "frequency set": "the run knows how many values there are; NULL comes after them",
    "node": "the search asks this of every node it looks at, of the frequency set or a roll-up; the first is shown",
    "classes of node": "the search puts down the classes of every node it looks at; the first is shown",
    "mask of node": "where records would be masked",
    stages.DISTANT: "until there are none",
    "classes": "at the levels that the search has chosen; the lowest are shown",
    "ranks": "the search goes on with all open partitions until no cut is allowable; one round is shown",
    "keys": "from the secret of the installation, which does not leave the server",
    "insert release_": "ordered by class and then by a keyed hash of its own values, not as the source is",
    "look": "on a second connection, which sees the present, as the snapshot of the run does not",
    "columns now": "on the second connection",
    "obstacles": "on the second connection",
    "belongings": "on the second connection; what it finds is made anew by further statements",
    "grants now": "on the second connection; what it finds is granted by further statements",
    "rows now": "on the second connection: as many as were deleted",
    "join nearest": "where records are left that a class may take",
    "insert release": "columns that hold NULLs are compared as arrays, in which NULL equals NULL",
}


# queries that a small, well-behaved table has no answer to
_WITHOUT_ROWS = (
    "unknown texts", "kept columns", "utility", "risk", "disclosure", "class sizes", "hierarchy",
    "obstacles", "belongings", "grants",
)  # fmt: skip


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
            case "join" | "rare":
                return (0,)
            case "left":
                return (1, 1, 1)
            case "reached":
                return (_RECORDS, 1, _RECORDS, _RECORDS, 1.0, 0.0, 0.0, 0.0, 0.0)
            case "mask":
                return (True,)
            case "costs":
                return (1, 0.0, 0.0)
            case "tuples":
                return (1, 1) if rest == "below k" else (0,)
            case "unknown":
                return (0, 0, 0)
            case "meaning":
                assert isinstance(statement, Node)
                return (0.0, 1) * (len(statement.expressions) // 2) + (0.0,)
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
        if name.startswith(_WITHOUT_ROWS):
            self.run(name, statement)
            return []
        if name == "look":
            self.run(name, statement)
            [place] = [
                p for p in self.plan.places if [p.relation.schema, p.relation.name] == list(parameters[:2])
            ]
            return [] if place.oid is None else [(place.oid, "r", True, True, False)]
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
    build_columns.rehearse(rehearsal, plan)
    options, fresh = Options(allow_empty=True, replace=True), plan.fresh(0)
    process = process_of(Job(rehearsal, plan, options, 0, fresh))
    if isinstance(process, Generalization):
        process = _Generalization(process.job)
    for stage, doing in (
        ("encode", process.encode),
        ("search", process.search),
        ("publish", lambda: create(rehearsal, plan, fresh, kept=True)),
        ("publish", process.publish),
        ("verify", process.measure),
        ("verify", lambda: judge(rehearsal, plan.policy, process.kept())),
        ("evaluate", process.evaluate),
        ("swap", lambda: swap(process, Replacement(rehearsal, rehearsal, plan, fresh, options), 0)),
    ):
        rehearsal.stage = stage
        doing()
    return "\n".join(_lines(rehearsal.statements))


class _Generalization(Generalization):
    """A search that partitions needs no more than a round; one of a lattice, no more than a node."""

    def search(self) -> None:
        if ALGORITHMS[self.plan.policy.method.algorithm].partitions:
            self.found = search.search(self.db, self.plan, self.names, self.encoded, Options())
            return
        set_up = search.prepare(self.db, self.plan, self.names, self.encoded, Options())
        lowest = set_up.lattice.grid.lowest
        set_up.lattice.check(lowest)
        self.found = search.Found(Levels(lowest, 0), set_up.asking.models, {})


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
