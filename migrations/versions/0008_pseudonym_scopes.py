"""The scopes of pseudonyms, and the tables that have them: two releases that share one can be joined.

Whoever may enter runs may note a scope; what is noted can only make another run be refused.
"""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"

SCOPES = """
create table anondb.pseudonym_scope (
    name text primary key,
    targets text[] not null,
    since timestamptz not null default now()
);
comment on table anondb.pseudonym_scope is
'One row for each scope of pseudonyms: the released tables that have them, all of one policy.';
"""

GRANTS = """
do $$
declare
    v_role record;
begin
    for v_role in
        select distinct case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end as name
        from pg_class as c cross join aclexplode(c.relacl) as a
        where c.oid = 'anondb.pseudonym_scope'::regclass and a.grantee <> c.relowner
    loop
        execute 'revoke all on anondb.pseudonym_scope from ' || v_role.name;
    end loop;
    for v_role in
        select distinct quote_ident(pg_get_userbyid(a.grantee)) as name
        from pg_class as c cross join aclexplode(c.relacl) as a
        where c.oid = 'anondb.run_step'::regclass and a.privilege_type = 'INSERT' and a.grantee not in (0, c.relowner)
    loop
        execute 'grant select, insert, update (targets) on anondb.pseudonym_scope to ' || v_role.name;
    end loop;
end $$;
"""


def upgrade() -> None:
    op.execute(SCOPES)
    op.execute(GRANTS)


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward")
