"""A recipient who knows the algorithm, the policy with its seed and every quasi-identifier learns nothing by guessing.

The recipient has an anondb of their own, and tries there what the source may have been: what gives the same
release, they would know to be true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import pytest
from psycopg import sql

from anondb.api import Database
from anondb.compare.trial import TEMPORARY
from anondb.db.connection import Door
from anondb.db.install.upgrade import upgrade
from anondb.methods.le_diversity.stages import Anatomy
from anondb.methods.le_diversity.tables import parts
from anondb.methods.method import Job
from anondb.methods.registry import method_of
from anondb.policy.load import parse
from anondb.policy.model import Policy
from anondb.run.engine import PostgresEngine
from anondb.run.pipeline import Pipeline, Silence
from anondb.run.plan import Options
from anondb.run.prepare import prepare_trial
from tests.documentation import blocks
from tests.servers import new_database

FILE = "docs/le_diversity.md"

Rows = list[tuple[object, ...]]
Release = tuple[Rows, Rows]


@pytest.fixture
def recipient(server: str, tmp_path: Path) -> Iterator[Database]:
    """An installation of the recipient's own, with the documentation's tables and hierarchy."""
    with new_database(server) as conninfo, Database(Door(conninfo)) as database:
        upgrade(database.connection)
        prepare_example(database, tmp_path)
        yield database


def prepare_example(db: Database, folder: Path) -> Policy:
    ([data], [tree], [policy]) = (blocks(FILE, language) for language in ("sql", "csv", "toml"))
    db.connection.execute(data.encode())
    (folder / "disease.csv").write_text(tree)
    db.hierarchies.load("disease", folder / "disease.csv")
    return parse(policy, base=folder)


def in_order(db: Database, table: str) -> Rows:
    """The rows as they lie, which is how a dump writes them."""
    schema, name = table.split(".")
    return db.connection.execute(sql.SQL("select * from {}").format(sql.Identifier(schema, name))).fetchall()


def guessed(db: Database, policy: Policy, patients: Sequence[tuple[object, ...]]) -> Release:
    """What the recipient's anondb releases of a guess."""
    connection = db.connection
    with connection.transaction(force_rollback=True):
        connection.execute("truncate hospital.patients")
        for patient in patients:
            connection.execute("insert into hospital.patients values (%s, %s, %s, %s)", patient)
        pipeline = Pipeline(connection, Options(), 0, Silence())
        plan = prepare_trial(pipeline.db, connection, policy, Options(), TEMPORARY)
        engine = PostgresEngine(pipeline.db, plan)
        process = method_of(plan.policy).stages(Job(pipeline.db, engine, plan, Options(), 0, TEMPORARY))
        assert isinstance(process, Anatomy)
        process.encode()
        process.search()
        engine.create_release(TEMPORARY, kept=False)
        process.publish()
        quasi, sensitive = (in_order(db, f"pg_temp.{part.name}") for part in parts(TEMPORARY))
    return quasi, sensitive


def links(quasi: Rows, sensitive: Rows) -> Iterator[list[tuple[object, ...]]]:
    """Every way to give the diseases of each class to its patients."""
    classes = sorted({row[0] for row in quasi}, key=str)
    patients = [[row[1:] for row in quasi if row[0] == one] for one in classes]
    diseases = [sorted({*permutations([row[1] for row in sensitive if row[0] == one])}) for one in classes]
    for given in product(*diseases):
        yield [
            (None, *person, disease)
            for persons, one in zip(patients, given, strict=True)
            for person, disease in zip(persons, one, strict=True)
        ]


def test_no_link_of_the_two_tables_can_be_told_from_the_others(
    db: Database, recipient: Database, tmp_path: Path
) -> None:
    policy = prepare_example(db, tmp_path)
    db.run(policy)
    quasi, sensitive = in_order(db, "share.patients_quasi"), in_order(db, "share.patients_sensitive")
    tried = list(links(quasi, sensitive))
    assert len(tried) == 216
    outcomes = [guessed(recipient, policy, link) for link in tried]
    # without the secret, no guess can be expected to give these class ids in this order ...
    assert (quasi, sensitive) not in outcomes
    # ... and what the guesses give differs so much that a chance hit says nothing
    assert len(Counter(map(str, outcomes))) > 100


@pytest.mark.parametrize("algorithm", ["datafly", "mondrian", "fusion"])
def test_the_order_of_a_release_cannot_be_recomputed_without_the_secret(
    db: Database, recipient: Database, tmp_path: Path, algorithm: str
) -> None:
    """Nor its classes' order: a recipient who has all released rows, and the source itself, cannot tell it."""
    hierarchy = "" if algorithm == "fusion" else ", hierarchy = { widths = [10, 20] }"
    policy = parse(
        f"""
        source = "public.visits"
        target = "public.released"
        [privacy]
        k = 5
        [method]
        algorithm = "{algorithm}"
        [columns]
        age = {{ role = "quasi"{hierarchy} }}
        reason = {{ role = "sensitive" }}
        """,
        base=tmp_path,
    )
    orders = []
    for one in (db, db, recipient):
        one.connection.execute(
            "drop table if exists public.visits; create table public.visits as select 20 + i % 40 as age,"
            " 'reason ' || i % 23 as reason from generate_series(1, 400) as i order by random()"
        )
        one.run(policy)
        orders.append(in_order(one, "public.released"))
    mine, again, theirs = orders
    assert mine == again
    assert sorted(mine) == sorted(theirs)
    assert mine != theirs
    assert list(dict.fromkeys(row[0] for row in mine)) != list(dict.fromkeys(row[0] for row in theirs))
    assert [row for row in mine if row[0] == mine[0][0]] != [row for row in theirs if row[0] == mine[0][0]]


def test_another_seed_and_another_secret_give_other_classes(db: Database, tmp_path: Path) -> None:
    policy = prepare_example(db, tmp_path)
    quasi = "share.patients_quasi"

    def released(seed: int) -> Rows:
        db.run(replace(policy, method=replace(policy.method, seed=seed)))
        return in_order(db, quasi)

    first = released(7)
    assert released(7) == first
    assert released(8) != first
    db.secret.renew()
    assert released(7) != first
