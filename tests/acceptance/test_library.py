"""The library on a real database: its rooms, the names that stay, and the forms of a policy."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import anondb
from anondb.api import Database
from anondb.errors import PolicyError

POLICY = {
    "source": "public.visit",
    "target": "public.released",
    "privacy": {"k": 2, "suppression": 0.25},
    "method": {"algorithm": "datafly"},
    "columns": {
        "name": {"role": "identifier"},
        "job": {"role": "quasi", "hierarchy": "job"},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    },
}
JOBS = "nurse;care;*\ncarer;care;*\nbaker;trade;*\n"
STAYING = {
    "load_vgh": "hierarchies.load",
    "build_vgh": "hierarchies.build",
    "rank_vghs": "hierarchies.rank",
    "keep_vgh": "hierarchies.keep",
    "score": "hierarchies.score",
    "generate": "synthetic.generate",
    "generate_grid": "synthetic.grid",
    "learn": "synthetic.learn",
    "evaluate": "releases.evaluate",
    "evaluate_tables": "releases.evaluate_tables",
    "report": "releases.report",
    "compare": "releases.compare",
}


@pytest.fixture
def visits(db: Database, tmp_path: Path) -> Database:
    (tmp_path / "job.csv").write_text(JOBS)
    db.hierarchies.load("job", tmp_path / "job.csv")
    db.connection.execute("create table visit (name text, job text, zip text)")
    db.connection.execute(
        "insert into visit select 'n' || i, (array['nurse', 'carer', 'baker'])[1 + i % 3], '1' || i % 2"
        " from generate_series(1, 24) as i"
    )
    return db


def test_a_run_takes_a_policy_in_every_form(visits: Database, tmp_path: Path) -> None:
    policy = anondb.Policy.from_dict(POLICY)
    file = tmp_path / "visit.toml"
    file.write_text(policy.text)
    releases = [visits.run(form) for form in (policy, POLICY, file, str(file), policy.text)]
    assert [release.result.levels for release in releases] == [releases[0].result.levels] * 5
    kept = visits.connection.execute("select distinct p.body from anondb.policy as p").fetchall()
    assert kept == [(policy.text,)]  # the history knows one policy, as TOML
    # a plan names the new table at random, so that two plans are alike in all but these names
    plans = [visits.plan(form) for form in (policy, POLICY, file, policy.text)]
    assert len({re.sub("[0-9a-f]{8,}", "…", plan) for plan in plans}) == 1
    assert len(visits.lattice(POLICY).nodes) == len(visits.lattice(file).nodes) > 0
    assert visits.releases.compare(POLICY, algorithms=["datafly"]).policy == policy
    with pytest.raises(PolicyError, match="k must be"):
        visits.run({**POLICY, "privacy": {"k": 0}})


def test_the_history_lists_runs_newest_first(visits: Database) -> None:
    assert visits.releases.runs() == []
    first = visits.run(POLICY)
    with pytest.raises(anondb.UnsatisfiableError):
        visits.run({**POLICY, "privacy": {"k": 100}})
    failed, done = visits.releases.runs()
    assert (done.run, done.status, done.error) == (first.result.run, "done", None)
    assert (failed.status, bool(failed.error)) == ("failed", True)
    assert failed.started_at > done.started_at
    assert visits.releases.runs(limit=1) == [failed]
    assert visits.releases.runs(done.target) == [failed, done]
    assert visits.releases.runs("public.other") == []
    assert visits.releases.evaluate().run == done.run


def test_an_exported_hierarchy_can_be_loaded_again(visits: Database, tmp_path: Path) -> None:
    (tmp_path / "again.csv").write_text(visits.hierarchies.export("job"))
    visits.load_vgh("again", tmp_path / "again.csv")
    assert visits.hierarchies.show("again") == visits.hierarchies.show("job")
    assert [info.name for info in visits.hierarchies.list()] == ["again", "job"]
    visits.hierarchies.drop("again")
    assert [info.name for info in visits.hierarchies.list()] == ["job"]


@pytest.mark.parametrize(("name", "place"), STAYING.items())
def test_a_name_of_the_documentation_is_the_method_of_a_room(name: str, place: str) -> None:
    room, _, method = place.partition(".")
    full = getattr(getattr(anondb.api, room.capitalize()), method)
    kept = getattr(Database, name)
    assert inspect.signature(kept) == inspect.signature(full)
    assert kept.__doc__ == f"The same as `db.{place}`."


def test_a_name_that_stays_answers_as_its_room_does(visits: Database) -> None:
    visits.run(POLICY)
    assert visits.evaluate("last").as_json() == visits.releases.evaluate("last").as_json()
    assert visits.generate("insurance", 5, "public.one") == visits.synthetic.generate(
        "insurance", rows=5, table="public.two"
    )
