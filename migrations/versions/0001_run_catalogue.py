"""The catalogue: what is installed, the stored hierarchies, the policies and the history of runs."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

# Nothing is granted to PUBLIC: hierarchies hold values of the data. Routines keep PostgreSQL's default
# (PUBLIC may execute), because the schema is closed and they run with their caller's rights: a single
# `grant usage on schema anondb` opens the functions to a role, and still not a single table.

INSTALL = """
comment on table anondb.alembic_version is 'The last migration that was applied.';

create table anondb.install (
    singleton boolean primary key default true constraint install_has_one_row check (singleton),
    package text not null,
    revision text not null,
    functions_sha256 text not null,
    objects text[] not null,
    tables text[] not null,
    installed_at timestamptz not null default clock_timestamp()
);
comment on table anondb.install is 'What the last upgrade installed; one row.';
comment on column anondb.install.package is 'The version of the package that ran the upgrade.';
comment on column anondb.install.revision is 'The last migration, as in alembic_version.';
comment on column anondb.install.functions_sha256 is
'Fingerprint of the SQL files; a package with another one refuses to work on this database.';
comment on column anondb.install.objects is
'The routines and views that the SQL files made; every upgrade replaces them.';
comment on column anondb.install.tables is
'The schemas and tables that upgrades made; removal drops these and objects, and nothing else.';
"""

HIERARCHIES = """
create table anondb.vgh (
    id int generated always as identity primary key,
    name text not null unique constraint vgh_has_a_name check (name <> ''),
    height int not null check (height > 0),
    leaves int not null check (leaves > 0),
    created_at timestamptz not null default now()
);
comment on table anondb.vgh is 'Value generalization hierarchies, by name.';
comment on column anondb.vgh.height is 'The level of the root; leaves are at level 0.';
comment on column anondb.vgh.leaves is 'How many leaves it has.';

create table anondb.vgh_node (
    vgh int not null references anondb.vgh on delete cascade,
    node int not null,
    level int not null check (level >= 0),
    label text not null,
    parent int,
    primary key (vgh, node),
    unique (vgh, level, label)
);
comment on table anondb.vgh_node is 'The nodes of a hierarchy; a label stands once on each level.';
comment on column anondb.vgh_node.node is
'Number of the node in its hierarchy; leaves come first, in the order of the file.';
comment on column anondb.vgh_node.parent is 'The node above, at level + 1; null for the root.';

create table anondb.vgh_path (
    vgh int not null references anondb.vgh on delete cascade,
    leaf int not null,
    level int not null,
    node int not null,
    primary key (vgh, leaf, level)
);
comment on table anondb.vgh_path is
'What each leaf becomes at each level from 0 to the height: generalizing is a join, not a climb.';
comment on column anondb.vgh_path.leaf is 'The number of a node at level 0.';
comment on column anondb.vgh_path.node is
'The ancestor of the leaf at that level; at level 0 the leaf itself.';
"""

RUNS = """
create table anondb.policy (
    sha256 text primary key,
    body text not null,
    created_at timestamptz not null default now()
);
comment on table anondb.policy is 'Every policy that was run.';
comment on column anondb.policy.sha256 is 'Hash of what the policy says, not of how it is written.';
comment on column anondb.policy.body is 'The text of the file as it was first run.';

create table anondb.run (
    id bigint generated always as identity primary key,
    policy text not null references anondb.policy,
    source text not null,
    target text not null,
    algorithm text not null,
    status text not null constraint run_status_is_known
        check (status in ('running', 'done', 'failed', 'interrupted', 'lost')),
    error text,
    package text not null,
    started_by name not null default current_user,
    started_at timestamptz not null default clock_timestamp(),
    finished_at timestamptz,
    release_oid oid,
    result jsonb
);
create index run_target on anondb.run (target);
create index run_release_oid on anondb.run (release_oid);
comment on table anondb.run is 'The history of runs, of failed and interrupted ones too.';
comment on column anondb.run.status is
'running, done, failed, interrupted (by a person or a signal), or lost (its session ended unseen).';
comment on column anondb.run.error is 'Why it failed; never a value of a row.';
comment on column anondb.run.package is 'The version of the package that ran it.';
comment on column anondb.run.release_oid is
'The table that was published; tells a target that we made from a stranger of the same name.';
comment on column anondb.run.result is 'The result as anondb run --json prints it.';

create table anondb.run_step (
    run bigint not null references anondb.run on delete cascade,
    seq int not null,
    stage text not null,
    name text not null,
    sql text,
    rows bigint,
    ms double precision,
    primary key (run, seq)
);
comment on table anondb.run_step is 'Every statement of a run, in order; its parameters are not kept.';
comment on column anondb.run_step.rows is 'How many rows it returned or changed.';
comment on column anondb.run_step.ms is 'Milliseconds as the client saw them.';

create table anondb.run_metric (
    run bigint not null references anondb.run on delete cascade,
    name text not null,
    of_column text not null default '',
    value double precision not null,
    primary key (run, name, of_column)
);
comment on table anondb.run_metric is 'The figures of a run: utility, risk, class sizes.';
comment on column anondb.run_metric.of_column is
'The column that the figure is about; empty for the whole release.';
"""


def upgrade() -> None:
    op.execute(INSTALL)
    op.execute(HIERARCHIES)
    op.execute(RUNS)


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward")
