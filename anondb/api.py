"""The library: a database that policies run on, and the releases that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from anondb.db import catalog, removal, upgrade, vgh
from anondb.db.connection import Connection, Door, find
from anondb.db.upgrade import Status
from anondb.db.vgh import VghInfo
from anondb.hierarchy import csvfile
from anondb.hierarchy.model import VghTable
from anondb.plan import rehearse
from anondb.plan import run as running
from anondb.plan.compile import compile_plan
from anondb.plan.model import Options
from anondb.plan.result import Result
from anondb.plan.run import Listener
from anondb.policy.load import load
from anondb.policy.model import Policy
from anondb.report import frames

if TYPE_CHECKING:
    import pandas


def connect(dsn: str | None = None) -> Database:
    """Opens the database that `--dsn`, ANONDB_DSN or libpq's variables name, else the embedded one."""
    return Database(find(dsn))


class Database:
    """A PostgreSQL database with anondb in it."""

    def __init__(self, door: Door) -> None:
        self.door = door
        try:
            self.connection: Connection = door.open()
            if door.is_embedded:
                upgrade.upgrade(self.connection)  # it is all ours, so nobody has to be asked
        except BaseException:
            door.close()
            raise

    def run(
        self,
        policy: Policy | Path | str,
        *,
        options: Options | None = None,
        listener: Listener | None = None,
    ) -> Release:
        """Runs a policy and returns its release; raises the errors that the exit codes stand for."""
        return Release(self, running.execute(self.door, _policy(policy), options or Options(), listener))

    def plan(self, policy: Policy | Path | str, *, replace: bool = False) -> str:
        """The whole SQL that a run would send; reads the catalogue and touches nothing."""
        upgrade.require_current(self.connection)
        policy = _policy(policy)
        source = catalog.resolve_source(self.connection, policy.source)
        target = catalog.resolve_target(self.connection, policy.target)
        found = catalog.snapshot(self.connection, source, target)
        return rehearse.script(compile_plan(policy, found, replace=replace))

    def load_vgh(self, name: str, file: Path | str, *, replace: bool = False) -> VghInfo:
        """Stores a hierarchy from a CSV file: one row a leaf, `leaf;level1;…;root`."""
        upgrade.require_current(self.connection)
        return vgh.store(self.connection, name, csvfile.read(Path(file)), replace=replace)

    def vgh(self, name: str) -> VghTable:
        """A stored hierarchy."""
        upgrade.require_current(self.connection)
        return vgh.fetch(self.connection, name)

    def vghs(self) -> list[VghInfo]:
        """All stored hierarchies."""
        upgrade.require_current(self.connection)
        return vgh.catalogue(self.connection)

    def drop_vgh(self, name: str) -> None:
        upgrade.require_current(self.connection)
        vgh.drop(self.connection, name)

    def upgrade(self) -> Status:
        """Installs anondb in the database, or brings it to this package's version."""
        return upgrade.upgrade(self.connection)

    def status(self) -> Status:
        """What is installed, against what this package carries."""
        return upgrade.status(self.connection)

    def remove(self) -> list[str]:
        """Takes away everything that is anondb's, and only that; releases stay."""
        return removal.remove(self.connection)

    def close(self) -> None:
        self.connection.close()
        self.door.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Release:
    """A published release and the figures of the run that made it."""

    def __init__(self, database: Database, result: Result) -> None:
        self._database = database
        self.result = result

    @property
    def metrics(self) -> Mapping[str, float]:
        return self.result.metrics

    def to_frame(self, limit: int | None = None) -> pandas.DataFrame:
        """The released rows (or the first of them) as a pandas DataFrame."""
        return frames.rows(self._database.connection, self.result.relation, limit)

    def class_sizes(self) -> pandas.Series[int]:
        """The sizes of the release's classes, counted from its rows now."""
        return frames.class_sizes(self._database.connection, self.result.relation, list(self.result.levels))

    def __repr__(self) -> str:
        result = self.result
        return f"<Release {result.target}: {result.released} records in {result.classes} classes, k = {result.k}>"


def _policy(policy: Policy | Path | str) -> Policy:
    return policy if isinstance(policy, Policy) else load(policy)
