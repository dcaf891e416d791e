"""What the stages ask of whoever runs their statements: the executor, or a rehearsal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from sqlglot import exp


class Steps(Protocol):
    stage: str

    def run(self, name: str, statement: exp.Expr | str, parameters: Sequence[object] = ()) -> None: ...

    def one(
        self, name: str, statement: exp.Expr | str, parameters: Sequence[object] = ()
    ) -> tuple[Any, ...]: ...

    def rows(
        self, name: str, statement: exp.Expr | str, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]: ...

    def copy(self, name: str, scratch: str, rows: Iterable[Sequence[object]]) -> None: ...

    def with_maps(self, name: str, statement: exp.Expr, lookups: Sequence[str]) -> int: ...
