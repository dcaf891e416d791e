"""anondb procedure: a refresh inside the database, for pg_cron or any caller; without Python."""

from __future__ import annotations

from typing import Annotated

import typer

from anondb.api import connect
from anondb.cli.options import Dsn, Json, PolicyFile
from anondb.cli.output import echo, echo_json, out, plain
from anondb.cli.policies import read_policy
from anondb.errors import UsageError


def procedure(
    policy: PolicyFile,
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="SCHEMA.NAME", help="What the procedure is called.", show_default=False
        ),
    ],
    as_text: Annotated[
        bool, typer.Option("--print", help="Print the statement that makes it, and touch nothing.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Compare the one that stands there with this policy and this version."),
    ] = False,
    schedule: Annotated[
        str | None,
        typer.Option(
            "--schedule", metavar="'15 2 * * *'", help="Print the call that has pg_cron refresh the release."
        ),
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Send that call.")] = False,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Write a procedure that refreshes the release of a policy: SQL alone, at the levels of the last release.

    It makes what `anondb run` would make of the same data. Run the policy first: levels are searched there.

    Examples:

      anondb procedure admissions.toml --name share.refresh_admissions

      anondb procedure admissions.toml --name share.refresh_admissions --schedule '15 2 * * *' --apply

      psql -c 'call share.refresh_admissions()'

    Exit codes: 0 done, 2 it cannot be written, or (--check) is not what would be written today.
    """
    if apply and schedule is None:
        raise UsageError("--apply sends a schedule, and there is none", hint="add --schedule '15 2 * * *'")
    loaded = read_policy(policy, dsn)
    with connect(dsn) as db:
        made = db.procedures.write(loaded, name)
        if as_text:
            echo(f"{made.statement};")
            return
        shown = f"{made.name.schema}.{made.name.name}"
        if check:
            if not db.procedures.is_current(made):
                raise UsageError(
                    f"{shown} is not what would be written today",
                    hint=f"write it anew: anondb procedure {policy} --name {name}",
                )
            told = {"procedure": shown, "current": True}
        else:
            told = {"procedure": shown, "replaced": db.procedures.create(made), "call": made.call}
        if schedule is not None:
            told["schedule"] = db.procedures.scheduled(made, schedule)
            if apply:
                told["job"] = db.procedures.schedule(made, schedule)
    if as_json:
        echo_json(told)
        return
    if check:
        out.print(f"{plain(shown)} is what would be written today")
    else:
        out.print(f"{plain(shown)} is written. To refresh the release: {plain(made.call)};", soft_wrap=True)
    if schedule is not None:
        echo(str(told["schedule"]))
        if apply:
            out.print(f"pg_cron calls it as job {told['job']}")
