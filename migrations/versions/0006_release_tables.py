"""A release can have several tables: the history knows all of them by their oids.

What a release of (l, e)-diversity consists of was known by a comment on the second table; it is noted here once.
Whoever may note the one table of a release may note the others.
"""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"

TABLES = """
alter table anondb.run add column release_oids oid[];
comment on column anondb.run.release_oids is
'All tables that were published; release_oid is the first of them.';

update anondb.run as r
set release_oids = array[q.oid, s.oid]
from pg_catalog.pg_class as q
join pg_catalog.pg_class as s on s.relnamespace = q.relnamespace and s.relowner = q.relowner and s.relkind = 'r'
where r.algorithm = 'le_diversity' and r.status = 'done' and q.oid = r.release_oid
  and pg_catalog.right(q.relname, 6) = '_quasi' and s.relname = pg_catalog.left(q.relname, -6) || '_sensitive';
"""

GRANTS = """
do $$
declare
    v_grant record;
begin
    for v_grant in
        select a.grantee, a.is_grantable
        from pg_catalog.pg_attribute as c, aclexplode(c.attacl) as a
        where c.attrelid = 'anondb.run'::regclass and c.attname = 'release_oid' and a.privilege_type = 'UPDATE'
    loop
        execute 'grant update (release_oids) on anondb.run to '
            || case when v_grant.grantee = 0 then 'public'
                    else quote_ident(pg_catalog.pg_get_userbyid(v_grant.grantee)) end
            || case when v_grant.is_grantable then ' with grant option' else '' end;
    end loop;
end $$;
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(GRANTS)


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward")
