"""What a comparison hands out: its trials side by side, as JSON, CSV, a frame, a report, and in plain words."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anondb import files
from anondb.compare.guidance import guidance
from anondb.compare.means import as_run, by_setting
from anondb.compare.ranking import Rank, ranking
from anondb.compare.ranking import sentence as ranked_in_words
from anondb.compare.tradeoff import front, recommended, sentence
from anondb.report.model import ComparedRun, Comparison, ReportData

if TYPE_CHECKING:
    import pandas

    from anondb.compare.trial import Setting, Trial
    from anondb.policy.model import Policy

_FIRST = (
    "algorithm",
    "variant",
    "way",
    "k",
    "quasi",
    "size",
    "seed",
    "columns",
    "selected",
    "failure",
    "ignored",
)


@dataclass(frozen=True)
class Trials:
    """The trials of a comparison, in the order in which they were made."""

    policy: Policy
    trials: tuple[Trial, ...]
    weights: Mapping[str, float] = field(
        default_factory=dict
    )  # of the criteria that rank them, as shares of one

    @cached_property
    def runs(self) -> tuple[ComparedRun, ...]:
        """The trials as a report shows them: those that differ by their seed alone are one."""
        return tuple(
            as_run(setting, [self.trials[place] for place in places])
            for setting, places in self._settings.items()
        )

    @cached_property
    def _settings(self) -> dict[Setting, list[int]]:
        return by_setting(self.trials)

    @property
    def ranking(self) -> tuple[Rank, ...]:
        """The algorithms by the weighted criteria, best first; nothing without weights."""
        return ranking(self.runs, self.weights) if self.weights else ()

    @property
    def guidance(self) -> tuple[str, ...]:
        """Which algorithm fits, by what was measured; and what a run would not release."""
        kept = (
            column
            for trial in self.trials
            if trial.result
            for column in trial.result.kept
            if column.identifies
        )
        advice = sentence(self.runs)
        ranked = (ranked_in_words(self.ranking, self.weights),) if self.weights else ()
        first = (*ranked, *(() if advice is None else (advice,)))
        return (*first, *guidance(self.runs), *{column.column: column.sentence for column in kept}.values())

    def as_json(self) -> dict[str, Any]:
        """The object that `anondb compare --json` prints."""
        firsts = [places[0] for places in self._settings.values()]
        return {
            "source": str(self.policy.source),
            "trials": [trial.as_json() for trial in self.trials],
            "guidance": list(self.guidance),
            "recommended": None
            if (best := recommended(self.runs)) is None
            else firsts[self.runs.index(best)],
            "front": [firsts[self.runs.index(run)] for run in front(self.runs)],
            "weights": dict(self.weights),
            "ranking": [vars(rank) for rank in self.ranking],
            "means": [
                {
                    "trials": places,
                    "figures": dict(run.metrics),
                    "deviations": dict(run.deviations),
                }
                for run, places in zip(self.runs, self._settings.values(), strict=True)
                if run.seeds > 1
            ],
        }

    def rows(self) -> list[dict[str, Any]]:
        """One row a trial, with every figure; all have the same keys."""
        names = list(dict.fromkeys(name for trial in self.trials for name in trial.metrics))
        return [
            dict(zip(_FIRST, _first(trial), strict=True)) | _metrics(trial, names) for trial in self.trials
        ]

    def to_csv(self) -> str:
        """One line a trial; what is not known is empty."""
        rows, text = self.rows(), io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]) if rows else _FIRST, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def to_frame(self) -> pandas.DataFrame:
        from anondb.report import frames

        return frames.of_records(self.rows())

    def report(self, path: Path | str) -> None:
        """Writes one HTML file with charts, every figure and the guidance."""
        files.write(path, self.html())

    def html(self) -> str:
        """The text of the HTML report."""
        from anondb.report import html

        return html.render(
            ReportData(
                f"Comparison on {self.policy.source}",
                policy=self.policy.text,
                comparison=Comparison(self.runs, self.guidance, front(self.runs), recommended(self.runs)),
                package=version("anondb"),
            )
        )


def _first(trial: Trial) -> Iterator[Any]:
    setting = trial.setting
    yield from (
        setting.algorithm,
        setting.variant or "",
        setting.way or "",
        setting.k,
        len(setting.columns),
        setting.size,
        setting.seed,
        ", ".join(setting.columns),
    )
    yield from (trial.selected, trial.failure, "; ".join(trial.ignored))


def _metrics(trial: Trial, names: list[str]) -> dict[str, float | None]:
    return {name: trial.metrics.get(name) for name in names}
