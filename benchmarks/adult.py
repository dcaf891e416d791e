"""The Adult census data, scaled to any number of rows, and policies for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from psycopg import sql

from anondb.db.connection import Connection
from anondb.errors import UsageError

COLUMNS = "sex age race marital_status education native_country workclass occupation salary_class".split()
QUASI = COLUMNS[:8]
SOURCE = "adult_scaled"
TARGET = "adult_release"

_ORIGINAL = """
create table adult (
    id int generated always as identity (start 0 minvalue 0) primary key, sex text, age int, race text,
    marital_status text, education text, native_country text, workclass text, occupation text, salary_class text)
"""
_COPY = sql.SQL("copy adult ({}) from stdin (format csv, header, delimiter ';')")
# Row i is the original one at a hash of i: drawn with replacement, and the same on every server.
_SCALE = sql.SQL("""
create table adult_scaled as
select {} from generate_series(1, %s) as g (i)
join adult as a on a.id = (hashint8extended(g.i, 7) & 9223372036854775807) %% (select count(*) from adult)
""")
_POLICY = """\
source = "{source}"
target = "{target}"

[privacy]
k = 5
suppression = {suppression}

[method]
algorithm = "datafly"

[columns]
"""


def load(connection: Connection, folder: Path) -> None:
    """The original table."""
    file = folder / "adult.csv"
    if not file.is_file():
        raise UsageError(
            f"{folder}: the Adult census data is not there", hint="name its folder with --data DIR"
        )
    connection.execute(_ORIGINAL)
    columns = sql.SQL(", ").join(map(sql.Identifier, COLUMNS))
    with connection.cursor() as cursor, cursor.copy(_COPY.format(columns)) as copy:
        copy.write(file.read_bytes())


def scale(connection: Connection, rows: int) -> None:
    """The source of the runs: so many rows of the original, as tidy as a table at rest."""
    connection.execute("drop table if exists adult_scaled")
    columns = sql.SQL(", ").join(sql.Identifier("a", column) for column in COLUMNS)
    with connection.cursor() as cursor:
        cursor.execute(_SCALE.format(columns), (rows,))
    connection.execute("vacuum analyze adult_scaled")
    connection.execute("checkpoint")


def policy(data: Path, quasi: Sequence[str], suppression: float) -> str:
    """A policy for these quasi-identifiers; the last column is sensitive, the others are released as they are."""
    lines = [_POLICY.format(source=SOURCE, target=TARGET, suppression=suppression)]
    for column in COLUMNS:
        if column not in quasi:
            role = "sensitive" if column == COLUMNS[-1] else "other"
            lines.append(f'{column} = {{ role = "{role}" }}\n')
        elif column == "age":
            lines.append('age = { role = "quasi", hierarchy = { start = 0, widths = [5, 10, 20] } }\n')
        else:
            file = data.resolve() / f"adult_hierarchy_{column.replace('_', '-')}.csv"
            lines.append(f"{column} = {{ role = \"quasi\", hierarchy = {{ csv = '{file}' }} }}\n")
    return "".join(lines)
