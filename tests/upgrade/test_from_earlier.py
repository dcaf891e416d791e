"""An installation of an earlier revision, with runs, releases and hierarchies in it, is brought up to date."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from psycopg import sql

from anondb.api import Database
from anondb.db.connection import Connection, Door
from anondb.db.install.removal import exclusively, things
from anondb.db.install.upgrade import _migrate, require_current, status, upgrade
from anondb.errors import DatabaseError
from anondb.policy.load import load
from tests.acceptance.clinic import HOSPITAL
from tests.upgrade.conftest import Connect
from tests.upgrade.test_install import grant_create

POLICY = """
source = "hospital.admissions"
target = "share.admissions"
[privacy]
k = 3
[method]
algorithm = "datafly"
[columns]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { start = 0, widths = [5, 10, 20] } }
zip = { role = "quasi", hierarchy = "zip" }
diagnosis = { role = "sensitive" }
"""

# As the package of that revision has left it: a run that published, one that failed, and one that was cut off.
LEFT = """
insert into anondb.vgh (name, height, leaves) values ('zip', 1, 4);
insert into anondb.vgh_node (vgh, node, level, label, parent)
select 1, i, 0, 'Z907' || i, 4 from generate_series(0, 3) as i union all select 1, 4, 1, '*', null;
insert into anondb.vgh_path (vgh, leaf, level, node)
select 1, i, 0, i from generate_series(0, 3) as i union all select 1, i, 1, 4 from generate_series(0, 3) as i;

insert into anondb.policy (sha256, body) values (%(sha256)s, %(body)s);
create table share.admissions (age text, zip text, diagnosis text);
comment on table share.admissions is 'anondb run 1, policy 0, k = 3';
insert into anondb.run (policy, source, target, algorithm, status, package, release_oid, result, finished_at, error)
values (%(sha256)s, 'hospital.admissions', 'share.admissions', 'datafly', 'done', '0.1.0',
        'share.admissions'::regclass,
        '{"records": 24, "released": 24, "suppressed": 0, "classes": 1, "k": 24}', now(), null),
       (%(sha256)s, 'hospital.admissions', 'share.admissions', 'datafly', 'failed', '0.1.0', null, null, now(), 'k'),
       (%(sha256)s, 'hospital.admissions', 'share.admissions', 'datafly', 'running', '0.1.0', null, null, null, null);
insert into anondb.run_step (run, seq, stage, name, sql, rows, ms) values (1, 1, 'encode', 'records', 'select', 1, 0.5);
insert into anondb.run_metric (run, name, value) values (1, 'class_size_min', 24);
"""
RECORD = """
insert into anondb.install (package, revision, functions_sha256, objects, tables)
values ('0.1.0', %s, 'of then', '{}', %s)
"""
KEPT = """
select (select jsonb_agg(to_jsonb(r) - 'release_oids' order by r.id) from anondb.run as r),
       (select jsonb_agg(s order by s.run, s.seq) from anondb.run_step as s),
       (select jsonb_agg(m order by m.run, m.name) from anondb.run_metric as m),
       (select jsonb_agg(jsonb_build_array(p.sha256, p.body)) from anondb.policy as p),
       (select jsonb_agg(n order by n.vgh, n.node) from anondb.vgh_node as n)
"""


def without_later(migrations: Path, revision: str) -> Path:
    for path in (migrations / "versions").glob("[0-9]*.py"):
        if path.name[:4] > revision:
            path.unlink()
    return migrations


def install_as_then(connection: Connection, migrations: Path, revision: str) -> None:
    """What the package of that revision made: its record knows nothing of what came later."""
    with exclusively(connection, "installing"):
        connection.execute("create schema anondb; create schema anondb_work")
        _migrate(connection, without_later(migrations, revision))
        connection.execute(RECORD, (revision, [thing.name for thing in things(connection)]))


@pytest.mark.parametrize("revision", ["0002"])
def test_an_earlier_installation_is_upgraded_with_its_history(
    connection: Connection,
    empty_database: str,
    migrations_dir: Path,
    tmp_path: Path,
    revision: str,
) -> None:
    path = tmp_path / "admissions.toml"
    path.write_text(POLICY)
    connection.execute(HOSPITAL)
    install_as_then(connection, migrations_dir, revision)
    with connection.transaction(), connection.cursor() as cursor:
        given = {"sha256": load(path).sha256, "body": POLICY}
        for statement in LEFT.split(";\n"):
            if statement.strip():
                cursor.execute(statement.encode(), given)
    before = connection.execute(KEPT).fetchone()

    with pytest.raises(DatabaseError, match="not those of this package") as refused:
        require_current(connection)
    assert refused.value.hint == "run: anondb db upgrade"
    assert upgrade(connection).state == "current"
    assert connection.execute(KEPT).fetchone() == before
    with Database(Door(empty_database)) as db:
        db.releases.report(1, tmp_path / "old.html")
        result = db.run(path).result  # its table is ours: no --replace is needed
        assert result.released == 24
        db.releases.report(result.run, tmp_path / "new.html")
    rows = connection.execute(
        "select r.status, r.started_by = current_user from anondb.run as r order by r.id"
    )
    assert rows.fetchall() == [("done", True), ("failed", True), ("lost", True), ("done", True)]


@pytest.mark.parametrize("revision", ["0002", "0004"])
def test_whose_an_earlier_installation_is_counts_too(
    connect: Connect,
    connection: Connection,
    migrations_dir: Path,
    new_role: Callable[[], str],
    revision: str,
) -> None:
    role = new_role()
    grant_create(connection, role)
    install_as_then(connect(role=role), migrations_dir, revision)
    with pytest.raises(DatabaseError, match=f"schema anondb belongs to role {role}"):
        upgrade(connection)
    assert status(connection, owner=role).state == "outdated"
    assert upgrade(connection, owner=role).state == "current"
    assert status(connect(role=role)).state == "current"


def test_an_earlier_installation_that_others_may_change_is_refused(
    connection: Connection, migrations_dir: Path, new_role: Callable[[], str]
) -> None:
    install_as_then(connection, migrations_dir, "0002")
    connection.execute(sql.SQL("grant create on schema anondb to {}").format(sql.Identifier(new_role())))
    for action in (upgrade, status):
        with pytest.raises(DatabaseError, match="may create in schema anondb"):
            action(connection)
