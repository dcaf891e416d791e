"""Marks: what stands in a statement for a value that is known when it is sent, and not when it is written.

They are drawn at random for each writing, so that no name or text of a user can hold one.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator

_LOWEST, _HIGHEST = 1_000_000_000, 2_000_000_000  # below 2**31, and more than any level or code


class MarkBook:
    """The marks of one writing, and the expression that stands for each in the procedure."""

    def __init__(self) -> None:
        self._next = _LOWEST + secrets.randbelow(_HIGHEST - _LOWEST)
        self._drawn = secrets.token_hex(6)
        self._expressions: dict[str, str] = {}

    def number(self, expression: str) -> int:
        """A number that stands for this expression of PL/pgSQL."""
        self._next += 2  # one more than it stands for one more
        self._expressions[str(self._next)] = expression
        self._expressions[str(self._next + 1)] = f"({expression} + 1)"
        return self._next

    def name(self, expression: str) -> str:
        """A part of a name, or of a text, that stands for it."""
        name = f"m{self._drawn}{len(self._expressions):04d}"
        self._expressions[name] = expression
        return name

    def parts(self, text: str) -> Iterator[tuple[str, str | None]]:
        """The text, piece by piece, each with the expression that follows it."""
        if not self._expressions:
            yield text, None
            return
        found = re.compile("|".join(sorted(self._expressions, key=len, reverse=True)))
        start = 0
        for match in found.finditer(text):
            yield text[start : match.start()], self._expressions[match[0]]
            start = match.end()
        yield text[start:], None

    def written(self, text: str) -> str:
        """The expression of PL/pgSQL whose value is this text, with all that stands for something replaced."""
        pieces = []
        for piece, expression in self.parts(text):
            if piece:
                pieces.append(dollar_quoted(piece))
            if expression is not None:
                pieces.append(expression)
        return " || ".join(pieces) or "''"


def dollar_quoted(text: str, word: str = "sql") -> str:
    """A constant that no setting of a session reads in another way."""
    tag, number = f"${word}", 0
    while tag in text:
        number += 1
        tag = f"${word}{number}"
    return f"{tag}${text}{tag}$"
