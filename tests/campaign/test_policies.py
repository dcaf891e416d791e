"""Whatever a policy says: it is refused in words, or its release is what it promises."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql
from psycopg.rows import dict_row

from anondb.api import Database
from anondb.db.connection import Connection, Door
from anondb.errors import AnondbError
from anondb.policy.accept import from_dict
from tests.campaign.cases import DISEASE_CSV, HOSPITAL, LEISURE_CSV
from tests.campaign.checker import breaches
from tests.campaign.policies import policies
from tests.servers import new_database

pytestmark = [pytest.mark.campaign, pytest.mark.once]

_SOURCE = "select md5(string_agg(p::text, '' order by p.id)) from hospital.patients as p"


@pytest.fixture
def hospital(
    server: str, template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Database]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "disease.csv").write_text(DISEASE_CSV)
    (tmp_path / "leisure.csv").write_text(LEISURE_CSV)
    with new_database(server, template) as dsn, Database(Door(dsn)) as database:
        database.connection.execute(HOSPITAL.encode())
        database.hierarchies.load("disease", tmp_path / "disease.csv")
        database.ontologies.load(str(tmp_path / "leisure.csv"))
        yield database


def test_a_policy_is_refused_in_words_or_kept(
    hospital: Database, is_long: bool, tried: Callable[[str, int, int], None], tmp_path: Path
) -> None:
    number = int(os.environ.get("ANONDB_EXAMPLES", 10_000 if is_long else 60))
    before = hospital.connection.execute(_SOURCE).fetchone()
    found: list[str] = []
    ended: Counter[str] = Counter()
    for at, policy in enumerate(policies(int(os.environ.get("ANONDB_CAMPAIGN_SEED", "7")), number)):
        try:
            hospital.run(from_dict(policy))
        except AnondbError as error:
            ended[f"refused, exit code {error.exit_code}"] += 1
            continue
        except Exception as error:
            found.append(f"{at}: {type(error).__name__}: {error}: {policy}")
            continue
        ended["released"] += 1
        found += [f"{at}: {what}: {policy}" for what in _wrong(hospital.connection, policy)]
        _drop(hospital.connection, policy)
    assert hospital.connection.execute(_SOURCE).fetchone() == before
    for how, times in ended.items():
        tried(f"policies, {how}", times, 0)
    tried("policies, an error or a broken promise", number, len(found))
    assert not found, "\n".join(found)
    assert ended["released"] > number / 20, ended


def _wrong(connection: Connection, policy: Mapping[str, Any]) -> list[str]:
    if policy["method"]["algorithm"] == "le_diversity":
        return list(breaches(policy, *(_rows(connection, policy, end) for end in ("_quasi", "_sensitive"))))
    return list(breaches(policy, _rows(connection, policy)))


def _rows(connection: Connection, policy: Mapping[str, Any], end: str = "") -> list[dict[str, Any]]:
    name = sql.Identifier(*_name(policy, end))
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(sql.SQL("select * from {}").format(name), prepare=False).fetchall()


def _name(policy: Mapping[str, Any], end: str = "") -> list[str]:
    schema, _, table = str(policy["target"]).partition(".")
    return [schema.lower(), table.lower() + end]


def _drop(connection: Connection, policy: Mapping[str, Any]) -> None:
    """The next policy may have the same target, and other changes."""
    for end in ("", "_quasi", "_sensitive"):
        name = sql.Identifier(*_name(policy, end))
        connection.execute(sql.SQL("drop table if exists {}").format(name))
    connection.execute("delete from anondb.series")
