"""What every benchmark can be asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"


@dataclass(frozen=True)
class Options:
    rows: tuple[int, ...] = (1_000_000, 5_000_000)
    quasi: tuple[int, ...] = (5, 8)  # numbers of quasi-identifiers
    algorithm: str | None = None  # None: the one that a benchmark is about
    repeat: int = 3
    data: Path = ADULT  # the folder of the Adult census data and its hierarchies
    arx: Path | None = None  # the folder of the jar or classes that a run is held against
    changed: float = 0.01  # the share of the rows that is not the same the night after
    nights: int = 200  # of lives
    dsn: str | None = None  # None: an embedded server of the benchmark's own
