"""(l, e)-diversity on the Adult data as it is, and scaled: classes, what is left out, and where time goes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anondb.db.connection import Connection, Door
from benchmarks import adult, machine
from benchmarks.child import repeated
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

QUASI = ("age", "sex", "race", "marital_status")
SENSITIVE = "education"
MODELS = ((2, 1.0), (3, 0.0), (3, 1.0))
FOUND = "records released suppressed classes metrics".split()
_POLICY = """\
source = "bench.adult"
target = "bench.release"

[privacy]
suppression = 1  # what is left out is part of what is measured
le_diversity = {{ column = "{sensitive}", l = {l}, e = {e} }}

[method]
algorithm = "le_diversity"

[columns]
"""


@dataclass(frozen=True)
class Case:
    """A source, and how diverse its classes are to be."""

    rows: int
    l: int  # noqa: E741 - the literature's name
    e: float
    numbered: bool  # every row has a number that is released too, so that no two rows are alike

    def __str__(self) -> str:
        return f"{self.rows:,} {'numbered ' * self.numbered}rows, l = {self.l}, e = {self.e:g}"

    def policy(self, data: Path) -> str:
        """Ages by value, categories by the hierarchies that ARX comes with, the education sensitive."""
        columns = dict.fromkeys(adult.COLUMNS, '{ role = "other" }')
        columns |= {name: adult.quasi(adult.in_file(data, name)) for name in QUASI if name != "age"}
        columns["age"] = '{ role = "quasi" }'
        columns[SENSITIVE] = f'{{ role = "sensitive", hierarchy = {adult.in_file(data, SENSITIVE)} }}'
        if self.numbered:
            columns["i"] = '{ role = "other", keep = "identifying" }'
        lines = [f"{name} = {column}\n" for name, column in columns.items()]
        return _POLICY.format(sensitive=SENSITIVE, l=self.l, e=self.e) + "".join(lines)


def run(options: Options) -> dict[str, Any]:
    """Adult itself, then the first size that was asked for."""
    adult.require(options.data)
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        adult.load(connection, options.data)
        adult.original(connection)
        cases = [_measure(conninfo, options, Case(adult.RECORDS, *model, False)) for model in MODELS]
        cases += _scaled(conninfo, connection, options)
        return {
            "benchmark": "le-diversity",
            "machine": machine.facts(connection),
            "quasi": QUASI,
            "sensitive": SENSITIVE,
            "cases": cases,
        }


def _scaled(conninfo: str, connection: Connection, options: Options) -> list[dict[str, Any]]:
    rows = options.rows[0]
    adult.scale(connection, rows, numbered=True)
    return [_measure(conninfo, options, Case(rows, *model, True)) for model in MODELS]


def _measure(conninfo: str, options: Options, case: Case) -> dict[str, Any]:
    found = repeated(conninfo, case.policy(options.data), options.repeat, FOUND)
    say(f"{case}: {found['classes']:,} classes, {found['whole_seconds']} s")
    return {**asdict(case), **found}
