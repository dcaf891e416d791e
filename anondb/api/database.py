"""A database that policies run on.

Methods import what generates SQL themselves: it takes as long to load as many a command takes to run.
"""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Self

from anondb.api import drafts
from anondb.api.forwards import forward
from anondb.api.hierarchies import Hierarchies
from anondb.api.release import Release
from anondb.api.releases import Releases
from anondb.api.secret import Secret
from anondb.api.synthetic import Synthetic
from anondb.db.connection import Connection, Door, find, is_free, is_superuser
from anondb.db.install import older_policies, removal, upgrade
from anondb.db.install.upgrade import Status
from anondb.policy.accept import PolicyInput, policy_from
from anondb.run.plan import Options

if TYPE_CHECKING:
    from anondb.api.drafts import Checked
    from anondb.api.ontologies import Ontologies
    from anondb.api.procedures import Procedures
    from anondb.api.tables import Tables
    from anondb.methods.lattice_listing import OpenLattice
    from anondb.policy.draft.draft import Draft
    from anondb.policy.model import Policy
    from anondb.run.pipeline import Listener
    from anondb.run.plan import Plan
    from anondb.study.diversity_experiment import DiversityRequest
    from anondb.study.diversity_study import DiversityStudy
    from anondb.study.dynamic_experiment import DynamicRequest
    from anondb.study.dynamic_study import DynamicStudy
    from anondb.study.experiment import ExperimentRequest
    from anondb.study.experiment import Progress as StudyProgress
    from anondb.study.gsl_study import Study
    from anondb.study.set_experiment import SetRequest
    from anondb.study.set_study import SetStudy


log = logging.getLogger("anondb")


def connect(dsn: str | None = None, *, owner: str | None = None) -> Database:
    """Opens the database that `--dsn`, ANONDB_DSN or libpq's variables name, else the embedded one.

    `owner`, else ANONDB_OWNER, names the role that anondb was installed by, where it is none of yours.
    """
    return Database(find(dsn, owner))


