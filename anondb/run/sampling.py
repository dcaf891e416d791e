"""How many classes linkage by coverage looks at, where they overlap and each is held against all originals."""

from __future__ import annotations

MOST_COVERED = 20_000_000  # pairs of different records
FEWEST_CLASSES = 200  # in a sample of them
USUAL_COLUMNS = 10
"""What a pair costs grows with the columns: of more of them, fewer are compared."""


def affordable(columns: int) -> float:
    """How many pairs of an original and a class linkage by coverage compares: it takes as long for any columns."""
    return MOST_COVERED * min(1.0, USUAL_COLUMNS / columns)


def sampled_share(pairs: int, released: int, columns: int) -> float:
    """The share of the classes that are compared with the originals."""
    return min(1.0, max(affordable(columns) / pairs, FEWEST_CLASSES / released))
