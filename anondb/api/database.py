"""A database that policies run on.

Methods import what generates SQL themselves: it takes as long to load as many a command takes to run.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Self

from anondb.api.building import Building
from anondb.api.hierarchies import Hierarchies
from anondb.api.ontologies import Ontologies
from anondb.api.release import Release
from anondb.api.secrets import Secrets
from anondb.api.synthetic import SyntheticTables
from anondb.db import introspect as catalog
from anondb.db import kept_runs
from anondb.db.connection import Connection, Door, find, is_free, is_superuser
from anondb.db.install import older_policies, removal, upgrade
from anondb.db.install.upgrade import Status
from anondb.policy.load import load
from anondb.policy.model import Policy
from anondb.run.plan import Options

if TYPE_CHECKING:
    from anondb.compare.compare import CompareListener
    from anondb.compare.comparison import Trials
    from anondb.evaluation.evaluation import Evaluation
    from anondb.run.explore import OpenLattice
    from anondb.run.pipeline import Listener
    from anondb.study.experiment import ExperimentRequest
    from anondb.study.experiment import Progress as StudyProgress
    from anondb.study.gsl_study import Study


log = logging.getLogger("anondb")


def connect(dsn: str | None = None, *, owner: str | None = None) -> Database:
    """Opens the database that `--dsn`, ANONDB_DSN or libpq's variables name, else the embedded one.

    `owner`, else ANONDB_OWNER, names the role that anondb was installed by, where it is none of yours.
    """
    return Database(find(dsn, owner))


class Database(Hierarchies, Building, Ontologies, SyntheticTables, Secrets):
    """A PostgreSQL database with anondb in it."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self._is_beside_a_run = Lock()
        self._has_warned = False
        try:
            self.session = door.open()
            if door.is_embedded:
                upgrade.upgrade(self.session)  # it is all ours, so nobody has to be asked
        except BaseException:
            door.close()
            raise

    def run(
        self,
        policy: Policy | Path | str,
        *,
        options: Options | None = None,
        listener: Listener | None = None,
        report: Path | str | None = None,
    ) -> Release:
        """Runs a policy and returns its release; raises the errors that the exit codes stand for.

        `report` names a file for the report of the run, which is then evaluated in full.
        """
        from anondb.run import release as running

        policy, options = _policy(policy), options or Options()
        self._warn_superuser()
        if report is not None:
            from anondb.report import release as release_report

            options = replace(options, evaluate="full")
            upgrade.require_current(self.session)
            release_report.require_possible(self.session, report)
        with self._beside() as beside:
            release = Release(self, running.execute(self.door, beside, policy, options, listener))
        if report is not None:
            release.report(report)
        return release

    def report(self, run: int | str = "last", file: Path | str | None = None) -> Path:
        """Writes the report of a run, one HTML file, from the history alone; returns where it is."""
        from anondb.report import release as release_report

        upgrade.require_current(self.session)
        return release_report.write(self.session, run, file)

    def plan(self, policy: Policy | Path | str, *, replace: bool = False) -> str:
        """The whole SQL that a run would send; reads the catalogue and touches nothing."""
        from anondb.methods.meanings import ontologies
        from anondb.methods.registry import method_of, other_shapes
        from anondb.run import explain
        from anondb.run.compile import compile_plan

        upgrade.require_current(self.session)
        policy = _policy(policy)
        source = catalog.resolve_source(self.session, policy.source)
        target = catalog.resolve_target(self.session, policy.target)
        items = catalog.resolve_items(self.session, policy)
        needed = bool(ontologies(policy))
        found = catalog.snapshot(self.session, source, target, items, with_ontologies=needed)
        found = catalog.with_parts(
            self.session, found, other_shapes(target), in_parts=bool(method_of(policy).suffixes())
        )
        return explain.script(compile_plan(policy, found, replace=replace))

    def lattice(
        self,
        policy: Policy | Path | str,
        *,
        full: bool = False,
        options: Options | None = None,
        listener: Listener | None = None,
    ) -> OpenLattice:
        """Every node of a policy's lattice, with its state and figures; `full` checks those that need not be too."""
        from anondb.run import explore as exploring
        from anondb.run.pipeline import Silence

        observe = (listener or Silence()).step
        return exploring.explore(self.door, _policy(policy), options or Options(), full=full, observe=observe)

    def evaluate(self, run: int | str = "last") -> Evaluation:
        """What a run found that its release is worth and gives away; `"last"` is the last that published."""
        from anondb.evaluation import evaluation

        upgrade.require_current(self.session)
        return evaluation.of_run(kept_runs.find(self.session, run))

    def evaluate_tables(
        self,
        original: str,
        release: str,
        *,
        quasi: Sequence[str],
        key: str | None = None,
        vghs: Mapping[str, str] | None = None,
        sensitive: Sequence[str] = (),
        population: str | None = None,
        fraction: float | None = None,
        sample: int | None = None,
        seed: int = 0,
        roots: Sequence[str] | None = None,
        unit: str | None = None,
        listener: Listener | None = None,
    ) -> Evaluation:
        """What a release that anyone has made is worth and gives away, against its original.

        `key` names a record in both tables; without it, what needs the link is left out. `vghs` names stored
        hierarchies by column. `unit` names the person, whom risk then counts.
        `roots` are the labels, one for each quasi-identifier, of a record that is masked.
        """
        from anondb.evaluation import tables as tables
        from anondb.evaluation.two_tables import EvaluationRequest
        from anondb.run.pipeline import Silence

        asked = EvaluationRequest(
            original,
            release,
            quasi,
            key,
            vghs or {},
            sensitive,
            population,
            fraction,
            sample,
            seed,
            roots,
            unit,
        )
        return tables.evaluate_tables(self.door, asked, (listener or Silence()).step)

    def compare(
        self,
        policy: Policy | Path | str,
        *,
        algorithms: Sequence[str] | None = None,
        k: Sequence[int] | None = None,
        quasi: Sequence[int] | None = None,
        variants: Sequence[str] | None = None,
        options: Options | None = None,
        listener: CompareListener | None = None,
    ) -> Trials:
        """Tries every algorithm, or its variants, with every k and so many quasi-identifiers; publishes nothing."""
        from anondb.compare import compare as comparing
        from anondb.compare.comparison import Trials

        policy = _policy(policy)
        settings = comparing.settings_of(policy, algorithms, k, quasi, variants)
        return Trials(policy, comparing.compare(self.door, policy, settings, options or Options(), listener))

    def experiment(
        self, asked: ExperimentRequest | None = None, progress: StudyProgress | None = None
    ) -> Study:
        """Reruns the study of GSL: hierarchies of falling quality, scored beforehand and tried out."""
        from anondb.study import experiment as studying

        return studying.experiment(self.door, asked or studying.ExperimentRequest(), progress)

    def upgrade(self) -> Status:
        """Installs anondb in the database, or brings it to this package's version."""
        return upgrade.upgrade(self.session)

    def refused_now(self) -> list[str]:
        """The last releases whose policies a run would refuse now, because a kept column tells persons apart."""
        return older_policies.refused_now(self.session)

    def status(self) -> Status:
        """What is installed, against what this package carries."""
        return upgrade.status(self.session)

    def remove(self) -> list[str]:
        """Takes away everything that is anondb's, and only that; releases stay."""
        return removal.remove(self.session)

    @cached_property
    def connection(self) -> Connection:
        """A connection for your own statements, with your own search path; ours are sent on another."""
        return self.door.lend()

    def _warn_superuser(self) -> None:
        """Once; the embedded server has no other role."""
        if self._has_warned or self.door.is_embedded or os.environ.get("ANONDB_SUPERUSER") == "accept":
            return
        self._has_warned = True
        if is_superuser(self.session):
            log.warning(
                "warning: this run is made by a superuser, with whose rights the functions in its source run, whoever "
                "wrote them\n  hint: run as a role with the grants of the README; ANONDB_SUPERUSER=accept is silent"
            )

    @contextmanager
    def _beside(self) -> Iterator[Connection]:
        """A connection for the history of a run: the one that is open anyway, unless somebody is using it."""
        if not self._is_beside_a_run.acquire(blocking=False):
            with self.door.open() as another:
                yield another
            return
        try:
            if is_free(self.session):
                yield self.session
            else:
                with self.door.open() as another:
                    yield another
        finally:
            self._is_beside_a_run.release()

    def close(self) -> None:
        self.session.close()
        if "connection" in vars(self):
            self.connection.close()
        self.door.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _policy(policy: Policy | Path | str) -> Policy:
    return policy if isinstance(policy, Policy) else load(policy)
