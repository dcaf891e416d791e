"""Installs and upgrades anondb in a database: tables by migrations, functions by the files of sql/."""

from __future__ import annotations

import errno
import hashlib
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import psycopg
from psycopg import errors, sql

from anondb import resources
from anondb.db.errors import translate, translated
from anondb.db.install.removal import (
    Thing,
    drop,
    exclusively,
    is_installed,
    owner,
    recorded,
    remove,
    things,
)
from anondb.db.install.trust import Place, digest, is_as_recorded, require_ours, require_wanted, server_major
from anondb.errors import AnondbError, DatabaseError
from anondb.run.snapshot import SCHEMAS

if TYPE_CHECKING:
    from anondb.db.connection import Connection

__all__ = ["Status", "remove", "require_current", "status", "upgrade"]

State = Literal["missing", "current", "outdated", "newer", "changed"]

# an installation of an earlier revision lacks some of the columns
_INSTALLED = "select pg_catalog.to_jsonb(i) from anondb.install as i"

_HAS_SECRET = """
select from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where n.nspname = 'anondb' and c.relname = 'secret'
"""

_RECORD = """
insert into anondb.install as i (
    package, revision, functions_sha256, catalogue_sha256, server_major, objects, tables)
values (%(package)s, %(revision)s, %(functions_sha256)s, %(catalogue_sha256)s, %(server_major)s,
        %(objects)s, %(tables)s)
on conflict (singleton) do update set
    package = excluded.package, revision = excluded.revision, functions_sha256 = excluded.functions_sha256,
    catalogue_sha256 = excluded.catalogue_sha256, server_major = excluded.server_major,
    objects = excluded.objects, tables = excluded.tables, installed_at = excluded.installed_at
"""

_AS_OWNER = "select set_config('role', %(owner)s, true) where pg_has_role(%(owner)s::name, 'member')"

_MAY_READ = """
select format('the owner of schema anondb can allow it: '
              'grant usage on schema anondb to %1$I; grant select on anondb.install to %1$I;', current_user)
"""

# What other roles may do with our routines and views, as statements. One that has no list of grants has the
# defaults of its owner, and so will the one that replaces it.
_GRANTS = """
select t.name, s.statement
from unnest(%(names)s::text[], %(classids)s::oid[], %(objids)s::oid[]) as t(name, classid, objid)
cross join lateral (
    select 'routine', p.proacl, p.proowner from pg_proc as p where p.tableoid = t.classid and p.oid = t.objid
    union all
    select 'table', c.relacl, c.relowner from pg_class as c where c.tableoid = t.classid and c.oid = t.objid
) as o(kind, acl, owner)
cross join lateral pg_identify_object(t.classid, t.objid, 0) as i
cross join lateral (
    select 1, format('revoke all on %%s %%s from public', o.kind, i.identity)
    union all
    select 2, format('grant %%s on %%s %%s to %%s%%s', a.privilege_type, o.kind, i.identity,
                     case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end,
                     case when a.is_grantable then ' with grant option' end)
    from aclexplode(o.acl) as a where a.grantee <> o.owner
) as s(rank, statement)
where o.acl is not null
order by s.rank, s.statement
"""

# Alembic keeps the migration that it is running in module globals. Upgrades of one database wait for each
# other on the server; this is for upgrades of different databases in one process.
_one_alembic = threading.Lock()


@dataclass(frozen=True)
class Status:
    """What the package carries against what the database has."""

    package: str
    revision: str
    functions_sha256: str
    installed_package: str | None
    installed_revision: str | None
    installed_sha256: str | None
    state: State
    server_major: int | None = None  # the version of PostgreSQL that it was installed on
    has_secret: bool = False  # never what it is


