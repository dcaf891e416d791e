"""Ranges of numbers that nest, and what lies below or above all that is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from anondb.errors import UsageError
from anondb.hierarchies.forms.base import Computed, listed
from anondb.policy.check import Key, Spot, read_number, read_table, shown
from anondb.policy.names import quoted

if TYPE_CHECKING:
    from anondb.sqltree.build import Node
    from anondb.sqltree.tables import Coded, SourceColumn

_LONGEST_READ = 300  # digits of a number, as anondb.as_number takes them
_SHORT_TYPES = frozenset(["int2", "int4"])


@dataclass(frozen=True)
class Cap:
    """All values below one bound, and all above another, are told as that."""

    below: Decimal | None = None
    above: Decimal | None = None

    def label(self, value: Node, label: Node, *, whole: bool) -> Node:
        """The label of a value, or of the open range that it lies in."""
        from anondb.sqltree.build import call, false, null, number, true

        ends = [null() if end is None else number(end) for end in (self.below, self.above)]
        return call("anondb.capped_label", value, *ends, true() if whole else false(), label)

    def width(self, value: Node, width: Node) -> Node:
        """The width of the range of a value; of open ones, how far they go beyond their bound."""
        from anondb.sqltree.build import case, minus, number, over, under

        whens: list[tuple[Node, Node]] = []
        if self.below is not None:
            whens.append((under(value, number(self.below)), minus(number(self.below), value)))
        if self.above is not None:
            whens.append((over(value, number(self.above)), minus(value, number(self.above))))
        return case(whens, width)

    def words(self) -> str:
        below = [] if self.below is None else [f"below {self.below:f}"]
        above = [] if self.above is None else [f"above {self.above:f}"]
        return f"all {listed(below + above)} as one"


@dataclass(frozen=True)
class Intervals(Computed):
    """Ranges of growing width counted from `start`; each width divides the next, so that ranges nest."""

    start: Decimal
    widths: tuple[Decimal, ...]
    cap: Cap | None = None  # then level 1 is the value, unless it lies beyond a bound

    tells_ranges: ClassVar[bool] = True
    example: ClassVar[str] = "{ start = 17, widths = [5, 10, 20] }"

    @classmethod
    def made(cls, spot: Spot, keys: Mapping[str, Any]) -> Intervals:
        return cls(keys.get("start", Decimal(0)), keys["widths"])

    @property
    def height(self) -> int:
        return len(self.widths) + 1 + self.lowest

    @property
    def lowest(self) -> int:
        return 0 if self.cap is None else 1

    def misfit(self, column: SourceColumn) -> str | None:
        if column.is_number:
            return None
        return f"intervals need a numeric column, and {quoted(column.name)} is {column.type}"

    def words(self) -> str:
        said = f"ranges of {listed([f'{width:f}' for width in self.widths])}, counted from {self.start:f}"
        return said if self.cap is None else f"{said}; {self.cap.words()}"

    def labels(self, coded: Coded, raw: Node) -> list[Node]:
        labels = range_labels(coded, raw, self.start, self.widths)
        if self.cap is None:
            return labels
        value, whole = self.order(coded, raw), coded.column.is_whole
        return [self.cap.label(value.copy(), label, whole=whole) for label in (raw.copy(), *labels)]

    def order(self, coded: Coded, raw: Node) -> Node:
        from anondb.sqltree.build import cast

        return cast(raw.copy(), "numeric")

    def coarsened(self, coded: Coded, value: Node, level: int) -> Node | None:
        if self.cap is not None:
            return None
        return range_start(coded, value, self.start, self.widths[level - 1])

    def read_back(self, coded: Coded, level: int, raw: Node) -> Node | None:
        from anondb.sqltree.build import call, number, true, under

        if self.cap is not None:
            return None
        if coded.column.base != "numeric":
            return true()
        return under(call("length", raw), number(_LONGEST_READ + 1))

    def width(self, coded: Coded, raw: Node, level: int) -> Node:
        from anondb.sqltree.build import number

        width = number((Decimal(0), *self.widths)[level - self.lowest])
        return width if self.cap is None else self.cap.width(self.order(coded, raw), width)

    def span(self, coded: Coded, raw: Node) -> Node:
        from anondb.sqltree.build import greatest_of, least_of, minus

        value = self.order(coded, raw)
        return minus(greatest_of(value), least_of(value.copy()))


def range_labels(coded: Coded, raw: Node, start: Decimal, widths: Sequence[Decimal]) -> list[Node]:
    """The range of each width that holds a number, given as text."""
    from anondb.sqltree.build import call, cast, number

    if coded.column.base in _SHORT_TYPES and all(_is_short(one) for one in (start, *widths)):
        return [_whole_range(raw, int(start), int(width)) for width in widths]
    return [
        call("anondb.range_label", cast(raw.copy(), "numeric"), number(start), number(width))
        for width in widths
    ]


def range_start(coded: Coded, value: Node, start: Decimal, width: Decimal) -> Node:
    """Where the range begins that holds the value of a column; what is not finite stays as it is."""
    from anondb.sqltree.build import call, case, cast, minus, number, over, plus

    if coded.column.is_whole and all(_is_short(one) for one in (start, width)):
        whole, step = cast(value, "bigint"), int(width)
        ahead = number(
            2 * step - int(start) % step
        )  # so that the rest counts from the start, and is not negative
        rest = call("mod", plus(call("mod", whole, number(step)), ahead, grouped=True), number(step))
        begins = minus(whole.copy(), rest, grouped=True)
        if coded.column.base in _SHORT_TYPES:
            return begins
        # before the least number of 8 bytes no range can begin
        return case([(over(whole.copy(), number(-(2**62))), begins)], whole.copy())
    exact = cast(cast(value, "text"), "numeric")  # a double precision would be rounded on its way
    return call(
        "trim_scale",
        call("coalesce", call("anondb.range_start", exact, number(start), number(width)), exact.copy()),
    )


def _is_short(value: Decimal) -> bool:
    return value == int(value) and abs(value) < 2**40


def _whole_range(raw: Node, start: int, width: int) -> Node:
    """What range_label says of whole numbers, in their own arithmetic: several times faster, and nothing overflows."""
    from anondb.sqltree.build import call, cast, concat, minus, number, plus, string

    value = cast(raw.copy(), "bigint")
    rest = call("mod", minus(value, number(start)), number(width))
    rest = call("mod", plus(rest, number(width)), number(width))
    below = minus(value.copy(), rest, grouped=True)
    above = plus(below.copy(), number(width), grouped=True)
    return concat([string("["), cast(below, "text"), string(", "), cast(above, "text"), string(")")])


def read_widths(spot: Spot, value: object) -> tuple[Decimal, ...]:
    if not isinstance(value, list) or not value:
        message = f"{spot.key} must be a list of numbers, not {shown(value)}"
        raise UsageError(message, hint=f"write the finest first: {spot.name} = [5, 10, 20]")
    widths = tuple(read_number(spot, width) for width in value)
    if min(widths) <= 0:
        raise UsageError(f"{spot.key} must be above 0, and {min(widths)} is not", hint="leave it out")
    for narrow, wide in pairwise(widths):
        if wide <= narrow:
            message = f"{spot.key} must grow, and {narrow} is followed by {wide}"
            raise UsageError(
                message, hint=f"write the finest first, each once: {spot.name} = [{_sorted(widths)}]"
            )
        times = Fraction(wide) / Fraction(narrow)  # a Decimal would round
        if times.denominator != 1:
            message = f"{spot.key}: {wide} is no multiple of {narrow}, so that the ranges would not nest"
            raise UsageError(message, hint=f"use a multiple, such as {narrow * (int(times) + 1)}")
    return widths


def _sorted(widths: Sequence[Decimal]) -> str:
    return ", ".join(str(width) for width in sorted(set(widths)))


def read_cap(spot: Spot, value: object) -> Cap | None:
    """What a policy says of the ends of a column."""
    before = len(spot.reported)
    keys = read_table(spot, value, {"below": Key(read_number), "above": Key(read_number)})
    if len(spot.reported) > before:
        return None
    cap = Cap(**keys)
    hint = "write cap = { below = 18, above = 89 }, or one of the two"
    if cap == Cap():
        raise UsageError(f"{spot.key} has no bound", hint=hint)
    if cap.below is not None and cap.above is not None and cap.below > cap.above:
        message = (
            f"{spot.key}: below = {cap.below} lies above above = {cap.above}, so that nothing would be left"
        )
        raise UsageError(message, hint=hint)
    return cap


Intervals.keys = {
    "widths": Key(read_widths, "add the widths of the ranges: widths = [5, 10, 20]"),
    "start": Key(read_number),
}
