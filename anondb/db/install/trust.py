"""Whose our schemas are: looked at in PostgreSQL's own catalogue before anything in them is read or called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from psycopg.rows import args_row

from anondb.db.session import Connection, Session, trusted_owner
from anondb.errors import DatabaseError
from anondb.run.snapshot import SCHEMAS

# Whoever may create a schema could have made ours first, and so could have chosen what we read and call. A member
# of the owner trusts it; but anyone may make others members of a role that is theirs to grant, so that only
# those memberships count that a superuser gave, or the member itself. A superuser as the owner can do anything anyway.
_OWNER = """
with recursive trusted(role) as (
    select r.oid from pg_catalog.pg_roles as r where r.rolname = current_user
    union
    select m.roleid
    from trusted as t
    join pg_catalog.pg_auth_members as m on m.member = t.role
    join pg_catalog.pg_roles as g on g.oid = m.grantor
    where g.rolsuper or g.rolname = current_user
)
select n.nspname, o.rolname, o.rolsuper or o.oid in (select t.role from trusted as t), o.oid
from pg_catalog.pg_namespace as n
join pg_catalog.pg_roles as o on o.oid = n.nspowner
where n.nspname = any (%(schemas)s)
order by n.nspname
"""

# What should not be, each with what mends it. Routines, triggers and rules run with the rights of whoever uses
# the tables, and a role that may create in a schema can put one there that is found before ours.
_ODD = """
with ours as (
    select n.oid, n.nspname, n.nspacl from pg_catalog.pg_namespace as n where n.nspname = any (%(schemas)s)
)
select o.what, o.mends
from (
    select format('role %%s may create in schema %%I', coalesce(r.rolname, 'public'), n.nspname),
           format('revoke create on schema %%I from %%s;', n.nspname, coalesce(quote_ident(r.rolname), 'public'))
    from ours as n
    cross join lateral pg_catalog.aclexplode(n.nspacl) as a
    left join pg_catalog.pg_roles as r on r.oid = a.grantee
    where a.privilege_type = 'CREATE' and a.grantee <> %(owner)s::oid
    union all
    select format('%%s belongs to role %%s', d.what, pg_get_userbyid(d.owner)), null
    from (
        select format('relation %%I.%%I', n.nspname, c.relname), c.relowner
        from ours as n join pg_catalog.pg_class as c on c.relnamespace = n.oid
        union all
        select format('routine %%I.%%I', n.nspname, p.proname), p.proowner
        from ours as n join pg_catalog.pg_proc as p on p.pronamespace = n.oid
        union all
        select format('type %%I.%%I', n.nspname, t.typname), t.typowner
        from ours as n join pg_catalog.pg_type as t on t.typnamespace = n.oid
    ) as d(what, owner)
    where d.owner <> %(owner)s::oid
    union all
    select 'anondb.install is no ordinary table', null
    from ours as n join pg_catalog.pg_class as c on c.relnamespace = n.oid
    where n.nspname = 'anondb' and c.relname = 'install' and c.relkind <> 'r'
    union all
    select format('rule %%I of table %%I.%%I', w.rulename, n.nspname, c.relname), null
    from ours as n
    join pg_catalog.pg_class as c on c.relnamespace = n.oid and c.relkind in ('r', 'p')
    join pg_catalog.pg_rewrite as w on w.ev_class = c.oid
    union all
    select format('trigger %%I of table %%I.%%I', g.tgname, n.nspname, c.relname),
           format('drop trigger %%I on %%I.%%I;', g.tgname, n.nspname, c.relname)
    from ours as n
    join pg_catalog.pg_class as c on c.relnamespace = n.oid
    join pg_catalog.pg_trigger as g on g.tgrelid = c.oid and not g.tgisinternal
    join pg_catalog.pg_proc as p on p.oid = g.tgfoid
    where p.pronamespace not in (select n.oid from ours as n)
) as o(what, mends)
order by o.what
limit 20
"""

# Everything in the schema that can be called, or is called by reading and writing; as text, which is the same in
# each database of a server version.
_DIGEST = """
select pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(
    string_agg(pg_catalog.md5(d.text), ' ' order by d.text collate "C"), 'UTF8')), 'hex')
