"""`db.synthetic`: tables of synthetic rows, and domains that are learned from tables."""

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


class Synthetic:
    """What a database can generate, and learn from its tables.

    ```python
    with anondb.connect() as db:
        db.synthetic.generate("irish_census", 100_000, "public.people", seed=7)
        print(db.synthetic.learn("hospital.admissions").text)
    ```
    """

    def __init__(self, session: Session) -> None:
        self._session = session

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

        upgrade.require_current(self._session)
        return generation.generate(
            self._session,
            domain,
            rows,
            table,
            distribution=distribution,
            sort=sort,
            seed=seed,
            progress=progress,
        )

    def grid(
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

        upgrade.require_current(self._session)
        return generation.grid(
            self._session,
            domain,
            table,
            sizes=generation.SIZES if sizes is None else sizes,
            sort=sort,
            seed=seed,
            progress=progress,
        )

    def statement(
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

        upgrade.require_current(self._session)
        return generation.statement(
            self._session, domain, rows, table, distribution=distribution, sort=sort, seed=seed
        )

    def learn(self, table: str, options: LearnOptions | None = None) -> Learned:
        """A domain from a table: its `text` is TOML, and has nothing that only few records have."""
        from anondb.synthetic import learning

        upgrade.require_current(self._session)
        return learning.learn(self._session, table, options)
