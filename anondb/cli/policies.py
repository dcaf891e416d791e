"""anondb plan and anondb run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from anondb.api import connect
from anondb.cli.metrics import summary
from anondb.cli.options import Checks, Dsn, Json, PolicyFile, Public, TimeLimit
from anondb.cli.output import RunProgress, echo, echo_json, out, plain, table
from anondb.errors import NoColumnsError, UsageError
from anondb.models.k_anonymity import KAnonymity
from anondb.models.registry import without_k
from anondb.models.star_matches import StarMatches
from anondb.policy.check import written
from anondb.policy.load import load
from anondb.policy.model import Policy
from anondb.report.exposure import exposure
from anondb.report.forms import form_sentences
from anondb.run.plan import Options
from anondb.run.result import Result


class Evaluate(StrEnum):
    BASIC = "basic"
    FULL = "full"
    NONE = "none"


def plan(policy: PolicyFile, dsn: Dsn = None) -> None:
    """Print the whole SQL that `run` would send, and touch nothing.

    Example: anondb plan admissions.toml | less
    """
    loaded = read_policy(policy, dsn)
    with connect(dsn) as db:
        echo(db.plan(loaded, replace=True))


def run(
    policy: PolicyFile,
    dsn: Dsn = None,
    as_json: Json = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite a target that anondb did not make.")
    ] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Publish even if no record is released.")
    ] = False,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Name values that are outside a hierarchy (they are data).")
    ] = False,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="1,0,2",
            help="Publish this node: a level for each quasi-identifier, in the policy's order.",
        ),
    ] = None,
    replan: Annotated[
        bool,
        typer.Option("--replan", help="Search again, where a release of this policy keeps its levels."),
    ] = False,
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Begin a new series: earlier releases can be compared with this one."),
    ] = False,
    time_limit: TimeLimit = None,
    checks: Checks = None,
    evaluate: Annotated[
        Evaluate,
        typer.Option(help="Which metrics of utility and risk to keep; full also compares every two records."),
    ] = Evaluate.BASIC,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Evaluate in full, and write a report for people."),
    ] = None,
    public: Public = False,
    lock_timeout: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="How long to wait for readers of the old release.", min=0.001),
    ] = Options.lock_timeout,
    lock_source: Annotated[
        bool,
        typer.Option("--lock-source", help="Nobody writes to the source until the run ends (SHARE lock)."),
    ] = False,
    work_mem: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory of the server for one sort or hash.")
    ] = Options.work_mem,
) -> None:
    """Publish a release that satisfies the policy.

    It is written beside the target, verified from its own rows, and swapped in,
    all in one transaction: whatever goes wrong, the old release stays as it was.

    Examples:

      anondb run admissions.toml --json --dsn service=clinic

      anondb run admissions.toml --report admissions.html

      anondb run admissions.toml --levels 1,0,2   (anondb lattice shows which there are)

    Exit codes: 0 done, 2 the policy or the call is wrong or does not fit the
    database, 3 no release can satisfy the policy, 4 the database could not be
    reached or refused, 5 another run holds the target, 129, 130 or 143
    interrupted, 1 anything else.
    """
    loaded = read_policy(policy, dsn)
    options = Options(
        replace=replace,
        allow_empty=allow_empty,
        show_values=show_values,
        lock_timeout=lock_timeout,
        work_mem=work_mem,
        lock_source=lock_source,
        levels=None if levels is None else _levels(levels),
        time_limit=time_limit,
        checks=checks,
        evaluate=evaluate,
        replan=replan,
        restart=restart,
    )
    with connect(dsn) as db, RunProgress() as progress:
        result = db.run(loaded, options=options, listener=progress, report=report).result
    if as_json:
        echo_json(result.as_json())
    else:
        print_result(result)
        if report is not None:
            out.print(f"\nreport: {report}", markup=False, soft_wrap=True)


def read_policy(file: Path, dsn: str | None) -> Policy:
    """The policy in a file; one with an empty [columns] is answered with the columns that the table has."""
    try:
        return load(file)
    except NoColumnsError as error:
        with connect(dsn) as db:
            there = db.columns(error.source)
        listed = [f'{written(name)} = {{ role = "…" }}  # {plain(kind)}' for name, kind in there.items()]
        hint = f"anondb draft {error.source} proposes them; {error.source} has\n[columns]\n" + "\n".join(
            listed
        )
        raise UsageError(error.problems[0].place + ": no column is named", hint=hint) from None


def _levels(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(level) for level in text.split(","))
    except ValueError:
        raise UsageError(
            "--levels takes whole numbers with commas between them", hint="for example --levels 1,0,2"
        ) from None


def print_result(result: Result) -> None:
    """The report of a run on the terminal."""
    for warning in result.warnings:
        out.print(f"warning: {plain(warning)}.", soft_wrap=True)
    out.print(
        f"[bold]{plain(result.target)}[/bold] is published: {result.released:,} records in "
        f"{result.classes:,} classes."
    )
    if result.tables:
        told = result.finding.promised(result) or _without_k(result)
        out.print(f"Its tables are {' and '.join(map(plain, result.tables))}. {plain(told)}", soft_wrap=True)
    elif (matched := result.metrics.get("star_matches_min")) is not None:
        out.print(StarMatches.sentence(matched, f"{matched}", None, None))
        out.print(StarMatches.beside(result.k))
    elif result.released:
        out.print(KAnonymity.sentence(result.k, f"{result.k}", None, _variant(result)))
    for kept in result.kept:
        out.print(f"{'' if kept.identifies else 'warning: '}{plain(kept.sentence)}", soft_wrap=True)
    for pseudonym in result.linked:
        out.print(plain(pseudonym.sentence), soft_wrap=True)
    for sentence in form_sentences(result.forms.items()):
        out.print(plain(sentence), soft_wrap=True)
    share = result.suppressed / result.records if result.records else 0.0
    out.print(f"{result.suppressed:,} of {result.records:,} records ({share:.2%}) are suppressed.")
    for line in over_time(result.series):
        out.print(line)
    if result.against:
        others = ", ".join(result.against["releases"])
        fewest = result.against["fewest"]
        out.print(
            f"Together with {plain(others)}: at least {fewest:,} persons share all their classes.",
            soft_wrap=True,
        )
    if result.released:
        models = {(model["kind"], model.get("column")) for model in result.report.get("models", ())}
        for heading, fact in exposure(result.columns, result.surest_guess, models):
            out.print(f"{heading}: {plain(fact)}.", soft_wrap=True)
    out.print()
    if result.levels:
        levels = table("column", ">level", ">of")
        for column, level in result.levels.items():
            levels.add_row(plain(column), str(level), str(result.heights[column]))
        out.print(levels)
    elif shape := result.finding.shape():
        out.print(plain(shape))
    sizes = result.metrics
    out.print(
        f"\nclass sizes: {sizes['class_size_min']:.0f} smallest, {sizes['class_size_mean']:.1f} mean, "
        f"{sizes['class_size_max']:.0f} largest"
    )
    way, *more = result.finding.way(result)
    for line in (f"run {result.run}: {way}", *more):
        out.print(plain(line))
    for line in summary(result.metric_values):
        out.print(line)
    out.print()
    timing = table("stage", *(f">{stage}" for stage in result.seconds))
    timing.add_row("seconds", *(f"{seconds:.2f}" for seconds in result.seconds.values()))
    out.print(timing)


def over_time(series: Mapping[str, Any]) -> Iterator[str]:
    """How a release follows the one before it."""
    if series.get("release", 1) < 2 or "entered" not in series:
        return
    yield (
        f"Release {series['release']} of its series: {series['entered']:,} records are new, {series['left']:,} are "
        f"left out, {series['moved']:,} have moved together."
    )
    yield (
        f"{series['waiting']:,} wait until they are enough; {series['departed']:,} have left, and stay until enough "
        f"have; {series['withheld']:,} are withheld."
    )


def _without_k(result: Result) -> str:
    return without_k((model["kind"], model.get("variant")) for model in result.report.get("models", ()))


def _variant(result: Result) -> str | None:
    """What k counts: persons where the policy names a unit, and what records mean where their words differ."""
    if "persons_min" in result.metrics:
        return "persons"
    models = result.report.get("models", ())
    return next((model.get("variant") for model in models if model["kind"] == KAnonymity.name), None)
