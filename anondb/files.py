"""Files that anondb writes: they hold values of data or figures of it, and are for their owner alone unless asked."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

OWNER, ALL = 0o600, 0o644
"""Modes: the owner reads and writes; all others read."""

mode: ContextVar[int] = ContextVar("mode", default=OWNER)
"""Of every file that is written."""


def write(path: Path | str, text: str, *, private: bool = False, replace: bool = True) -> None:
    """A new file in the place of whatever had this name: no link is followed, and no wider mode stays."""
    with opened(path, private=private, replace=replace) as file:
        file.write(text.encode())


@contextmanager
def opened(path: Path | str, *, private: bool = False, replace: bool = True) -> Iterator[BinaryIO]:
    """The same for what is written piece by piece; the file is there once all of it was written.

    It is made beside its place under a name that nobody can guess, and renamed: in a directory that all can
    write, another user's link or file is never written into. Pipes and devices (/dev/stdout) are written to.
    What is `private` is its owner's alone, whatever was asked for. Without `replace`, a name that is taken is
    a FileExistsError.
    """
    place = Path(path)
    if replace and _is_stream(place):
        with place.open("wb") as stream:
            yield stream
        return
    fresh = _create(place)
    try:
        with fresh.open("wb") as file:
            yield file
        fresh.chmod(OWNER if private else mode.get())
        if replace:
            fresh.replace(place)
        else:
            os.link(fresh, place)  # fails where something has come to be meanwhile
            fresh.unlink()
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


def require_writable(path: Path) -> None:
    """Raises OSError if a file could not be written there; leaves no trace."""
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    if not _is_stream(path):
        _create(path).unlink()


def _create(place: Path) -> Path:
    """An empty file that is ours, beside a place."""
    fresh = place.with_name(f".anondb-{secrets.token_hex(8)}")
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER))
    return fresh


def _is_stream(place: Path) -> bool:
    """Whether there is a pipe or a device, and no other user has put it, or the link to it, there."""
    if os.name == "nt":
        return False
    try:
        link, status = place.lstat(), place.stat()
    except OSError:
        return False
    trusted = {link.st_uid, status.st_uid} <= {0, os.geteuid()}
    return trusted and (stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode))
