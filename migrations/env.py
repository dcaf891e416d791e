"""Alembic's entry point: runs the migrations in the transaction of anondb.db.install.upgrade."""

from __future__ import annotations

from alembic import context

from anondb.errors import UsageError

connection = context.config.attributes.get("connection")
if connection is None:
    raise UsageError("migrations are applied by the upgrade alone", hint="run: anondb db upgrade")

context.configure(connection=connection, version_table="alembic_version", version_table_schema="anondb")
with context.begin_transaction():
    context.run_migrations()
