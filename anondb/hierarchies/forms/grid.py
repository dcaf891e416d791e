"""Cells of a grid: of points, or of one coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from anondb.hierarchies.forms.base import Computed, listed
from anondb.hierarchies.forms.ranges import read_widths
from anondb.policy.check import Key, Spot
from anondb.policy.names import quoted

if TYPE_CHECKING:
    from anondb.sqltree.build import Node
    from anondb.sqltree.tables import Coded, SourceColumn


@dataclass(frozen=True)
class Grid(Computed):
    """Square cells of growing width, counted from the origin; each width divides the next."""

    widths: tuple[Decimal, ...]

    tells_ranges: ClassVar[bool] = True  # of numbers; points have other types
    example: ClassVar[str] = "{ grid = [0.01, 0.1, 1] }"

    @classmethod
    def made(cls, spot: Spot, keys: Mapping[str, Any]) -> Grid:
        return cls(keys["grid"])

    @property
    def height(self) -> int:
        return len(self.widths) + 1

    def misfit(self, column: SourceColumn) -> str | None:
        if column.is_number or column.base == "point":
            return None
        return f"a grid is of points or of numbers, and {quoted(column.name)} is {column.type}"

    def words(self) -> str:
        return f"cells of a grid, {listed([f'{width:f}' for width in self.widths])} wide"

    def labels(self, coded: Coded, raw: Node) -> list[Node]:
        from anondb.sqltree.build import call, cast, number

        if coded.column.base == "point":
            place = cast(raw.copy(), "point")
            return [call("anondb.cell_label", place.copy(), number(width)) for width in self.widths]
        value = self.order(coded, raw)
        return [call("anondb.range_label", value.copy(), number(0), number(width)) for width in self.widths]

    def order(self, coded: Coded, raw: Node) -> Node:
        from anondb.sqltree.build import cast, null

        return null() if coded.column.base == "point" else cast(raw.copy(), "numeric")

    def width(self, coded: Coded, raw: Node, level: int) -> Node:
        from anondb.sqltree.build import number

        return number(self.widths[level - 1])

    def is_ordered(self, coded: Coded) -> bool:
        return coded.column.base != "point"

    def span(self, coded: Coded, raw: Node) -> Node:
        """Of points, the longer side of the box around them."""
        from anondb.sqltree.build import call, cast, greatest_of, least_of, minus

        if coded.column.base != "point":
            value = self.order(coded, raw)
            return minus(greatest_of(value), least_of(value.copy()))
        place = cast(raw.copy(), "point")
        sides = []
        for axis in ("anondb.easting", "anondb.northing"):
            along = call(axis, place.copy())
            sides.append(minus(greatest_of(along), least_of(along.copy())))
        return call("greatest", *sides)


Grid.keys = {"grid": Key(read_widths)}
