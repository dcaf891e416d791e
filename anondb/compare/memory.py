"""The peak memory of this process since the last reset, where Linux reports it."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

_PROCESS = Path("/proc/self")
_FORGET_PEAK = "5"  # what the kernel's proc(5) calls it


def forget_peak() -> None:
    """Resets the peak; without the right to do so, it stays the peak since the process began."""
    with suppress(OSError):
        (_PROCESS / "clear_refs").write_text(_FORGET_PEAK)


def peak_bytes() -> int | None:
    """The peak in bytes; None where the system does not report it."""
    with suppress(OSError):
        line = re.search(r"^VmHWM:\s+(\d+) kB$", (_PROCESS / "status").read_text(), re.MULTILINE)
        return None if line is None else int(line[1]) * 1024
    return None
