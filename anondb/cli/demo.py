"""anondb demo: the whole story on the embedded database."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.syntax import Syntax

from anondb import resources
from anondb.api import Database, connect
from anondb.cli.demo_nights import second_night
from anondb.cli.options import Public, warn_of_password
from anondb.cli.output import RunProgress, out, plain, table
from anondb.cli.policies import print_result
from anondb.db.connection import Door, without_password
from anondb.db.embedded import server as embedded
from anondb.db.errors import translated
from anondb.errors import UsageError
from anondb.files import write as write_file
from anondb.hierarchies import csvfile
from anondb.hierarchies.forms import ROOT, CsvVgh, Dates, Intervals, Mask
from anondb.policy.load import load
from anondb.policy.model import Column, Policy
from anondb.run.plan import Options
from anondb.run.result import Result

_SCHEMAS = b"create schema if not exists hospital; create schema if not exists share"
_MARK = "comment on table hospital.admissions is 'Invented persons, made by anondb demo.'"
_HAS_VISITS = (
    "select to_regclass('hospital.patients') is not null or to_regclass('hospital.visits') is not null"
)
_THERE = """
select obj_description(c.oid, 'pg_class') is not distinct from 'Invented persons, made by anondb demo.'
from pg_catalog.pg_class as c where c.oid = to_regclass('hospital.admissions')
"""
_RECORDS = """
select distinct on (a.job) a.name, a.age::text, a.sex, a.zip, a.job, a.admitted::text, a.diagnosis
from hospital.admissions as a where a.job in ('Bricklayer', 'Nurse', 'Student')
order by a.job, md5(a.name || a.zip), a.admitted, a.age
"""
_ALIKE = """
select count(*) from share.admissions as a
where (a.age, a.sex, a.zip, a.job, a.admitted) = (%(age)s, %(sex)s, %(zip)s, %(job)s, %(admitted)s)
"""
_RANGE = "select anondb.range_label(%s::numeric, %s, %s)"
_DATE = "select anondb.date_label(%s::timestamp, %s)"
_MASK = "select anondb.mask_label(%s, %s, %s, %s)"
_SIZES = """
select case when c.n < 10 then '5 to 9' when c.n < 20 then '10 to 19' when c.n < 50 then '20 to 49'
            else '50 and more' end, count(*)::int, sum(c.n)::int
from (select count(*) as n from share.admissions as a
      group by a.age, a.sex, a.zip, a.job, a.admitted) as c
