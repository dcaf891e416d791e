"""The report of a run: made of the history alone, in one file, and without a value of a person."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anondb.api import Database
from anondb.db import run_record
from anondb.db.connection import Door
from anondb.errors import DatabaseError, UsageError
from anondb.methods.full_domain import nodes as lattice_nodes
from anondb.report import release as release_report
from anondb.run import account
from anondb.run.plan import Options
from tests.acceptance import chromium
from tests.acceptance.chromium import Chromium
from tests.acceptance.clinic import IDENTIFIER, SENSITIVE, Clinic, complaint, quasi
from tests.acceptance.test_report import OUTSIDE, READ

pytestmark = pytest.mark.once  # a page looks the same whatever the server is

pytest.importorskip("jinja2", reason="reports come with the extra `report`")
pytest.importorskip("matplotlib", reason="the charts come with the extra `report`")

# Every value of a person can be searched for. The last job has no class below the root.
PERSONS = """
create table hospital.persons (name text, age int, zip text, job text, diagnosis text);
insert into hospital.persons
select 'Qwertin' || i, 4200 + i * i % 97, 'Zipq' || 10 + i % 17,
       (array['Jobalpha', 'Jobbeta', 'Jobgamma', 'Jobdelta'])[1 + i % 4],
       (array['Sickone', 'Sicktwo', 'Sickthree'])[1 + i % 3]
