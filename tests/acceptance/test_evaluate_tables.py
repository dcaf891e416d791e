"""anondb evaluate on a release that anyone has made: all that applies, and why the rest does not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from anondb.api import Database
from anondb.db.connection import Door
from anondb.db.vgh import store
from anondb.errors import DatabaseError, UsageError
from tests import toys
from tests.acceptance.clinic import Clinic, complaint

pytestmark = pytest.mark.once  # another server version would say the same

# Five persons, by hand. The first two became one class, the next two another; the last is suppressed.
WARD = """
create schema ward;
create table ward.patient (id int primary key, age int, job text, diagnosis text);
insert into ward.patient values
    (1, 20, 'clerk', 'flu'), (2, 30, 'clerk', 'flu'), (3, 40, 'nurse', 'flu'), (4, 40, 'doctor', 'ulcer'),
    (5, 60, 'clerk', 'ulcer');
create table ward.release (id int, age text, job text, diagnosis text);
insert into ward.release values
    (1, '[20, 30]', 'clerk', 'flu'), (2, '[20, 30]', 'clerk', 'flu'),
    (3, '40', 'care', 'flu'), (4, '40', 'care', 'ulcer');
create table ward.everyone as
    select r.age, r.job from ward.release as r cross join generate_series(1, 2) union all select '40', 'care';
