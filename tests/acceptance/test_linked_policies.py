"""Policies of linked tables: what is wrong with one is told, a failure leaves all tables, and a swap swaps all."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from anondb.api import Database
from anondb.db.connection import Connection
from anondb.errors import AnondbError, BusyError, PolicyError, UnsatisfiableError, UsageError
from anondb.policy.accept import from_dict
from anondb.run.plan import Options

HOSPITAL = """
create schema hospital;
create schema share;
create schema other;
create table hospital.patients (patient_id int, name text, sex text, age int);
insert into hospital.patients
select i, 'P' || i, (array['f', 'm'])[1 + i % 2], 20 + i % 4 from generate_series(1, 40) as i;
create table hospital.visits (visit_id int, patient_id int, ward text, diagnosis text);
insert into hospital.visits
select i, 1 + i % 40, (array['a', 'b'])[1 + i / 40 % 2], (array['flu', 'ulcer', 'gout'])[1 + i % 3]
from generate_series(1, 120) as i;
"""
PSEUDONYM, LEFT_OUT = {"role": "pseudonym"}, {"role": "identifier"}
MASK = {"role": "quasi", "hierarchy": {"mask": "all"}}
POLICY: dict[str, Any] = {
    "privacy": {"k": 3, "unit": "patient_id"},
    "method": {"algorithm": "datafly"},
    "table": [
        {
            "source": "hospital.patients",
            "target": "share.patients",
            "columns": {"patient_id": PSEUDONYM, "name": LEFT_OUT, "sex": MASK, "age": MASK},
        },
        {
            "source": "hospital.visits",
            "target": "other.visits",
            "parent": {"table": "share.patients", "key": {"patient_id": "patient_id"}},
            "columns": {
                "visit_id": LEFT_OUT,
                "patient_id": PSEUDONYM,
                "ward": MASK,
                "diagnosis": {"role": "sensitive"},
            },
        },
    ],
}


@pytest.fixture
def hospital(db: Database, connection: Connection) -> Database:
    connection.execute(HOSPITAL.encode())
    return db


def changed(**paths: Any) -> dict[str, Any]:
    """The policy with some keys changed: `table_1__parent={…}`; None takes a key out."""
    policy = copy.deepcopy(POLICY)
    for path, value in paths.items():
        at: Any = policy
        *way, last = path.split("__")
        for step in way:
            at = at["table"][int(step[6:])] if step.startswith("table_") else at[step]
        if value is None:
            del at[last]
        else:
            at[last] = value
    return policy


def circle() -> dict[str, Any]:
    policy = changed()
    third = copy.deepcopy(policy["table"][1]) | {"source": "hospital.other", "target": "share.third"}
    third["parent"] = {"table": "other.visits", "key": {"patient_id": "patient_id"}}
    policy["table"][1]["parent"] = {"table": "share.third", "key": {"patient_id": "patient_id"}}
    return {**policy, "table": [*policy["table"], third]}


WRONG = {
    "a cycle of parents": (circle(), "go in a circle: other.visits → share.third → other.visits"),
    "no table of persons": (
        changed(table_0__parent={"table": "other.visits", "key": {"patient_id": "patient_id"}}),
        "no table is without a parent",
    ),
    "two tables of persons": (changed(table_1__parent=None), "2 tables are without a parent"),
    "an unknown parent": (changed(table_1__parent__table="share.patient"), "is no target of this policy"),
    "an unknown key": (changed(table_1__parent__key={"patient": "patient_id"}), 'has no column "patient"'),
    "a key that is not released": (
        changed(table_1__columns__patient_id=LEFT_OUT),
        "a released row would not say whose it is",
    ),
    "keys of other released types": (
        changed(table_1__columns__patient_id={"role": "pseudonym", "type": "text"}),
        "have other types",
    ),
    "two tables with the same target": (
        changed(table_1__target="share.patients"),
        "target share.patients stands in two",
    ),
    "the same source under two roles": (
        changed(table_1__source="hospital.patients"),
        "source hospital.patients stands in two tables",
    ),
    "a table without a quasi-identifier": (
        changed(table_1__columns__ward=LEFT_OUT),
        "no column is a quasi-identifier",
    ),
    "no unit": (changed(privacy__unit=None), "unit is missing"),
    "a unit of the table below": (changed(privacy__unit="ward"), 'share.patients has no column "ward"'),
    "a unit that persons share": (changed(privacy__unit="sex"), "names the persons, and has the role quasi"),
    "no k": (changed(privacy__k=None), "k is missing"),
    "too much knowledge": (changed(privacy__knows=3), 'must be 0, 1, 2 or "all", not 3'),
    "changes over time": (changed(privacy__changes="hold"), "those of several are not followed over time"),
    "those who leave": (changed(privacy__leavers="drop"), "leavers is of one table: persons of several"),
    "a key over time": (changed() | {"key": "patient_id"}, 'unknown key "key"'),
    "masks": (changed(privacy__suppress="mask"), "whole persons or rows are left out"),
    "rows of all": (
        changed(privacy__suppress="rows", privacy__knows="all"),
        "none can be left out without changing what is known",
    ),
    "a budget of nothing": (changed(privacy__suppression_rows=0.1), "persons are left out as a whole"),
    "mondrian": (changed(method__algorithm="mondrian"), "a person of several tables is in many at once"),
    "incognito": (changed(method__algorithm="incognito"), "concludes from subsets of the columns"),
    "an objective of classes": (
        changed(method={"algorithm": "optimal", "objective": "classes"}),
        "counts the classes of one table",
    ),
    "weights of nothing": (
        changed(method={"algorithm": "optimal", "weights": {"wart": 2}}),
        'no quasi-identifier is called "wart"',
    ),
    "closeness below": (
        changed(privacy__t_closeness={"column": "diagnosis", "t": 0.2}),
        "only l-diversity of distinct values is defined for it",
    ),
    "a model of no column": (changed(privacy__l_diversity={"column": "x", "l": 2}), 'no table has a column "x"'),
    "another model": (
        changed(privacy__beta_likeness={"column": "diagnosis", "beta": 2}),
        "a demand on classes of one table",
    ),
    "one table, and what several have": (
        {**changed(privacy__knows=1), "table": POLICY["table"][:1]},
        "knows is for several tables",
    ),
    "tables, and a source at the top": (changed() | {"source": "hospital.patients"}, 'unknown key "source"'),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_between_tables_is_told(wrong: str) -> None:
    policy, message = WRONG[wrong]
    with pytest.raises(PolicyError) as refused:
        from_dict(policy)
    assert message in str(refused.value)
    assert all(problem.hint for problem in refused.value.problems)


BROKEN = {
    "a key that is not unique": (
        "insert into hospital.patients select * from hospital.patients as p where p.patient_id = 7",
        "1 persons have several rows in hospital.patients",
    ),
    "a visit without a patient": (
        "insert into hospital.visits values (200, 99, 'a', 'flu')",
        "1 row of hospital.visits has no parent in hospital.patients",
    ),
    "a visit of nobody": (
        "insert into hospital.visits values (200, null, 'a', 'flu')",
        "1 row of hospital.visits has no parent in hospital.patients",
    ),
    "a patient without a number": (
        "insert into hospital.patients values (null, 'X', 'f', 20)",
        '1 row of hospital.patients names nobody: "patient_id" is NULL',
    ),
    "keys of different types": (
        "alter table hospital.visits alter column patient_id type text",
        '"patient_id" is text, and "patient_id" of the parent is integer',
    ),
    "a source that is empty": ("truncate hospital.patients", "source hospital.patients is empty"),
    "more persons than there are": (
        "delete from hospital.visits; delete from hospital.patients as p where p.patient_id > 2",
        "k = 3 is larger than the table: 2 persons",
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_source_that_does_not_fit_is_told_and_nothing_changes(
    hospital: Database, connection: Connection, broken: str
) -> None:
    hospital.run(POLICY)
    before = connection.execute("select p::text from share.patients as p order by 1").fetchall()
    statement, message = BROKEN[broken]
    connection.execute(statement.encode())
    with pytest.raises(AnondbError) as refused:
        hospital.run(POLICY)
    assert message in str(refused.value)
    assert connection.execute("select p::text from share.patients as p order by 1").fetchall() == before
    assert connection.execute("select count(*) from other.visits").fetchall() == [(120,)]


def test_a_parent_key_that_stands_in_several_rows_is_told(hospital: Database, connection: Connection) -> None:
    connection.execute(b"alter table hospital.patients add card int")
    connection.execute(b"update hospital.patients as p set card = p.patient_id / 2")
    policy = changed(table_1__parent={"table": "share.patients", "key": {"patient_id": "card"}})
    policy["table"][0]["columns"]["card"] = PSEUDONYM
    with pytest.raises(UsageError, match=r"keys stand in several rows of hospital\.patients"):
        hospital.run(policy)


def test_orphans_are_left_out_as_the_policy_says(hospital: Database, connection: Connection) -> None:
    connection.execute("insert into hospital.visits values (200, 99, 'a', 'flu'), (201, null, 'a', 'flu')")
    connection.execute("insert into hospital.patients values (null, 'X', 'f', 20)")
    result = hospital.run(changed(privacy__orphans="leave out")).result
    patients, visits = result.as_json()["tables"]
    assert (patients["released"], patients["orphans"]) == (40, 1)
    assert (visits["released"], visits["orphans"]) == (120, 2)


def test_a_key_of_several_columns_links_rows(hospital: Database, connection: Connection) -> None:
    connection.execute(b"""
        alter table hospital.patients add site text default 'north';
        alter table hospital.visits add site text default 'north';
        insert into hospital.patients (patient_id, name, sex, age, site)
        select p.patient_id + 0, p.name, p.sex, p.age, 'south' from hospital.patients as p;
        alter table hospital.patients add person text;
        update hospital.patients as p set person = p.site || p.patient_id;
    """)
    policy = changed(
        privacy__unit="person",
        table_1__parent__key={"patient_id": "patient_id", "site": "site"},
    )
    policy["table"][0]["columns"] |= {"site": PSEUDONYM, "person": PSEUDONYM}
    policy["table"][1]["columns"]["site"] = PSEUDONYM
    hospital.run(policy)
    joined = """
        select count(*), count(distinct p.person)
        from other.visits as v join share.patients as p using (patient_id, site)
    """
    assert connection.execute(joined.encode()).fetchall() == [(120, 40)]


def test_visits_of_a_patient_who_is_left_out_are_left_out(hospital: Database, connection: Connection) -> None:
    connection.execute("insert into hospital.patients values (77, 'Rare', 'x', 20)")
    connection.execute("insert into hospital.visits values (500, 77, 'a', 'flu')")
    levels = (0, 1, 0)
    result = hospital.run(changed(privacy__suppression=0.1), options=Options(levels=levels)).result
    patients, visits = result.as_json()["tables"]
    assert (patients["suppressed"], visits["suppressed"]) == (1, 1)
    keyless = """
        select count(*) from other.visits as v
        where v.patient_id not in (select p.patient_id from share.patients as p)
    """
    assert connection.execute(keyless.encode()).fetchall() == [(0,)]


def test_rows_of_a_person_are_bounded(hospital: Database, connection: Connection) -> None:
    result = hospital.run(changed(privacy__max_rows=2)).result
    visits = result.as_json()["tables"][1]
    assert (visits["released"], visits["cut"], visits["persons_by_rows"]) == (80, 40, [[2, 40]])


def test_a_rare_visit_is_left_out_alone(hospital: Database, connection: Connection) -> None:
    connection.execute("update hospital.visits as v set ward = 'rare' where v.visit_id = 9")
    policy = changed(privacy__suppress="rows", privacy__suppression_rows=0.05)
    result = hospital.run(policy, options=Options(levels=(0, 1, 0))).result
    patients, visits = result.as_json()["tables"]
    assert (patients["suppressed"], visits["suppressed"]) == (0, 1)
    with pytest.raises(
        UnsatisfiableError, match="0 persons and 1 rows of the tables below would have to be left out"
    ):
        hospital.run(changed(privacy__suppress="rows"), options=Options(levels=(0, 1, 0)))


def test_a_run_holds_all_its_targets(hospital: Database, connection: Connection) -> None:
    from anondb.db.locks import target_held

    with target_held(connection, "other.visits"), pytest.raises(BusyError, match=r"other\.visits"):
        hospital.run(POLICY)
    hospital.run(POLICY)


def test_all_tables_are_replaced_together(hospital: Database, connection: Connection) -> None:
    """The second run replaces the rows of both; a table of somebody else keeps both as they were."""
    hospital.run(POLICY)
    oids = connection.execute(
        "select 'share.patients'::regclass::oid, 'other.visits'::regclass::oid"
    ).fetchall()
    connection.execute("delete from hospital.visits as v where v.visit_id > 80")
    hospital.run(POLICY)
    assert connection.execute("select count(*) from other.visits").fetchall() == [(80,)]
    assert (
        connection.execute("select 'share.patients'::regclass::oid, 'other.visits'::regclass::oid").fetchall()
        == oids
    )
    connection.execute("drop table other.visits; create table other.visits (x int)")
    with pytest.raises(PolicyError, match=r"other\.visits exists and was not made by anondb"):
        hospital.run(POLICY)


def test_the_same_rows_in_another_order_give_the_same_bytes(
    hospital: Database, connection: Connection
) -> None:
    def released() -> list[Any]:
        hospital.run(changed(privacy__max_rows=2))
        queries = ("select t::text from share.patients as t", "select t::text from other.visits as t")
        return [connection.execute(query.encode()).fetchall() for query in queries]

    first = released()
    connection.execute(b"""
        create table hospital.shuffled_patients as select * from hospital.patients order by random();
        create table hospital.shuffled_visits as select * from hospital.visits order by random();
        truncate hospital.patients, hospital.visits;
        insert into hospital.patients select * from hospital.shuffled_patients;
        insert into hospital.visits select * from hospital.shuffled_visits;
    """)
    assert released() == first


def test_too_many_pairs_are_told_before_the_search(
    hospital: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anondb.run.linked.choices.MOST_PAIRS", 100)
    with pytest.raises(UsageError, match="there are 120 pairs of rows to compare, more than 100"):
        hospital.run(changed(privacy__knows=2))


def test_a_linked_release_has_a_plan_a_history_and_a_report(hospital: Database, tmp_path: Any) -> None:
    plan = hospital.plan(POLICY)
    for part in (
        "rows patients",
        "paths that might have too few",
        "insert release visits",
        "anondb.k_persons",
        "claim scope",
    ):
        assert part in plan
    release = hospital.run(POLICY, report=tmp_path / "linked.html")
    page = (tmp_path / "linked.html").read_text()
    assert "visits.ward" in page
    assert release.result.as_json()["knows"] == 1
    found = hospital.evaluate(release.result.run)
    assert {metric.name for metric in found.metric_values} >= {"gen_iloss", "suppressed_share"}


def test_a_lattice_of_linked_tables_is_refused_with_the_reason(hospital: Database) -> None:
    with pytest.raises(UsageError, match="what a node leaves out takes all rows to count"):
        hospital.lattice(POLICY)


def test_tables_that_would_change_are_refused_unless_changes_are_free(
    hospital: Database, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pseudonyms join two releases: a row that came is one of a person who is known."""
    monkeypatch.delenv("ANONDB_CHANGES")
    hospital.run(POLICY)
    assert hospital.run(POLICY).result.released == 40  # the same rows tell nothing
    connection.execute("insert into hospital.visits values (500, 7, 'a', 'ulcer')")
    for policy in (POLICY, changed(privacy__changes="refuse"), changed() | {"scope": "another"}):
        with pytest.raises(UsageError, match="whoever has both can join them by the pseudonyms"):
            hospital.run(policy)
    assert connection.execute("select count(*) from other.visits").fetchall() == [(120,)]
    hospital.run(changed(privacy__changes="free"))
    assert connection.execute("select count(*) from other.visits").fetchall() == [(121,)]


def test_algorithms_are_compared_on_linked_tables(hospital: Database) -> None:
    comparison = hospital.compare(POLICY, algorithms=["datafly", "optimal", "mondrian"], k=[2, 3])
    told = {(t.setting.algorithm, t.setting.k): t.failure for t in comparison.trials}
    assert [told[name, k] for name in ("datafly", "optimal") for k in (2, 3)] == [""] * 4
    assert "a person of several tables is in many at once" in told["mondrian", 2]


def test_a_single_table_is_what_a_policy_without_is() -> None:
    """Also its fingerprint."""
    one = POLICY["table"][0]
    linked = from_dict({**changed(), "table": [one]})
    assert linked.tables == ()
    assert linked.sha256 == from_dict({**one, **{k: POLICY[k] for k in ("privacy", "method")}}).sha256
