"""What the stages ask of whoever runs their statements: the executor, or a rehearsal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from anondb.sqltree.build import Node


class Steps(Protocol):
    stage: str

    def run(self, name: str, statement: Node | str, parameters: Sequence[object] = ()) -> int: ...

    def one(self, name: str, statement: Node | str, parameters: Sequence[object] = ()) -> tuple[Any, ...]: ...

    def rows(
        self, name: str, statement: Node | str, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]: ...

    def copy(self, name: str, statement: Node, rows: Iterable[Sequence[object]]) -> None: ...

    def savepoint(self) -> AbstractContextManager[object]:
        """What fails inside is undone, and the transaction goes on."""
        ...
