"""The installation knows what its schema looked like when it was made, and on which version of PostgreSQL."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"

INSTALL = """
alter table anondb.install add column catalogue_sha256 text, add column server_major int;
comment on column anondb.install.catalogue_sha256 is
'Fingerprint of the routines, views and tables of the schema as the catalogue had them after the upgrade; one that
differs has been changed since.';
comment on column anondb.install.server_major is
'The major version of PostgreSQL that the fingerprint was taken on: others write the same routines differently.';
"""


def upgrade() -> None:
    op.execute(INSTALL)


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward")
