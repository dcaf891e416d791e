"""A target in one table, and in two: neither kind of release takes the other's place unnoticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from anondb.api import Database
from anondb.errors import PolicyError
from anondb.policy.load import parse
from anondb.policy.model import Policy
from anondb.run.plan import Options

ONE, TWO = ["share"], ["share_quasi", "share_sensitive"]


@pytest.fixture
def ward(db: Database, tmp_path: Path) -> Database:
    (tmp_path / "disease.csv").write_text("flu;lungs;*\ncancer;tumour;*\n")
    db.hierarchies.load("disease", tmp_path / "disease.csv")
    db.connection.execute(
        "create table patients as select 20 + i as age, (array['flu', 'cancer'])[1 + i % 2] as disease"
        " from generate_series(1, 4) as i"
    )
    return db


def policy(algorithm: str, target: str = "share") -> Policy:
    two = algorithm == "le_diversity"
    return parse(
        f"""
        source = "patients"
        target = "{target}"
        [privacy]
        {'le_diversity = { column = "disease", l = 2, e = 0 }' if two else "k = 2"}
        [method]
        algorithm = "{algorithm}"
        [columns]
        age = {{ role = "quasi" }}
        disease = {{ role = "sensitive"{', hierarchy = "disease"' if two else ""} }}
        """
    )


def tables(db: Database) -> list[str]:
    found = db.connection.execute("select c.relname from pg_class as c where c.relname ~ '^share' order by 1")
    return [str(name) for (name,) in found]


@pytest.mark.parametrize(
    ("first", "then", "left"), [("le_diversity", "mondrian", TWO), ("mondrian", "le_diversity", ONE)]
)
def test_a_release_of_the_other_shape_is_named_and_not_joined_by_a_second_one(
    ward: Database, first: str, then: str, left: list[str]
) -> None:
    ward.run(policy(first))
    for attempt in (ward.plan, ward.run):
        with pytest.raises(PolicyError, match=rf"has released public\.{left[0]}") as refused:
            attempt(policy(then))
        assert all(table in str(refused.value) for table in left)
    assert tables(ward) == left
    ward.run(policy(first))  # the same shape takes its own place
    ward.run(policy(then, "share_too"))

    ward.run(policy(then), options=Options(replace=True))
    assert set(tables(ward)) >= {*ONE, *TWO}


def test_tables_of_others_beside_the_target_are_nobodys_release(ward: Database) -> None:
    ward.connection.execute("create table share_quasi (mine int); create table other (mine int)")
    ward.run(policy("mondrian"))
    ward.run(policy("le_diversity", "other"))
    assert ward.connection.execute("select count(*) from share_quasi").fetchone() == (0,)
