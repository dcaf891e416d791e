"""What to take: the trials that no other beats in both loss and risk, and one of them that is recommended."""

from __future__ import annotations

from collections.abc import Sequence

from anondb.report.model import ComparedRun
from anondb.report.words import percent, setting

LOSS, RISK = "gen_iloss", "prosecutor_mean"
NEAR = 0.01
"""Of the detail: what loses so little more is as good, and the lower risk decides."""


def front(runs: Sequence[ComparedRun]) -> tuple[ComparedRun, ...]:
    """The Pareto front: the runs of which none has less loss and no more risk, or less risk and no more loss."""
    known = [run for run in runs if measured(run) is not None]
    return tuple(run for run in known if not any(_beats(other, run) for other in known))


def recommended(runs: Sequence[ComparedRun]) -> ComparedRun | None:
    """What loses least, in one setting; within a hundredth the lowest risk, then the least time."""
    known = [(found[0], run) for run in runs if (found := measured(run)) is not None]
    if len(known) < 2 or len({(run.k, run.quasi, run.size) for _, run in known}) > 1:
        return None
    least = min(loss for loss, _ in known)
    near = [run for loss, run in known if loss <= least + NEAR]
    return min(near, key=lambda run: (run.metrics[RISK] or 0.0, run.metrics.get("seconds") or 0.0))


def sentence(runs: Sequence[ComparedRun]) -> str | None:
    """The recommendation in words, with what it costs."""
    chosen = recommended(runs)
    if chosen is None:
        return None
    loss, risk = measured(chosen) or (0.0, 0.0)
    others = [found[0] for run in runs if run is not chosen and (found := measured(run)) is not None]
    suppressed, seconds = chosen.metrics.get("suppressed") or 0.0, chosen.metrics.get("seconds") or 0.0
    return (
        f"Recommended: {chosen.algorithm} at {setting(chosen)}. It gives up {percent(loss)} of the detail, where "
        f"others give up {percent(min(others))} to {percent(max(others))}; the mean risk is {percent(risk)}, "
        f"{suppressed:,.0f} records are suppressed, and it took {seconds:.1f} seconds."
    )


def measured(run: ComparedRun) -> tuple[float, float] | None:
    """Loss and risk, where both are known."""
    loss, risk = run.metrics.get(LOSS), run.metrics.get(RISK)
    return None if run.failure or loss is None or risk is None else (loss, risk)


def _beats(one: ComparedRun, other: ComparedRun) -> bool:
    mine, yours = measured(one), measured(other)
    assert mine is not None
    assert yours is not None
    return mine != yours and mine[0] <= yours[0] and mine[1] <= yours[1]
