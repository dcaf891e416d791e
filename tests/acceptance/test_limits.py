"""Files and values at the ends of what there is: the right exit code and a hint, and nothing has happened."""

from __future__ import annotations

import psycopg
import pytest

from tests.acceptance.clinic import SENSITIVE, Clinic, complaint, ended, eventually, quasi

FILES = {
    "latin.obo": "format-version: 1.2\n\n[Term]\nid: X:1\nname: café\n".encode("latin-1"),
    "wide.obo": "format-version: 1.2\n\n[Term]\nid: X:1\nname: a\n".encode("utf-16"),
    "nul.obo": b"format-version: 1.2\n\n[Term]\nid: X:1\nname: a\0b\n",
    "latin.csv": b"child,parent\ncaf\xe9,a\n",
    "nul.csv": b"child,parent\nca\0f,a\n",
}


@pytest.mark.parametrize("name", list(FILES))
def test_an_ontology_that_is_no_text_in_utf_8_is_refused(clinic: Clinic, name: str) -> None:
    (clinic.folder / name).write_bytes(FILES[name])
    assert name in complaint(clinic.cli("ontology", "load", name), 2)


def test_an_expression_with_a_nul_is_refused(clinic: Clinic) -> None:
    (clinic.folder / "d.toml").write_text("[attributes.a]\nexpression = \"'x\\u0000y'\"\n")
    done = clinic.cli("generate", "d.toml", "--rows", "5", "--table", "share.g")
    assert "NUL" in complaint(done, 2)


LONG = "9" * 5000


@pytest.mark.parametrize(
    "option", [("--work-mem", f"{LONG}MB"), ("--lock-timeout", LONG), ("--levels", f"{LONG},0")]
)
def test_a_number_of_5000_digits_is_no_option(clinic: Clinic, option: tuple[str, str]) -> None:
    assert LONG not in complaint(clinic.cli("run", clinic.policy(), *option), 2)


@pytest.mark.parametrize("privacy", [f"k = {LONG}", f"k = 2\nsuppression = 0.{LONG}", f"k = 0x{LONG}"])
def test_a_number_of_5000_digits_is_no_part_of_a_policy(clinic: Clinic, privacy: str) -> None:
    assert LONG not in complaint(clinic.cli("run", clinic.policy(privacy=privacy)), 2)


@pytest.mark.parametrize(
    ("type_", "hierarchy", "value"),
    [
        ("date", "{ dates = true }", "5874897-12-31"),
        ("date", "{ dates = true }", "infinity"),
        ("numeric", "{ widths = [5] }", "NaN"),
        ("float8", "{ widths = [5] }", "-infinity"),
    ],
)
def test_a_value_that_no_label_can_hold_is_refused(
    clinic: Clinic, type_: str, hierarchy: str, value: str
) -> None:
    clinic.execute(f"create table hospital.t (x {type_}, s int)")
    clinic.connection.execute("insert into hospital.t select %s, 1 from generate_series(1, 3)", (value,))
    policy = clinic.policy({"x": quasi(hierarchy), "s": SENSITIVE}, source="hospital.t", target="share.t")
    with clinic.unchanged():
        assert value not in complaint(clinic.cli("run", policy), 2)


def test_an_upgrade_whose_connection_is_cut_says_so_and_has_changed_nothing(clinic: Clinic) -> None:
    with psycopg.connect(clinic.dsn) as guard:
        guard.execute("lock table anondb.install in access exclusive mode")
        upgrade = clinic.start("db", "upgrade")
        waiting = (
            "select a.pid from pg_stat_activity as a"
            " where a.datname = current_database() and a.wait_event_type = 'Lock'"
        )
        [(pid,)] = eventually(lambda: clinic.execute(waiting))
        clinic.connection.execute("select pg_terminate_backend(%s)", (pid,))
        complaint(ended(upgrade), 4)
    assert clinic.cli("db", "status").returncode == 0


def test_a_lattice_that_is_too_large_is_told_before_a_row_is_read(clinic: Clinic) -> None:
    clinic.execute(
        "create view hospital.closed as select 1 / (a.age - a.age) as a, a.age as b, a.age as c, a.age as d,"
        " a.age as e, a.age as f, a.age as g from hospital.admissions as a"
    )
    ranges = quasi("{ start = 0, widths = [1, 2, 4, 8, 16, 32, 64, 128] }")
    policy = clinic.policy(
        dict.fromkeys("abcdefg", ranges), source="hospital.closed", method='algorithm = "incognito"'
    )
    assert "has 10,000,000 nodes" in complaint(clinic.cli("run", policy), 2)
    assert "has 10,000,000 nodes" in complaint(clinic.cli("plan", policy), 2)
