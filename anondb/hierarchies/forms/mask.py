"""Masks: characters of a code are replaced by stars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from anondb.hierarchies.forms.base import Computed
from anondb.policy.check import Key, Spot, choice
from anondb.policy.names import quoted

if TYPE_CHECKING:
    from anondb.sqltree.build import Node
    from anondb.sqltree.tables import Coded, SourceColumn

MASK_SIDES = ("right", "left", "all")


@dataclass(frozen=True)
class Mask(Computed):
    """Characters replaced one by one from the `right` or the `left`, or `all` at once."""

    side: str

    keys: ClassVar[Mapping[str, Key]] = {"mask": Key(choice(MASK_SIDES))}
    example: ClassVar[str] = '{ mask = "right" }'

    @classmethod
    def made(cls, spot: Spot, keys: Mapping[str, Any]) -> Mask:
        return cls(keys["mask"])

    @property
    def by_length(self) -> bool:  # type: ignore[override]
        return self.side != "all"

    @property
    def height(self) -> int:
        return 0 if self.by_length else 1

    def misfit(self, column: SourceColumn) -> str | None:
        if self.by_length and not column.is_code:
            return f"a mask hides the characters of a code, and {quoted(column.name)} is {column.type}"
        return None

    def words(self) -> str:
        return f"masked from the {self.side}" if self.by_length else "masked as a whole"

    def labels(self, coded: Coded, raw: Node) -> list[Node]:
        from anondb.sqltree.build import call, number, string

        length = number(coded.length)
        return [
            call("anondb.mask_label", raw.copy(), string(self.side), length.copy(), number(stars))
            for stars in range(1, coded.height)
        ]

    def coarsened(self, coded: Coded, value: Node, level: int) -> Node | None:
        """The characters that a label shows: the same number of stars is put beside them all."""
        from anondb.sqltree.build import call, cast, collate_c, number

        if not self.by_length:
            return None
        shown, of = number(coded.length - level), "left" if self.side == "right" else "right"
        return collate_c(call(of, cast(value, "text"), shown))

    def read_back(self, coded: Coded, level: int, raw: Node) -> Node | None:
        from anondb.sqltree.build import call, equal, every, number, string

        # a shorter value is filled up with stars, and a label of stars covers longer ones too
        if level == 0 or not self.by_length:
            return None
        whole = equal(call("length", raw), number(coded.length))
        return every([whole, equal(call("strpos", raw.copy(), string("*")), number(0))])