from (
    select case p.prokind when 'a' then concat_ws(' ', 'aggregate', p.proname, pg_get_function_arguments(p.oid), a.*)
                          else pg_get_functiondef(p.oid) end
    from pg_catalog.pg_proc as p left join pg_catalog.pg_aggregate as a on a.aggfnoid = p.oid
    where p.pronamespace = %(schema)s::oid
    union all
    select concat_ws(' ', 'relation', c.relkind, c.relname, c.relrowsecurity, c.relforcerowsecurity,
                     case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid) end)
    from pg_catalog.pg_class as c
    where c.relnamespace = %(schema)s::oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
    union all
    select concat_ws(' ', 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                     a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
    from pg_catalog.pg_class as c
    join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_catalog.pg_attrdef as d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = %(schema)s::oid and c.relkind in ('r', 'p')
    union all
    select concat_ws(' ', 'constraint', c.relname, k.conname, pg_get_constraintdef(k.oid))
    from pg_catalog.pg_class as c join pg_catalog.pg_constraint as k on k.conrelid = c.oid
    where c.relnamespace = %(schema)s::oid and k.contype = 'c'
    union all
    select concat_ws(' ', g.tgenabled, pg_get_triggerdef(g.oid))
    from pg_catalog.pg_class as c join pg_catalog.pg_trigger as g on g.tgrelid = c.oid and not g.tgisinternal
    where c.relnamespace = %(schema)s::oid
    union all
    select concat_ws(' ', 'policy', c.relname, p.polname, p.polcmd, p.polpermissive,
                     pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
    from pg_catalog.pg_class as c join pg_catalog.pg_policy as p on p.polrelid = c.oid
    where c.relnamespace = %(schema)s::oid
    union all
    select pg_get_indexdef(i.indexrelid)
    from pg_catalog.pg_class as c join pg_catalog.pg_index as i on i.indrelid = c.oid
    where c.relnamespace = %(schema)s::oid and (i.indexprs is not null or i.indpred is not null)
    union all
    select concat_ws(' ', 'inherited', c.relname, i.inhrelid::regclass)
    from pg_catalog.pg_class as c join pg_catalog.pg_inherits as i on i.inhparent = c.oid
    where c.relnamespace = %(schema)s::oid and c.relkind = 'r'
) as d(text)
"""
_SCHEMA = "select n.oid from pg_catalog.pg_namespace as n where n.nspname = 'anondb'"


class Place(NamedTuple):
    """One of our schemas, and whose it is."""

    schema: str
    owner: str
    is_trusted: bool
    owner_oid: int


def require_ours(connection: Connection, owner: str | None = None) -> list[Place]:
    """The schemas of ours that there are; raises unless they, and all that lies in them, are of one trusted role.

    `owner`, or what the connection's user said, names a role that is trusted besides the current one.
    """
    named = owner or trusted_owner(connection)
    with connection.cursor(row_factory=args_row(Place)) as cursor:
        places = cursor.execute(_OWNER, {"schemas": list(SCHEMAS)}).fetchall()
    for place in places:
        if not place.is_trusted and place.owner != named:
            raise _strange(place)
    if len({place.owner for place in places}) > 1:
        whose = " and ".join(f"schema {place.schema} to {place.owner}" for place in places)
        raise DatabaseError(
            f"the schemas of anondb belong to different roles: {whose}",
            hint="an administrator can give both to one of them: alter schema … owner to …;",
        )
    if places:
        parameters = {"schemas": list(SCHEMAS), "owner": places[0].owner_oid}
        odd = connection.execute(_ODD, parameters).fetchall()
        if odd:
            raise _odd(
                places[0].owner, [(str(what), None if mends is None else str(mends)) for what, mends in odd]
            )
    return places


def require_wanted(connection: Connection, places: Sequence[Place], owner: str | None = None) -> None:
    """Before a first installation: schemas that are there already are used only if the user knows of them."""
    named = owner or trusted_owner(connection)
    for place in places:
        if place.owner != named:
            raise DatabaseError(
                f"schema {place.schema} is there already, and anondb has not made it; it belongs to {place.owner}",
                hint=f"if it was made for anondb, say so: anondb --owner {place.owner} db upgrade; "
                "else drop or rename it",
            )


def is_as_recorded(connection: Connection, sha256: str | None, major: int | None) -> bool:
    """Whether our schema is as the installation recorded it; looked at once in a session of ours."""
    if sha256 is None or major != server_major(connection):
        return False
    if isinstance(connection, Session) and connection.seen == sha256:
        return True
    is_true = digest(connection) == sha256
    if is_true and isinstance(connection, Session):
        connection.seen = sha256
    return is_true


def digest(connection: Connection) -> str | None:
    """A fingerprint of what lies in our schema, as the catalogue has it now."""
    row = connection.execute(_SCHEMA).fetchone()
    if row is None:
        return None
    digest_row = connection.execute(_DIGEST, {"schema": row[0]}).fetchone()
    return None if digest_row is None or digest_row[0] is None else str(digest_row[0])


def server_major(connection: Connection) -> int:
    return connection.info.server_version // 10000


def _strange(place: Place) -> DatabaseError:
    return DatabaseError(
        f"schema {place.schema} belongs to role {place.owner}, whom this role has no reason to trust: it is neither "
        "this role itself, nor a superuser, nor one that this role was made a member of by a superuser",
        hint=f"if {place.owner} has installed anondb for you, say so: --owner {place.owner} before the command, or "
        f"ANONDB_OWNER={place.owner}; if not, an administrator drops the schema or renames it",
    )


def _odd(owner: str, oddities: Sequence[tuple[str, str | None]]) -> DatabaseError:
    mends = " ".join(mend for _, mend in oddities if mend)
    return DatabaseError(
        "\n".join(["anondb in this database is not as it was installed:", *(what for what, _ in oddities)]),
        hint=f"all of it has to belong to {owner}, and nobody else may create in it; {owner} or an administrator mends "
        "this" + (f": {mends}" if mends else ", or drops what is not anondb's"),
    )
