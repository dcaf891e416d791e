"""le_diversity as a user runs it: two tables, what each holds, what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest

from anondb.api import Database
from anondb.errors import PolicyError, UnsatisfiableError, UsageError
from anondb.policy.load import parse
from anondb.policy.model import Policy
from anondb.run.plan import Options
from tests.conftest import Cli
from tests.sql.test_le_diversity import DISEASES, ask

NINE = (
    "insert into hospital.patients values"
    " ('Ann', 25, '1010', 'F', 'flu'), ('Bob', 27, '1010', 'M', 'pneumonia'), ('Cid', 31, '1020', 'M', 'flu'),"
    " ('Dee', 42, '1030', 'F', 'carcinoid'), ('Eve', 47, '1030', 'F', 'cancer'), ('Flo', 51, '1040', 'F', 'cancer'),"
    " ('Gus', 62, '1040', 'M', 'gastric ulcer'), ('Hal', 65, '1050', 'M', 'dyspepsia'),"
    " ('Ida', 70, '1050', 'F', 'gastritis')"
)


@pytest.fixture
def clinic(db: Database, tmp_path: Path) -> Database:
    (tmp_path / "disease.csv").write_text(DISEASES)
    db.hierarchies.load("disease", tmp_path / "disease.csv")
    db.connection.execute(
        "create schema hospital; create schema share;"
        "create table hospital.patients (name text, age int, zip text, sex text, disease text);"
    )
    db.connection.execute(NINE)
    return db


def text_of(
    privacy: str = "",
    *,
    l: int = 3,  # noqa: E741
    e: float = 1,
    method: str = "",
    kind: str = "apart",
    disease: str = '{ role = "sensitive", hierarchy = "disease" }',
) -> str:
    return f"""
        source = "hospital.patients"
        target = "share.patients"
        [privacy]
        le_diversity = {{ column = "disease", l = {l}, e = {e}, kind = "{kind}" }}
        {privacy}
        [method]
        algorithm = "le_diversity"
        {method}
        [columns]
        name = {{ role = "identifier" }}
        age = {{ role = "quasi" }}
        zip = {{ role = "quasi" }}
        sex = {{ role = "other" }}
        disease = {disease}
        """


def policy(privacy: str = "", **said: Any) -> Policy:
    return parse(text_of(privacy, **said))


def tables(db: Database) -> list[list[tuple[object, ...]]]:
    return [
        db.connection.execute(query).fetchall()
        for query in ("select * from share.patients_quasi", "select * from share.patients_sensitive")
    ]


def test_nine_records_are_three_classes_in_two_tables(clinic: Database) -> None:
    result = clinic.run(policy()).result
    quasi, sensitive = tables(clinic)
    assert (result.records, result.released, result.suppressed, result.classes) == (9, 9, 0, 3)
    assert result.tables == ("share.patients_quasi", "share.patients_sensitive")
    assert sorted(row[1:] for row in quasi) == sorted(
        clinic.connection.execute("select age, zip, sex from hospital.patients").fetchall()
    )
    buckets = {"flu": 0, "pneumonia": 0, "carcinoid": 1, "cancer": 1}
    for number in (1, 2, 3):
        assert sum(row[0] == number for row in quasi) == 3
        kinds = [buckets.get(str(value), 2) for class_id, value in sensitive if class_id == number]
        assert sorted(kinds) == [0, 1, 2]
    metrics = result.all_metrics()
    assert metrics["information_loss"] == pytest.approx((1 / 3 - 1) ** 2)
    assert metrics["dot"] == pytest.approx(3)
    assert metrics["le_diversity:disease"] == 3
    assert result.k == 1  # as few as there are with the same exact quasi-identifiers


def test_both_tables_come_by_class_and_else_in_no_order_that_can_be_seen(clinic: Database) -> None:
    clinic.run(policy())
    for rows in tables(clinic):
        assert [row[0] for row in rows] == sorted(cast(int, row[0]) for row in rows)
        assert rows != sorted(rows, key=lambda row: (row[0], *map(str, row[1:])))


def test_the_same_records_in_another_order_give_the_same_bytes_and_another_seed_gives_others(
    clinic: Database,
) -> None:
    clinic.connection.execute(
        "insert into hospital.patients select name || i, age + i, zip, sex, disease"
        " from hospital.patients, generate_series(1, 20) as i"
    )
    clinic.run(policy(method="seed = 7"))
    first = tables(clinic)
    clinic.connection.execute(
        "create table hospital.shuffled as select * from hospital.patients order by random();"
        "truncate hospital.patients; insert into hospital.patients select * from hospital.shuffled"
    )
    clinic.run(policy(method="seed = 7"))
    assert tables(clinic) == first
    clinic.run(policy(method="seed = 8"))
    assert tables(clinic) != first


def test_the_classes_of_a_release_say_nothing_of_one_record_alone(clinic: Database) -> None:
    """A sensitive value that changes deals all records anew: nobody can try the values of one class."""
    clinic.connection.execute(
        "insert into hospital.patients select name || i, age + i, zip, sex, disease"
        " from hospital.patients, generate_series(1, 20) as i"
    )
    clinic.run(policy())
    first = dict.fromkeys(map(str, tables(clinic)[0]))
    clinic.connection.execute(
        "update hospital.patients set disease = 'pneumonia' where name = 'Ann' and disease = 'flu'"
    )
    clinic.run(policy())
    same = sum(row in first for row in map(str, tables(clinic)[0]))
    assert same < len(first) / 2


def test_plain_l_diversity_is_the_same_program(clinic: Database) -> None:
    result = clinic.run(policy(l=4, e=0)).result
    [[reached]] = ask(
        clinic.connection,
        "select anondb.le_diversity('share.patients_sensitive', '{class_id}', 'disease', 'disease')",
    )
    assert result.released >= 8
    assert reached >= 4


def test_classes_have_k_records_where_k_is_asked_for(clinic: Database) -> None:
    clinic.connection.execute(
        "insert into hospital.patients select name || i, age + i, zip, sex, disease"
        " from hospital.patients, generate_series(1, 20) as i"
    )
    result = clinic.run(policy("k = 7")).result
    assert result.metrics["class_size_min"] >= 7
    assert result.metrics["le_diversity:disease"] >= 3
    assert result.released > 150


def test_a_second_run_takes_the_place_of_the_first_and_of_nothing_else(clinic: Database) -> None:
    clinic.connection.execute("create table share.patients as select 1 as mine")
    clinic.run(policy())
    clinic.connection.execute("create view share.ages as select age from share.patients_quasi")
    clinic.run(policy(l=2))
    assert clinic.connection.execute("select mine from share.patients").fetchall() == [(1,)]
    assert len(clinic.connection.execute("select * from share.ages").fetchall()) >= 8


def test_a_table_of_the_user_is_not_overwritten(clinic: Database) -> None:
    clinic.connection.execute("create table share.patients_sensitive as select 1 as mine")
    with pytest.raises(PolicyError, match="patients_sensitive exists and was not made by anondb"):
        clinic.run(policy())
    clinic.run(policy(), options=Options(replace=True))


def test_a_fifth_may_be_left_out_unless_the_policy_says_otherwise(clinic: Database) -> None:
    add = "insert into hospital.patients values (%s, 33, '1', 'M', 'bronchitis')"
    for name in ("Jon", "Jim"):
        clinic.connection.execute(add, (name,))
    assert clinic.run(policy()).result.suppressed == 2
    with pytest.raises(UnsatisfiableError, match=r"2 records fit no class .* and 1 may be"):
        clinic.run(policy("suppression = 0.1"))
    clinic.connection.execute(add, ("Joe",))
    with pytest.raises(UnsatisfiableError, match=r"3 records fit no class .* and 2 may be"):
        clinic.run(policy())
    assert clinic.run(policy("suppression = 0.25")).result.suppressed == 3


def test_the_error_names_the_largest_l_and_e_that_fit_and_they_do(clinic: Database) -> None:
    """Seven of twelve have a respiratory infection, and a class takes one of them at e = 1."""
    clinic.connection.execute(
        "insert into hospital.patients values"
        " ('Jon', 33, '1', 'M', 'bronchitis'), ('Jim', 34, '1', 'M', 'bronchitis'), ('Joe', 35, '1', 'M', 'flu'),"
        " ('Jay', 36, '1', 'M', 'pneumonia')"
    )
    with pytest.raises(UnsatisfiableError) as caught:
        clinic.run(policy("suppression = 0.1", l=4, e=1))
    hint = caught.value.hint or ""
    fits = [(int(one), float(near)) for one, near in re.findall(r"l = (\d+) with e = ([\d.]+)", hint)]
    assert fits == [(2, 1), (4, 0)]
    for l, e in fits:  # noqa: E741
        assert clinic.run(policy("suppression = 0.1", l=l, e=e)).result.suppressed <= 1
    with pytest.raises(UnsatisfiableError) as caught:
        clinic.run(policy(l=3, e=1))
    needed = re.search(r"what was asked for takes suppression = ([\d.]+)", caught.value.hint or "")
    assert needed is not None
    assert clinic.run(policy(f"suppression = {needed[1]}")).result.suppressed == 4
    clinic.connection.execute("update hospital.patients set disease = 'flu'")
    with pytest.raises(UnsatisfiableError, match="too few values") as caught:
        clinic.run(policy())
    assert caught.value.hint == "not even l = 2 with e = 0 would leave few enough"


def test_one_null_or_one_disease_near_the_root_does_not_make_a_release_impossible(
    clinic: Database, tmp_path: Path
) -> None:
    """Nearer than e to everything, it is left out itself; a chain of relatives would hold all diseases."""
    clinic.connection.execute(
        "insert into hospital.patients select name || i, age + i, zip, sex, disease"
        " from hospital.patients, generate_series(1, 20) as i"
    )
    clinic.connection.execute("insert into hospital.patients values ('Zoe', 33, '1', 'F', null)")
    result = clinic.run(policy(l=3, e=2)).result
    assert (result.suppressed, result.released, result.classes) == (1, 189, 63)
    assert result.metrics["le_diversity:disease"] == 3
    (tmp_path / "disease.csv").write_text(DISEASES + "unwell;unwell;unwell;*\n")
    clinic.hierarchies.load("disease", tmp_path / "disease.csv", replace=True)
    clinic.connection.execute("update hospital.patients set disease = 'unwell' where disease is null")
    result = clinic.run(policy(l=3, e=2)).result
    assert (result.suppressed, result.released, result.classes) == (1, 189, 63)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"l": 4}, r"too few values that are more than e = 1 apart for l = 4\n"),
        ({"l": 2**31 - 1}, "too few values"),
        ({"e": 3}, "too few values that are more than e = 3 apart"),
        ({"privacy": "k = 10"}, "for l = 3 with 4 records each, which k = 10 takes"),
    ],
)
def test_too_few_buckets_are_told(clinic: Database, change: dict[str, Any], message: str) -> None:
    with pytest.raises(UnsatisfiableError, match=message):
        clinic.run(policy(**change))


def test_null_is_a_value_that_is_no_relative_of_any(clinic: Database) -> None:
    clinic.connection.execute(
        "insert into hospital.patients select name, null, null, sex, null from hospital.patients limit 3"
    )
    result = clinic.run(policy(l=4)).result
    assert (result.released, result.classes) == (12, 3)
    quasi, sensitive = tables(clinic)
    assert sum(row[1] is None and row[2] is None for row in quasi) == 3
    assert {row[0] for row in sensitive if row[1] is None} == {1, 2, 3}
    result = clinic.run(policy('nulls = "suppress"')).result
    assert (result.released, result.suppressed) == (9, 3)
    clinic.connection.execute("update hospital.patients set age = null")
    with pytest.raises(UnsatisfiableError, match="every record has a NULL"):
        clinic.run(policy('nulls = "suppress"'))


def test_an_empty_table_is_refused_unless_it_is_allowed(clinic: Database) -> None:
    clinic.connection.execute("truncate hospital.patients")
    with pytest.raises(UsageError, match="is empty"):
        clinic.run(policy())
    result = clinic.run(policy(), options=Options(allow_empty=True)).result
    assert (result.released, result.classes, tables(clinic)) == (0, 0, [[], []])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ("insert into hospital.patients values ('Jon', 33, '1', 'M', 'measles')", UsageError, "outside the hierarchy"),
        ("delete from hospital.patients where disease like 'c%'", UnsatisfiableError, "too few values"),
        ("create table share.more (age int references share.patients_quasi (age))", UsageError, "in the way"),
        ("create rule more as on insert to share.patients_sensitive do also nothing", UsageError, "in the way"),
    ],
)  # fmt: skip
def test_a_run_that_fails_leaves_both_tables_of_the_one_before(
    clinic: Database, change: str, error: type[Exception], message: str
) -> None:
    clinic.run(policy())
    clinic.connection.execute("alter table share.patients_quasi add unique (age)")
    before = tables(clinic)
    clinic.connection.execute(change.encode())
    with pytest.raises(error, match=message) as caught:
        clinic.run(policy(l=3, method="seed = 8"))
    assert "measles" not in str(caught.value)
    assert tables(clinic) == before
    left = (
        "select relname from pg_class where relnamespace = 'share'::regnamespace and relname ~ '^anondb_run'"
    )
    assert clinic.connection.execute(left.encode()).fetchall() == []


def test_the_plan_shows_every_statement_of_the_run(clinic: Database) -> None:
    shown = clinic.plan(policy())
    clinic.run(policy())
    steps = clinic.connection.execute("select name from anondb.run_step where stage <> 'prepare'").fetchall()
    known = {"class sizes"}
    assert [name for (name,) in steps if name not in known and f": {name}\n" not in shown] == []


def test_levels_lattices_and_comparisons_are_refused(clinic: Database) -> None:
    with pytest.raises(UsageError, match="no levels"):
        clinic.run(policy(), options=Options(levels=(1,)))
    with pytest.raises(UsageError, match="lattice"):
        clinic.lattice(policy())
    with pytest.raises(UsageError, match="not compared"):
        clinic.compare(policy(), algorithms=["mondrian"])


def test_it_is_compared_with_itself_by_its_own_figures(clinic: Database) -> None:
    """What a trial finds is what a run publishes, in two tables; nothing of a trial is left."""
    trials = clinic.compare(policy(), algorithms=["le_diversity"], sizes=[6, 9], seeds=2)
    assert [trial.failure for trial in trials.trials[2:]] == ["", ""]
    clinic.run(policy())
    published = tables(clinic)
    whole = trials.runs[-1]
    assert (whole.selected, whole.metrics["records"], whole.metrics["classes"]) == ("two tables", 9, 3)
    assert whole.metrics["released"] == len(published[0])
    assert whole.metrics["information_loss"] == pytest.approx(4 / 9)
    assert whole.metrics["dot"] == 3
    assert (whole.seeds, whole.deviations["information_loss"]) == (2, 0)
    assert clinic.connection.execute("select to_regclass('pg_temp.anondb_drawn')").fetchone() == (None,)


@pytest.mark.once
def test_what_is_kept_of_a_run_is_told_with_the_sentence_that_there_is_no_k(
    clinic: Database, cli: Cli, tmp_path: Path
) -> None:
    """One run, as its terminal, JSON, evaluation and report have it."""
    pytest.importorskip("jinja2", reason="reports come with the extra `report`")
    clinic.connection.execute("insert into hospital.patients values ('Jon', 33, '1', 'M', 'bronchitis')")
    (tmp_path / "clinic.toml").write_text(text_of())
    told = cli("run", "clinic.toml", "--report", "report.html")
    assert told.returncode == 0, told.stderr
    assert "which gives no k" in " ".join(told.stdout.split())
    assert "information loss 50%, DOT 3" in told.stdout
    found = json.loads(cli("evaluate", "last", "--json").stdout)
    assert {name: round(value, 4) for name, value in found["metrics"].items()} == {
        "class_size_min": 3,
        "class_size_mean": 3,
        "class_size_max": 3,
        "le_diversity:disease": 3,
        "information_loss": 0.5,
        "information_loss_sum": 5,
        "dot": 3,
        "dod_min": 3,
        "dod_max": 3,
        "suppressed_share": 0.1,
        "attribute_disclosure_mean:disease": 0.3333,  # each class has three diseases, one of each
        "attribute_disclosure_max:disease": 0.3333,
        "attribute_disclosure_certain:disease": 0,
        "attribute_disclosure_above_0.5:disease": 0,
        "attribute_disclosure_above_0.9:disease": 0,
    }
    kept = clinic.connection.execute("select count(*) from anondb.run_metric").fetchone()
    assert kept == (len(found["metrics"]),)
    evaluated = cli("evaluate", "last").stdout
    assert "which gives no k" in evaluated
    assert "k: " not in evaluated
    for label in (
        "no value has more of a class",
        "Diversity of classes",
        "Least diverse",
        "Suppressed share",
    ):
        assert label in evaluated
    report = (tmp_path / "report.html").read_text()
    for sentence in (
        "which gives no k",
        "there is no k",
        "as near in its hierarchy as e = 1",
        "in patients_quasi",
    ):
        assert sentence in report
    assert "each class has values of its own" not in report


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"privacy": "unit = 'name'"}, "counts records, not persons"),
        ({"privacy": 'suppress = "mask"'}, "nothing to mask"),
        ({"privacy": 't_closeness = { column = "disease", t = 0.2 }'}, "alone"),
        ({"method": "strict = true"}, "strict|partition"),
        ({"l": 1}, "at least 2"),
        ({"kind": "grouped"}, "makes classes in which no two values are relatives"),
        ({"e": -1}, "0 or more"),
        ({"disease": '{ role = "sensitive" }'}, "has no hierarchy, and e counts"),
        (
            {"disease": '{ role = "sensitive", hierarchy = "disease" }\nother = { role = "sensitive" }'},
            "protects one sensitive column",
        ),
    ],
)
def test_a_policy_that_means_nothing_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        policy(**change)


def test_several_sensitive_columns_are_refused_with_the_reason(clinic: Database) -> None:
    both = text_of(disease='{ role = "sensitive", hierarchy = "disease" }').replace(
        'le_diversity = { column = "disease", l = 3, e = 1, kind = "apart" }',
        "le_diversity = [{ column = 'disease', l = 3, e = 1 }, { column = 'sex', l = 2, e = 0 }]",
    )
    with pytest.raises(PolicyError, match="cannot keep those of another apart in them"):
        parse(both)


@pytest.mark.parametrize("algorithm", ["datafly", "incognito", "optimal", "mondrian"])
def test_other_methods_hold_their_classes_to_it_in_several_columns(
    clinic: Database, tmp_path: Path, algorithm: str
) -> None:
    (tmp_path / "ward.csv").write_text("".join(f"{ward};*\n" for ward in range(5)))
    clinic.hierarchies.load("ward", tmp_path / "ward.csv")
    clinic.connection.execute(
        "create table hospital.wards as select i * 3 as age, disease, (age + i) % 5 as ward"
        " from hospital.patients, generate_series(1, 20) as i"
    )

    def generalized(*models: str) -> Policy:
        return parse(f"""
            source = "hospital.wards"
            target = "share.wards"
            [privacy]
            suppression = 0.3
            le_diversity = [{", ".join(models)}]
            [method]
            algorithm = "{algorithm}"
            [columns]
            age = {{ role = "quasi", hierarchy = {{ widths = [10, 40] }} }}
            ward = {{ role = "sensitive", hierarchy = "ward" }}
            disease = {{ role = "sensitive", hierarchy = "disease" }}
            """)

    disease = '{ column = "disease", l = 2, e = 1, kind = "grouped" }'
    result = clinic.run(generalized(disease, '{ column = "ward", l = 2, e = 0 }')).result
    assert result.classes >= 2
    reached = ask(
        clinic.connection,
        "select anondb.le_diversity('share.wards', '{age}', 'disease', 'disease', 1, kind => 'grouped'),"
        " anondb.le_diversity('share.wards', '{age}', 'ward', 'ward')",
    )
    measured = [result.metrics[name] for name in ("le_diversity_grouped:disease", "le_diversity_apart:ward")]
    assert reached == [tuple(measured)]
    assert min(measured) >= 2
    # wards are siblings: as one group none is less than all of a class, and apart no two may meet
    why = "as a whole does not satisfy" if algorithm == "mondrian" else "no generalization satisfies"
    for kind in ("grouped", "apart"):
        with pytest.raises(UnsatisfiableError, match=why):
            clinic.run(generalized(disease, f'{{ column = "ward", l = 2, e = 1, kind = "{kind}" }}'))
