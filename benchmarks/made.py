"""Tables and hierarchies that are made: where the Adult data is not there, and where a table has to be wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from psycopg import sql

from anondb.api import Database
from anondb.db.connection import Connection
from benchmarks import adult

SEED = 7
LEAVES = 20_000  # zip codes
_ADULT = sql.SQL("insert into bench.original ({0}) select {0} from bench.made")
_DISTINCT = sql.SQL("select distinct {0}::text from bench.made order by 1")
# the lower a zip code, the more people live there
_ZIPS = sql.SQL("""
create table bench.zips as
select lpad(((1 - sqrt((hashint8extended(row_number() over (), 12) & 1048575) / 1048576.0)) * {leaves})::int
            ::text, 5, '0') as zip, m.*
from bench.wide as m
""")


def adult_like(db: Database, folder: Path) -> None:
    """Rows of the built-in domain in the place of the Adult data, and hierarchies of their values in files."""
    db.connection.execute(adult.ORIGINAL)
    db.synthetic.generate("adult", adult.RECORDS, "bench.made", seed=SEED)
    columns = sql.SQL(", ").join(map(sql.Identifier, adult.COLUMNS))
    db.connection.execute(_ADULT.format(columns))
    for column in adult.COLUMNS:
        if column == "age":
            rows = [[str(age), *(_range(age, width) for width in (5, 10, 20)), "*"] for age in range(1, 101)]
        else:
            found = db.connection.execute(_DISTINCT.format(sql.Identifier(column))).fetchall()
            rows = list(grouped([str(value) for (value,) in found], 3))
        write(adult.hierarchy_file(folder, column), rows)


def wide(db: Database, folder: Path, rows: int, columns: int) -> list[str]:
    """A table `bench.wide` of independent columns with 2 to 36 values, and a hierarchy in a file for each."""
    sizes = [2 + 7 * (place % 3) + 2 * (place % 11) for place in range(columns)]
    names = [f"c{place:02}" for place in range(1, columns + 1)]
    domain = folder / "wide.toml"
    lines = ['title = "Many columns"']
    for name, size in zip(names, sizes, strict=True):
        values = [f"{name}-{value:02}" for value in range(size)]
        weights = ", ".join(f'"{value}" = {1000 // (place + 1)}' for place, value in enumerate(values))
        lines += [f"[attributes.{name}]", f"frequencies = {{ {weights} }}"]
        write(folder / f"{name}.csv", list(grouped(values, 3)))
    domain.write_text("\n".join(lines) + "\n", encoding="utf-8")
    db.connection.execute("drop table if exists bench.wide")
    db.synthetic.generate(domain, rows, "bench.wide", seed=SEED)
    db.connection.execute("vacuum analyze bench.wide")
    return names


def zips(connection: Connection, folder: Path) -> None:
    """`bench.wide` with one column more, of 20,000 zip codes, as `bench.zips`; their hierarchy masks digits."""
    connection.execute("drop table if exists bench.zips")
    connection.execute(_ZIPS.format(leaves=sql.Literal(LEAVES)))
    connection.execute("vacuum analyze bench.zips")
    codes = [f"{number:05}" for number in range(LEAVES + 1)]
    write(
        folder / "zip.csv",
        [[code[: 5 - stars] + "*" * stars for stars in range(5)] + ["*"] for code in codes],
    )


def _range(value: int, width: int) -> str:
    low = value // width * width
    return f"{low}-{low + width - 1}"


def grouped(values: Sequence[str], fan: int) -> Iterator[list[str]]:
    """A hierarchy in which each label stands for so many of the level below; the last level is one label."""
    for place, value in enumerate(values):
        row, width = [value], fan
        while width < len(values):
            low = place // width * width
            row.append(f"{values[low]} to {values[min(low + width, len(values)) - 1]}")
            width *= fan
        yield [*row, "*"]


def write(file: Path, rows: Sequence[Sequence[str]]) -> None:
    file.write_text("".join(f"{line}\n" for line in map(";".join, rows)), encoding="utf-8")
