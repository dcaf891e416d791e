"""Says on standard error what is going on; standard output is for the result."""

from __future__ import annotations

import sys
import time

_started = time.perf_counter()


def say(text: str) -> None:
    print(f"{time.perf_counter() - _started:7.1f} s  {text}", file=sys.stderr, flush=True)
