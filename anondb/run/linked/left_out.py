"""What a node leaves out."""

from __future__ import annotations

from dataclasses import dataclass

UNTIL = "until nothing more is left out: what is left out supports no others"


@dataclass(frozen=True)
class LeftOut:
    """How many persons, and rows of the others, a node leaves out; at least so many where it is not all known."""

    persons: int
    rows: int = 0  # of the tables below, those of persons who are left out among them
    exact: bool = True
    sure: int = 0  # so many persons at least are left out at every less general node
    tables: tuple[int, ...] = ()  # rows that are left out of each table, where all is known