group by 1 order by min(c.n)
"""
_STEPS = """
select s.stage, s.name, s.rows, s.ms from anondb.run_step as s where s.run = %s order by s.ms desc limit 5
"""
_COLUMNS = ("name", "age", "sex", "zip", "job", "admitted", "diagnosis")
_BAR = 30  # characters for all records


def demo(
    folder: Annotated[
        Path, typer.Option("--dir", help="Where the policy, the files beside it and the report are written.")
    ] = Path("anondb-demo"),
    dsn: Annotated[
        str | None,
        typer.Option(
            metavar="DSN", callback=warn_of_password, help="Another database than the embedded one."
        ),
    ] = None,
    public: Public = False,
) -> None:
    """Anonymize a small table of persons, step by step, on an embedded PostgreSQL.

    Takes some seconds. Writes a policy, its hierarchy, the domain of the persons and a report into ./anondb-demo.
    """
    example = resources.path("examples") / "hospital"
    policy = load(example / "admissions.toml")  # as it came, so that the demo is the same every time
    nightly = load(example / "nightly.toml")
    files = _copy(example, folder)

    _title("1. A database")
    with _open(dsn) as db:
        out.print(_server(db))

        _title("2. A table of persons: hospital.admissions, 5,000 invented ones")
        records = _persons(db, example)

        _title("3. A policy: what each column is, and what the release must satisfy")
        # a theme of the terminal's own colours can be read on light and on dark ones
        out.print(Syntax(policy.text.rstrip(), "toml", theme="ansi_dark", background_color="default"))

        _title("4. The run: count, search, publish, verify")
        with RunProgress() as progress:
            result = db.run(policy, options=Options(evaluate="full"), listener=progress).result
        print_result(result)

        _title("5. The release: share.admissions")
        _before_and_after(db, policy, result, records)
        _sizes(db, result)
        _steps(db, result)

        _title("6. The report: what the release is worth, and what it gives away")
        report = _report(db, result, folder)

        _title("7. A second night: persons come and leave, and it is released again")
        second_night(db, nightly, records, many=6)

    _title("What there is now")
    _what_there_is(files, report, db.door)
    _title("What to try next")
    _what_next(files, dsn)


def _open(dsn: str | None) -> Database:
    if dsn:
        db = connect(dsn)
        db.upgrade()
        return db
    server = embedded.start()
    return Database(Door(server.dsn, server))


def _server(db: Database) -> str:
    version = db.session.info.server_version
    number = f"{version // 10000}.{version % 10000}"
    if db.door.is_embedded:
        return f"An embedded PostgreSQL {number} runs while it is needed. (Yours, later: --dsn.)"
    return f"PostgreSQL {number}"


def _copy(example: Path, folder: Path) -> list[Path]:
    """The example's files in a folder of the user's; those that are there already are kept."""
    files = [folder / name for name in ("admissions.toml", "occupation.csv", "hospital.toml", "nightly.toml")]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            if not os.path.lexists(file):
                write_file(file, (example / file.name).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be written: {error.strerror}", hint="choose another folder with --dir"
        ) from None
    return files


def _persons(db: Database, example: Path) -> list[tuple[str, ...]]:
    """Makes the table, and returns a few of its records."""
    with translated("making the demo's table"):
        is_ours = db.session.execute(_THERE).fetchone()
        if is_ours == (False,):
            raise UsageError(
                "hospital.admissions is there already, and the demo has not made it",
                hint="give the demo another database, or rename that table",
            )
        if is_ours is None:
            make_admissions(db, example)
        records = [tuple(map(str, row)) for row in db.session.execute(_RECORDS)]
    out.print("Drawn from the domain in hospital.toml: jobs by age, diagnoses by age and sex.\n")
    shown = table(*_COLUMNS)
    for record in records:
        shown.add_row(*record)
    out.print(shown)
    return records


def make_admissions(db: Database, example: Path) -> None:
    """The table as `anondb generate hospital.toml --rows 5000` makes it, and a schema for its release."""
    with db.session.transaction():
        db.session.execute(_SCHEMAS)
        db.synthetic.generate(example / "hospital.toml", 5000, "hospital.admissions")
        db.session.execute(_MARK)
        if db.session.execute(_HAS_VISITS).fetchone() == (False,):
            db.session.execute((example / "visits.sql").read_bytes())


def _before_and_after(
    db: Database, policy: Policy, result: Result, records: Sequence[tuple[str, ...]]
) -> None:
    """The same records again, each above the class that covers it."""
    shown = table(*_COLUMNS)
    with translated("reading the release"):
        for record in records:
            value = dict(zip(_COLUMNS, record, strict=True))
            after = {column.name: _label(db, column, value[column.name], result) for column in policy.quasi}
            row = db.session.execute(_ALIKE, after).fetchone()
            shown.add_row(*record)
            if row and row[0]:
                cells = [after.get(name, value[name]) for name in _COLUMNS[1:]]
                shown.add_row(f"  one of {row[0]}", *map(plain, cells), style="green")
            else:
                shown.add_row("  suppressed", style="yellow")
    out.print("Three records, and what they became: one of many that look alike, or left out.\n")
    out.print(shown)


def _label(db: Database, column: Column, value: str, result: Result) -> str:
    """What the run has made of a value: its label at the level that the search chose."""
    level, height = result.levels[column.name], result.heights[column.name]
    arguments: tuple[object, ...]
    match column.hierarchy:
        case _ if level == 0:
            return value
        case CsvVgh(path):
            return next(row[level] for row in csvfile.read(path).rows if row[0] == value)
        case Intervals(start, widths) if level < height:
            query, arguments = _RANGE, (value, start, widths[level - 1])
        case Dates(units) if level < height:
            # a date has no level for days: it is one already
            query, arguments = _DATE, (value, units[len(units) - height + level])
        case Mask(side) if level < height:
            query, arguments = _MASK, (value, side, height, level)
        case _:
            return ROOT
    return str(*db.session.execute(query, arguments).fetchone() or ())


def _sizes(db: Database, result: Result) -> None:
    block = "#" if out.options.ascii_only else "█"
    sizes = table("class size", ">classes", ">records", "")
    with translated("counting classes"):
        for size, classes, records in db.session.execute(_SIZES):
            assert isinstance(records, int)
            bar = block * max(1, round(_BAR * records / result.released))
            sizes.add_row(str(size), f"{classes:,}", f"{records:,}", f"[cyan]{bar}[/cyan]")
    out.print("\nHow many records look alike:\n")
    out.print(sizes)


def _steps(db: Database, result: Result) -> None:
    slowest = table("stage", "step", ">rows", ">ms")
    with translated("reading the history"):
        for stage, name, rows, ms in db.session.execute(_STEPS, (result.run,)):
            slowest.add_row(str(stage), str(name), f"{rows:,}", f"{ms:.1f}")
    out.print("\nThe five longest steps (all of them, with their SQL: table anondb.run_step):\n")
    out.print(slowest)


def _report(db: Database, result: Result, folder: Path) -> Path | None:
    """A file with all metrics; without the packages for that, how to get them."""
    try:
        file = db.releases.report(result.run, folder / "report.html")
    except UsageError as error:
        _pairs({"no report": f"{error.message} ({error.hint})"})
        return None
    out.print(
        "All metrics, drawn and explained, with the policy, the hierarchy and the SQL: in one HTML file."
    )
    return file


def _what_there_is(files: Sequence[Path], report: Path | None, door: Door) -> None:
    for what, file in zip(("the policy", "a hierarchy", "a domain", "every night"), files, strict=True):
        _pairs({what: str(file)})
    if report is not None:
        _pairs({"the report": str(report)})
    if door.is_embedded:
        _pairs({"the database": str(embedded.default_data_dir())})


def _what_next(files: Sequence[Path], dsn: str | None) -> None:
    anondb, there = _program(), f" --dsn {shlex.quote(without_password(dsn))}" if dsn else ""
    policy, hierarchy, domain, nightly = (shlex.quote(str(file)) for file in files)
    _pairs(
        {
            "change k": f"{anondb} run {policy}{there}",
            "as a report": f"{anondb} run --report report.html {policy}{there}",
            "every night": f"{anondb} run {nightly}{there}",
            "see the SQL": f"{anondb} plan {policy}{there}",
            "other levels": f"{anondb} lattice --sort suppressed --limit 20 {policy}{there}",
            "store jobs": f"{anondb} vgh load occupation {hierarchy}{there}",
            "more persons": f"{anondb} generate {domain} --rows 100000 --table patients{there}",
            "your file": f"{anondb} load people.csv --table people{there}",
            "a policy": f"{anondb} draft people --out people.toml{there}",
            "your database": f"{anondb} db upgrade --dsn postgresql://user@host/db",
        }
    )


def _program() -> str:
    """The command line as this user can type it: the environment may not be an active one."""
    if shutil.which("anondb"):
        return "anondb"
    return shlex.quote(sys.argv[0]) if Path(sys.argv[0]).name == "anondb" else "python -m anondb"


def _pairs(lines: Mapping[str, str]) -> None:
    """Aligned, and never wrapped: paths and commands are there to be copied."""
    for what, text in lines.items():
        out.print(f"{what:<13}  {text}", markup=False, soft_wrap=True)


def _title(text: str) -> None:
    out.print(f"\n[bold cyan]{text}[/bold cyan]")
