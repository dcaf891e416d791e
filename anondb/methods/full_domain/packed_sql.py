"""The frequency set as a search reads it: the codes of all columns side by side in a few whole numbers.

The classes of a node are then told apart by `word & mask`, which takes half the time of a grouping by columns; what
is not asked for at a level that the policy allows is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from anondb.run.frequency_sql import Counted, Partial, persons
from anondb.sqltree.build import cast, col, create_scratch, named, number, parameter, query, scratch, subquery
from anondb.sqltree.tables import Scratch

_BITS = 63  # of a bigint that is not negative


@dataclass(frozen=True)
class Field:
    """The bits of a word that hold the code of a column at a level."""

    word: int
    shift: int
    bits: int

    @property
    def mask(self) -> int:
        return (1 << self.bits) - 1

    def code(self, of: str) -> exp.Expr:
        """The code, from the word of a row."""
        shifted = exp.BitwiseRightShift(this=col(word_name(self.word), of), expression=number(self.shift))
        return cast(exp.Paren(this=_and(exp.Paren(this=shifted), self.mask)), "int")


class Packing:
    """Where the codes of each quasi-identifier are, at each level below its root that is looked at."""

    def __init__(self, counted: Counted, labels: Sequence[Sequence[int]], *, leaves: bool) -> None:
        """`labels` are the numbers of codes of each column at each level; `leaves` where these are needed anyway."""
        self.counted, self.leaves = counted, leaves
        self._fields: dict[tuple[int, int], Field] = {}
        used: list[int] = []
        for column, q in enumerate(counted.quasi):
            highest = q.height if q.max_level is None else min(q.max_level, q.height)
            for level in range(q.height):
                if (leaves and level == 0) or q.min_level <= level <= highest:
                    bits = max(int(labels[column][level]).bit_length(), 1)
                    word = next((w for w, taken in enumerate(used) if taken + bits <= _BITS), len(used))
                    if word == len(used):
                        used.append(0)
                    self._fields[column, level] = Field(word, used[word], bits)
                    used[word] += bits
        self.words = range(len(used))

    @property
    def merges(self) -> bool:
        """Rows of the frequency set can be the same here."""
        return any((column, 0) not in self._fields for column in range(len(self.counted.quasi)))

    def field(self, column: int, level: int) -> Field:
        return self._fields[column, level]

    def masks(self, levels: Partial) -> dict[int, int]:
        """The bits by which the classes of a node are told apart, of each word that has any."""
        return self._masks(
            (column, level)
            for column, level in enumerate(levels)
            if level is not None and level < self.counted.quasi[column].height
        )

    def masks_from(self, levels: Partial) -> dict[int, int]:
        """The bits of these levels and of all above."""
        return self._masks(
            (column, level)
            for column, level in self._fields
            if (lowest := levels[column]) is not None and lowest <= level
        )

    def keys(self, levels: Partial) -> list[str]:
        return [word_name(word) for word in self.masks(levels)]

    def codes(self) -> dict[int, list[tuple[str, Field]]]:
        """Of each word, the columns of the frequency set that it holds."""
        found: dict[int, list[tuple[str, Field]]] = {word: [] for word in self.words}
        for (column, level), field in self._fields.items():
            found[field.word].append((self.counted.quasi[column].code_at(level), field))
        return found

    def _masks(self, places: Iterable[tuple[int, int]]) -> dict[int, int]:
        masks: dict[int, int] = {}
        for place in places:
            field = self._fields[place]
            masks[field.word] = masks.get(field.word, 0) | field.mask << field.shift
        return dict(sorted(masks.items()))


def word_name(word: int) -> str:
    return f"w{word + 1}"


def packed(names: Scratch, packing: Packing) -> tuple[exp.Create, list[int]]:
    """The whole frequency set; how far each code is shifted are parameters, as only a run knows it."""
    words: list[exp.Expr] = []
    shifts: list[int] = []
    for word, codes in packing.codes().items():
        parts = []
        for name, field in codes:
            shifts.append(field.shift)
            by = cast(parameter(len(shifts)), "int")
            shifted = exp.BitwiseLeftShift(this=cast(col(name, "f"), "bigint"), expression=by)
            parts.append(exp.Paren(this=shifted))
        whole: exp.Expr = parts[0]
        for part in parts[1:]:
            whole = exp.BitwiseOr(this=whole, expression=part)
        words.append(named(whole, word_name(word)))
    return create_scratch(names.packed, _rows(names.freq, packing, words, merge=packing.merges)), shifts


def rolled_up(source: str, name: str, packing: Packing, levels: Partial) -> exp.Create:
    """The same at these levels and all above, from a finer set; what it no longer tells apart is 0."""
    masks = packing.masks_from(levels)
    words = [
        named(cast(_and(col(word_name(word), "f"), masks.get(word, 0)), "bigint"), word_name(word))
        for word in packing.words
    ]
    return create_scratch(name, _rows(source, packing, words, merge=True))


def at_node(
    source: str,
    packing: Packing,
    levels: Partial,
    further: Sequence[exp.Expr] = (),
    *,
    as_parameters: bool = False,
) -> exp.Subquery:
    """The rows `f` of a set as the classes of a node are told apart: one class has the same words.

    With `as_parameters` the masks are not part of the text, which is then the same for most nodes.
    """
    words: list[exp.Expr] = []
    for place, (word, mask) in enumerate(packing.masks(levels).items(), 1):
        bits = cast(parameter(place), "bigint") if as_parameters else number(mask)
        masked = exp.BitwiseAnd(this=col(word_name(word), "p"), expression=bits)
        words.append(named(masked, word_name(word)))
    others = [col(name, "p") for name in _others(packing.counted)]
    return subquery(query([*words, *others, *further], scratch(source, "p")), "f")


def _rows(source: str, packing: Packing, words: Sequence[exp.Expr], *, merge: bool) -> exp.Select:
    counted = packing.counted
    if not merge:
        return query([*words, *[col(name, "f") for name in _others(counted)]], scratch(source, "f"))
    apart = [col(name, "f") for name in counted.apart]
    found = [*words, *apart, named(cast(exp.Sum(this=col("n", "f")), counted.counts), "n")]
    if counted.unit:
        found.append(persons(counted.counts))
    keys = [number(place) for place in range(1, len(words) + len(apart) + 1)]
    rows = query(found, scratch(source, "f"), group=keys)
    if not keys:
        rows.set("having", exp.Having(this=exp.GT(this=exp.Count(this=exp.Star()), expression=number(0))))
    return rows


def _others(counted: Counted) -> list[str]:
    return [*counted.apart, "n", *["p"] * counted.unit]


def _and(value: exp.Expr, mask: int) -> exp.Expr:
    return exp.BitwiseAnd(this=value, expression=number(mask))
