"""The server numbers the runs: a role that enters them says what is run, not which number or what time it has.

Whoever could choose a number could take that of the next run of another, which then fails, or be the last one for ever.
"""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"

GRANTS = """
do $$
declare
    v_grant record;
begin
    for v_grant in
        select case a.grantee when 0 then 'public' else quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) end as role,
               bool_or(a.is_grantable) as is_grantable
        from pg_catalog.pg_class as c, aclexplode(c.relacl) as a
        where c.oid = 'anondb.run'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
        group by a.grantee
    loop
        execute 'revoke insert on anondb.run from ' || v_grant.role || ' cascade';
        execute 'grant insert (policy, source, target, algorithm, status, package) on anondb.run to ' || v_grant.role
            || case when v_grant.is_grantable then ' with grant option' else '' end;
    end loop;
end $$;
"""


def upgrade() -> None:
    op.execute(GRANTS)


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward")
