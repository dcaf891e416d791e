"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        metavar="DSN",
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
