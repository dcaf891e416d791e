"""How much of tables of many columns is kept, method by method, and what that takes; evaluation included."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anondb.api import Database
from benchmarks import adult, command, made, public
from benchmarks.progress import say
from benchmarks.tables import SUPPRESSION, WIDE, K

METHODS: Mapping[str, Mapping[str, str]] = {
    "datafly": {"algorithm": "datafly"},
    "datafly, local": {"algorithm": "datafly", "recode": "local"},
    "optimal, local": {"algorithm": "optimal", "recode": "local"},
    "mondrian, loss": {"algorithm": "mondrian", "split": "loss"},
    "optimal": {"algorithm": "optimal"},
}


@dataclass(frozen=True)
class Table:
    """A table, and the hierarchy of each of its quasi-identifiers, in a file."""

    source: str
    rows: int
    hierarchies: Mapping[str, Path]

    def __str__(self) -> str:
        return f"{self.source}, {self.rows:,} × {len(self.hierarchies)}"

    def policy(self, method: Mapping[str, str]) -> str:
        columns = {
            name: adult.quasi(f"{{ csv = '{file.resolve()}' }}") for name, file in self.hierarchies.items()
        }
        return adult.policy(columns, method, K, SUPPRESSION, source=self.source)


def cases(conninfo: str, db: Database, data: Path) -> Iterator[dict[str, Any]]:
    """Each table by each method, in turn."""
    with TemporaryDirectory() as folder:
        for table in _tables(db, Path(folder), data):
            for name, method in METHODS.items():
                yield {"method": name, "rows": table.rows, "quasi": len(table.hierarchies)} | _measure(
                    conninfo, db, f"{table} by {name}", table.policy(method)
                )


def _tables(db: Database, folder: Path, data: Path) -> Iterator[Table]:
    loaded = db.tables.load("builtin:adult", "bench.census")
    db.connection.execute("vacuum analyze bench.census")
    files = {column.replace("_", "-"): adult.hierarchy_file(data, column) for column in adult.ALL_NINE}
    yield Table("bench.census", loaded.records, files)
    for rows, width in WIDE:
        names = made.wide(db, folder, rows, width)
        yield Table("bench.wide", rows, {name: folder / f"{name}.csv" for name in names})
    for table in public.tables():
        yield Table(f"bench.{table.name}", len(table.frame), table.store(db.connection, folder))


def _measure(conninfo: str, db: Database, what: str, text: str) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.toml"
        policy.write_text(text, encoding="utf-8")
        figures, found = command.policy(conninfo, sys.executable, policy)
    db.connection.execute("drop table bench.release")
    kept = round(1 - found["metrics"]["gen_iloss"], 4)
    taken = {key: figures[key] for key in ("command_seconds", "client_cpu_seconds", "server_cpu_seconds")}
    say(f"{what}: kept {kept}, {found['suppressed']} suppressed; {taken}; {found['seconds']}")
    return {
        "kept": kept,
        **{key: found.get(key) for key in ("suppressed", "classes", "checks", "gap", "repeatable")},
        **figures,
        "seconds": found["seconds"],
    }
