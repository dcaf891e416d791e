"""Options that several commands share."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

from anondb import files
from anondb.cli.output import report_warning
from anondb.db.connection import without_password
from anondb.errors import UsageError


def warn_of_password(context: typer.Context, dsn: str | None) -> str | None:
    """Warns of a password in --dsn: while a command runs, every user of the machine can read its arguments."""
    source = context.get_parameter_source("dsn")
    if dsn and source is not None and source.name == "COMMANDLINE" and without_password(dsn) != dsn:
        report_warning(
            "the password in --dsn can be seen by every user of this machine, in the list of processes",
            "set ANONDB_DSN or PGPASSWORD, or use a password file (PGPASSFILE) or a service file (PGSERVICE)",
        )
    return dsn


def names(options: list[str]) -> list[str]:
    """Names with commas between them; one with a comma in it has double quotes around it."""
    return [name for row in csv.reader(options, skipinitialspace=True) for name in row]


def pairs(option: str, what: str, example: str, said: list[str] | None) -> dict[str, str]:
    """What is said of columns, as COLUMN=NAME."""
    found = [one.partition("=") for one in said or []]
    if not all(column and name for column, _, name in found):
        raise UsageError(f"{option} names a column and its {what}", hint=f"for example {option} {example}")
    return {column: name for column, _, name in found}


def _let_read(public: bool) -> bool:
    if public:
        files.mode.set(files.ALL)
    return public


def require_possible_files(table: Path | None, report: Path | None) -> None:
    """Raises before hours of trials, and not after them, if a file cannot be written."""
    from anondb.report import release as release_report

    if report is not None:
        release_report.require_packages()
    for file in (table, report):
        if file is not None:
            release_report.require_writable(file)


Public = Annotated[
    bool,
    typer.Option(
        "--public",
        callback=_let_read,
        help="Let all users of this machine read what is written to files (mode 644, else 600).",
    ),
]
Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        metavar="DSN",
        callback=warn_of_password,
        envvar="ANONDB_DSN",
        show_envvar=True,
        help="The database: postgresql://user@host/db or 'host=… dbname=…'. "
        "Else libpq's variables (PGHOST, PGSERVICE, …), else the embedded PostgreSQL.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
PolicyFile = Annotated[
    Path, typer.Argument(metavar="POLICY.toml", help="What to release, from where, how.", show_default=False)
]
VghName = Annotated[str, typer.Argument(metavar="NAME", help="The hierarchy's name.", show_default=False)]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="End the search after this time with the best node so far, which may not be the best there is.",
        min=0.001,
        show_default=False,
    ),
]
Checks = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="End the search after so many checks of nodes with the best so far. The same number finds the same "
        "release. A lattice that is too large to prove the best has one of its own, which takes about a minute.",
        min=1,
        show_default=False,
    ),
]
