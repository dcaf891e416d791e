"""Following: which rule a release obeys towards the ones before it, as its policy and the ledger say."""

from __future__ import annotations

from dataclasses import dataclass, fields

from anondb.sqltree.tables import SourceColumn

HOLD, REFUSE, FREE = "hold", "refuse", "free"
CHANGES = (HOLD, REFUSE, FREE)
DELAY, DROP = "delay", "drop"
LEAVERS = (DELAY, DROP)
RESTART = (
    "run with --restart to begin a new series: whoever has kept the last release can compare it with the next"
)
VERSION = 1  # of the ledger, as anondb.ledger_version() has it


@dataclass(frozen=True)
class Series:
    """The series of a target as the ledger has it."""

    id: int
    source: str
    key: tuple[str, ...]
    policy: str
    changes: str
    levels: tuple[int, ...] | None
    release: int
    run: int | None
    version: int
    members: bool  # single persons are known
    batch: int | None = None  # how many persons wait until they are judged, where values are


@dataclass(frozen=True)
class Following:
    """How a release follows the one before it."""

    changes: str  # hold, refuse or free
    leavers: str  # delay or drop
    key: tuple[SourceColumn, ...] = ()  # what names a person from release to release
    key_is_unique: bool = True  # by the catalogue: nobody has to count
    several: bool = False  # a person may have several records
    judged: bool = False  # single persons are followed
    series: int | None = None  # none before the first release
    number: int = 1  # of the release in its series
    levels: tuple[int, ...] | None = None  # those of the last release, where they stay
    replanned: bool = False  # persons are known, and the classes are new
    first: bool = True  # nothing that is known was released before
    ends: int | None = None  # the series that this one takes the place of
    batch: int | None = None  # how many persons wait until they are judged; none is known in a first release
    bound: bool = False  # nobody was followed so far, and the release must be the last one row for row

    @property
    def stays(self) -> bool:
        """The rows of the last release stay, apart from those that change."""
        return self.judged and not self.first and not self.replanned


@dataclass(frozen=True)
class Followed:
    """What became of a release that follows another, in records."""

    published: int
    classes: int
    fewest: int  # persons in a cohort
    entered: int = 0
    left: int = 0
    moved: int = 0
    waiting: int = 0
    departed: int = 0
    withheld: int = 0
    persons: int = 0  # who are not as the ledger has them
    stirred: int = 0  # classes that are not
    failed: int = 0  # of the withheld: who never was published, but judged

    def as_json(self) -> dict[str, int]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("published", "classes")}
