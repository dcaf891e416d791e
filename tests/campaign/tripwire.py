"""A door to a server that counts what clients ask, and lets something happen before one of the requests."""

from __future__ import annotations

import os
import signal
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil  # type: ignore[import-untyped]
from psycopg.conninfo import conninfo_to_dict, make_conninfo

# a simple query, the execution of a prepared one, the end of a COPY: each lets the server do something
_ASKS = frozenset(b"QEc")
_HEAD = struct.Struct("!i")
_PEER = struct.Struct("3i")


@dataclass(frozen=True)
class Caught:
    """Who asked what the wire was stretched before."""

    client: int
    backend: int


class Tripwire:
    """Stands between clients and a server's socket; `dsn` leads through it."""

    def __init__(
        self,
        folder: Path,
        dsn: str,
        at: int | None = None,
        happens: Callable[[Caught], object] = lambda _: None,
    ) -> None:
        there = conninfo_to_dict(dsn)
        self._server = f"{there['host']}/.s.PGSQL.{there.get('port', 5432)}"
        self.dsn = make_conninfo(dsn, host=str(folder), port=5432)
        self.asked = 0
        self.tripped = False
        self._at, self._happens = at, happens
        self._counting = threading.Lock()
        self._open: list[socket.socket] = []
        self._door = socket.socket(socket.AF_UNIX)
        self._path = folder / ".s.PGSQL.5432"
        self._door.bind(str(self._path))
        self._door.listen()
        threading.Thread(target=self._welcome, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _close(self._door)
        self._path.unlink(missing_ok=True)
        for line in self._open:
            _close(line)

    def _welcome(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                server = socket.socket(socket.AF_UNIX)
                self._open += [client, server]
                try:
                    server.connect(self._server)
                except OSError:
                    _close(client)
                    continue
                threading.Thread(target=_Line(self, client, server).serve, daemon=True).start()

    def counts(self, caught: Caught) -> bool:
        """Whether a request may go on: what happens before the nth happens here, once."""
        with self._counting:
            self.asked += 1
            if self.asked != self._at:
                return not self.tripped
            self.tripped = True
            self._happens(caught)
            return False


class _Line:
    """One connection of a client, forwarded message by message."""

    def __init__(self, wire: Tripwire, client: socket.socket, server: socket.socket) -> None:
        self.wire, self.client, self.server = wire, client, server
        self.backend = 0
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        self.process = _PEER.unpack(credentials)[0]

    def serve(self) -> None:
        threading.Thread(target=self._answer, daemon=True).start()
        with suppress(OSError, EOFError):
            size = _read(self.client, 4)
            first = size + _read(
                self.client, _HEAD.unpack(size)[0] - 4
            )  # who connects to what; it has no type
            self.server.sendall(first)
            while True:
                kind, message = _message(self.client)
                if kind in _ASKS and not self.wire.counts(Caught(self.process, self.backend)):
                    break
                self.server.sendall(message)
        _close(self.client)
        _close(self.server)

    def _answer(self) -> None:
        with suppress(OSError, EOFError):
            while not self.backend:
                kind, message = _message(self.server)
                if kind == ord("K"):  # the number of the backend, and the key to cancel it
                    self.backend = _HEAD.unpack(message[5:9])[0]
                self.client.sendall(message)
            while part := self.server.recv(1 << 16):
                self.client.sendall(part)
        _close(self.client)


def _message(line: socket.socket) -> tuple[int, bytes]:
    head = _read(line, 5)
    return head[0], head + _read(line, _HEAD.unpack(head[1:])[0] - 4)


def _read(line: socket.socket, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = line.recv(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _close(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()


def kill_client(caught: Caught) -> None:
    os.kill(caught.client, signal.SIGKILL)


def kill_backend(caught: Caught) -> None:
    os.kill(caught.backend, signal.SIGKILL)


def kill_server(caught: Caught) -> None:
    """All processes of the server at once, as if the machine had lost its power."""
    postmaster = psutil.Process(caught.backend).parent()
    assert postmaster is not None
    for process in [postmaster, *postmaster.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()
