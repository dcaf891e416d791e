"""How high the hierarchy of a mask is: as many levels as the longest value has characters."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeVar

from anondb.errors import UsageError
from anondb.run.statement import Runner, Statement, row
from anondb.sqltree.build import Node
from anondb.sqltree.tables import Coded

AnyCoded = TypeVar("AnyCoded", bound=Coded)

_GUESSED_LENGTH = 5
LONGEST_MASK = 100  # characters; each is a level of the hierarchy


def length_of(db: Runner, coded: Coded, question: Node) -> int:
    """Of the longest value of a column that is masked."""
    [length] = db.one(
        Statement(
            f"longest {coded.code}",
            question,
            answers=row(length=_declared_length(coded)),
            note="the run measures the longest value",
        )
    )
    return int(length)


def longest_of(coded: AnyCoded, length: int) -> AnyCoded:
    """The column with a level for each character."""
    if length > LONGEST_MASK:
        raise UsageError(
            f'the longest value of "{coded.name}" has {length} characters, too many to mask one by one',
            hint='use { mask = "all" } or a hierarchy of values',
        )
    return replace(coded, height=max(length, 1), length=length)


def _declared_length(coded: Coded) -> int:
    """Of a varchar(n) or char(n); of a text, a guess: what a plan shows of a mask."""
    declared = re.search(r"\((\d+)\)", coded.column.type)
    return min(int(declared[1]), LONGEST_MASK) if declared else _GUESSED_LENGTH