"""
TABLES = ("--original", "ward.patient", "--release", "ward.release", "--quasi", "age,job")


@pytest.fixture
def ward(clinic: Clinic) -> Clinic:
    clinic.execute(WARD)
    store(clinic.connection, "occupation", toys.vgh("clerk;office;*", "nurse;care;*", "doctor;care;*"))
    store(clinic.connection, "disease", toys.vgh("ulcer;stomach;*", "gastritis;stomach;*"))
    return clinic


@pytest.fixture
def ward_db(ward: Clinic) -> Iterator[Database]:
    with Database(Door(ward.dsn)) as db:
        yield db


def test_the_figures_of_two_tables_are_those_worked_out_by_hand(ward_db: Database) -> None:
    found = ward_db.releases.evaluate_tables(
        "ward.patient", "ward.release", key="id", quasi=["age", "job"], vghs={"job": "occupation"},
        sensitive=["diagnosis"],
    )  # fmt: skip
    assert (found.records, found.released, found.suppressed, found.classes, found.k) == (5, 4, 1, 2, 2)
    metrics = found.as_json()["metrics"]
    expected = {
        "gen_iloss:age": (0.25 + 0.25 + 0 + 0 + 1) / 5,  # [20, 30] is a quarter of 20 … 60
        "gen_iloss:job": (0 + 0 + 0.5 + 0.5 + 1) / 5,  # care is two of three leaves
        "gen_iloss": (1.5 + 2) / 10,
        "precision": 1 - (0.5 + 0.5 + 1) / 5,
        "record_linkage_text": 0,
        "record_linkage_coverage": 100 * (1 / 2 + 1 / 2 + 1 / 2 + 1 / 2) / 4,
        "discernibility": 2 * 2 + 2 * 2 + 5,
        "average_class_size": 1,
        "prosecutor_max": 0.5,
        "prosecutor_max_before": 1,
        "sample_uniques": 0,
        "sample_uniques_before": 5,
        "class_size_min": 2,
        "class_size_min_before": 1,
        "l_diversity_distinct:diagnosis": 1,
        "l_diversity_distinct_before:diagnosis": 1,
        "t_closeness_equal:diagnosis": 0.25,  # flu: 3 of 4 in all, 1 of 2 or all in a class
        "attribute_disclosure_mean:diagnosis": 0.75,
        "attribute_disclosure_certain:diagnosis": 0.5,
        "attribute_disclosure_certain_before:diagnosis": 1,
    }
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)


def test_text_and_coverage_stand_side_by_side_in_what_the_command_prints(ward: Clinic) -> None:
    shown = ward.cli(
        "evaluate", *TABLES, "--key", "id", "--vgh", "job=occupation", "--sensitive", "diagnosis"
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert re.search(r"by text +by coverage +by hierarchy", shown.stdout)
    assert "4 of 5 records in 2 classes; 1 suppressed (20%)" in shown.stdout
    assert re.search(r"Unique records +5 +0 +lower", shown.stdout)


def test_measures_that_need_a_link_say_so_without_a_key_and_the_others_come(ward_db: Database) -> None:
    found = ward_db.releases.evaluate_tables("ward.patient", "ward.release", quasi=["age", "job"]).as_json()
    assert found["notes"]["gen_iloss"] == found["notes"]["rand"] == found["notes"]["record_linkage_text"]
    assert "needs a key" in found["notes"]["gen_iloss"]
    assert found["metrics"]["prosecutor_max"] == 0.5
    assert "gen_iloss" not in found["metrics"]


def test_a_measure_that_fails_says_why_and_the_others_come(ward_db: Database) -> None:
    found = ward_db.releases.evaluate_tables(
        "ward.patient", "ward.release", key="id", quasi=["age", "job"], sensitive=["diagnosis"],
        vghs={"diagnosis": "disease"},
    ).as_json()  # fmt: skip
    assert "no leaves" in found["notes"]["t_closeness_hierarchical:diagnosis"]
    assert "flu" not in json.dumps(found["notes"])  # it is a person's value
    assert found["notes"]["record_linkage_semantic"] == "no stored hierarchy"
    assert found["notes"]["sem_iloss"] == "no column has concepts"
    for name in ("t_closeness_equal:diagnosis", "gen_iloss", "rand", "prosecutor_max"):
        assert name in found["metrics"]


def test_numbers_have_a_t_closeness_by_their_order(ward_db: Database) -> None:
    found = ward_db.releases.evaluate_tables("ward.patient", "ward.patient", quasi=["job"], sensitive=["age"])
    assert {f.name for f in found.metric_values if f.name.startswith("t_")} == {
        "t_closeness_equal",
        "t_closeness_ordered",
    }


def test_a_population_or_a_fraction_gives_the_journalists_risk(ward_db: Database) -> None:
    def ask(**given: Any) -> dict[str, Any]:
        return ward_db.releases.evaluate_tables(
            "ward.patient", "ward.release", quasi=["age", "job"], **given
        ).as_json()

    everyone = ask(population="ward.everyone")["metrics"]
    assert everyone["journalist_max"] == pytest.approx(1 / 4)  # 4 and 5 persons for classes of 2
    assert everyone["journalist_mean"] == pytest.approx((2 / 4 + 2 / 5) / 4)
    assert everyone["population_uniques"] == 0
    assert "journalist_max_before" not in everyone
    assert everyone["prosecutor_max_before"] == 1
    tenth = ask(fraction=0.1)["metrics"]
    assert 0 < tenth["journalist_max"] < tenth["journalist_max_before"] < 1
    assert "needs a population" in ask()["notes"]["journalist_max"]


def test_masked_records_are_suppressed_and_no_class(ward: Clinic, ward_db: Database) -> None:
    ward.execute("insert into ward.release values (5, '*', '*', 'ulcer')")
    masked = ("--key", "id", "--masked", "*,*", "--json")
    found = json.loads(ward.cli("evaluate", *TABLES, *masked).stdout)
    assert (found["released"], found["suppressed"], found["classes"], found["k"]) == (4, 1, 2, 2)
    assert found["metrics"]["prosecutor_max"] == 0.5
    as_a_class = ward_db.releases.evaluate_tables("ward.patient", "ward.release", quasi=["age", "job"])
    assert (as_a_class.suppressed, as_a_class.classes, as_a_class.k) == (0, 3, 1)


def test_a_release_without_rows_is_all_suppressed(ward: Clinic, ward_db: Database) -> None:
    ward.execute("delete from ward.release")
    found = ward_db.releases.evaluate_tables("ward.patient", "ward.release", key="id", quasi=["age", "job"],
                                    sensitive=["diagnosis"])  # fmt: skip
    assert (found.released, found.suppressed, found.classes, found.k) == (0, 5, 0, 0)
    assert found.as_json()["metrics"]["gen_iloss"] == 1
    assert ward.cli("evaluate", *TABLES, "--key", "id").returncode == 0


def test_odd_names_are_taken_as_policies_write_them(ward: Clinic) -> None:
    ward.execute('create table ward."A.b" as select r.*, r.age as "a,""%b" from ward.release as r')
    done = ward.cli(
        "evaluate", "--original", 'ward."A.b"', "--release", 'ward."A.b"', "--quasi", '"a,""%b",job', "--key",
        "id", "--json",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["metrics"]["gen_iloss"] == 0
    assert 'gen_iloss:a,"%b' in json.loads(done.stdout)["metrics"]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"original": "ward.patiemt"}, 'original ward.patiemt does not exist\n  hint: did you mean "patient"?'),
    ({"release": "nowhere.release"}, "release nowhere.release does not exist"),
    ({"population": "ward.nobody"}, "population ward.nobody does not exist"),
    ({"population": "hospital.admissions"}, '"job" is not in the population'),
    ({"quasi": ["age", "jbo"]}, '"jbo" is not in the original ward.patient\n  hint: did you mean "job"?'),
    ({"quasi": ["age", "extra"]}, '"extra" is not in the release'),
    ({"quasi": []}, "no quasi-identifier"),
    ({"quasi": ["age", "age"]}, '"age" is named twice'),
    ({"quasi": [""]}, "a name is empty"),
    ({"sensitive": ["age"]}, '"age" is named twice'),
    ({"sensitive": ["extra"]}, 'sensitive column "extra" is not in the release'),
    ({"key": "nr"}, 'no common key: "nr" is not in the original'),
    ({"key": "extra"}, 'no common key: "extra" is not in the release'),
    ({"key": "job"}, "does not name its rows"),
    ({"original": "ward.release", "release": "ward.patient"}, "has 5 rows, and its original ward.release only 4"),
    ({"release": "ward.strangers"}, "1 rows of ward.strangers have a id that ward.patient does not have"),
    ({"vghs": {"job": "nothing"}}, 'no hierarchy "nothing"'),
    ({"vghs": {"jbo": "occupation"}}, 'did you mean "job"'),
    ({"population": "ward.everyone", "fraction": 0.1}, "a population table and a sampling fraction"),
    ({"fraction": 0.0}, "the sampling fraction is 0"),
    ({"fraction": 1.5}, "the sampling fraction is 1.5"),
    ({"fraction": float("nan")}, "the sampling fraction is nan"),
    ({"sample": 1}, "a sample of 1 records"),
    ({"sample": 10**6}, "take 2 to 5,000"),
    ({"seed": 2**63}, "the seed is too large"),
    ({"roots": ["*"]}, "1 root labels are given, and 2 quasi-identifiers"),
]  # fmt: skip


def test_what_cannot_be_compared_is_refused(ward: Clinic, ward_db: Database) -> None:
    ward.execute("alter table ward.patient add extra int")
    ward.execute("create table ward.strangers as select 9 as id, 'x' as age, 'x' as job")
    tables = {"original": "ward.patient", "release": "ward.release", "key": "id", "quasi": ["age", "job"]}
    for change, told in REFUSED:
        with pytest.raises(UsageError, match=re.escape(told)) as caught:
            ward_db.releases.evaluate_tables(**tables | change)
        assert caught.value.hint, change
        assert caught.value.exit_code == 2


def test_a_call_that_makes_no_sense_ends_with_2(clinic: Clinic) -> None:
    clinic.execute(WARD)
    senseless: list[tuple[tuple[str, ...], str]] = [
        ((), "neither a run nor two tables"),
        (("--original", "ward.patient"), "--release, --quasi are missing"),
        (("--key", "id"), "--original, --release, --quasi are missing"),
        (("1", "--seed", "3"), "a run is named, and --seed is for tables"),
        ((*TABLES, "--vgh", "job"), "--vgh names a column and its hierarchy"),
        ((*TABLES, "--key", "nr"), "the tables have no common key"),
    ]
    for arguments, told in senseless:
        assert told in complaint(clinic.cli("evaluate", *arguments), 2)


def test_the_callers_own_rights_decide(ward: Clinic, new_role: Callable[[], str]) -> None:
    """Who may read the two tables may compare them; who may read one, or not all of its rows, may not."""
    role = new_role()
    ward.execute("grant usage on schema anondb, ward to {role}", role=role)
    ward.execute("grant select on anondb.install, ward.release to {role}", role=role)
    ward.execute("alter role {role} login", role=role)
    ward.execute("grant {role} to current_user", role=role)
    door = Door(psycopg.conninfo.make_conninfo(ward.dsn, options=f"-c role={role}"))
    with Database(door) as db:

        def ask() -> dict[str, float]:
            found = db.releases.evaluate_tables(
                "ward.patient", "ward.release", key="id", quasi=["age", "job"]
            )
            return dict(found.as_json()["metrics"])

        with pytest.raises(DatabaseError, match="permission denied for table patient"):
            ask()
        ward.execute("grant select on ward.patient to {role}", role=role)
        found = ask()
        assert {"gen_iloss", "record_linkage_coverage", "rand", "prosecutor_max"} <= found.keys()
        database = ward.connection.info.dbname
        ward.execute("revoke temporary on database {database} from public", database=database)
        assert ask() == pytest.approx(found)  # without a temporary table it takes longer, and that is all
        ward.execute("alter table ward.patient enable row level security")
        with pytest.raises(DatabaseError, match="row-level security hides rows"):
            ask()
        with pytest.raises(DatabaseError, match="permission denied for table run"):
            db.releases.evaluate()


def test_who_may_not_keep_meanings_has_all_other_measures(ward: Clinic, new_role: Callable[[], str]) -> None:
    role = new_role()
    ward.execute("grant usage on schema anondb, ward to {role}", role=role)
    ward.execute(
        "grant select on anondb.install, anondb.vgh, anondb.vgh_node, anondb.vgh_path, ward.patient, ward.release"
        " to {role}",
        role=role,
    )
    with Database(Door(psycopg.conninfo.make_conninfo(ward.dsn, options=f"-c role={role}"))) as db:
        found = db.releases.evaluate_tables(
            "ward.patient", "ward.release", key="id", quasi=["age", "job"], vghs={"job": "occupation"}
        ).as_json()
    assert "permission denied" in found["notes"]["sem_iloss:job"]
    assert found["metrics"]["gen_iloss:job"] == pytest.approx(0.4)
    assert {"precision", "rand", "record_linkage_coverage", "record_linkage_semantic"} <= found[
        "metrics"
    ].keys()


def test_nothing_is_written_to_the_tables_or_the_history(ward: Clinic, ward_db: Database) -> None:
    with ward.unchanged(None):
        ward_db.releases.evaluate_tables("ward.patient", "ward.release", key="id", quasi=["age", "job"])
