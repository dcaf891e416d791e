"""`db.hierarchies`: the stored hierarchies, what they are worth, and those that are built."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anondb.db import gsl, vgh
from anondb.db.install import upgrade
from anondb.db.session import Session
from anondb.db.vgh import VghInfo
from anondb.errors import UsageError
from anondb.hierarchies import csvfile
from anondb.hierarchies.build import queries
from anondb.hierarchies.build.ranking import Ranking, RankingMethod
from anondb.hierarchies.draw import Losses
from anondb.hierarchies.forms import VghTable
from anondb.hierarchies.score import Method, NodeSense, Score, ScoreSet
from anondb.hierarchies.tree import Node, edge_losses
from anondb.policy.names import parse_name

if TYPE_CHECKING:
    from anondb.db.execute import Executor
    from anondb.hierarchies.build.build import Ask, Building, Progress


class Hierarchies:
    """The hierarchies of a database: stored, built, scored and ranked.

    ```python
    with anondb.connect() as db:
        db.hierarchies.load("occupation", "occupation.csv")
        print(db.hierarchies.score("occupation"))
        db.hierarchies.build("job", "hospital.admissions", "job", k=5)
        db.hierarchies.keep(db.hierarchies.rank("job").winner, "job")
    ```
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def load(
        self, name: str, file: Path | str, *, replace: bool = False, ontology: str | None = None
    ) -> VghInfo:
        """Stores a hierarchy from a CSV file: one row a leaf, `leaf;level1;…;root`; its terms are WordNet's."""
        upgrade.require_current(self._session)
        return vgh.store(self._session, name, csvfile.read(Path(file)), replace=replace, ontology=ontology)

    def show(self, name: str) -> VghTable:
        """A stored hierarchy, its rows and levels."""
        upgrade.require_current(self._session)
        return vgh.fetch(self._session, name)

    def export(self, name: str) -> str:
        """A stored hierarchy as the text of a CSV file, in the form that `load` reads."""
        return csvfile.write(self.show(name))

    def list(self) -> builtins.list[VghInfo]:
        """All stored hierarchies."""
        upgrade.require_current(self._session)
        return vgh.catalogue(self._session)

    def drop(self, name: str) -> None:
        """Forgets a stored hierarchy."""
        upgrade.require_current(self._session)
        vgh.drop(self._session, name)

    def build(
        self,
        name: str,
        table: str,
        column: str,
        *,
        k: int = 5,
        levels: float = 0.75,
        perspectives: int = 3,
        bound: float = 0.8,
        senses: Mapping[str, str] | None = None,
        ontology: str = "wordnet",
        seed: int = 0,
        replace: bool = False,
        ask: Ask | None = None,
        progress: Progress | None = None,
    ) -> Building:
        """Builds hierarchies for a column from an ontology, or from the distribution of its numbers.

        They are stored as `NAME.base`, `NAME.1`, …; `senses` says what values mean (value → term, key or id),
        and `ask` is asked for those that nothing else tells apart.
        """
        from anondb.hierarchies.build import build as building
        from anondb.hierarchies.build.aika import Options

        upgrade.require_current(self._session)
        options, given = Options(k, levels, perspectives, seed), dict(senses or {})
        request = building.BuildRequest(name, table, column, options, ontology, bound, given, replace, ask)
        return building.build(self._session, request, progress)

    def rank(self, names: Sequence[str] | str, method: RankingMethod | None = None) -> Ranking:
        """Ranks hierarchies on four sides, best first; a name that was built stands for all its candidates."""
        upgrade.require_current(self._session)
        method = method or RankingMethod()
        if (method.table is None) != (method.column is None):
            raise UsageError(
                "frequencies come from a column of a table, and one of the two is missing",
                hint="give both --table and --column",
            )
        source = None
        if method.table is not None and method.column is not None:
            source = queries.find_column(self._unwatched, parse_name(method.table), method.column)
        return queries.rank(self._unwatched, self._candidates(names), method, source)

    def keep(self, vgh: str, name: str, *, replace: bool = False) -> None:
        """Stores a hierarchy once more, under the name that policies use."""
        upgrade.require_current(self._session)
        queries.copy(self._unwatched, vgh, name, replace=replace)

    def report(self, ranking: Ranking, file: Path | str, made_by: Mapping[str, str] | None = None) -> None:
        """Writes a ranking as one HTML file, with pictures of the hierarchies; these show values of the column."""
        from anondb.report import hierarchies

        upgrade.require_current(self._session)
        measure = ranking.method.measure
        drawn = []
        for place, ranked in enumerate(ranking.ranked[: hierarchies.DRAWN]):
            table = vgh.fetch(self._session, ranked.vgh)
            losses: Losses = {}
            edges: Losses | None = None
            if ranked.aspects["semq"].score is not None:
                losses = gsl.node_losses(self._session, ranked.vgh, measure)
                if place == 0:
                    edges = edge_losses(table, gsl.leaf_losses(self._session, ranked.vgh, measure), "avg")
            drawn.append(hierarchies.Drawn(ranked.vgh, table, losses, edges))
        hierarchies.write(ranking, drawn, made_by or {}, file)

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
        upgrade.require_current(self._session)
        return gsl.score(self._session, name, Method(measure, aggregate, weights, table, column, unmapped))

    def score_set(
        self,
        names: Sequence[str],
        method: Method | None = None,
        *,
        preferences: Sequence[float] | None = None,
    ) -> ScoreSet:
        """Several hierarchies side by side, best first, with the score of the set."""
        upgrade.require_current(self._session)
        return gsl.score_set(self._session, names, method or Method(), preferences)

    def node_losses(
        self, name: str, *, measure: str = "wup", aggregate: str = "avg"
    ) -> dict[Node, float | None]:
        """The loss of each node (level, label) of a hierarchy, over the leaves below it."""
        upgrade.require_current(self._session)
        return gsl.node_losses(self._session, name, measure, aggregate)

    def edge_losses(self, name: str, *, measure: str = "wup", aggregate: str = "avg") -> dict[Node, float]:
        """The loss of each edge of a hierarchy, by the node (level, label) at its lower end."""
        upgrade.require_current(self._session)
        losses = gsl.leaf_losses(self._session, name, measure)
        return edge_losses(vgh.fetch(self._session, name), losses, aggregate)

    def senses(self, name: str) -> builtins.list[NodeSense]:
        """What every node of a hierarchy means, how that was found, and how sure it is."""
        upgrade.require_current(self._session)
        return gsl.senses(self._session, name)

    def choose_sense(self, name: str, label: str, concept: str | None) -> None:
        """Says what a label of a hierarchy means, as `bat#1`; None takes the choice back."""
        upgrade.require_current(self._session)
        gsl.choose_sense(self._session, name, label, concept)

    def _candidates(self, names: Sequence[str] | str) -> builtins.list[str]:
        if not isinstance(names, str):
            return builtins.list(names)
        return queries.candidates(self._unwatched, names) or [names]

    @property
    def _unwatched(self) -> Executor:
        """Nobody keeps the steps of what is no run."""
        from anondb.db.execute import Executor

        return Executor(self._session, lambda step: None)
