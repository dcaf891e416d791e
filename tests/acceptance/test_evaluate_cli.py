"""anondb evaluate shows what a run kept of its utility and risk; anondb run sums it up."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from psycopg.conninfo import make_conninfo

from anondb.api import Database
from anondb.db.connection import Door
from anondb.db.vgh import store
from anondb.errors import UsageError
from anondb.run.plan import Options
from tests import toys
from tests.acceptance.clinic import COLUMNS, OTHER, Clinic, complaint, quasi
from tests.documentation import blocks

pytestmark = pytest.mark.once  # another server version would say the same


def with_key(clinic: Clinic) -> dict[str, str]:
    """The columns of a policy whose release can be linked to its source."""
    clinic.execute("alter table hospital.admissions add id int generated always as identity")
    return COLUMNS | {"id": OTHER}


def as_the_readme_grants(clinic: Clinic, role: str) -> str:
    """A role with the rights that a run needs, and how to connect as it."""
    grants = next(block for block in blocks("README.md", "sql") if "run_metric" in block)
    clinic.execute(grants.replace("nightly", "{role}"), role=role)
    clinic.execute("grant usage on schema hospital to {role}", role=role)
    clinic.execute("grant select on hospital.admissions to {role}", role=role)
    clinic.execute("grant usage, create on schema share to {role}", role=role)
    return make_conninfo(clinic.dsn, options=f"-c role={role}")


def test_a_run_shows_what_it_kept_as_tables_and_as_json(clinic: Clinic) -> None:
    privacy = 'k = 3\nl_diversity = { column = "diagnosis", l = 2 }'
    published = clinic.publish(clinic.policy(privacy=privacy))
    found = json.loads(clinic.cli("evaluate", "last", "--json").stdout)
    for same in ("run", "algorithm", "records", "released", "suppressed", "classes", "k", "metrics", "notes"):
        assert found[same] == published[same], same
    assert (found["original"], found["release"]) == (published["source"], published["target"])
    assert {figure["family"] for figure in found["figures"]} == {
        "models", "utility", "linkage", "risk", "disclosure",
    }  # fmt: skip

    shown = clinic.cli("evaluate", str(found["run"]))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert re.search(r"by text +by coverage\n +0% +12\.5%\n", shown.stdout)
    assert re.search(r"Highest risk of a record +50% +25% +lower", shown.stdout)
    assert re.search(r"l: fewest different values in a class +diagnosis +2 +higher", shown.stdout)
    assert "Semantic loss, Semantic quality, Semantic squared error: no column has concepts" in shown.stdout
    assert "By column" not in shown.stdout
    by_column = clinic.cli("evaluate", "last", "--columns").stdout
    assert by_column.startswith(shown.stdout)
    assert re.search(r"^age +45\.5% +75%", by_column, re.MULTILINE)


def test_the_text_of_a_run_sums_up_its_utility_and_risk(clinic: Clinic) -> None:
    shown = clinic.cli("run", clinic.policy()).stdout
    assert "\nutility: 72.7% of the detail is lost, discernibility 216\n" in shown
    assert "\nlinkage: 0% by text, 12.5% by coverage\n" in shown
    assert "\nprosecutor risk: 50% → 25% at most, 50% → 12.5% on average\n" in shown
    silent = clinic.cli("run", clinic.policy(), "--evaluate", "none")
    assert silent.returncode == 0
    assert "utility:" not in silent.stdout
    assert "risk:" not in silent.stdout
    assert "rand" in clinic.publish(clinic.policy(), "--evaluate", "full")["metrics"]


def test_last_is_the_last_run_that_published(clinic: Clinic) -> None:
    assert "no run has published" in complaint(clinic.cli("evaluate", "last"), 2)
    run = clinic.has_released()["run"]
    assert clinic.cli("run", clinic.policy(privacy="k = 25")).returncode == 3
    with Database(Door(clinic.dsn)) as db:
        assert (
            db.releases.evaluate().run
            == db.releases.evaluate(run).run
            == db.releases.evaluate(str(run)).run
            == run
        )


def test_a_run_that_cannot_be_shown_says_why_and_what_to_do(clinic: Clinic) -> None:
    published = clinic.has_released()["run"]
    clinic.cli("run", clinic.policy(privacy="k = 25"))
    told = complaint(clinic.cli("evaluate", str(published + 1)), 2)
    assert f"run {published + 1} failed, and released nothing: k = 25" in told
    assert f"take run {published}" in told
    with Database(Door(clinic.dsn)) as db:

        def refused(run: int | str) -> str:
            with pytest.raises(UsageError) as caught:
                db.releases.evaluate(run)
            assert caught.value.hint
            return str(caught.value)

        assert "run 99 is not in the history" in refused(99)
        for nonsense in ("first", "-1", "1.5", "", "9" * 19):
            assert "named by its number" in refused(nonsense)
        for status, words in (("running", "wait"), ("lost", "again"), ("interrupted", "again")):
            clinic.connection.execute(
                "update anondb.run set status = %s where id = %s", (status, published + 1)
            )
            assert words in refused(published + 1)
        plain = db.run(clinic.policy(), options=Options(evaluate="none")).result.run
        assert f"run {plain} was not evaluated" in refused(plain)
        assert "--evaluate" in refused(plain)
        hidden = clinic.policy(privacy="k = 3\nsuppression = 1")
        empty = db.run(hidden, options=Options(allow_empty=True, levels=(0, 0))).result
        assert empty.released == 0
        assert "nothing to evaluate" in refused(empty.run)


def test_the_tables_of_a_run_give_what_the_run_kept(clinic: Clinic) -> None:
    """While it ran, it knew the link by itself; now the key tells it."""
    policy = clinic.policy(with_key(clinic), privacy="k = 3\nsuppression = 0.2")
    with Database(Door(clinic.dsn)) as db:
        kept = db.run(policy, options=Options(levels=(2, 0), evaluate="full")).result.all_metrics()
        tables = db.releases.evaluate_tables(
            "hospital.admissions", "share.admissions", key="id", quasi=["age", "zip"], sensitive=["diagnosis"]
        ).as_json()["metrics"]
    different = {"average_class_size", "precision"}  # by the k of the policy, and by its hierarchies
    shared = {name for name in kept.keys() & tables.keys() if name.partition(":")[0] not in different}
    assert {"gen_iloss", "gen_iloss:age", "non_uniform_entropy", "record_linkage_text", "rand", "discernibility",
            "record_linkage_coverage", "prosecutor_max_before", "risk_contribution:zip",
            "attribute_disclosure_mean:diagnosis", "class_size_min"} <= shared  # fmt: skip
    assert {name: tables[name] for name in shared} == pytest.approx({name: kept[name] for name in shared})


def test_combinations_stay_codes_unless_records_are_compared_with_each_other(clinic: Clinic) -> None:
    """Joined with the texts of eight columns, a release of a million rows took longer to measure than to make."""
    basic, full = (clinic.publish(clinic.policy(), "--evaluate", how) for how in ("basic", "full"))
    steps = "select count(*) from anondb.run_step as s where s.run = %s and s.name = 'linked'"
    counts = [clinic.connection.execute(steps, (found["run"],)).fetchone() for found in (basic, full)]
    assert counts == [(0,), (1,)]
    timed = {"seconds", "bytes", "client_bytes"}
    shared = {name: value for name, value in basic["metrics"].items() if name not in timed}
    assert {name: full["metrics"][name] for name in shared} == pytest.approx(shared)
    assert "rand" in full["metrics"].keys() - basic["metrics"].keys()


def test_who_may_run_with_a_stored_hierarchy_is_not_stopped_by_what_it_may_not_measure(
    clinic: Clinic, new_role: Callable[[], str]
) -> None:
    """The grants of the README let a role read hierarchies, and not keep what their labels mean."""
    store(clinic.connection, "zip", toys.vgh(*(f"Z907{n};*" for n in range(4))))
    dsn = as_the_readme_grants(clinic, new_role())
    policy = clinic.policy(COLUMNS | {"zip": quasi('"zip"')})
    with Database(Door(dsn)) as db:
        result = db.run(policy, options=Options(evaluate="full")).result.as_json()
    assert "permission denied" in result["notes"]["sem_iloss:zip"]
    assert {"gen_iloss:zip", "record_linkage_coverage", "rand"} <= result["metrics"].keys()


def test_a_measure_that_fails_says_why_and_the_release_is_published(
    clinic: Clinic, new_role: Callable[[], str]
) -> None:
    dsn = as_the_readme_grants(clinic, new_role())
    for measure in ("anondb.linked_linkage", "anondb.risk"):
        clinic.execute(f"revoke execute on function {measure} from public")
    done = clinic.cli("run", clinic.policy(), "--json", ANONDB_DSN=dsn)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert "gen_iloss" in found["metrics"]
    for name in ("record_linkage_text", "record_linkage_coverage", "prosecutor_max"):
        assert name not in found["metrics"]
        assert "permission denied for function" in found["notes"][name]
    assert len(clinic.dump().splitlines()) == 24


def test_risks_before_are_told_of_a_release_that_is_masked_whole(clinic: Clinic) -> None:
    privacy = 'k = 24\nsuppression = 1\nsuppress = "mask"'
    found = clinic.publish(clinic.policy(privacy=privacy), "--levels", "0,0")
    assert found["suppressed"] == 24
    assert found["metrics"]["sample_uniques_before"] == 0
    assert found["metrics"]["prosecutor_mean_before"] == 12 / 24
    assert "prosecutor_mean" not in found["metrics"]
