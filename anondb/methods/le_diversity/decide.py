"""(l, e)-diversity by maximal-bucket-first over Anatomy (Wang, Han, Wang): what is decided before any record is.

The records themselves are put into classes in the database: `sql/methods/le_diversity.sql`.
"""

from __future__ import annotations

from math import ceil


def portion(l: int, k: int) -> int:  # noqa: E741 - the literature's name
    """How many records of one value each of a class's l buckets gives it, for the class to have k records.

    A portion of one value leaves l values with the same share of the class, whatever its size.
    """
    return max(1, ceil(k / l))


def suffices(classes: int, left: int, may_suppress: int) -> bool:
    """Whether there is a release: a class at least, and no more records left out than may be."""
    return classes > 0 and left <= may_suppress
