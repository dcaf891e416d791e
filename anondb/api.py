"""The library: a database that policies run on, and the releases that come of it.

Methods import what generates SQL themselves: it takes as long to load as many a command takes to run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from anondb.db import catalog, gsl, kept_runs, removal, upgrade, vgh
from anondb.db import ontology as stored
from anondb.db.connection import Connection, Door, find
from anondb.db.ontology import Loaded, OntologyInfo, Sense, TermMapping
from anondb.db.upgrade import Status
from anondb.db.vgh import VghInfo
from anondb.hierarchy import csvfile
from anondb.hierarchy.model import VghTable
from anondb.hierarchy.score import Method, NodeSense, Score, ScoreSet
from anondb.hierarchy.tree import Node
from anondb.ontology import load as ontology_files
from anondb.ontology.model import Progress, split
from anondb.plan.model import Options
from anondb.plan.result import Result
from anondb.policy.load import load
from anondb.policy.model import Policy

if TYPE_CHECKING:
    import pandas

    from anondb.comparison import Trials
    from anondb.plan.compare import CompareListener
    from anondb.plan.evaluation import Evaluation
    from anondb.plan.explore import OpenLattice
    from anondb.plan.pipeline import Listener


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
        report: Path | str | None = None,
    ) -> Release:
        """Runs a policy and returns its release; raises the errors that the exit codes stand for.

        `report` names a file for the report of the run, which is then evaluated in full.
        """
        from anondb.plan import run as running

        policy, options = _policy(policy), options or Options()
        if report is not None:
            from anondb import release_report

            options = replace(options, evaluate="full")
            upgrade.require_current(self.connection)
            release_report.require_possible(self.connection, report)
        release = Release(self, running.execute(self.door, policy, options, listener))
        if report is not None:
            release.report(report)
        return release

    def report(self, run: int | str = "last", file: Path | str | None = None) -> Path:
        """Writes the report of a run, one HTML file, from the history alone; returns where it is."""
        from anondb import release_report

        upgrade.require_current(self.connection)
        return release_report.write(self.connection, run, file)

    def plan(self, policy: Policy | Path | str, *, replace: bool = False) -> str:
        """The whole SQL that a run would send; reads the catalogue and touches nothing."""
        from anondb.plan import rehearse
        from anondb.plan.compile import compile_plan

        upgrade.require_current(self.connection)
        policy = _policy(policy)
        source = catalog.resolve_source(self.connection, policy.source)
        target = catalog.resolve_target(self.connection, policy.target)
        found = catalog.snapshot(self.connection, source, target)
        return rehearse.script(compile_plan(policy, found, replace=replace))

    def lattice(
        self,
        policy: Policy | Path | str,
        *,
        full: bool = False,
        options: Options | None = None,
        listener: Listener | None = None,
    ) -> OpenLattice:
        """Every node of a policy's lattice, with its state and figures; `full` checks those that need not be too."""
        from anondb.plan import explore as exploring
        from anondb.plan.pipeline import Silence

        observe = (listener or Silence()).step
        return exploring.explore(self.door, _policy(policy), options or Options(), full=full, observe=observe)

    def evaluate(self, run: int | str = "last") -> Evaluation:
        """What a run found that its release is worth and gives away; `"last"` is the last that published."""
        from anondb.plan import evaluation

        upgrade.require_current(self.connection)
        return evaluation.of_run(kept_runs.find(self.connection, run))

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
        listener: Listener | None = None,
    ) -> Evaluation:
        """What a release that anyone has made is worth and gives away, against its original.

        `key` names a record in both tables; without it, what needs the link is left out. `vghs` names stored
        hierarchies by column. `roots` are the labels, one for each quasi-identifier, of a record that is masked.
        """
        from anondb.plan import evaluate_tables as tables
        from anondb.plan.compared import EvaluationRequest
        from anondb.plan.pipeline import Silence

        asked = EvaluationRequest(
            original, release, quasi, key, vghs or {}, sensitive, population, fraction, sample, seed, roots
        )
        return tables.evaluate_tables(self.door, asked, (listener or Silence()).step)

    def compare(
        self,
        policy: Policy | Path | str,
        *,
        algorithms: Sequence[str] = ("datafly", "incognito", "mondrian"),
        k: Sequence[int] | None = None,
        quasi: Sequence[int] | None = None,
        options: Options | None = None,
        listener: CompareListener | None = None,
    ) -> Trials:
        """Tries every algorithm with every k and with the first so many quasi-identifiers; publishes nothing."""
        from anondb.comparison import Trials
        from anondb.plan import compare as comparing

        policy = _policy(policy)
        settings = comparing.settings_of(policy, algorithms, k, quasi)
        return Trials(policy, comparing.compare(self.door, policy, settings, options or Options(), listener))

    def load_vgh(
        self, name: str, file: Path | str, *, replace: bool = False, ontology: str | None = None
    ) -> VghInfo:
        """Stores a hierarchy from a CSV file: one row a leaf, `leaf;level1;…;root`; its terms are WordNet's."""
        upgrade.require_current(self.connection)
        return vgh.store(self.connection, name, csvfile.read(Path(file)), replace=replace, ontology=ontology)

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

    def load_ontology(
        self,
        source: Path | str,
        *,
        name: str | None = None,
        verbs: bool = False,
        skip_broken: bool = False,
        progress: Progress | None = None,
    ) -> Loaded:
        """Stores `"wordnet"`, or the ontology in an OBO or CSV file; the same once more changes nothing."""
        upgrade.require_current(self.connection)
        chosen = ontology_files.name_of(source, name)
        reading, storing = split(progress, 0.3)
        found = ontology_files.read(source, verbs=verbs, skip_broken=skip_broken, progress=reading)
        return stored.store(self.connection, chosen, found, storing)

    def ontologies(self) -> list[OntologyInfo]:
        """All stored ontologies."""
        upgrade.require_current(self.connection)
        return stored.catalogue(self.connection)

    def drop_ontology(self, name: str) -> None:
        upgrade.require_current(self.connection)
        stored.drop(self.connection, name)

    def senses(self, term: str, ontology: str = "wordnet") -> list[Sense]:
        """What a term can mean, best known sense first."""
        upgrade.require_current(self.connection)
        return stored.senses(self.connection, term, ontology)

    def similarity(self, a: str, b: str, measure: str = "wup", ontology: str = "wordnet") -> float:
        """The similarity in [0, 1] of two terms, keys or ids."""
        upgrade.require_current(self.connection)
        return stored.similarity(self.connection, a, b, measure, ontology)

    def map_term(self, term: str, concept: str | None, ontology: str = "wordnet") -> None:
        """Says what a term means, for all hierarchies that use the ontology; None forgets it."""
        upgrade.require_current(self.connection)
        stored.map_term(self.connection, term, concept, ontology)

    def mappings(self, ontology: str = "wordnet") -> list[TermMapping]:
        """What users said that terms mean."""
        upgrade.require_current(self.connection)
        return stored.mappings(self.connection, ontology)

    def score(
        self,
        name: str,
        *,
        measure: str = Method.measure,
        aggregate: str = Method.aggregate,
        weights: str | Sequence[float] = Method.weights,
        table: str | None = None,
        column: str | None = None,
        unmapped: str = Method.unmapped,
    ) -> Score:
        """How much meaning a hierarchy loses (GSL), level by level, and what is wrong with it; print it."""
        upgrade.require_current(self.connection)
        return gsl.score(self.connection, name, Method(measure, aggregate, weights, table, column, unmapped))

    def score_set(
        self,
        names: Sequence[str],
        method: Method | None = None,
        *,
        preferences: Sequence[float] | None = None,
    ) -> ScoreSet:
        """Several hierarchies side by side, best first, with the score of the set."""
        upgrade.require_current(self.connection)
        return gsl.score_set(self.connection, names, method or Method(), preferences)

    def node_losses(
        self, name: str, *, measure: str = "wup", aggregate: str = "avg"
    ) -> dict[Node, float | None]:
        """The loss of each node (level, label) of a hierarchy, over the leaves below it."""
        upgrade.require_current(self.connection)
        return gsl.node_losses(self.connection, name, measure, aggregate)

    def vgh_senses(self, name: str) -> list[NodeSense]:
        """What every node of a hierarchy means, how that was found, and how sure it is."""
        upgrade.require_current(self.connection)
        return gsl.senses(self.connection, name)

    def choose_sense(self, name: str, label: str, concept: str | None) -> None:
        """Says what a label of a hierarchy means, as `bat#1`; None takes the choice back."""
        upgrade.require_current(self.connection)
        gsl.choose_sense(self.connection, name, label, concept)

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
        return self.result.all_metrics()

    def report(self, file: Path | str | None = None) -> Path:
        """Writes the report of the run that made it: one HTML file, for people."""
        return self._database.report(self.result.run, file)

    def to_frame(self, limit: int | None = None) -> pandas.DataFrame:
        """The released rows (or the first of them) as a pandas DataFrame."""
        from anondb.report import frames

        return frames.rows(self._database.connection, self.result.relation, limit)

    def class_sizes(self) -> pandas.Series[int]:
        """The sizes of the release's classes, counted from its rows now."""
        from anondb.report import frames

        return frames.class_sizes(self._database.connection, self.result.relation, list(self.result.quasi))

    def __repr__(self) -> str:
        result = self.result
        return f"<Release {result.target}: {result.released} records in {result.classes} classes, k = {result.k}>"


def _policy(policy: Policy | Path | str) -> Policy:
    return policy if isinstance(policy, Policy) else load(policy)