@dataclass(frozen=True)
class Code:
    """What this package installs."""

    files: tuple[tuple[str, str], ...]  # name and text, in the order of MANIFEST
    migrations: Path
    revisions: tuple[str, ...]  # by the names of the files: importing alembic takes longer than a status

    @classmethod
    def read(cls, sql_dir: Path | None = None, migrations_dir: Path | None = None) -> Code:
        sql_dir = sql_dir or resources.path("sql")
        migrations_dir = migrations_dir or resources.path("migrations")
        try:
            lines = (sql_dir / "MANIFEST").read_text(encoding="utf-8").splitlines()
            names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
            files = tuple((name, (sql_dir / name).read_text(encoding="utf-8")) for name in names)
            versions = sorted(path.stem for path in (migrations_dir / "versions").glob("[0-9]*.py"))
            if not versions:
                raise FileNotFoundError(errno.ENOENT, "no migrations", str(migrations_dir))
        except FileNotFoundError as error:
            raise AnondbError(
                f"the package is incomplete: {error.filename} is missing", hint="install anondb again"
            ) from None
        return cls(files, migrations_dir, tuple(name.split("_")[0] for name in versions))

    @property
    def revision(self) -> str:
        return self.revisions[-1]

    @cached_property
    def sha256(self) -> str:
        """Over the names and texts in order; reading has turned all line ends into one kind."""
        parts = (part for file in self.files for part in file)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def status(
    connection: Connection,
    *,
    sql_dir: Path | None = None,
    migrations_dir: Path | None = None,
    owner: str | None = None,
) -> Status:
    """Compares the database with the package (or with other folders); changes nothing."""
    code = Code.read(sql_dir, migrations_dir)
    with translated("reading what is installed"):
        try:
            return _compare(connection, code, require_ours(connection, owner))
        except errors.InsufficientPrivilege as error:
            row = connection.execute(_MAY_READ).fetchone()
            raise DatabaseError(
                f"{error.diag.message_primary} (reading what is installed)",
                hint=None if row is None else str(row[0]),
            ) from None


def require_current(
    connection: Connection,
    *,
    sql_dir: Path | None = None,
    migrations_dir: Path | None = None,
    owner: str | None = None,
) -> None:
    """Raises, with the command that mends it, unless package and database fit."""
    installed = status(connection, sql_dir=sql_dir, migrations_dir=migrations_dir, owner=owner)
    if installed.state == "missing":
        raise DatabaseError("anondb is not installed in this database", hint="run: anondb db upgrade")
    if installed.state == "newer":
        raise _newer(installed)
    if installed.state == "outdated":
        raise DatabaseError(
            f"the database has the tables and functions of anondb {installed.installed_package} "
            f"(revision {installed.installed_revision}), not those of this package, {installed.package} "
            f"(revision {installed.revision})",
            hint="run: anondb db upgrade",
        )
    if installed.state == "changed":
        raise _changed(connection, installed)


def upgrade(
    connection: Connection,
    *,
    sql_dir: Path | None = None,
    migrations_dir: Path | None = None,
    owner: str | None = None,
) -> Status:
    """Brings the database to the package's version in one transaction; touches nothing if it is there."""
    code = Code.read(sql_dir, migrations_dir)
    with exclusively(connection, "upgrading anondb"):
        places = require_ours(connection, owner)
        installed = _compare(connection, code, places)
        if installed.state == "newer":
            raise _newer(installed)
        if installed.state == "current":
            return installed
        if installed.state == "missing":
            require_wanted(connection, places, owner)
        _install(connection, code, places)
        return _compare(connection, code, require_ours(connection, owner))


def _compare(connection: Connection, code: Code, places: Sequence[Place]) -> Status:
    """What is installed in schemas that were found to be ours."""
    row = connection.execute(_INSTALLED).fetchone() if places and is_installed(connection) else None
    there = cast(Mapping[str, Any], {} if row is None else row[0])
    package, revision, sha256 = (there.get(key) for key in ("package", "revision", "functions_sha256"))
    ours, major = version("anondb"), there.get("server_major")
    state: State = "outdated"
    if package is None:
        state = "missing"
    elif revision not in code.revisions:
        state = "newer"
    elif (revision, sha256) == (code.revision, code.sha256):
        as_made = is_as_recorded(connection, there.get("catalogue_sha256"), major)
        state = "current" if as_made else "changed"
    elif _release(package) > _release(ours):
        # The tables are the same, the functions are later ones: an older client must not turn them back.
        state = "newer"
    secret = package is not None and connection.execute(_HAS_SECRET).fetchone() is not None
    return Status(ours, code.revision, code.sha256, package, revision, sha256, state, major, secret)


