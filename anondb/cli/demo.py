"""anondb demo: the whole story on the embedded database."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.syntax import Syntax

from anondb import resources
from anondb.api import Database, Release, connect
from anondb.cli.output import RunProgress, out, table
from anondb.cli.policies import print_result
from anondb.db import embedded
from anondb.db.connection import Door
from anondb.db.errors import translated
from anondb.errors import UsageError

_BEFORE = "select a.* from hospital.admissions as a order by a.name, a.admitted, a.age limit 5"
_SIZES = """
select case when c.n < 10 then '5 to 9' when c.n < 20 then '10 to 19' when c.n < 50 then '20 to 49'
            else '50 and more' end, count(*), sum(c.n)::bigint
from (select count(*) as n from share.admissions as a
      group by a.age, a.sex, a.zip, a.job, a.admitted) as c
group by 1 order by min(c.n)
"""


def demo(
    folder: Annotated[
        Path, typer.Option("--dir", help="Where the policy and its hierarchy are written.")
    ] = Path("anondb-demo"),
    dsn: Annotated[
        str | None, typer.Option(metavar="DSN", help="Another database than the embedded one.")
    ] = None,
) -> None:
    """Anonymize a small table of persons, step by step, on an embedded PostgreSQL.

    Takes some seconds. Writes a policy and a hierarchy into ./anondb-demo for you to change.
    """
    _title("1. A database")
    db = _open(dsn)
    with db:
        out.print(f"{_server(db)}. Yours later: --dsn, ANONDB_DSN or PGHOST.")

        _title("2. A table of persons: hospital.admissions (5,000 invented ones)")
        example = resources.path("examples") / "hospital"
        with translated("making the demo's table"):
            db.connection.execute((example / "admissions.sql").read_bytes())
        _rows(db, _BEFORE)

        _title("3. A policy: what each column is to an attacker, and what the release must satisfy")
        files = _copy(example, folder)
        out.print(Syntax(files[0].read_text(encoding="utf-8"), "toml", background_color="default"))

        _title("4. The run: one pass to count, a search, one pass to publish, a verification")
        with RunProgress() as progress:
            release = db.run(files[0], listener=progress)
        print_result(release.result)

        _title("5. The release: share.admissions")
        _after(db, release)
        _steps(db, release)

    _title("What there is now, and what to try next")
    for file in files:
        out.print(f"  {file}")
    again = f" --dsn '{dsn}'" if dsn else ""
    out.print(
        f"\n  anondb run {files[0]}{again}      change k or a hierarchy in the file first"
        f"\n  anondb plan {files[0]}{again}     the SQL that runs"
        f"\n  anondb vgh load occupation {files[1]}{again}"
        f"\n  anondb run --help               your own table: write a policy, name your database"
    )


def _open(dsn: str | None) -> Database:
    if dsn:
        db = connect(dsn)
        db.upgrade()
        return db
    server = embedded.start()
    return Database(Door(server.dsn, server))


def _server(db: Database) -> str:
    version = db.connection.info.server_version
    kind = "An embedded PostgreSQL" if db.door.is_embedded else "PostgreSQL"
    return f"{kind} {version // 10000}.{version % 10000} is running"


def _copy(example: Path, folder: Path) -> list[Path]:
    """The example's files in a folder of the user's; those that are there already are kept."""
    files = [folder / "admissions.toml", folder / "occupation.csv"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            if not file.exists():
                shutil.copyfile(example / file.name, file)
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be written: {error.strerror}", hint="choose another folder with --dir"
        ) from None
    return files


def _rows(db: Database, query: str) -> None:
    with translated("reading a few rows"), db.connection.cursor() as cursor:
        cursor.execute(query.encode())
        shown = table(*[column.name for column in cursor.description or ()])
        for row in cursor:
            shown.add_row(*[escape(str(value)) for value in row])
    out.print(shown)


def _after(db: Database, release: Release) -> None:
    """A few rows of several classes, and how large the classes are."""
    frame = release.to_frame()
    quasi = list(release.result.levels)
    few = frame.groupby(quasi, sort=False).head(1).iloc[:: max(1, release.result.classes // 5)].head(5)
    shown = table(*few.columns)
    for row in few.itertuples(index=False):
        shown.add_row(*[escape(str(value)) for value in row])
    out.print(shown)
    sizes = table("class size", ">classes", ">records", title="\nHow many records look alike")
    with translated("counting classes"):
        for size, classes, records in db.connection.execute(_SIZES):
            sizes.add_row(str(size), f"{classes:,}", f"{records:,}")
    out.print(sizes)


def _steps(db: Database, release: Release) -> None:
    query = "select s.stage, s.name, s.rows, s.ms from anondb.run_step as s where s.run = %s order by s.ms desc limit 5"
    slowest = table("stage", "step", ">rows", ">ms", title="\nThe five longest steps (all: anondb.run_step)")
    with translated("reading the history"):
        for stage, name, rows, ms in db.connection.execute(query, (release.result.run,)):
            slowest.add_row(str(stage), str(name), f"{rows:,}", f"{ms:.1f}")
    out.print(slowest)


def _title(text: str) -> None:
    out.print(f"\n[bold cyan]{text}[/bold cyan]")
