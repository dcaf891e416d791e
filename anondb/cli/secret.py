"""anondb secret: renew it, or take it to a second database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anondb.api import connect
from anondb.cli.options import Dsn
from anondb.cli.output import err, out

app = typer.Typer(
    help="The secret of the installation, from which class ids, orders of rows and draws come. It is never shown.",
    no_args_is_help=True,
)

_OTHERS = "From the next run on, class ids, orders of rows and draws are others than before."

SecretFile = Annotated[Path, typer.Argument(metavar="FILE", help="Where the secret is.", show_default=False)]


@app.command()
def renew(
    dsn: Dsn = None, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
) -> None:
    """Make a new secret: after a database was cloned or restored elsewhere, or the secret became known.

    Releases that are out stay as they are. Those with a ledger go on in a new series: `anondb run --restart`.
    """
    with connect(dsn) as db:
        if not yes:
            typer.confirm(f"{_OTHERS} Go on?", abort=True)
        db.secret.renew()
    out.print("the secret is a new one")
    err.print(_OTHERS)


@app.command()
def export(
    file: SecretFile,
    dsn: Dsn = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write the secret into a file that only you can read, for a second database that gives the same bytes.

    Whoever has it can recompute what a recipient must not: keep it as you keep the data.
    """
    with connect(dsn) as db:
        path = db.secret.export(file, force=force)
    out.print(f"the secret is in {path}", markup=False)


@app.command("import")
def import_(
    file: SecretFile,
    dsn: Dsn = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Take over the secret that another installation has exported; the one before is gone."""
    with connect(dsn) as db:
        if not yes:
            typer.confirm(f"{_OTHERS} Go on?", abort=True)
        db.secret.take_over(file)
    out.print("the secret is the one of the file")
    err.print(_OTHERS)
