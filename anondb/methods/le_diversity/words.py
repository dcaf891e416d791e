"""What maximal-bucket-first found, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anondb.methods.method import Finding

if TYPE_CHECKING:
    from anondb.run.result import Result


@dataclass(frozen=True)
class TablesFound(Finding):
    tables: tuple[str, ...] = field()  # of the release
    reached: float  # l, with the policy's e

    def as_json(self) -> dict[str, Any]:
        return {"tables": list(self.tables)}

    @property
    def selected(self) -> str:
        return "two tables"

    def way(self, result: Result) -> list[str]:
        return [f"{result.algorithm} reached l = {self.reached:.4g}"]
