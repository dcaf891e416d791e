"""The part of the library that makes synthetic tables; `anondb.api.Database` has it among its methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anondb.db.install import upgrade
from anondb.db.session import Session

if TYPE_CHECKING:
    from anondb.synthetic.domain import Domain
    from anondb.synthetic.generation import Grid
    from anondb.synthetic.learning import Learned, LearnOptions


class SyntheticTables:
    """What a database can generate, and learn from its tables."""

    session: Session

    def generate(
        self,
        domain: Domain | Path | str,
        rows: int,
        table: str,
        *,
        distribution: str | None = None,
        sort: str | None = None,
        seed: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Makes a table of synthetic rows of a built-in domain (`"irish_census"`) or of one in a file."""
        from anondb.synthetic import generation

        upgrade.require_current(self.session)
        return generation.generate(
            self.session,
            domain,
            rows,
            table,
            distribution=distribution,
            sort=sort,
            seed=seed,
            progress=progress,
        )

    def generate_grid(
        self,
        domain: Domain | Path | str,
        table: str,
        *,
        sizes: Sequence[int] | None = None,
        sort: str | None = None,
        seed: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> Grid:
        """Makes a table for each of the twelve distributions and each size, and tells how different they are."""
        from anondb.synthetic import generation

        upgrade.require_current(self.session)
        return generation.grid(
            self.session,
            domain,
            table,
            sizes=generation.SIZES if sizes is None else sizes,
            sort=sort,
            seed=seed,
            progress=progress,
        )

    def generate_statement(
        self,
        domain: Domain | Path | str,
        rows: int,
        table: str,
        *,
        distribution: str | None = None,
        sort: str | None = None,
        seed: int = 1,
    ) -> str:
        """The SQL that would make the table, for any client; touches nothing."""
        from anondb.synthetic import generation

        upgrade.require_current(self.session)
        return generation.statement(
            self.session, domain, rows, table, distribution=distribution, sort=sort, seed=seed
        )

    def learn(self, table: str, options: LearnOptions | None = None) -> Learned:
        """A domain from a table: its `text` is TOML, and has nothing that only few records have."""
        from anondb.synthetic import learning

        upgrade.require_current(self.session)
        return learning.learn(self.session, table, options)
