"""MDAV on sets of concepts (Batet, Erola, Sánchez, Castellà-Roca): classes of k records around centroids.

The rounds run in the database, `sql/methods/mdav.sql`; here is what is decided before and after them.
"""

from __future__ import annotations

from dataclasses import dataclass

DISTANCES = ("average", "sum_of_minimum", "sum_of_maximum", "minimum", "maximum")
"""Of two sets of concepts; the first is the default, and loses least."""

VARIANTS = ("semantic", "non_semantic", "texts")
"""Two concepts are as far apart as their generalizations differ; or 0 and 1; or so are texts, whatever they mean."""

DRAWS = ("class", "record")
"""For what terms are drawn: a class, whose records are then the same text, or each record."""

MEASURES = {"semantic": "shared", "non_semantic": "equal", "texts": "texts"}
"""What the database calls the variants."""

SET_TYPE = "text[]"
"""Of a set in a release."""

ONTOLOGY = "wordnet"
"""Where a policy names no other."""


@dataclass(frozen=True)
class Share:
    """Records that are released, by whether any concept is known of them, and those that are not."""

    with_concepts: int
    without: int
    suppressed: int


def share(records: int, with_concepts: int, k: int) -> Share:
    """A record without concepts is like all others without; either kind is left out where it has not k records."""
    without = records - with_concepts
    kept, kept_without = (n if n >= k else 0 for n in (with_concepts, without))
    return Share(kept, kept_without, records - kept - kept_without)