from generate_series(1, 120) as i;
"""
JOBS = "Jobalpha;Trade;*\nJobbeta;Trade;*\nJobgamma;Care;*\nJobdelta;Jobdelta;*\n"
SECRETS = re.compile(r"Qwertin|Zipq|Job[a-z]|Sick|(?<![\w.])42\d\d(?![\w.])")

METHODS = {
    "datafly": ("k = 4\nsuppression = 0.1", 'algorithm = "datafly"'),
    "optimal": (
        'k = 3\nsuppression = 0.2\nl_diversity = { column = "diagnosis", l = 2 }',
        'algorithm = "optimal"\nobjective = "loss"',
    ),
    "mondrian": (
        'k = 3\nt_closeness = { column = "diagnosis", t = 0.6 }',
        'algorithm = "mondrian"',
    ),
}


@pytest.fixture
def persons(clinic: Clinic) -> Clinic:
    clinic.connection.execute(PERSONS.encode())
    (clinic.folder / "jobs.csv").write_text(JOBS)
    return clinic


def policy(clinic: Clinic, method: str) -> Path:
    columns = {
        "name": IDENTIFIER,
        "age": quasi("{ start = 0, widths = [10, 50] }"),
        "zip": quasi('{ mask = "right" }'),
        "job": quasi('{ csv = "jobs.csv" }'),
        "diagnosis": SENSITIVE,
    }
    privacy, algorithm = METHODS[method]
    return clinic.policy(columns, source="hospital.persons", privacy=privacy, method=algorithm)


def kept(clinic: Clinic) -> dict[str, Any]:
    [(found,)] = clinic.execute("select r.result -> 'report' from anondb.run as r order by r.id desc limit 1")
    return dict(found)


def counted(clinic: Clinic, table: str) -> list[list[int]]:
    """Sizes of the classes of a table, and how many have each, counted in Python."""
    rows = clinic.execute(
        "select age::text, zip, job from {s}.{t}", s=table.split(".")[0], t=table.split(".")[1]
    )
    return sorted([size, classes] for size, classes in Counter(Counter(rows).values()).items())


@pytest.mark.parametrize("method", METHODS)
def test_a_run_writes_a_report_that_names_nobody(persons: Clinic, method: str) -> None:
    done = persons.cli("run", policy(persons, method), "--report", "out.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.rstrip().endswith("report: out.html")
    page = (persons.folder / "out.html").read_text(encoding="utf-8")
    assert SECRETS.findall(page) == []
    assert SECRETS.search(persons.history()) is None
    assert not re.search(r"<script|<link|<img|<iframe|https?://(?!www\.w3\.org/)|url\((?!#)|@import", page)
    for part in (
        "Every released record looks like at least",
        "Records by the size of their class",
        "Rand index",
    ):
        assert part in page
    assert ("The lattice of generalizations" in page) == (method != "mondrian")
    model = {"optimal": "l-diversity (distinct, diagnosis)", "mondrian": "t-closeness (equal, diagnosis)"}
    assert model.get(method, "k-anonymity") in page


@pytest.mark.parametrize("method", METHODS)
def test_a_report_is_the_same_later_when_source_and_release_are_gone(persons: Clinic, method: str) -> None:
    persons.publish(policy(persons, method), "--report", "now.html")
    persons.execute("drop schema hospital, share cascade")
    for asked in ("1", "last"):
        done = persons.cli("report", asked, "--out", "later.html")
        assert (done.returncode, done.stdout, done.stderr) == (0, "report: later.html\n", "")
        assert (persons.folder / "later.html").read_bytes() == (persons.folder / "now.html").read_bytes()
    assert persons.cli("report", "1").stdout == "report: anondb-run-1.html\n"
    assert (persons.folder / "anondb-run-1.html").is_file()


def test_a_run_keeps_the_sizes_of_classes_and_why_records_are_left_out(persons: Clinic) -> None:
    persons.execute("update hospital.persons set zip = null where name = 'Qwertin1'")
    nulls = policy(persons, "datafly")
    nulls.write_text(nulls.read_text().replace("k = 4", 'k = 4\nnulls = "suppress"'))
    result = persons.has_released(nulls)
    found = kept(persons)
    for when, table in (("before", "hospital.persons"), ("after", "share.admissions")):
        assert list(map(tuple, found["sizes"][when])) == account.binned(counted(persons, table), 4)
    assert found["suppression"]["reasons"] == {
        "with a NULL in a quasi-identifier": 1,
        **({"in classes that are too small": result["suppressed"] - 1} if result["suppressed"] > 1 else {}),
    }


def test_a_run_keeps_what_is_above_the_leaves_of_a_hierarchy(persons: Clinic) -> None:
    with Database(Door(persons.dsn)) as db:
        db.run(policy(persons, "mondrian"))
    # Jobdelta stands in for its own class: nothing but the root is above it
    assert kept(persons)["trees"] == {"job": [[2, "Trade", "*"], [1, "Care", "*"], [1, "*"]]}


def test_every_node_of_a_small_lattice_is_kept_and_a_large_one_by_heights(
    persons: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Database(Door(persons.dsn)) as db:
        small = db.run(policy(persons, "optimal")).result
        nodes = kept(persons)["lattice"]["nodes"]
        assert len(nodes) == small.as_json()["lattice"]
        assert [list(small.levels.values()), "anonymous", small.as_json()["score"]] in nodes
        monkeypatch.setattr(lattice_nodes, "MOST_NODES", len(nodes) - 1)
        db.run(policy(persons, "optimal"))
        large = kept(persons)["lattice"]
        assert "nodes" not in large
        expected = Counter((sum(levels), state) for levels, state, _ in nodes)
        assert {(height, state): count for height, state, count in large["heights"]} == expected
        page = db.releases.report(file=persons.folder / "large.html").read_text(encoding="utf-8")
    assert f"{len(nodes):,} combinations of levels" in page


def test_a_chosen_node_is_told_as_chosen(clinic: Clinic) -> None:
    with Database(Door(clinic.dsn)) as db:
        db.run(clinic.policy(), options=Options(levels=(4, 4)))
    found = kept(clinic)["lattice"]
    assert [[4, 4], "anonymous", None] in found["nodes"]
    assert found["chosen"] == [4, 4]


def test_without_an_evaluation_there_is_still_a_report(clinic: Clinic) -> None:
    with Database(Door(clinic.dsn)) as db:
        release = db.run(clinic.policy(), options=Options(evaluate="none"))
        page = release.report(clinic.folder / "small.html").read_text(encoding="utf-8")
    assert "Every released record looks like at least" in page
    assert "Records by the size of their class" not in page


def test_a_report_of_a_run_that_kept_nothing_for_it_shows_the_rest(clinic: Clinic) -> None:
    clinic.has_released()
    clinic.execute("update anondb.run set result = result - 'report' - 'notes'")
    done = clinic.cli("report", "last", "--out", "old.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Every released record looks like at least" in (clinic.folder / "old.html").read_text()


def test_names_are_escaped(clinic: Clinic) -> None:
    evil = '</style><script>alert("1")</script>&amp;'
    clinic.execute(
        "create table hospital.{t} as select age as {c}, diagnosis from hospital.admissions",
        t=evil[:40],
        c=evil[:40],
    )
    columns = {evil[:40]: quasi("{ start = 0, widths = [5, 10, 20] }"), "diagnosis": SENSITIVE}
    source = f'hospital."{evil[:40].replace(chr(34), chr(34) * 2)}"'
    clinic.publish(clinic.policy(columns, source=source), "--report", "out.html")
    page = (clinic.folder / "out.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert page.count("</style>") == page.count("<style")
    assert html.escape(evil[:40], quote=False).replace('"', "&#34;") in page


@pytest.mark.parametrize("file", ["nowhere/out.html", ".", "a\0b"])
def test_a_file_that_cannot_be_written_is_refused_before_the_run(clinic: Clinic, file: str) -> None:
    with (
        clinic.unchanged(None),
        Database(Door(clinic.dsn)) as db,
        pytest.raises(UsageError, match="cannot be written") as refused,
    ):
        db.run(clinic.policy(), report=str(clinic.folder) + "/" + file)
    assert refused.value.hint
    if "\0" not in file:
        assert "cannot be written" in complaint(clinic.cli("run", clinic.policy(), "--report", file), 2)


def test_a_run_that_fails_leaves_no_report_and_an_old_one_as_it_was(clinic: Clinic) -> None:
    (clinic.folder / "old.html").write_text("old")
    for file in ("new.html", "old.html"):
        with clinic.unchanged():
            complaint(clinic.cli("run", clinic.policy(privacy="k = 25"), "--report", file), 3)
    assert not (clinic.folder / "new.html").exists()
    assert (clinic.folder / "old.html").read_text() == "old"
    assert "run 1 failed" in complaint(clinic.cli("report", "1"), 2)


@pytest.mark.parametrize("run", ["7", "0", "-1", "seven"])
def test_a_run_that_is_not_there_is_told(clinic: Clinic, run: str) -> None:
    complaint(clinic.cli("report", "--", run), 2)
    assert list(clinic.folder.glob("*.html")) == []


def test_without_the_extra_it_is_told_before_the_run(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    with Database(Door(clinic.dsn)) as db:
        release = db.run(clinic.policy())
        monkeypatch.setattr(release_report, "find_spec", lambda name: None)
        with clinic.unchanged(None), pytest.raises(UsageError, match="jinja2 and matplotlib") as refused:
            db.run(clinic.policy(), report=clinic.folder / "out.html")
        assert refused.value.hint == "pip install 'anondb[report]'"
        with pytest.raises(UsageError, match="a report needs"):
            release.report(clinic.folder / "out.html")
    assert list(clinic.folder.glob("*.html")) == []


def test_a_role_that_may_not_read_the_history_is_told_before_the_run(clinic: Clinic, new_role: Any) -> None:
    role = new_role()
    clinic.execute("grant usage on schema anondb to {role}", role=role)
    clinic.execute("grant select on anondb.run, anondb.policy, anondb.run_step to {role}", role=role)
    clinic.execute("set role {role}", role=role)
    with pytest.raises(DatabaseError):
        run_record.require_readable(clinic.connection)
    clinic.execute("reset role")
    run_record.require_readable(clinic.connection)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = chromium.installed()
    if program is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with Chromium(program, tmp_path_factory.mktemp("chromium")) as started:
        yield started


@pytest.mark.parametrize("method", METHODS)
def test_a_real_report_reads_well_in_a_browser(persons: Clinic, browser: Chromium, method: str) -> None:
    with Database(Door(persons.dsn)) as db:
        db.run(policy(persons, method), report=persons.folder / "out.html")
    for width, dark in ((375, False), (1280, True)):
        browser.window(width, dark=dark, phone=width < 500)
        browser.open(persons.folder / "out.html")
        browser.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert browser.complaints() == []
        assert browser.requests() == [(persons.folder / "out.html").as_uri()]
        assert browser.value("document.documentElement.scrollWidth") <= width
        assert browser.value(OUTSIDE) == []
        texts = browser.value(READ)
        assert [(text, ratio) for text, ratio, _ in texts if ratio < 4.5] == []
        assert [(text, size) for text, _, size in texts if size < 9] == []
