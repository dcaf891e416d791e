"""anondb compare: every algorithm with every k on the same data, side by side."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anondb.api import connect
from anondb.cli.options import Dsn, Json, PolicyFile, Public, TimeLimit, require_possible_files
from anondb.cli.output import RunProgress, echo_json, out, plain, table, write
from anondb.compare.ranking import CRITERIA, read_weights
from anondb.errors import UnsatisfiableError, UsageError
from anondb.evaluation.metrics import describe
from anondb.methods.registry import COMPARED, GUIDED
from anondb.policy.load import load
from anondb.report.words import formatted
from anondb.run.plan import Options

if TYPE_CHECKING:
    from anondb.compare.comparison import Trials
    from anondb.compare.trial import Setting
    from anondb.report.model import ComparedRun

# those of many figures that fit a terminal; one that no trial has is left out
_SHOWN = {
    "seconds": "seconds",
    "classes": "classes",
    "suppressed": "suppressed",
    "gen_iloss": "loss",
    "sem_iloss": "semantic loss",
    "semantic_sse": "squared error",
    "prosecutor_mean": "risk",
    "record_linkage_coverage": "linkage",
    "information_loss": "links lost",
    "dot": "diversity",
}
# what the authors of fusion and mdav compare their variants by
_SHOWN_OF_VARIANTS = {
    "seconds": "seconds",
    "classes": "classes",
    "semantic_quality": "meaning left",
    "semantic_sse": "SSE",
    "discernibility": "discernibility",
    "record_linkage_text": "linkage",
    "partition_distance": "clusters apart",
}
_MOST_NUMBERS = 1_000


class Evaluated(StrEnum):
    BASIC = "basic"
    FULL = "full"


def compare(
    policy: PolicyFile,
    dsn: Dsn = None,
    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help=f"The algorithms to compare.  [default: {','.join(COMPARED)}; with --variants the policy's]",
            show_default=False,
        ),
    ] = None,
    variants: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="The variants to compare, of algorithms that have any.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[
        str | None,
        typer.Option(
            "--k", metavar="2,5,10", help="The k to try.  [default: the policy's]", show_default=False
        ),
    ] = None,
    quasi: Annotated[
        str | None,
        typer.Option(
            metavar="1..5",
            help="How many quasi-identifiers to try: the first ones of the policy; the others are not released.  "
            "[default: all]",
            show_default=False,
        ),
    ] = None,
    guide: Annotated[
        bool,
        typer.Option(
            "--guide",
            help="Try each algorithm in all its ways, and recommend one.  "
            f"[algorithms then: {','.join(GUIDED)}]",
        ),
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Begin no trial after that, and end each search by then.",
            show_default=False,
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="5000,10000,…",
            help="Try so many rows of the source, drawn by a seed.  [default: all]",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Try all N times with other draws; means and deviations are shown."
        ),
    ] = 1,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="loss=40,risk=40,…",
            help=f"Rank the algorithms by several criteria at once: {', '.join(CRITERIA)}.",
            show_default=False,
        ),
    ] = None,
    evaluate: Annotated[
        Evaluated, typer.Option(help="full: also clusterings, and linkage by distance.")
    ] = Evaluated.BASIC,
    as_json: Json = False,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE.csv", help="Write every metric, one line a trial.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="Write a report with charts.")
    ] = None,
    public: Public = False,
    time_limit: TimeLimit = None,
) -> None:
    """Try algorithms side by side on your own data: time, loss, risk. Nothing is published.

    Each combination is a whole run, on the data of one moment, whose release
    is evaluated and undone. What cannot run says why. --time-limit is for each
    search.

    Examples:

      anondb compare admissions.toml --guide --budget 300 --report compared.html

      anondb compare admissions.toml --k 2,5,10,50

      anondb compare admissions.toml --algorithms optimal,mondrian --quasi 1..5 --report compared.html

      anondb compare admissions.toml --sizes 5000,10000,20000 --seeds 5 --weights loss=40,risk=40,time=20

      anondb compare visits.toml --variants semantic,distributional,random --k 2..15 --evaluate full
    """
    loaded = load(policy)
    names, words = (
        None if text is None else [name.strip() for name in text.split(",")]
        for text in (algorithms, variants)
    )
    numbers = [
        None if text is None else _numbers(text, option)
        for text, option in ((k, "--k"), (quasi, "--quasi"), (sizes, "--sizes"))
    ]
    shares = None if weights is None else read_weights(weights)
    options = Options(evaluate=evaluate.value, time_limit=time_limit)
    require_possible_files(csv, report)
    with connect(dsn) as db, _Progress() as progress:
        comparison = db.releases.compare(
            loaded,
            algorithms=names,
            k=numbers[0],
            quasi=numbers[1],
            variants=words,
            ways=guide,
            budget=budget,
            sizes=numbers[2],
            seeds=seeds,
            weights=shares,
            options=options,
            listener=progress,
        )
    if csv is not None:
        write(comparison.to_csv(), csv)
    if report is not None:
        write(comparison.html(), report)
    if as_json:
        echo_json(comparison.as_json())
    else:
        _print(comparison)
    if all(run.failure for run in comparison.runs):
        raise typer.Exit(UnsatisfiableError.exit_code)


class _Progress(RunProgress):
    """A progress bar over the trials."""

    _doing = ""

    def trial(self, setting: Setting, number: int, of: int) -> None:
        self.update(total=of, completed=number - 1, description=f"{number} of {of}")
        self._doing = f"{setting.name}, k = {setting.k}, {len(setting.columns)} columns"
        if setting.size is not None:
            self._doing += f", {setting.size:,} rows"

    def stage(self, name: str) -> None:
        self.update(doing=f"{self._doing}: {name}")


def _numbers(text: str, option: str) -> list[int]:
    """The numbers of a list; `2..5` stands for all from 2 to 5."""
    numbers: list[int] = []
    try:
        for part in text.split(","):
            first, dots, last = part.partition("..")
            low = int(first)
            high = int(last) if dots else low
            if not 0 <= high - low < _MOST_NUMBERS:
                raise ValueError
            numbers.extend(range(low, high + 1))
    except ValueError:
        raise UsageError(
            f"{option} takes whole numbers with commas between them, or a range",
            hint=f"for example {option} 2,5,10, or {option} 1..5",
        ) from None
    return numbers


def _print(comparison: Trials) -> None:
    runs = comparison.runs
    varied = any(trial.setting.variant is not None for trial in comparison.trials)
    heads = _SHOWN_OF_VARIANTS if varied else _SHOWN
    shown = [name for name in heads if any(run.metrics.get(name) is not None for run in runs)]
    several = len({run.quasi for run in runs}) > 1
    sized = any(run.size is not None for run in runs)
    columns = [*[">columns"] * several, *[">rows"] * sized]
    listing = table("algorithm", ">k", *columns, *(f">{heads[name]}" for name in shown), "generalization")
    for run in runs:
        cells = [
            plain(run.algorithm),
            f"{run.k:,}",
            *[str(run.quasi)] * several,
            *[f"{run.size or 0:,}"] * sized,
        ]
        cells += [_figure(run, name) for name in shown]
        listing.add_row(*cells, plain(run.failure or run.selected), style="dim" if run.failure else "")
    out.print(listing)
    for advice in comparison.guidance:
        out.print(f"\n{plain(advice)}")
    ignored = {(trial.setting.algorithm, text): None for trial in comparison.trials for text in trial.ignored}
    for _, text in ignored:
        out.print(f"\nnot compared: {plain(text)}", style="dim")


def _figure(run: ComparedRun, name: str) -> str:
    value, deviation = (
        None if found is None else round(found, 2) if name == "seconds" else found
        for found in (run.metrics.get(name), run.deviations.get(name))
    )
    unit = describe(name).format
    text = formatted(value, unit)
    return text if deviation is None else f"{text} ± {formatted(deviation, unit)}"
