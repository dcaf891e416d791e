"""The dynamic study in words, and as a table."""

from __future__ import annotations

from collections.abc import Iterator

from anondb.report.report_charts import Table
from anondb.report.words import counted
from anondb.study import dynamic_study
from anondb.study.dynamic_study import SCORES, DynamicStudy
from anondb.study.gsl_study import UTILITY, spread
from anondb.study.report import NAMES, two_digits


def summary(study: DynamicStudy) -> Iterator[str]:
    """What came out, in plain words."""
    sets = len(study.outcomes)
    yield (
        f"{counted(sets, 'set')} of {study.records:,} records, ten for each of {study.hierarchies} hierarchies, "
        "drawn from the hierarchy's own worst and best branch."
    )
    reached = dynamic_study.levels_reached(study)
    yield "Levels that were released: " + ", ".join(
        f"level {level} on {number:,} of {sets:,} sets" for level, number in reached.items()
    )
    for score in SCORES:
        for utility in UTILITY:
            found = spread(
                one.rho
                for one in dynamic_study.correlations(study)
                if (one.score, one.utility) == (score, utility)
            )
            if found is not None:
                yield f"{score} GSL and {NAMES[utility]}: {found[0]:.2f} to {found[2]:.2f}, median {found[1]:.2f}."


def correlation_table(study: DynamicStudy) -> Table:
    """A row a scenario; a column for each score and utility."""
    rows: dict[str, list[str]] = {}
    for one in dynamic_study.correlations(study):
        rows.setdefault(one.scenario, []).append(two_digits(one.rho))
    head = [f"{score}, {NAMES[utility]}" for score in SCORES for utility in UTILITY]
    return Table(["Scenario", *head], [[scenario, *cells] for scenario, cells in rows.items()])
