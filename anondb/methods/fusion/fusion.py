"""Record fusion (Martínez, Sánchez, Valls, Batet 2012): rare tuples take the values of the most similar ones.

The rounds run in the database, `sql/methods/fusion.sql`; here is what is decided before them.
"""

from __future__ import annotations

VARIANTS = ("semantic", "h1_h2", "h1", "none", "distributional", "h1_random", "random")
"""How a tuple and its partner are chosen; the first is the method as published.

`none`, `h1` and `h1_h2` leave heuristics out: any tuple below k, one of the rarest, of these one with the most
similar partner. `distributional` takes the smallest partner, `h1_random` any for one of the rarest,
`random` any for any."""

WITHOUT_MEANING = ("distributional", "h1_random", "random")
"""The variants that do not ask how similar tuples are."""

MOST_TUPLES = 50_000
MOST_COMPARED = 10_000
"""Of a column: values that are compared, every two of them."""
MOST_VALUES = 100_000  # of a column, to be looked up in an ontology
WHOLE = 10_000_000
"""Similarities are whole numbers of so many parts, so that equal ones are equal."""


def pairs_in_words(number: int, what: str) -> str:
    """Why so many are too many."""
    return f"{number:,} {what} have {number**2:,} pairs, too many to compare"