class Database:
    """A PostgreSQL database with anondb in it: policies run on it, and its rooms hold the rest.

    A policy is given as a `Policy`, a dict that is built as the TOML file is, the path of such a file,
    or its text (a str of several lines).

    ```python
    with anondb.connect() as db:
        db.hierarchies.load("occupation", "occupation.csv")
        release = db.run("admissions.toml")
        print(release.metrics)
    ```
    """

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

    @cached_property
    def hierarchies(self) -> Hierarchies:
        """The stored hierarchies: load, build, rank, score."""
        return Hierarchies(self.session)

    @cached_property
    def ontologies(self) -> Ontologies:
        """The stored ontologies: load, look up, say what terms mean."""
        from anondb.api.ontologies import Ontologies

        return Ontologies(self.session)

    @cached_property
    def synthetic(self) -> Synthetic:
        """Synthetic tables: generate them, learn their domain."""
        return Synthetic(self.session)

    @cached_property
    def releases(self) -> Releases:
        """What was released: evaluate, report, compare."""
        return Releases(self.door, self.session)

    @cached_property
    def tables(self) -> Tables:
        """Tables: load them from files, look at them, export releases."""
        from anondb.api.tables import Tables

        return Tables(self.session)

    @cached_property
    def procedures(self) -> Procedures:
        """Refreshes inside the database: write them, compare them, have pg_cron call them."""
        from anondb.api.procedures import Procedures

        return Procedures(self.session)

    @cached_property
    def secret(self) -> Secret:
        """The secret of the installation: renew, export, take over."""
        return Secret(self.session)

    def run(
        self,
        policy: PolicyInput,
        *,
        options: Options | None = None,
        listener: Listener | None = None,
        report: Path | str | None = None,
    ) -> Release:
        """Runs a policy and returns its release; raises the errors that the exit codes stand for.

        `report` names a file for the report of the run, which is then evaluated in full.
        """
        from anondb.run import release as running

        policy, options = policy_from(policy), options or Options()
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

    def draft(self, table: str, *, k: int = 5, target: str | None = None) -> Draft:
        """A policy for a table that runs as it is, with the reason behind each line; changes nothing."""
        return drafts.draft(self.session, table, k, target)

    def plan(self, policy: PolicyInput, *, replace: bool = False) -> str:
        """The whole SQL that a run would send; reads the catalogue and touches nothing."""
        from anondb.db import citus, introspect
        from anondb.db.execute import Executor
        from anondb.methods.registry import method_of
        from anondb.releases.against import with_rivals
        from anondb.releases.follow import follow, read_series
        from anondb.run import explain
        from anondb.run.compile import compile_plan

        upgrade.require_current(self.session)
        policy = policy_from(policy)
        if policy.tables:
            return explain.script(self._plan_of_tables(policy, replace=replace))
        snapshot = drafts.snapshot(self.session, policy)
        citus.require_shared_out(self.session, snapshot.source)
        target = introspect.resolve_target(self.session, policy.target)
        reader = Executor(self.session, lambda step: None)
        series = read_series(reader, introspect.target_text(target))
        following = follow(policy, snapshot, series, Options(), can_hold=method_of(policy).holds(policy))
        # which number a first series gets is not known yet
        following = dataclasses.replace(following, series=following.series or 0)
        plan = compile_plan(policy, snapshot, replace=replace, following=following)
        return explain.script(with_rivals(reader, plan))

    def check(self, policy: PolicyInput, *, drift: bool = False) -> Checked:
        """What is wrong with a policy on the tables of today, and what is unwise in it; reads no row.

        `drift` looks at nothing but columns that came and went, and types that changed.
        """
        return drafts.check(self.session, policy_from(policy), drift=drift)

    def columns(self, table: str) -> dict[str, str]:
        """The columns of a table with their types, as PostgreSQL writes them."""
        return drafts.columns(self.session, table)

    def _plan_of_tables(self, policy: Policy, *, replace: bool) -> Plan:
        """The plan of linked tables, by the catalogue alone."""
        from anondb.db import introspect as catalog
        from anondb.run.linked.compile import compile_linked, in_order, single

        root = catalog.resolve_target(self.session, policy.target)
        snapshots = {}
        for table in in_order(policy):
            own = single(policy, table)
            source = catalog.resolve_source(self.session, own.source)
            target = catalog.resolve_target(self.session, own.target)
            snapshots[table.target] = catalog.snapshot(self.session, source, target, named=root)
        return compile_linked(policy, snapshots, replace_all=replace)

    def lattice(
        self,
        policy: PolicyInput,
        *,
        full: bool = False,
        options: Options | None = None,
        listener: Listener | None = None,
    ) -> OpenLattice:
        """Every node of a policy's lattice, with its state; `full` checks those that need not be too."""
        from anondb.run import explore as exploring
        from anondb.run.pipeline import Silence

        observe = (listener or Silence()).step
        return exploring.explore(
            self.door, policy_from(policy), options or Options(), full=full, observe=observe
        )

    def experiment(
        self, asked: ExperimentRequest | None = None, progress: StudyProgress | None = None
    ) -> Study:
        """Reruns the study of GSL: hierarchies of falling quality, scored beforehand and tried out."""
        from anondb.study import experiment as studying

        return studying.experiment(self.door, asked or studying.ExperimentRequest(), progress)

    def dynamic_experiment(
        self, asked: DynamicRequest | None = None, progress: StudyProgress | None = None
    ) -> DynamicStudy:
        """Reruns the dynamic study of GSL: each hierarchy on data drawn from its own worst and best branch."""
        from anondb.study import dynamic_experiment as studying

        return studying.dynamic_experiment(self.door, asked or studying.DynamicRequest(), progress)

    def set_experiment(
        self, asked: SetRequest | None = None, progress: StudyProgress | None = None
    ) -> SetStudy:
        """Reruns the study of sets of texts: every distance and its twins without meaning, for every k."""
        from anondb.study import set_experiment as studying

        return studying.experiment(self.door, asked or studying.SetRequest(), progress)

    def diversity_experiment(
        self, asked: DiversityRequest | None = None, progress: StudyProgress | None = None
    ) -> DiversityStudy:
        """Reruns the study of (l, e)-diversity: loss, diversity and time against l and the number of records."""
        from anondb.study import diversity_experiment as studying

        return studying.experiment(self.door, asked or studying.DiversityRequest(), progress)

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

    # what documentation has always called so
    load_vgh = forward("hierarchies", Hierarchies.load)
    build_vgh = forward("hierarchies", Hierarchies.build)
    rank_vghs = forward("hierarchies", Hierarchies.rank)
    keep_vgh = forward("hierarchies", Hierarchies.keep)
    score = forward("hierarchies", Hierarchies.score)
    generate = forward("synthetic", Synthetic.generate)
    generate_grid = forward("synthetic", Synthetic.grid)
    learn = forward("synthetic", Synthetic.learn)
    evaluate = forward("releases", Releases.evaluate)
    evaluate_tables = forward("releases", Releases.evaluate_tables)
    report = forward("releases", Releases.report)
    compare = forward("releases", Releases.compare)

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
        """Closes the connections; `with` does it at the end of its block."""
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
