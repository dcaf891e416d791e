"""A database of the benchmark's own, on an embedded server or on the one that is named."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.db.connection import Door
from anondb.db.embedded import server as embedded
from anondb.db.install.upgrade import upgrade


@contextmanager
def fresh_database(dsn: str | None) -> Iterator[str]:
    """The conninfo of a new database with anondb in it, dropped in the end; no other one is touched."""
    with _server(dsn) as server:
        name = f"anondb_benchmark_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(server, autocommit=True) as admin:
            admin.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        try:
            conninfo = make_conninfo(server, dbname=name)
            with Door(conninfo).lend() as connection:
                upgrade(connection)
            yield conninfo
        finally:
            with psycopg.connect(server, autocommit=True) as admin:
                admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@contextmanager
def _server(dsn: str | None) -> Iterator[str]:
    if dsn is not None:
        yield dsn
        return
    folder = Path(tempfile.mkdtemp(prefix="anondb-bench-"))
    folder.chmod(0o755)  # as root the server runs as another user, who has to get to its data in here
    try:
        # durable, as a user's database is: without fsync the figures would flatter
        with embedded.start(folder / "pg", durable=True) as server:
            yield server.dsn
    finally:
        shutil.rmtree(folder, ignore_errors=True)
