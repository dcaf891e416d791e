"""`db.tables`: tables that come from files, are looked at, and go into files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from anondb import files
from anondb.db import introspect as catalog
from anondb.db import loading, reading
from anondb.db.install import upgrade
from anondb.db.run_list import run_that_released
from anondb.db.session import Session
from anondb.errors import UsageError
from anondb.policy.names import parse_name
from anondb.sqltree.tables import Relation

if TYPE_CHECKING:
    from anondb.exchange.csv_table import TableFile, Wishes

_PASSES = 2  # over a file: one that looks at it, one that loads it


@dataclass(frozen=True)
class Loaded:
    """A table that was made of a file."""

    table: str
    records: int
    source: str
    """The file, as the caller named it."""
    file: TableFile


@dataclass(frozen=True)
class Imported:
    """A project of ARX as a table and a policy, and what of it has no counterpart."""

    table: str
    records: int
    policy: Path
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Head:
    """The first rows of a table, each value as PostgreSQL writes it, and the run that released it, if one did."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    json_rows: tuple[str, ...]
    has_more: bool
    run: int | None


class Tables:
    """Files in, and files out.

    ```python
    with anondb.connect() as db:
        db.tables.load("people.csv", "people")
        db.run("people.toml")
        db.tables.export("people_release", "release.csv")
    ```
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def load(
        self,
        file: Path | str,
        table: str,
        *,
        wishes: Wishes | None = None,
        replace: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Loaded:
        """Makes a table of a CSV file, or of `builtin:adult`; `replace` makes one anew that was loaded before."""
        from anondb.exchange.builtin import on_disk
        from anondb.exchange.csv_table import inspect

        target = catalog.resolve_target(self._session, parse_name(table))
        loading.require_room(self._session, target, replace=replace)  # before a large file is read in vain
        with on_disk(file) as path:
            found = inspect(path, wishes, _part(progress, 0))
            columns = [(column.name, column.kind.type) for column in found.columns]
            rows = found.rows(_part(progress, 1))
            records = loading.create_and_fill(self._session, target, columns, rows, replace=replace)
        return Loaded(catalog.target_text(target), records, str(file), found)

    def import_arx(
        self,
        project: Path | str,
        table: str,
        policy: Path | str,
        *,
        replace: bool = False,
        force: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Imported:
        """Makes a table and a policy of a project of ARX; its hierarchies lie in a folder beside the policy.

        `replace` makes a table anew that was loaded before, `force` writes over a policy that is there.
        """
        from anondb.exchange.arx_import import folder_of, require_new, unpacked, written

        source = catalog.resolve_target(self._session, parse_name(table))
        loading.require_room(self._session, source, replace=replace)
        out = Path(policy)
        require_new(out, force=force)
        names = [catalog.target_text(Relation(source.schema, source.name + end)) for end in ("", "_release")]
        unpacking = unpacked(Path(project), names[0], names[1], folder=folder_of(out).name)
        with unpacking as found, written(found.drafted, out):
            loaded = self.load(found.table, table, wishes=found.wishes, replace=replace, progress=progress)
        return Imported(loaded.table, loaded.records, out, found.drafted.notes)

    def head(self, table: str, limit: int = 20) -> Head:
        """The first rows of any table or view that the role may read, and whether it is a release."""
        relation, run = self._found(table)
        names = reading.columns(self._session, relation)
        rows, objects = reading.first_rows(self._session, relation, names, limit + 1)
        return Head(
            catalog.target_text(relation),
            tuple(names),
            tuple(tuple(row) for row in rows[:limit]),
            tuple(objects[:limit]),
            len(rows) > limit,
            run,
        )

    def export(self, table: str, file: Path | str, *, not_a_release: bool = False) -> int:
        """Writes a release to a CSV file, for its owner alone; another table only with `not_a_release`."""
        relation, run = self._found(table)
        if run is None and not not_a_release:
            raise UsageError(
                f"{catalog.target_text(relation)} is no release: its rows would leave the database as they are",
                hint="export the target of a run; --not-a-release if this is meant all the same",
            )
        names = reading.columns(self._session, relation)
        try:
            with files.opened(file) as place:
                return reading.to_csv(self._session, relation, names, place.write)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "its name is not possible"
            raise UsageError(f"{file}: cannot be written: {reason}", hint="check the file's name") from None

    def _found(self, table: str) -> tuple[Relation, int | None]:
        upgrade.require_current(self._session)
        relation = catalog.resolve_source(self._session, parse_name(table), "table")
        return relation, run_that_released(self._session, relation)


def _part(progress: Callable[[int, int], None] | None, passed: int) -> Callable[[int, int], None] | None:
    """Progress of one pass as that of all."""
    if progress is None:
        return None
    return lambda done, total: progress(passed * total + done, _PASSES * total)
