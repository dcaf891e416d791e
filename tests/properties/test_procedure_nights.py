"""Nights by a procedure are the nights of runs: the same rows in the same order, the same ledger, the same record."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from anondb.api import Database
from anondb.db.connection import Connection, Door
from anondb.run.plan import Options
from tests.properties.nights import Clinic, policy
from tests.servers import new_database

NAME = "share.refresh_patients"
LEDGER = """
select c.class, c.persons, c.records, c.digest, c.of_columns, c.value_hashes, c.counts, c.since, c.until
from anondb.cohort as c order by 1, 2, 3, 4, 8, 9
"""
RELEASES = """
select r.release, r.levels, r.records, r.classes, r.entered, r.left_it, r.moved, r.waiting, r.departed, r.withheld
from anondb.series_release as r order by r.series, r.release
"""
RECORD = """
select r.status, r.result -> 'levels', r.result -> 'heights', r.result -> 'records', r.result -> 'released',
       r.result -> 'suppressed', r.result -> 'classes', r.result -> 'k', r.result -> 'series',
       r.result -> 'report' -> 'columns', r.result -> 'report' -> 'models', r.result -> 'report' -> 'suppression',
       (select jsonb_object_agg(m.name || ':' || m.of_column, round(m.value::numeric, 6))
        from anondb.run_metric as m where m.run = r.id and m.of_column = '')
from anondb.run as r order by r.id desc limit 1
"""
Twins = tuple[Database, Database, list[Clinic]]
UNEVALUATED = Options(evaluate="none")
COLUMNS = policy()["columns"]
MODELS: dict[str, dict[str, Any]] = {
    "k alone": {},
    "l": {"l_diversity": {"column": "value", "l": 2}},
    "entropy, recursive": {
        "l_diversity": [
            {"column": "value", "l": 1.5, "kind": "entropy"},
            {"column": "value", "l": 2, "kind": "recursive", "c": 3},
        ]
    },
    "t": {"t_closeness": {"column": "value", "t": 0.9}},
    "drop": {"leavers": "drop"},
    "nulls left out": {"nulls": "suppress"},
}


@contextmanager
def twins(
    server: str, template: str, seed: str, persons: str, rules: dict[str, Any], options: Options
) -> Iterator[Twins]:
    """Two databases after the same first release: with one secret, and one series."""
    with new_database(server, template) as one:
        with Database(Door(one)) as first:
            clinic = Clinic(first.connection, random.Random(seed))
            clinic.make(90, key="primary key" if persons == "key" else "")
            first.run(rules, options=options)
        name = str(conninfo_to_dict(one)["dbname"])
        with (
            new_database(server, name) as other,
            Database(Door(one)) as run,
            Database(Door(other)) as called,
        ):
            clinics = [replace(clinic, connection=run.connection), deepcopied(clinic, called.connection)]
            yield run, called, clinics


def deepcopied(clinic: Clinic, connection: Connection) -> Clinic:
    """The same on another connection, with dice that fall alike."""
    records = {tag: list(record) for tag, record in clinic.records.items()}
    dice = random.Random()
    dice.setstate(clinic.dice.getstate())
    return replace(clinic, connection=connection, dice=dice, records=records)


def dump(database: Database) -> bytes:
    with database.connection.cursor() as cursor, cursor.copy("copy share.patients to stdout") as copy:
        return b"".join(map(bytes, copy))


def state(database: Database) -> dict[str, Any]:
    """All that is to be the same."""
    found = {name: database.connection.execute(sql).fetchall() for name, sql in
             (("ledger", LEDGER), ("releases", RELEASES), ("record", RECORD))}  # fmt: skip
    return found | {"rows": dump(database)}


def night(clinics: list[Clinic]) -> None:
    """The same changes in both, NULLs among them."""
    for clinic in clinics:
        clinic.join(clinic.dice.randrange(9))
        clinic.leave(clinic.dice.randrange(9))
        clinic.connection.execute(
            "update clinic.patients set age = nullif(age, 7), value = case when tag % 11 = 0 then null else value end"
        )


@pytest.mark.parametrize(
    ("models", "persons"), [*((models, "key") for models in MODELS), ("l", "unit"), ("drop", "unit")]
)
def test_a_procedure_makes_what_runs_make(server: str, template: str, models: str, persons: str) -> None:
    privacy = MODELS[models] | ({} if persons == "key" else {"unit": "id"})
    rules = policy(changes="hold", **({"suppression": 0.6} | privacy))
    with twins(server, template, f"{models} {persons}", persons, rules, UNEVALUATED) as (
        run,
        called,
        clinics,
    ):
        assert called.procedures.create(called.procedures.write(rules, NAME)) is False
        before = state(run)
        for _ in range(4):
            night(clinics)
            run.run(rules, options=UNEVALUATED)
            called.connection.execute(f"call {NAME}()".encode())
            expected, found = state(run), state(called)
            for part in expected:
                assert found[part] == expected[part], part
        assert state(run) != before
        proof = "select bool_and(v.holds) from anondb.verify_release('share.patients') as v"
        assert called.connection.execute(proof).fetchall() == [(True,)]


def test_levels_are_those_of_the_ledger_and_not_of_the_text(server: str, template: str) -> None:
    free = {
        name: {key: value for key, value in column.items() if not key.endswith("_level")}
        for name, column in COLUMNS.items()
    }
    rules = policy(changes="hold", suppression=0.9) | {"columns": free}
    first = replace(UNEVALUATED, levels=(1, 1))
    with twins(server, template, "7", "key", rules, first) as (run, called, clinics):
        text = called.procedures.write(rules, NAME)
        called.procedures.create(text)
        for levels in ((2, 1), (2, 2), (3, 2)):
            for database in (run, called):
                database.run(rules, options=replace(UNEVALUATED, levels=levels, replan=True))
                database.connection.execute("analyze clinic.patients, share.patients")
            assert called.procedures.write(rules, NAME).statement == text.statement
            night(clinics)
            run.run(rules, options=UNEVALUATED)
            called.connection.execute(f"call {NAME}()".encode())
            expected, found = state(run), state(called)
            for part in expected:
                assert found[part] == expected[part], (levels, part)
