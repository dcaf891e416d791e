"""An installation of an earlier revision, with runs, releases and hierarchies in it, is brought up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from anondb.api import Database
from anondb.db.connection import Connection, Door
from anondb.db.upgrade import upgrade
from anondb.policy.load import load
from tests.acceptance.clinic import HOSPITAL

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


@pytest.mark.parametrize("revision", ["0002"])
def test_an_earlier_installation_is_upgraded_with_its_history(
    connection: Connection,
    empty_database: str,
    sql_dir: Path,
    migrations_dir: Path,
    tmp_path: Path,
    revision: str,
) -> None:
    path = tmp_path / "admissions.toml"
    path.write_text(POLICY)
    connection.execute(HOSPITAL)
    old = without_later(migrations_dir, revision)
    assert upgrade(connection, sql_dir=sql_dir, migrations_dir=old).installed_revision == revision
    with connection.transaction(), connection.cursor() as cursor:
        given = {"sha256": load(path).sha256, "body": POLICY}
        for statement in LEFT.split(";\n"):
            if statement.strip():
                cursor.execute(statement.encode(), given)
    before = connection.execute(KEPT).fetchone()

    assert upgrade(connection).state == "current"
    assert connection.execute(KEPT).fetchone() == before
    with Database(Door(empty_database)) as db:
        db.report(1, tmp_path / "old.html")
        result = db.run(path).result  # its table is ours: no --replace is needed
        assert result.released == 24
        db.report(result.run, tmp_path / "new.html")
    rows = connection.execute(
        "select r.status, r.started_by = current_user from anondb.run as r order by r.id"
    )
    assert rows.fetchall() == [("done", True), ("failed", True), ("lost", True), ("done", True)]
