"""A whole command in a process of its own, as a user waits for it; what it, and the server for it, take of memory."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from anondb.errors import AnondbError

_TOP = Path(__file__).resolve().parents[1]
_EVERY = 0.02  # seconds
_BACKENDS = """
select a.pid from pg_catalog.pg_stat_activity as a
where a.datname = current_database() and a.pid <> all(%s)
"""
_LOADED = "import anondb.run.release, anondb.methods.full_domain.search, anondb.methods.full_domain.optimal"
_TEMPORARY = "select d.temp_bytes from pg_catalog.pg_stat_database as d where d.datname = current_database()"


@dataclass(frozen=True)
class Measured:
    """A process that is over."""

    seconds: float
    cpu_seconds: float  # of the process alone
    server_cpu_seconds: float | None  # of all backends of the database together; local servers
    client_peak_mb: float
    backend_peak_mb: (
        float | None
    )  # of all backends of the database together, shared memory not counted; local servers
    temporary_mb: float
    output: str

    def figures(self) -> dict[str, float | None]:
        return {
            "command_seconds": round(self.seconds, 3),
            "client_cpu_seconds": round(self.cpu_seconds, 3),
            "server_cpu_seconds": None
            if self.server_cpu_seconds is None
            else round(self.server_cpu_seconds, 2),
            "client_peak_mb": round(self.client_peak_mb, 1),
            "backend_peak_mb": None if self.backend_peak_mb is None else round(self.backend_peak_mb, 1),
            "temporary_mb": round(self.temporary_mb, 1),
        }


# one release after another at one target, each as if it were the first
_ALONE = {"ANONDB_CHANGES": "free", "ANONDB_SUPERUSER": "accept"}


def run(conninfo: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Measured:
    """Runs a command to its end; raises if it fails."""
    with (
        psycopg.connect(conninfo, autocommit=True) as watcher,
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
    ):
        before = _temporary(watcher)
        ours = [watcher.info.backend_pid, *(pid for (pid,) in watcher.execute(_BACKENDS, ([],)))]
        started = time.perf_counter()
        child = subprocess.Popen(
            command,
            env={**os.environ, **_ALONE, "ANONDB_DSN": conninfo, **(environment or {})},
            cwd=_TOP,
            stdout=out,
        )
        watch = _Watch(watcher, child.pid, ours)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        watch.end()
        if child.returncode:
            raise AnondbError(f"{command[0]} failed; what it said stands above")
        out.seek(0)
        return Measured(
            seconds,
            usage.ru_utime + usage.ru_stime,
            watch.server_seconds,
            watch.client / 1024,
            watch.backends / 1024 if watch.backends else None,
            (_temporary(watcher) - before) / 2**20,
            out.read(),
        )


def policy(conninfo: str, python: str, file: Path) -> tuple[dict[str, float | None], dict[str, Any]]:
    """`anondb run`, whole, and what it says of itself."""
    compiled = {"PYTHONPYCACHEPREFIX": _compiled(python), "PYTHONDONTWRITEBYTECODE": ""}
    measured = run(conninfo, [python, "-m", "anondb", "run", str(file), "--json"], compiled)
    return measured.figures(), json.loads(measured.output)


@cache
def _compiled(python: str) -> str:
    """A folder with the modules that a run loads, compiled: as an installer leaves them.

    Without it a machine that is told to keep no bytecode would compile them in each run.
    """
    folder = tempfile.mkdtemp(prefix="anondb-bytecode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
    for call in (["-m", "compileall", "-q", "anondb"], ["-c", _LOADED], ["-m", "anondb", "run", "--help"]):
        subprocess.run([python, *call], env=environment, cwd=_TOP, stdout=subprocess.DEVNULL, check=True)
    return folder


class _Watch(threading.Thread):
    """Looks every few milliseconds; a server on another machine keeps its memory to itself."""

    def __init__(self, connection: psycopg.Connection[Any], client: int, others: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self.client = self.backends = 0  # kB
        self._busy: dict[int, float] = {}  # seconds of each backend, as last seen
        self._connection, self._pid, self._others = connection, client, list(others)
        self._over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._over.wait(_EVERY):
            self.client = max(self.client, _kilobytes(self._pid, "VmHWM"))
            backends = [pid for (pid,) in self._connection.execute(_BACKENDS, (self._others,))]
            self.backends = max(self.backends, sum(_kilobytes(pid, "RssAnon") for pid in backends))
            self._busy |= {pid: seconds for pid in backends if (seconds := _processor(pid)) is not None}

    @property
    def server_seconds(self) -> float | None:
        return sum(self._busy.values()) if self._busy else None

    def end(self) -> None:
        self._over.set()
        self.join()


def _temporary(connection: psycopg.Connection[Any]) -> int:
    """Bytes of temporary files so far; a backend tells its own when it has left."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        [[others]] = connection.execute(
            "select count(*) from pg_catalog.pg_stat_activity as a where a.datname = current_database()"
            " and a.pid <> pg_backend_pid() and a.state = 'active'"
        ).fetchall()
        if not others:
            break
        time.sleep(_EVERY)
    time.sleep(0.1)
    [[temporary]] = connection.execute(_TEMPORARY).fetchall()
    return int(temporary)


def _processor(pid: int) -> float | None:
    """Seconds that a process has computed so far; what it did since the last look, nobody sees."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just left
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _kilobytes(pid: int, field: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # it has just left
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(field)), 0)
