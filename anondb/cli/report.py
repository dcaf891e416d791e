"""anondb report: the report of a run that is in the history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anondb.api import connect
from anondb.cli.options import Dsn, Public
from anondb.cli.output import echo


def report(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Its number, or `last`: the last one that published.")
    ],
    file: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE.html", help="Where to write it; else anondb-run-RUN.html."),
    ] = None,
    public: Public = False,
    dsn: Dsn = None,
) -> None:
    """Write the report of a run: one HTML file, for people to read, print and hand on.

    It shows what the history keeps of the run: metrics, names of columns,
    generalized labels and the SQL, and no record of a person.

    Example: anondb report last --out admissions.html
    """
    with connect(dsn) as db:
        echo(f"report: {db.releases.report(run, file)}")
