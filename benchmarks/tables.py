"""The tables that whole commands are measured on: many different rows, many columns, many leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from psycopg import sql

from anondb.api import Database
from anondb.db.connection import Door
from benchmarks import adult, made
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

K = 5
SUPPRESSION = 0.05
AGES = "{ start = 0, widths = [5, 10, 20] }"
WIDE = ((30_000, 24), (70_000, 16))
ZIPS = (63_000, 8)


@dataclass(frozen=True)
class Case:
    """A table, and what is asked of it."""

    table: str
    rows: int
    quasi: tuple[str, ...]
    kept: tuple[str, ...]  # released as they are
    hierarchies: tuple[Path, ...]  # as files, one a quasi-identifier
    algorithm: str = "optimal"

    def __str__(self) -> str:
        numbered = ", numbered" if "i" in self.kept else ""
        zips = ", 20,000 zip codes" if "zip" in self.quasi else ""
        return f"{self.rows:,} × {len(self.quasi)}{numbered}{zips}"

    @property
    def source(self) -> sql.Identifier:
        return sql.Identifier("bench", self.table)

    def policy(self) -> str:
        columns = dict.fromkeys(self.kept, '{ role = "other" }')
        columns |= {"i": '{ role = "other", keep = "identifying" }'} if "i" in columns else {}
        columns |= {"salary_class": '{ role = "sensitive" }'} if "salary_class" in columns else {}
        for column, file in zip(self.quasi, self.hierarchies, strict=True):
            columns[column] = adult.quasi(AGES if column == "age" else f"{{ csv = '{file.resolve()}' }}")
        method = {"algorithm": self.algorithm} | (
            {"objective": "loss"} if self.algorithm == "optimal" else {}
        )
        return adult.policy(columns, method, K, SUPPRESSION, source=f"bench.{self.table}")


@contextmanager
def prepared(options: Options) -> Iterator[tuple[str, Database, Path]]:
    """A database with the Adult data, or rows like it; the folder with its hierarchies."""
    with (
        TemporaryDirectory() as folder,
        fresh_database(options.dsn) as conninfo,
        Database(Door(conninfo)) as db,
    ):
        if adult.is_there(options.data):
            adult.load(db.connection, options.data)
            yield conninfo, db, options.data
        else:
            say(f"{options.data}: the Adult data is not there, rows like it are made")
            adult_like = Path(folder)
            made.adult_like(db, adult_like)
            yield conninfo, db, adult_like


def varied(db: Database, options: Options, data: Path) -> Iterator[Case]:
    """Adult with ages and countries that vary, at each size, numbered and not."""
    for rows in options.rows:
        for numbered in (False, True):
            say(f"making {rows:,} rows{', numbered' if numbered else ''}")
            adult.vary(db.connection, rows, numbered=numbered)
            for width in options.quasi:
                quasi = adult.QUASI[:width]
                kept = [c for c in adult.COLUMNS if c not in quasi] + ["i"] * numbered
                files = [adult.hierarchy_file(data, c) for c in quasi]
                yield Case(
                    "adult", rows, tuple(quasi), tuple(kept), tuple(files), options.algorithm or "optimal"
                )


def wide(db: Database, folder: Path, sizes: Sequence[tuple[int, int]] = WIDE) -> Iterator[Case]:
    """Tables of many columns, by Datafly; no optimum is in reach there."""
    for rows, width in sizes:
        say(f"making {rows:,} rows of {width} columns")
        names = made.wide(db, folder, rows, width)
        yield Case("wide", rows, tuple(names), (), tuple(folder / f"{n}.csv" for n in names), "datafly")


def zips(db: Database, folder: Path, size: tuple[int, int] = ZIPS) -> Case:
    """A table with a column of 20,000 leaves."""
    rows, width = size
    say(f"making {rows:,} rows with zip codes")
    names = ["zip", *made.wide(db, folder, rows, width - 1)]
    made.zips(db.connection, folder)
    return Case("zips", rows, tuple(names), (), tuple(folder / f"{n}.csv" for n in names))
