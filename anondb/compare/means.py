"""Trials that differ by their seed alone, as one: means, and how far they lie apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean, stdev

from anondb.compare.trial import Setting, Trial
from anondb.report.model import ComparedRun


def by_setting(trials: Iterable[Trial]) -> dict[Setting, list[int]]:
    """The places of the trials of each setting, whatever the seed, in the order of the first."""
    found: dict[Setting, list[int]] = {}
    for place, trial in enumerate(trials):
        found.setdefault(replace(trial.setting, seed=0), []).append(place)
    return found


def as_run(setting: Setting, trials: Sequence[Trial]) -> ComparedRun:
    """A setting as a report shows it: the figures of whole releases, of several seeds their means."""
    done = [trial for trial in trials if not trial.failure]
    figures = [{name: value for name, value in trial.metrics.items() if _of_release(name)} for trial in done]
    names = dict.fromkeys(name for found in figures for name in found)
    values = {name: [v for found in figures if (v := found.get(name)) is not None] for name in names}
    if len(figures) == 1:
        means: dict[str, float | None] = dict(figures[0])
    else:
        means = {name: fmean(known) if known else None for name, known in values.items()}
    return ComparedRun(
        setting.name,
        setting.k,
        len(setting.columns),
        means,
        _selected(trials, done),
        "" if done else trials[0].failure,
        setting.size,
        len(trials),
        {name: stdev(known) for name, known in values.items() if len(known) > 1},
    )


def _of_release(name: str) -> bool:
    """Whether a figure is of the whole release: not of one column, and not of the source, which is the same for all."""
    return ":" not in name and not name.endswith("_before")


def _selected(trials: Sequence[Trial], done: Sequence[Trial]) -> str:
    chosen = list(dict.fromkeys(trial.selected for trial in done))
    missing = len(trials) - len(done)
    words = chosen[0] if len(chosen) == 1 else f"{len(chosen)} different ones" if chosen else ""
    return f"{words}; {missing} of {len(trials)} gave no release" if missing and done else words
