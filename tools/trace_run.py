"""Traces a command: the functions of the package in the order of their first call, and how often the package changes.

    python tools/trace_run.py [--list] run admissions.toml
    python tools/trace_run.py datafly | mdav | report | score

The second form makes a small table of its own on the embedded database and traces the command on it.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import FrameType

PACKAGE = Path(__file__).resolve().parents[1] / "anondb"


class Trace:
    """Functions by file and name, each once, in the order in which they were first entered."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str], None] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(f"{PACKAGE}/"):
            return
        name = code.co_qualname
        if "<module>" in name or name.endswith(
            ("<lambda>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")
        ):
            return
        if not code.co_flags & 0x01:  # the body of a class, which is run when its module is loaded
            return
        self.functions.setdefault((str(Path(code.co_filename).relative_to(PACKAGE)), name))

    @property
    def packages(self) -> list[str]:
        return [str(Path(file).parent) for file, _ in self.functions]

    @property
    def changes(self) -> int:
        found = self.packages
        return sum(one != other for one, other in pairwise(found))
