"""anondb db: upgrade installs, status compares, remove takes away what is ours and only that."""

from __future__ import annotations

import json

from anondb.db.install.upgrade import remove
from tests.acceptance.clinic import Clinic, complaint

OBJECTS = """
select pg_describe_object(d.classid, d.objid, 0) from (
    select 'pg_class'::regclass as classid, c.oid as objid from pg_class as c
    union all select 'pg_proc'::regclass, p.oid from pg_proc as p
    union all select 'pg_namespace'::regclass, n.oid from pg_namespace as n where n.nspname !~ '^pg_(toast_)?temp'
) as d where d.objid >= 16384 and pg_describe_object(d.classid, d.objid, 0) !~ 'pg_(toast_)?temp'
order by 1
"""


def test_upgrade_status_and_remove_leave_the_database_as_it_was(clinic: Clinic) -> None:
    remove(clinic.connection)
    before = clinic.execute(OBJECTS)
    status = clinic.cli("db", "status")
    assert status.returncode == 0
    assert "anondb is not installed" in status.stdout
    assert json.loads(clinic.cli("db", "status", "--json").stdout)["state"] == "missing"
    for _ in range(2):
        assert "is installed" in clinic.cli("db", "upgrade").stdout
    assert "current" in clinic.cli("db", "status").stdout
    clinic.publish()
    removed = clinic.cli("db", "remove", "--yes")
    assert (removed.returncode, removed.stderr) == (0, "")
    clinic.execute("drop table share.admissions")
    assert clinic.execute(OBJECTS) == before
    assert "was not installed" in clinic.cli("db", "remove", "--yes").stdout


def test_a_release_stays_when_anondb_goes(clinic: Clinic) -> None:
    clinic.has_released()
    before = clinic.dump()
    assert clinic.cli("db", "remove", "--yes").returncode == 0
    assert clinic.dump() == before


def test_removal_asks_first(clinic: Clinic) -> None:
    refused = clinic.cli("db", "remove")  # with nobody there to answer
    assert refused.returncode == 130
    assert "not confirmed" in refused.stderr
    assert "--yes" in refused.stderr
    assert "current" in clinic.cli("db", "status").stdout


def test_what_users_keep_with_us_is_named_and_nothing_is_removed(clinic: Clinic) -> None:
    clinic.execute("create view share.history as select r.id, r.status from anondb.run as r")
    with clinic.unchanged(None):
        said = complaint(clinic.cli("db", "remove", "--yes"), 2)
    assert "view share.history uses table anondb.run" in said


def test_another_version_in_the_database_is_told_the_command(clinic: Clinic) -> None:
    clinic.execute("update anondb.install set functions_sha256 = 'of an older package'")
    assert "outdated" in clinic.cli("db", "status").stdout
    for command in (["run", str(clinic.policy())], ["vgh", "list"]):
        with clinic.unchanged(None):
            assert "run: anondb db upgrade" in complaint(clinic.cli(*command), 4)
    assert clinic.cli("db", "upgrade").returncode == 0
    clinic.publish()
    clinic.execute("update anondb.install set revision = '9999'")
    assert "newer" in complaint(clinic.cli("db", "upgrade"), 4)
