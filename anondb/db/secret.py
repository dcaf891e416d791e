"""The secret of the installation: renewed in the server, taken to a file, or brought from one."""

from __future__ import annotations

import re

from anondb.db.errors import translated
from anondb.db.install.upgrade import require_current
from anondb.db.session import Session
from anondb.errors import DatabaseError

_MAY = """
select pg_catalog.pg_has_role(c.relowner, 'member'), pg_catalog.pg_get_userbyid(c.relowner)
from pg_catalog.pg_class as c where c.oid = 'anondb.secret'::pg_catalog.regclass
"""
_RENEW = "select anondb.renew_secret()"
_READ = "select pg_catalog.encode(s.key, 'hex') from anondb.secret as s"

# COPY, because what it carries is no parameter and stands in no log.
_IMPORTED = "create temporary table anondb_imported (key pg_catalog.text) on commit drop"
_BRING = b"copy pg_temp.anondb_imported from stdin"
_REPLACE = """
insert into anondb.secret as s (key) select pg_catalog.decode(i.key, 'hex') from pg_temp.anondb_imported as i
on conflict (singleton) do update set key = excluded.key, made_at = excluded.made_at
"""

_FORM = re.compile(r"[0-9a-f]{64}")


def is_secret(text: str) -> bool:
    """Whether a text is one: 32 bytes in hexadecimal digits."""
    return _FORM.fullmatch(text) is not None


def renew(session: Session) -> None:
    """Makes a new secret, in the server."""
    _require_owner(session, "renewing the secret")
    with translated("renewing the secret"):
        session.execute(_RENEW)


def read(session: Session) -> str:
    """The secret, in hexadecimal digits: for a file, and for nothing else."""
    _require_owner(session, "exporting the secret")
    with translated("exporting the secret"):
        row = session.execute(_READ).fetchone()
    if row is None:
        raise DatabaseError("this installation has no secret", hint="make one: anondb secret renew")
    return str(row[0])


def replace(session: Session, secret: str) -> None:
    """Puts a secret of another installation in the place of this one's."""
    assert is_secret(secret)
    _require_owner(session, "importing the secret")
    with translated("importing the secret"), session.transaction():
        session.execute(_IMPORTED)
        with session.cursor() as cursor, cursor.copy(_BRING) as copy:
            copy.write_row((secret,))
        session.execute(_REPLACE)


def _require_owner(session: Session, doing: str) -> None:
    require_current(session)
    with translated(doing):
        row = session.execute(_MAY).fetchone()
    if row is None or not row[0]:
        owner = "" if row is None else f", {row[1]}"
        raise DatabaseError(
            f"{doing} is for the owner of anondb{owner}", hint="connect as that role, or as a member of it"
        )
