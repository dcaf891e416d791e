"""anondb db: install, compare, remove."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from anondb.api import connect
from anondb.cli.options import Dsn, Json
from anondb.cli.output import echo_json, out

app = typer.Typer(
    help="Install anondb in a database, see what is there, or take it away.", no_args_is_help=True
)


@app.command()
def upgrade(dsn: Dsn = None) -> None:
    """Install anondb, or bring it to this package's version.

    Needs CREATE on the database, nothing more. One transaction: it is done whole or not at all.

    Example: anondb db upgrade --dsn postgresql://anna@localhost/clinic
    """
    with connect(dsn) as db:
        status = db.upgrade()
        refused = db.refused_now()
        outdated = db.procedures.outdated()
    out.print(f"anondb {status.package} is installed (revision {status.installed_revision})")
    if refused:
        out.print(
            "\nPolicies that a run refuses now, with the columns that tell persons apart:", soft_wrap=True
        )
        for line in refused:
            out.print(f"  {line}", markup=False, soft_wrap=True)
        out.print(
            '  hint: change the role of these columns, or accept them with keep = "identifying"', markup=False
        )

    if outdated:
        out.print(
            "\nProcedures that were written for another version, and refuse until they are written anew:"
        )
        for name in outdated:
            out.print(f"  {name}", markup=False, soft_wrap=True)
        out.print("  hint: anondb procedure POLICY --name SCHEMA.NAME", markup=False)


@app.command()
def status(dsn: Dsn = None, as_json: Json = False) -> None:
    """Compare what is installed with what this package carries."""
    with connect(dsn) as db:
        installed = db.status()
    if as_json:
        echo_json(asdict(installed))
        return
    out.print(f"package   {installed.package}, revision {installed.revision}")
    if installed.state == "missing":
        out.print("database  anondb is not installed\n  hint: run: anondb db upgrade")
        return
    out.print(f"database  {installed.installed_package}, revision {installed.installed_revision}")
    advice = {
        "current": "current",
        "outdated": "outdated\n  hint: run: anondb db upgrade",
        "changed": "changed since it was installed\n  hint: run: anondb db upgrade",
        "newer": "newer than this package\n  hint: pip install --upgrade anondb",
    }
    out.print(f"secret    {'there is one' if installed.has_secret else 'none yet'}")
    out.print(f"state     {advice[installed.state]}")


@app.command()
def remove(
    dsn: Dsn = None, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
) -> None:
    """Take away everything that is anondb's, and only that: hierarchies, history, functions.

    Releases stay: they are yours.
    """
    with connect(dsn) as db:
        if not yes:
            typer.confirm("Stored hierarchies and the history of runs will be gone. Go on?", abort=True)
        gone = db.remove()
    out.print(f"removed {len(gone)} objects" if gone else "anondb was not installed")
