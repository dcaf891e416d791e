"""The Adult census data, scaled to any number of rows, and policies for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from psycopg import sql

from anondb.db.connection import Connection
from anondb.errors import UsageError

COLUMNS = "sex age race marital_status education native_country workclass occupation salary_class".split()
QUASI = COLUMNS[:8]
RECORDS = 30_162  # of the original

_ORIGINAL = """
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
_POLICY = """\
source = "bench.adult"
target = "bench.release"

[privacy]
k = {k}
suppression = {suppression}

[method]
algorithm = "datafly"

[columns]
"""


def require(folder: Path) -> None:
    if not (folder / "adult.csv").is_file():
        raise UsageError(
            f"{folder}: the Adult census data is not there", hint="name its folder with --data DIR"
        )


def load(connection: Connection, folder: Path) -> None:
    """The original table."""
    connection.execute(_ORIGINAL)
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


def policy(data: Path, quasi: Sequence[str], k: int, suppression: float, *, numbered: bool) -> str:
    """A policy for these quasi-identifiers; the salary is sensitive, the others are released as they are."""
    lines = [_POLICY.format(k=k, suppression=suppression)]
    for column in [*COLUMNS, "i"] if numbered else COLUMNS:
        if column not in quasi:
            role = "sensitive" if column == "salary_class" else "other"
            lines.append(f'{column} = {{ role = "{role}" }}\n')
        elif column == "age":
            lines.append('age = { role = "quasi", hierarchy = { start = 0, widths = [5, 10, 20] } }\n')
        else:
            file = data.resolve() / f"adult_hierarchy_{column.replace('_', '-')}.csv"
            lines.append(f"{column} = {{ role = \"quasi\", hierarchy = {{ csv = '{file}' }} }}\n")
    return "".join(lines)
