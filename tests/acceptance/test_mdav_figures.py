"""What is told of a release of sets: by the run, its report, an evaluation, a comparison, and in Python."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import cast

import pytest

from anondb.api import Database
from anondb.errors import UsageError
from anondb.run.plan import Options
from tests.acceptance.search_logs import LISTENERS, SWIMMERS, a_policy, log
from tests.conftest import Cli


@pytest.fixture
def logs(db: Database) -> Database:
    """Two classes of three; a record means nothing, and one of its class's texts does not either."""
    log(db, [*SWIMMERS, *LISTENERS[:2], ["opera", "Jazz", "xyzzy"], None])
    return db


PRIVACY = "suppression = 0.15"


def test_the_command_line_tells_of_sets_and_its_report_too(logs: Database, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "logs.toml").write_text(a_policy(privacy=PRIVACY).text)
    ran = cli("run", "logs.toml", "--report", "logs.html")
    assert ran.returncode == 0, ran.stderr
    told = " ".join(ran.stdout.split())
    assert "grouped sets of 5 different concepts; 1 of 12 texts mean none" in told
    page = unescape(re.sub(r"<[^>]+>", " ", (tmp_path / "logs.html").read_text()))
    for words in ("Released sets are synthetic", "1 text without a concept", "Semantic squared error",
                  "concepts of toy for 12 texts", "highest risk of a record"):  # fmt: skip
        assert words in page
    assert "xyzzy" not in page


def test_a_plan_has_the_statements_of_the_run(logs: Database) -> None:
    policy = a_policy(privacy=PRIVACY, city="sensitive")
    planned = re.findall(r"^-- (\w+: .*)$", logs.plan(policy), re.M)
    run = logs.run(policy).result.run
    steps = logs.connection.execute(
        "select s.stage || ': ' || s.name from anondb.run_step as s where s.run = %s order by s.seq", (run,)
    ).fetchall()
    assert [step for (step,) in steps if not str(step).startswith("prepare")] == planned


def test_figures_are_those_of_the_classes_by_hand(logs: Database) -> None:
    result = logs.run(a_policy(privacy=PRIVACY, city="sensitive")).result
    metrics = result.all_metrics()
    assert metrics["discernibility"] == 3**2 + 3**2 + 7 * 1
    assert metrics["average_class_size"] == 1
    assert (metrics["prosecutor_max_before"], metrics["prosecutor_max"]) == pytest.approx((1, 1 / 3))
    assert (metrics["sample_uniques_before"], metrics["sample_uniques"]) == (7, 0)
    # every record is of another city
    assert metrics["attribute_disclosure_mean:city"] == pytest.approx(1 / 3)
    assert result.report["sizes"] == {"before": [(1, 7)], "after": [(3, 2)]}


def test_the_figures_are_kept_with_the_run(logs: Database) -> None:
    result = logs.run(a_policy(privacy=PRIVACY)).result
    rows = logs.connection.execute(
        "select m.name, m.value from anondb.run_metric as m where m.run = %s", (result.run,)
    ).fetchall()
    kept = dict(cast(list[tuple[str, float]], rows))
    assert kept == pytest.approx(result.all_metrics())
    evaluated = logs.evaluate(result.run).as_json()
    assert evaluated["metrics"] == pytest.approx(kept)
    assert {"semantic_sse", "texts_unmapped", "prosecutor_max"} <= evaluated["metrics"].keys()


def test_a_run_that_was_not_evaluated_says_so(logs: Database) -> None:
    run = logs.run(a_policy(privacy=PRIVACY), options=Options(evaluate="none")).result.run
    with pytest.raises(UsageError, match="was not evaluated"):
        logs.evaluate(run)


JAZZ = [["loud jazz"], ["cool jazz"], ["old jazz"]] * 6


def test_classes_whose_records_have_terms_of_their_own_are_counted_by_concepts(db: Database) -> None:
    log(db, JAZZ)
    release = db.run(a_policy(k=6, method='draw = "record"'))
    assert list(release.class_sizes()) == [18]
    assert len(db.connection.execute("select distinct queries from share").fetchall()) == 3


def test_records_of_a_class_are_the_same_texts_by_default(db: Database) -> None:
    log(db, JAZZ)
    release = db.run(a_policy(k=6))
    told = db.connection.execute("select count(*) from share group by queries order by 1").fetchall()
    assert [(size,) for size in sorted(release.class_sizes())] == told
    assert db.connection.execute("select anondb.k_anonymity('share', '{queries}')").fetchone() == (
        release.result.k,
    )
    assert release.result.k >= 6
    # risk too is that of the texts that anybody can count
    assert release.metrics["prosecutor_max"] == 1 / release.result.k


@pytest.mark.parametrize(
    ("draw", "told"),
    [
        ("class", "Every released record looks like at least 5 others."),
        ("record", "Every released record means the same as at least 17 others; words may differ."),
    ],
)
def test_what_records_have_in_common_is_said_as_it_is(
    db: Database, cli: Cli, tmp_path: Path, draw: str, told: str
) -> None:
    log(db, JAZZ)
    (tmp_path / "logs.toml").write_text(a_policy(k=6, method=f'draw = "{draw}"').text)
    ran = cli("run", "logs.toml", "--report", "logs.html")
    assert told in ran.stdout, ran.stdout + ran.stderr
    page = " ".join(unescape(re.sub(r"<[^>]+>", " ", (tmp_path / "logs.html").read_text())).split())
    assert told in page


def test_sets_are_compared_by_k_and_with_no_other_algorithm(logs: Database) -> None:
    policy = a_policy(privacy=PRIVACY)
    trials = logs.compare(policy, algorithms=["mdav"], k=[2, 3, 50]).trials
    assert [trial.setting.k for trial in trials if not trial.failure] == [2, 3]
    assert all(trial.metrics["semantic_sse"] for trial in trials[:2])
    assert "k = 50 is larger than the source" in trials[2].failure
    with pytest.raises(UsageError, match="sets of texts are for mdav") as refused:
        logs.compare(policy, algorithms=["mondrian"])
    assert "--algorithms mdav" in (refused.value.hint or "")
