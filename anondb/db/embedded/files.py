"""Files of the embedded server: locks that die with their process, and what is made beside its final place."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anondb.errors import DatabaseError

if sys.platform != "win32":
    import fcntl

POLL = 0.01
"""Seconds between two looks at something that another process has to do."""

_PATIENCE = 120


def beside(path: Path) -> Path:
    """The name under which `path` is made before it gets its own; what an interrupted try left is gone."""
    unfinished = path.with_name(f"{path.name}.new")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    return unfinished


def create(path: Path, flags: int = 0) -> int:
    """A descriptor of a file that only its owner can read, made where there is none."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | flags, 0o600)


@contextmanager
def opened(path: Path, flags: int = 0) -> Iterator[int]:
    descriptor = create(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Takes a lock that dies with its process; False if another one has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a lock; another holder is starting or stopping a server, which has its own time limits."""
    deadline = time.monotonic() + _PATIENCE
    with opened(path) as descriptor:
        while not try_lock(descriptor):
            if time.monotonic() > deadline:
                message = f"another process has held {path} for more than {_PATIENCE} seconds"
                raise DatabaseError(message, hint="end that process; its lock goes with it")
            time.sleep(POLL)
        yield
