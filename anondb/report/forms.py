"""How it is told that a quasi-identifier is released as a number, and what that number is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_MEANINGS = {
    "range": "the range of its class",
    "midpoint": "the middle of the range of its class, which nobody need have",
    "mean": "the mean of its class (microaggregation), which nobody need have",
    "lower": "the lower end of the range of its class",
    "upper": "the upper end of the range of its class",
    "text": "the label of its class",
}


def form_sentences(columns: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    """Of columns with the forms that they are released in, where they are not released as labels alone."""
    for name, release in columns:
        if release is not None:
            told = [_MEANINGS.get(word, word) for word in release.split(", ")]
            yield f'"{name}" is released as {" and ".join(told)}.'
