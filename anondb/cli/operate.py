"""anondb status, anondb history: for whoever looks after releases that are made every night."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from anondb.api import connect
from anondb.cli.options import Dsn, Json
from anondb.cli.output import echo, echo_json, out, plain, table
from anondb.errors import UsageError

if TYPE_CHECKING:
    from anondb.db.health import ReleaseHealth
    from anondb.db.run_list import RunInfo

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def status(
    target: Annotated[
        str | None, typer.Argument(metavar="[TARGET]", help="One release, as the history spells it.")
    ] = None,
    prometheus: Annotated[
        bool, typer.Option("--prometheus", help="In the text format that Prometheus collects.")
    ] = False,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """How the releases are: when each was last published, what failed since, how many records wait.

    Examples:

      anondb status

      anondb status --prometheus > /var/lib/node_exporter/anondb.prom
    """
    if prometheus and as_json:
        raise UsageError("two formats are asked for", hint="give --json or --prometheus")
    with connect(dsn) as db:
        targets = db.releases.health(target)
    if prometheus:
        echo("".join(f"{line}\n" for line in _prometheus(targets)), nl=False)
    elif as_json:
        echo_json([_plain(one) for one in targets])
    elif not targets:
        out.print(
            "no run is in the history" if target is None else f"no run of {plain(target)} is in the history"
        )
    else:
        _print(targets)


def _print(targets: Sequence[ReleaseHealth]) -> None:
    made = table("release", "last published", ">age", ">records", ">waiting", "last run", ">failures since")
    for one in targets:
        made.add_row(
            plain(one.target),
            "never" if one.last_success is None else _when(one.last_success),
            "" if one.age is None else _age(one.age),
            "" if one.released is None else f"{one.released:,}",
            "" if one.waiting is None else f"{one.waiting:,}",
            "under way" if one.running else f"{one.last_outcome} ({one.last_run})",
            f"{one.failures_in_a_row:,}",
        )
    out.print(made)


def _prometheus(targets: Sequence[ReleaseHealth]) -> Iterator[str]:
    gauges: list[tuple[str, str, Callable[[ReleaseHealth], float | None]]] = [
        (
            "last_success_timestamp_seconds",
            "When the release was last published.",
            lambda one: None if one.last_success is None else one.last_success.timestamp(),
        ),
        (
            "age_seconds",
            "How long ago that is.",
            lambda one: None if one.age is None else one.age.total_seconds(),
        ),
        ("failures", "Runs that have failed since.", lambda one: one.failures_in_a_row),
        ("running", "Runs that are under way.", lambda one: one.running),
        ("records", "Records that were released.", lambda one: one.released),
        (
            "waiting_records",
            "Records that wait until enough come with them.",
            lambda one: one.waiting,
        ),
    ]
    for name, help_, value in gauges:
        yield f"# HELP anondb_release_{name} {help_}"
        yield f"# TYPE anondb_release_{name} gauge"
        for one in targets:
            if (number := value(one)) is not None:
                yield f'anondb_release_{name}{{target="{_escaped(one.target)}"}} {number:.15g}'


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class _RunsOrCommand(TyperGroup):
    """`anondb history share.admissions` lists runs; `anondb history trim` is a command."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not args or args[0] not in self.commands:
            args = ["list", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        return super().parse_args(ctx, args or ["list"])


app = typer.Typer(
    cls=_RunsOrCommand,
    help="The runs that the history keeps: anondb history [TARGET], and anondb history trim --keep 90d.",
    context_settings={"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]},
)


@app.command("list")
def list_(
    target: Annotated[
        str | None, typer.Argument(metavar="[TARGET]", help="One release, as the history spells it.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="The newest ones.", min=1)] = 20,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """The runs, newest first, of failed ones too.

    Examples:

      anondb history

      anondb history share.admissions --limit 5 --json
    """
    with connect(dsn) as db:
        runs = db.releases.runs(target, limit=limit)
    if as_json:
        echo_json([_plain(run) for run in runs])
    elif not runs:
        out.print("no run is in the history")
    else:
        _print_runs(runs)


def _print_runs(runs: Sequence[RunInfo]) -> None:
    made = table(">run", "release", "algorithm", "began", ">seconds", "status", "why")
    for run in runs:
        took = None if run.finished_at is None else (run.finished_at - run.started_at).total_seconds()
        made.add_row(
            str(run.run), plain(run.target), run.algorithm, _when(run.started_at),
            "" if took is None else f"{took:,.1f}", run.status, plain(run.error or ""),
        )  # fmt: skip
    out.print(made)


@app.command()
def trim(
    keep: Annotated[
        str, typer.Option("--keep", metavar="AGE", help="Runs that ended later stay: 90d, 12w, 36h.")
    ],
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Forget old runs, with their statements, metrics and policies; for the owner of the schema anondb.

    What tells a release from a stranger of its name stays: the last run of each target that published, and
    those whose table is still there.

    Example: anondb history trim --keep 90d
    """
    age = _read_age(keep)
    with connect(dsn) as db:
        gone = db.releases.trim_history(age)
    if as_json:
        echo_json({"forgotten": gone})
    else:
        out.print(f"{gone:,} {'run is' if gone == 1 else 'runs are'} forgotten")


def _read_age(text: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,6})([hdw])", text.strip())
    if found is None:
        raise UsageError(
            f'"{text[:80]}" is no age', hint="a number of hours, days or weeks: --keep 36h, 90d or 12w"
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _when(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _age(age: timedelta) -> str:
    seconds = int(age.total_seconds())
    if seconds >= 2 * 86400:
        return f"{seconds // 86400} d"
    return f"{seconds // 3600} h" if seconds >= 2 * 3600 else f"{seconds // 60} min"


def _plain(one: RunInfo | ReleaseHealth) -> dict[str, Any]:
    """In JSON's terms: moments as ISO 8601 has them, ages in seconds."""
    return {
        name: value.isoformat()
        if isinstance(value, datetime)
        else value.total_seconds()
        if isinstance(value, timedelta)
        else value
        for name, value in asdict(one).items()
    }
