"""The ledger: who was published with whom, release by release, without a value of anybody.

A series is the releases of one target. Its persons are known by keyed hashes; those with the same published history
are a cohort, and a cohort enters a release, leaves it or is parted as a whole.
"""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"

# A member has no index and no foreign key: a million of them are to stay small, and a run reads all of its series
# once. Who may see a series may see its members.

TABLES = """
create table anondb.series (
    id int generated always as identity primary key,
    uid uuid not null default gen_random_uuid(),
    target text not null,
    source text not null,
    key text[] not null default '{}',
    policy text not null,
    changes text not null constraint series_changes_are_known check (changes in ('hold', 'refuse', 'free')),
    levels int[],
    release int not null default 0 check (release >= 0),
    run bigint,
    version int not null,
    promise jsonb,
    started_by name not null default current_user,
    started_at timestamptz not null default clock_timestamp(),
    ended_at timestamptz
);
create unique index series_of_target on anondb.series (target, started_by) where ended_at is null;
comment on table anondb.series is 'The releases of one target, which are judged together.';
comment on column anondb.series.uid is 'Drawn at random; the hashes of its members hang on it.';
comment on column anondb.series.source is 'The table that it is made of, as the policy names it.';
comment on column anondb.series.key is 'The columns that name a person; none where nothing is known of single ones.';
comment on column anondb.series.policy is 'Hash of the policy of the last release.';
comment on column anondb.series.changes is 'What the policy of the last release says of changes.';
comment on column anondb.series.levels is 'The levels of the last release, in the order of its quasi-identifiers.';
comment on column anondb.series.release is 'How many releases it has had; no clock is asked which one is newer.';
comment on column anondb.series.run is 'The run that made the last one.';
comment on column anondb.series.version is 'The form of the ledger that its members are kept in.';
comment on column anondb.series.promise is
'What the policy of the last release demands, and of which columns: what anondb verify holds it to.';
comment on column anondb.series.ended_at is 'When a new series took its place.';

create table anondb.series_release (
    series int not null references anondb.series on delete cascade,
    release int not null,
    run bigint not null,
    policy text not null,
    levels int[],
    records bigint not null,
    classes bigint not null,
    entered bigint not null default 0,
    left_it bigint not null default 0,
    moved bigint not null default 0,
    waiting bigint not null default 0,
    departed bigint not null default 0,
    withheld bigint not null default 0,
    released_at timestamptz not null default clock_timestamp(),
    primary key (series, release)
);
comment on table anondb.series_release is 'Each release of a series, in numbers of records.';
comment on column anondb.series_release.entered is 'Published for the first time.';
comment on column anondb.series_release.left_it is 'Published no longer.';
comment on column anondb.series_release.moved is 'Published in another class than before.';
comment on column anondb.series_release.waiting is 'Not published yet, because too few would enter a class together.';
comment on column anondb.series_release.departed is
'Published as they were, although they have left, moved or changed: too few of their cohort have.';
comment on column anondb.series_release.withheld is 'Not published again in this series.';

create table anondb.cohort (
    id int generated always as identity primary key,
    series int not null references anondb.series on delete cascade,
    class bigint,
    origin int,
    origin_class bigint,
    began_with int not null check (began_with >= 0),
    persons int not null check (persons >= 0),
    records int not null check (records >= 0),
    digest numeric not null,
    of_columns int[] not null default '{}',
    value_hashes bigint[] not null default '{}',
    counts bigint[] not null default '{}',
    since int not null,
    until int
);
create index cohort_of_series on anondb.cohort (series);
comment on table anondb.cohort is 'Persons with the same published history.';
comment on column anondb.cohort.class is 'Keyed hash of the labels of its class; null where it is published no longer.';
comment on column anondb.cohort.origin is
'The cohort that its members were in before; null where they had not been published.';
comment on column anondb.cohort.origin_class is 'The class that they were in before.';
comment on column anondb.cohort.began_with is 'How many persons it had when it was made.';
comment on column anondb.cohort.digest is 'Sum of the keyed hashes of its rows, which proves that a release has them.';
comment on column anondb.cohort.of_columns is
'With value_hashes and counts: how often its rows have each value, by its hash, of each column that a model judges.';
comment on column anondb.cohort.since is 'The number of the first release with this history.';
comment on column anondb.cohort.until is 'The number of the release in which nobody was left in it.';

create table anondb.member (
    series int not null,
    cohort int not null,
    person uuid not null,
    kept bigint not null,
    mark bigint not null
);
comment on table anondb.member is 'Each record that a series has published: whose it is, and in which cohort.';
comment on column anondb.member.person is 'HMAC of the key, by a key of the series.';
comment on column anondb.member.kept is 'Keyed hash of what is released of it besides its class.';
comment on column anondb.member.mark is
'Keyed hash of its key and of that: a record that has not changed has the same.';
"""

SECURITY = """
alter table anondb.series enable row level security;
create policy seen on anondb.series for select using (started_by = any (array(
    select r.rolname from pg_catalog.pg_roles as r where pg_catalog.pg_has_role(r.oid, 'USAGE'))));
create policy entered on anondb.series for insert with check (started_by = current_user);
create policy kept on anondb.series for update
    using (started_by = any (array(
        select r.rolname from pg_catalog.pg_roles as r where pg_catalog.pg_has_role(r.oid, 'USAGE'))));
create policy forgotten on anondb.series for delete
    using (started_by = any (array(
        select r.rolname from pg_catalog.pg_roles as r where pg_catalog.pg_has_role(r.oid, 'USAGE'))));

alter table anondb.series_release enable row level security;
create policy of_series on anondb.series_release
    using (series = any (array(select s.id from anondb.series as s)));
alter table anondb.cohort enable row level security;
create policy of_series on anondb.cohort
    using (series = any (array(select s.id from anondb.series as s)));
alter table anondb.member enable row level security;
create policy of_series on anondb.member
    using (series = any (array(select s.id from anondb.series as s)));
"""

# Whoever runs policies keeps the ledger; others that default privileges have let in are let out again.
GRANTS = """
do $$
declare
    v_table text;
    v_role record;
begin
    foreach v_table in array array['series', 'series_release', 'cohort', 'member'] loop
        for v_role in
            select distinct case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end as name
            from pg_class as c cross join aclexplode(c.relacl) as a
            where c.oid = format('anondb.%I', v_table)::regclass and a.grantee <> c.relowner
        loop
            execute format('revoke all on anondb.%I from %s', v_table, v_role.name);
        end loop;
        for v_role in
            select distinct quote_ident(pg_get_userbyid(a.grantee)) as name
            from pg_attribute as t cross join aclexplode(t.attacl) as a
            where t.attrelid = 'anondb.run'::regclass and a.privilege_type = 'INSERT' and a.grantee <> 0
        loop
            execute format('grant select, insert, update, delete on anondb.%I to %s', v_table, v_role.name);
        end loop;
    end loop;
end $$;
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(SECURITY)
    op.execute(GRANTS)


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward")
