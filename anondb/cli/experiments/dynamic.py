"""anondb experiment gsl --study dynamic: scores that know the frequencies of the data, beside those that do not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anondb.cli.experiments.options_and_tables import show_table, watched, write_csv
from anondb.cli.output import echo_json, out
from anondb.errors import UsageError

if TYPE_CHECKING:
    from anondb.study.dynamic_study import DynamicStudy


def only_dynamic(fits: bool) -> None:
    if not fits:
        raise UsageError(
            "the dynamic study draws its own data, and has no report",
            hint="leave --table, --column, --set, --report and --clusterings out; --json and --out have every figure",
        )


def dynamic(
    dsn: str | None,
    hierarchies: int,
    measure: str,
    suppression: float,
    seed: int,
    heuristic: str | None,
    file: Path | None,
    *,
    as_json: bool,
) -> None:
    from anondb.study import dynamic_study
    from anondb.study.dynamic_experiment import DynamicRequest

    request = DynamicRequest(hierarchies, measure, suppression, seed, heuristic)
    study = watched(dsn, lambda db, listener: db.dynamic_experiment(request, listener))
    if file is not None:
        write_csv(dynamic_study.rows(study), file)
    if as_json:
        echo_json(dynamic_study.as_json(study))
    else:
        _print(study)


def _print(study: DynamicStudy) -> None:
    from anondb.study.dynamic_report import correlation_table, summary

    for sentence in summary(study):
        out.print(sentence, soft_wrap=True)
    show_table("Spearman's correlation of score and loss, by scenario", correlation_table(study))
