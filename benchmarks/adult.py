"""The Adult census data, scaled to any number of rows, and policies for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from psycopg import sql

from anondb.db.connection import Connection
from anondb.errors import UsageError

COLUMNS = "sex age race marital_status education native_country workclass occupation salary_class".split()
QUASI = COLUMNS[:8]
# the order in which other tools' figures for all nine of them as quasi-identifiers were taken
ALL_NINE = "age sex race marital_status native_country workclass occupation education salary_class".split()
RECORDS = 30_162  # of the original

ORIGINAL = """
create schema bench;
create table bench.original (
    id int generated always as identity (start 0 minvalue 0) primary key, sex text, age int, race text,
    marital_status text, education text, native_country text, workclass text, occupation text, salary_class text)
"""
_COPY = sql.SQL("copy bench.original ({}) from stdin (format csv, header, delimiter ';')")
# Row i is the original one at a hash of i: drawn with replacement, and the same on every server.
_SCALE = sql.SQL("""
create table bench.adult as
select {} from generate_series(1, %s) as g (i)
join bench.original as a
    on a.id = (hashint8extended(g.i, 7) & 9223372036854775807) %% (select count(*) from bench.original)
""")
# Rows drawn with replacement repeat. So half of the ages move by up to five years, and a tenth of the countries are
# those of others.
_VARY = sql.SQL("""
create table bench.adult as
select {} from generate_series(1, %s) as g (i)
cross join (select count(*) as rows from bench.original) as o
join bench.original as a on a.id = (hashint8extended(g.i, 7) & 9223372036854775807) %% o.rows
join bench.original as b on b.id = (hashint8extended(g.i, 8) & 9223372036854775807) %% o.rows
cross join lateral (
    select case when hashint8extended(g.i, 9) & 1 = 0 then a.age
                else least(95, greatest(15, a.age + (hashint8extended(g.i, 10) & 1023) %% 11 - 5)) end::int as age,
           case when (hashint8extended(g.i, 11) & 1048575) %% 10 = 0 then b.native_country
                else a.native_country end as native_country) as v
""")
_PLAIN = sql.SQL("create table bench.adult as select {} from bench.original as a")
_POLICY = """\
source = "{source}"
target = "bench.release"

[privacy]
k = {k}
suppression = {suppression}

[method]
{method}

[columns]
"""


def is_there(folder: Path) -> bool:
    return all(
        file.is_file() for file in (folder / "adult.csv", *(hierarchy_file(folder, c) for c in COLUMNS))
    )


def require(folder: Path) -> None:
    if not is_there(folder):
        raise UsageError(
            f"{folder}: the Adult census data is not there",
            hint="name its folder with --data DIR: adult.csv, and the adult_hierarchy_….csv that ARX comes with",
        )


def load(connection: Connection, folder: Path) -> None:
    """The original table."""
    connection.execute(ORIGINAL)
    columns = sql.SQL(", ").join(map(sql.Identifier, COLUMNS))
    with connection.cursor() as cursor, cursor.copy(_COPY.format(columns)) as copy:
        copy.write((folder / "adult.csv").read_bytes())


def scale(connection: Connection, rows: int, *, numbered: bool) -> None:
    """The source of the runs, as tidy as a table at rest; `numbered`, no two of its rows are alike."""
    columns = [sql.Identifier("a", column) for column in COLUMNS]
    if numbered:
        columns.append(sql.Identifier("g", "i"))
    connection.execute("drop table if exists bench.adult")
    with connection.cursor() as cursor:
        cursor.execute(_SCALE.format(sql.SQL(", ").join(columns)), (rows,))
    connection.execute("vacuum analyze bench.adult")


def vary(connection: Connection, rows: int, *, numbered: bool) -> None:
    """As `scale`, with many more different rows than the original has."""
    moved = {"age", "native_country"}
    columns = [sql.Identifier("v" if column in moved else "a", column) for column in COLUMNS]
    if numbered:
        columns.append(sql.Identifier("g", "i"))
    connection.execute("drop table if exists bench.adult")
    with connection.cursor() as cursor:
        cursor.execute(_VARY.format(sql.SQL(", ").join(columns)), (rows,))
    connection.execute("vacuum analyze bench.adult")


def original(connection: Connection) -> None:
    """The source of the runs: the original's rows as they are."""
    columns = sql.SQL(", ").join(sql.Identifier("a", column) for column in COLUMNS)
    connection.execute(_PLAIN.format(columns))
    connection.execute("vacuum analyze bench.adult")


def quasi(hierarchy: str) -> str:
    return f'{{ role = "quasi", hierarchy = {hierarchy} }}'


def in_file(folder: Path, column: str) -> str:
    """The hierarchy that ARX comes with, as a policy names it."""
    return f"{{ csv = '{hierarchy_file(folder, column).resolve()}' }}"


def policy(
    columns: Mapping[str, str],
    method: Mapping[str, str],
    k: int,
    suppression: float,
    source: str = "bench.adult",
) -> str:
    """A policy with these columns, each in TOML."""
    chosen = "\n".join(f'{key} = "{word}"' for key, word in method.items())
    lines = [f"{name} = {column}\n" for name, column in columns.items()]
    return _POLICY.format(source=source, k=k, suppression=suppression, method=chosen) + "".join(lines)


def hierarchy_file(folder: Path, column: str) -> Path:
    return folder / f"adult_hierarchy_{column.replace('_', '-')}.csv"
