"""Closed cohorts: how many persons of a series wait until they are judged together, and are a cohort for good."""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.execute("alter table anondb.series add column batch int check (batch >= 1)")
    op.execute("""
comment on column anondb.series.batch is
'How many persons wait for a class until they are judged together, where a model looks at values; null before.'
""")


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward")
