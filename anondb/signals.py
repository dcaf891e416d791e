"""Signals end a command in order: while it loads, at once; afterwards by unwinding, so that a run is rolled back.

Imports nothing that takes long: whoever starts a command may think better of it in the same moment.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from anondb.errors import HungUp, Terminated

# SIGHUP does not exist everywhere
_KINDS = {getattr(signal, name): kind for name, kind in (("SIGTERM", Terminated), ("SIGHUP", HungUp))
          if hasattr(signal, name)}  # fmt: skip


def leave_at_once() -> None:
    """Until `unwind`: there is nothing to undo yet."""
    for number in (signal.SIGINT, *_KINDS):
        _listen(number, _leave)


def unwind() -> None:
    """From now on a signal is an exception, which cancels the statement that runs and is told in the end."""
    _listen(signal.SIGINT, signal.default_int_handler)
    for number in _KINDS:
        _listen(number, _raise)


def ignore() -> None:
    """It is decided how the command ends."""
    for number in (signal.SIGINT, *_KINDS):
        signal.signal(number, signal.SIG_IGN)


def _listen(number: int, handler: object) -> None:
    if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or a shell's background: it is to go on
        signal.signal(number, handler)  # type: ignore[arg-type]


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    with suppress(OSError):
        os.write(2, b"error: ended by a signal before anything was begun\n")
    os._exit(128 + number)


def _raise(number: int, _frame: FrameType | None) -> NoReturn:
    for other in _KINDS:  # whatever comes now must not disturb the unwinding
        signal.signal(other, signal.SIG_IGN)
    raise _KINDS[number]
