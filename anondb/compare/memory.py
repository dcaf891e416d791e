"""The most memory that this process has taken since it was last asked to forget, where Linux tells."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

_PROCESS = Path("/proc/self")
_FORGET_PEAK = "5"  # what the kernel's proc(5) calls it


def forget_peak() -> None:
    """From now on the peak is counted anew; without that right it is the one since the process began."""
    with suppress(OSError):
        (_PROCESS / "clear_refs").write_text(_FORGET_PEAK)


def peak_bytes() -> int | None:
    """None where the system does not tell."""
    with suppress(OSError):
        line = re.search(r"^VmHWM:\s+(\d+) kB$", (_PROCESS / "status").read_text(), re.MULTILINE)
        return None if line is None else int(line[1]) * 1024
    return None
