"""Codes whose prefixes are their ancestors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from anondb.errors import UsageError
from anondb.hierarchies.forms.base import Computed, listed
from anondb.policy.check import Key, Spot, shown
from anondb.policy.names import quoted

if TYPE_CHECKING:
    from anondb.sqltree.build import Node
    from anondb.sqltree.tables import Coded, SourceColumn

LONGEST_CODE = 100  # characters


@dataclass(frozen=True)
class Code(Computed):
    """Prefixes of so many letters and digits, the shortest first; separators between them do not count."""

    lengths: tuple[int, ...]

    example: ClassVar[str] = "{ code = [1, 3, 4] }"

    @classmethod
    def made(cls, spot: Spot, keys: Mapping[str, Any]) -> Code:
        return cls(keys["code"])

    @property
    def height(self) -> int:
        return len(self.lengths) + 1

    def misfit(self, column: SourceColumn) -> str | None:
        if column.is_code:
            return None
        return f"a code is a text whose first characters say most, and {quoted(column.name)} is {column.type}"

    def words(self) -> str:
        return f"a code by its first {listed([str(length) for length in self.lengths])} characters"

    def labels(self, coded: Coded, raw: Node) -> list[Node]:
        from anondb.sqltree.build import call, number

        return [call("anondb.code_prefix", raw.copy(), number(kept)) for kept in reversed(self.lengths)]


def read_lengths(spot: Spot, value: object) -> tuple[int, ...]:
    hint = f"write the shortest first: {spot.name} = [1, 3, 4]"
    if not isinstance(value, list) or not value:
        raise UsageError(f"{spot.key} must be a list of lengths, not {shown(value)}", hint=hint)
    for length in value:
        if isinstance(length, bool) or not isinstance(length, int) or not 1 <= length <= LONGEST_CODE:
            message = f"{spot.key}: a length is a whole number from 1 to {LONGEST_CODE}, not {shown(length)}"
            raise UsageError(message, hint=hint)
    for short, long in pairwise(value):
        if long <= short:
            ordered = ", ".join(map(str, sorted(set(value))))
            message = f"{spot.key} must grow, and {short} is followed by {long}"
            raise UsageError(message, hint=f"write {spot.name} = [{ordered}]")
    return tuple(value)


Code.keys = {"code": Key(read_lengths)}