def _release(package: str) -> tuple[int, ...]:
    """The numbers of a version: 1.10.0rc1 and 1.10.0 are of one release."""
    numbers = re.match(r"\d+(\.\d+)*", package)
    return tuple(int(number) for number in numbers[0].split(".")) if numbers else ()


def _newer(installed: Status) -> DatabaseError:
    return DatabaseError(
        f"the database was upgraded by anondb {installed.installed_package} (revision "
        f"{installed.installed_revision}), which is newer than this package, {installed.package}",
        hint="upgrade the package: pip install --upgrade anondb",
    )


def _changed(connection: Connection, installed: Status) -> DatabaseError:
    now = server_major(connection)
    if installed.server_major is not None and installed.server_major != now:
        return DatabaseError(
            f"anondb was installed on PostgreSQL {installed.server_major}, and the server is PostgreSQL {now}",
            hint="run: anondb db upgrade; it makes the functions anew",
        )
    return DatabaseError(
        "the functions or tables in schema anondb are not those that were installed: somebody has changed, added or "
        "dropped some",
        hint="ask their owner why; anondb db upgrade makes the functions anew",
    )


def _install(connection: Connection, code: Code, places: Sequence[Place]) -> None:
    made = recorded(connection)
    before = things(connection)
    if made.tables:
        # What an administrator upgrades must not end up as the administrator's.
        connection.execute(_AS_OWNER, {"owner": owner(connection)})
    old = [thing for thing in before if thing.name in made.objects]
    grants = _grants(connection, old)
    drop(connection, old, hint="nothing was changed; drop these, upgrade, and make them again")
    for schema in SCHEMAS:
        # One that was not there when it was looked whose they are must not be there now either.
        if not any(place.schema == schema for place in places):
            connection.execute(sql.SQL("create schema {}").format(sql.Identifier(schema)))
    _migrate(connection, code.migrations)
    migrated = [thing.name for thing in things(connection)]
    for name, text in code.files:
        _run_file(connection, name, text)
    objects = [thing.name for thing in things(connection) if thing.name not in migrated]
    for name, statement in grants:
        if name in objects:
            connection.execute(statement.encode())
    # Whatever else lies in our schemas was made by someone else, and stays theirs.
    strangers = {thing.name for thing in before}.difference(made.tables)
    connection.execute(
        _RECORD,
        {
            "package": version("anondb"),
            "revision": code.revision,
            "functions_sha256": code.sha256,
            "catalogue_sha256": digest(connection),
            "server_major": server_major(connection),
            "objects": objects,
            "tables": [name for name in migrated if name not in strangers],
        },
    )


def _grants(connection: Connection, old: Sequence[Thing]) -> list[tuple[str, str]]:
    """Names and statements that give what replaces these the same grants."""
    keys = {
        "names": [thing.name for thing in old],
        "classids": [thing.classid for thing in old],
        "objids": [thing.objid for thing in old],
    }
    return [(str(name), str(statement)) for name, statement in connection.execute(_GRANTS, keys)]


def _run_file(connection: Connection, name: str, text: str) -> None:
    try:
        # Whole and without parameters: a percent sign in it means nothing to the driver.
        connection.execute(text.encode())
    except errors.InsufficientPrivilege:
        raise
    except psycopg.Error as error:
        raise translate(error, f"installing sql/{name}") from None


def _migrate(connection: Connection, migrations: Path) -> None:
    """Runs alembic on our connection, inside our transaction."""
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import StaticPool

    # SQLAlchemy would roll back when it connects and when it lets go. It leaves a connection in autocommit
    # mode alone, and psycopg's stays in that mode inside `connection.transaction()`.
    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: connection,
        poolclass=StaticPool,
        skip_autocommit_rollback=True,
        use_native_hstore=False,
    )
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    with _one_alembic, engine.connect() as lent:
        lent.begin()  # so that alembic takes the transaction for its caller's, and does not commit
        config.attributes["connection"] = lent
        try:
            command.upgrade(config, "head")
        except DBAPIError as error:
            raise error.orig or error from None
