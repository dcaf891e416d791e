"""The history says who wrote it, and what has ended stays as it is."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"

# A role is granted what a run writes. It sees the runs of its own and of the roles that it is a member of, and
# changes its own ones while they run. The owner of the tables sees and may mend all: row-level security does not
# bind owners. The triggers hold for roles with BYPASSRLS too, which is what the source may ask of a runner.

# Two roles may run the same policy. Each has its own text of it: nobody's report shows what another has entered.
POLICIES = """
alter table anondb.policy add column added_by name not null default current_user;
comment on column anondb.policy.added_by is 'The role that ran it.';
alter table anondb.run drop constraint run_policy_fkey;
alter table anondb.policy drop constraint policy_pkey, add primary key (sha256, added_by);
insert into anondb.policy (sha256, body, created_at, added_by)
select distinct p.sha256, p.body, p.created_at, r.started_by
from anondb.policy as p join anondb.run as r on r.policy = p.sha256
on conflict do nothing;
alter table anondb.run add foreign key (policy, started_by) references anondb.policy (sha256, added_by);
comment on column anondb.run.started_by is 'The role that ran it; nobody enters a run for another.';
"""

TRIGGERS = """
create function anondb.sign_policy() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    new.added_by := current_user;
    return new;
end $$;
comment on function anondb.sign_policy() is 'Notes who enters a policy.';
create trigger sign before insert on anondb.policy for each row execute function anondb.sign_policy();

create function anondb.guard_run() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    v_is_owner boolean := (select pg_has_role(c.relowner, 'USAGE') from pg_class as c where c.oid = tg_relid);
begin
    if tg_op = 'INSERT' then
        new.started_by := current_user;
        return new;
    end if;
    if v_is_owner then
        return new;
    end if;
    if old.status <> 'running' then
        raise exception 'run % has ended, and its record stays as it is', old.id
            using errcode = 'SA410', hint = 'Whoever owns the schema anondb may delete it.';
    end if;
    -- the run of another may only be found lost
    if (new.id, new.policy, new.source, new.target, new.algorithm, new.package, new.started_by, new.started_at)
        is distinct from
       (old.id, old.policy, old.source, old.target, old.algorithm, old.package, old.started_by, old.started_at)
       or (old.started_by <> current_user
           and (new.status <> 'lost' or (new.result, new.release_oid) is distinct from (old.result, old.release_oid)))
    then
        raise exception 'run % is not changed into another one', old.id
            using errcode = 'SA411', hint = 'A role writes how its own runs end, and nothing else.';
    end if;
    return new;
end $$;
comment on function anondb.guard_run() is
'Notes who begins a run, and keeps its record from being rewritten by anybody but the owner. Raises SA410 or SA411.';
create trigger guard before insert or update on anondb.run for each row execute function anondb.guard_run();

create function anondb.guard_details() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from added as a
               where not exists (select from anondb.run as r
                                 where r.id = a.run and r.status = 'running' and r.started_by = current_user))
       and not (select pg_has_role(c.relowner, 'USAGE') from pg_class as c where c.oid = tg_relid)
    then
        raise exception 'steps and figures are added to runs of one''s own, while they run'
            using errcode = 'SA412', hint = 'anondb run writes them; nobody else has to.';
    end if;
    return null;
end $$;
comment on function anondb.guard_details() is
'Keeps steps and figures from being added to a run of another role, or to one that has ended. Raises SA412.';
create trigger guard after insert on anondb.run_step referencing new table as added
for each statement execute function anondb.guard_details();
create trigger guard after insert on anondb.run_metric referencing new table as added
for each statement execute function anondb.guard_details();
"""

SECURITY = """
alter table anondb.policy enable row level security;
create policy seen on anondb.policy for select using (added_by = any (array(
    select r.rolname from pg_catalog.pg_roles as r where pg_catalog.pg_has_role(r.oid, 'USAGE'))));
create policy entered on anondb.policy for insert with check (added_by = current_user);

alter table anondb.run enable row level security;
create policy seen on anondb.run for select using (started_by = any (array(
    select r.rolname from pg_catalog.pg_roles as r where pg_catalog.pg_has_role(r.oid, 'USAGE'))));
create policy entered on anondb.run for insert with check (started_by = current_user and status = 'running');
create policy ended on anondb.run for update
    using (started_by = current_user and status = 'running') with check (started_by = current_user);

alter table anondb.run_step enable row level security;
create policy seen on anondb.run_step for select
    using (exists (select from anondb.run as r where r.id = run_step.run));
create policy entered on anondb.run_step for insert with check (exists (
    select from anondb.run as r
    where r.id = run_step.run and r.started_by = current_user and r.status = 'running'));

alter table anondb.run_metric enable row level security;
create policy seen on anondb.run_metric for select
    using (exists (select from anondb.run as r where r.id = run_metric.run));
create policy entered on anondb.run_metric for insert with check (exists (
    select from anondb.run as r
    where r.id = run_metric.run and r.started_by = current_user and r.status = 'running'));
"""


def upgrade() -> None:
    op.execute(POLICIES)
    op.execute(TRIGGERS)
    op.execute(SECURITY)


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward")
