"""The secret of the installation: what a recipient must not be able to guess comes from it."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"

SECRET = """
create table anondb.secret (
    singleton boolean primary key default true constraint there_is_one_secret check (singleton),
    key bytea not null constraint a_secret_has_32_bytes check (octet_length(key) = 32),
    made_at timestamptz not null default now()
);
comment on table anondb.secret is
'One row. Numbers of classes, orders of rows and draws come from it: whoever reads it can recompute them.';
insert into anondb.secret (key) values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
"""

# Default privileges may have given the new table to roles that are to read all tables. Only those that run
# policies need it: they may enter runs, and would find their nightly run refused after an upgrade.
GRANTS = """
do $$
declare
    v_role record;
begin
    for v_role in
        select distinct case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end as name
        from pg_class as c cross join aclexplode(c.relacl) as a
        where c.oid = 'anondb.secret'::regclass and a.grantee <> c.relowner
    loop
        execute 'revoke all on anondb.secret from ' || v_role.name;
    end loop;
    for v_role in
        select distinct quote_ident(pg_get_userbyid(a.grantee)) as name
        from pg_class as c cross join aclexplode(c.relacl) as a
        where c.oid = 'anondb.run'::regclass and a.privilege_type = 'INSERT' and a.grantee not in (0, c.relowner)
    loop
        execute 'grant select on anondb.secret to ' || v_role.name;
    end loop;
end $$;
"""


def upgrade() -> None:
    op.execute(SECRET)
    op.execute(GRANTS)


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward")
