"""anondb plan prints what a run sends, and touches nothing; the history keeps it, and no value of the data."""

from __future__ import annotations

import re

from psycopg.conninfo import make_conninfo

from tests.acceptance.clinic import COLUMNS, OTHER, Clinic, complaint, quasi

# Two records of each combination, so that k = 2 holds at the lowest levels.
PAIRS = """
create table hospital.pairs as
select 1 + i / 4 as x, 'v' || i / 2 % 3 as y, date '2024-01-01' + i / 2 as z, i as note
from generate_series(0, 11) as i;
"""
BY_PROCESSES = 7  # statements that write a release by several processes instead of one INSERT


def test_every_statement_of_a_run_is_in_its_plan(clinic: Clinic) -> None:
    clinic.execute(PAIRS)
    (clinic.folder / "y.csv").write_text("v0;a;*\nv1;a;*\nv2;b;*\n")
    columns = {
        "x": quasi("{ start = 1, widths = [2] }"),
        "y": quasi('{ csv = "y.csv" }'),
        "z": quasi("{ dates = true }"),
        "note": OTHER,
    }
    policy = clinic.policy(columns, source="hospital.pairs", privacy="k = 2")
    planned = clinic.cli("plan", policy)
    assert (planned.returncode, planned.stderr) == (0, "")
    assert clinic.publish(policy)["levels"] == {"x": 0, "y": 0, "z": 0}
    plan = squeezed(planned.stdout)
    steps = clinic.execute(
        "select s.stage, s.sql from anondb.run_step as s where s.stage <> 'prepare' order by s.seq"
    )
    assert {stage for stage, _ in steps} == {"encode", "search", "publish", "verify", "evaluate", "swap"}
    missing = [statement for _, statement in steps if squeezed(statement) not in plan]
    assert missing == []
    # begin and commit; and where records are written one by one, how several processes would
    assert plan.count(";") == len(steps) + 2 + BY_PROCESSES * ("has_schema_privilege" in plan)


def test_a_plan_touches_nothing(clinic: Clinic) -> None:
    clinic.has_released()
    history = clinic.history()
    read_only = make_conninfo(clinic.dsn, options="-c default_transaction_read_only=on")
    with clinic.unchanged(None):
        assert clinic.cli("plan", clinic.policy(), ANONDB_DSN=read_only).returncode == 0
    assert clinic.history() == history


def test_a_plan_reads_no_row(clinic: Clinic) -> None:
    clinic.execute(
        "create view hospital.closed as select a.* from hospital.admissions as a where 1 / (age - age) = 0"
    )
    policy = clinic.policy(source="hospital.closed")
    assert clinic.cli("plan", policy).returncode == 0
    assert "SQLSTATE 22012" in complaint(clinic.cli("run", policy), 4)


def test_a_plan_is_refused_as_its_run_would_be(clinic: Clinic) -> None:
    with clinic.unchanged(None):
        said = complaint(clinic.cli("plan", clinic.policy(COLUMNS | {"zap": OTHER})), 2)
    assert 'has no column "zap"' in said


def test_the_history_holds_no_value_of_the_data(clinic: Clinic) -> None:
    (clinic.folder / "zip.csv").write_text("".join(f"Z907{n};Z90;*\n" for n in range(4)))
    clinic.publish()
    clinic.has_released(clinic.policy(COLUMNS | {"zip": quasi('{ csv = "zip.csv" }')}))
    clinic.publish(
        clinic.policy(COLUMNS | {"name": quasi('{ mask = "left" }')}, privacy='k = 2\nsuppress = "mask"')
    )
    clinic.cli("run", clinic.policy(privacy="k = 99"))
    history = clinic.history()
    assert history.count("hospital.admissions") > 4
    # Z90 is no value: for the report, a run keeps the labels of a hierarchy above its leaves
    for secret in ("Person", "Z907", "Secretitis", "Hushosis", "Mumpox"):
        assert secret not in history


def squeezed(text: str) -> str:
    """A text without its white space, run numbers and comments, which may differ."""
    text = re.sub(r"^--.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"(own_release\(|run )\d+", r"\1N", text)
    return re.sub(r"\s+", "", re.sub(r"\b(anondb_run_|r)\d+(_[0-9a-f]{8})?", r"\1N", text))
