"""A server of the campaign's own, that may be killed, and databases on it that are made from one another."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg
from psycopg.conninfo import make_conninfo

from anondb.db.connection import Connection
from anondb.db.embedded import server as embedded
from anondb.errors import DatabaseError
from tests.conftest import install_with_known_secret
from tests.servers import new_database

_PATIENCE = 60.0


class Ground:
    """A server that may be killed: it is up again when it is next asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.opened = ExitStack()
        self.server = self._start()

    def _start(self) -> str:
        # durable: what was committed must be there after a crash, which is what the campaign asks
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                return self.opened.enter_context(embedded.start(self.folder / "pg", durable=True)).dsn
            except DatabaseError:  # processes of the one that was killed still hold its memory
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def is_up(self) -> str:
        """Waits until the server takes connections again, or starts it."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                psycopg.connect(self.server).close()
                return self.server
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                if self._lives():
                    time.sleep(0.02)
                else:
                    self.server = self._start()

    def _lives(self) -> bool:
        """Whether the server itself is there, which mends itself after one of its processes was killed."""
        [cluster] = (self.folder / "pg").glob("postgresql-*")
        try:
            pid = int((cluster / "postmaster.pid").read_text().split()[0])
            return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
        except (FileNotFoundError, IndexError, psutil.NoSuchProcess):
            return False

    @contextmanager
    def witness(self, server_goes_down: bool) -> Iterator[None]:
        """Waits at the end until the server has ended all its sessions, and does not take it for up before."""
        with psycopg.connect(self.is_up(), autocommit=True) as session:
            yield
            deadline = time.monotonic() + _PATIENCE
            while server_goes_down:
                try:
                    session.execute("select")
                except psycopg.OperationalError:
                    return
                assert time.monotonic() < deadline, "the server goes on as if nobody had been killed"
                time.sleep(0.01)

    @contextmanager
    def database(self, template: str) -> Iterator[str]:
        """A database that is gone afterwards, whatever has happened to the server."""
        self.is_up()
        made = new_database(self.server, template, "campaign_{}")
        conninfo = made.__enter__()
        try:
            # the next numbers of a copied sequence are written down with the original alone: a crash would take the
            # copy back, unless a checkpoint makes it write its own
            with psycopg.connect(self.server, autocommit=True) as admin:
                admin.execute("checkpoint")
            yield conninfo
        finally:
            self.is_up()
            made.__exit__(None, None, None)

    @cached_property
    def empty(self) -> str:
        """The name of a database with anondb in it."""
        with psycopg.connect(self.server, autocommit=True) as admin:
            admin.execute("create database campaign_empty")
        with psycopg.connect(make_conninfo(self.server, dbname="campaign_empty"), autocommit=True) as made:
            install_with_known_secret(made)
        return "campaign_empty"


def settled(dsn: str) -> Connection:
    """A connection to a database in which nobody else is left: what was killed has gone."""
    connection = psycopg.connect(dsn, autocommit=True)
    deadline = time.monotonic() + _PATIENCE
    others = (
        "select from pg_stat_activity as a"
        " where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'"
    )
    while connection.execute(others).rowcount:
        assert time.monotonic() < deadline, "a backend goes on without its client"
        time.sleep(0.01)
    return connection
