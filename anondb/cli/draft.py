"""anondb draft, check and schema: a first policy for a table, and what there is to say of one before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anondb.api import connect
from anondb.cli.options import Dsn, Json, Public
from anondb.cli.output import echo, echo_json, err, out, plain, write
from anondb.errors import UsageError
from anondb.policy.model import Role

if TYPE_CHECKING:
    from anondb.policy.draft.draft import Draft


def draft(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="What to release, as schema.table.")],
    k: Annotated[int, typer.Option("--k", metavar="K", help="How many records are to look alike.")] = 5,
    target: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="The release; else TABLE_release.", show_default=False),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--out", metavar="POLICY.toml", help="Where to write it; else it is printed."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if there is one.")] = False,
    public: Public = False,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Draft a policy for a table: it runs as it is, and says the reason behind each line.

    Looks at names, types, keys and counts; no value leaves the server.
    What a person must decide is marked DECIDE.

    Examples:

      anondb draft hospital.admissions --out admissions.toml

      anondb draft hospital.admissions --k 11 --json
    """
    if file is not None and not force and (file.exists() or file.is_symlink()):
        raise UsageError(
            f"{file}: there is such a file already, and it may have been edited",
            hint="give another name, or overwrite it with --force",
        )
    with connect(dsn) as db:
        drafted = db.draft(table, k=k, target=target)
    if file is not None:
        write(drafted.text, file)
    if as_json:
        echo_json(drafted.as_json())
    elif file is None:
        echo(drafted.text, nl=False)
    else:
        _tell(drafted, file)


def _tell(drafted: Draft, file: Path) -> None:
    for role in Role:
        if names := [one.name for one in drafted.proposals if one.role is role]:
            out.print(f"[bold]{role}[/bold]: {plain(', '.join(names))}", soft_wrap=True)
    undecided = sum(one.decide is not None for one in drafted.proposals)
    name = plain(str(file))
    out.print(f"policy: {name}, {undecided} columns to decide", soft_wrap=True)
    err.print(f"  next: look for DECIDE, then anondb run {name}", soft_wrap=True)
