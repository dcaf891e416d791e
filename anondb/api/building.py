"""The part of the library that builds hierarchies and ranks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anondb.db import gsl, vgh
from anondb.db.install import upgrade
from anondb.db.session import Session
from anondb.errors import UsageError
from anondb.hierarchies.build import queries
from anondb.hierarchies.build.ranking import Ranking, RankingMethod
from anondb.hierarchies.draw import Losses
from anondb.hierarchies.tree import Node, edge_losses
from anondb.policy.names import parse_name

if TYPE_CHECKING:
    from anondb.db.execute import Executor
    from anondb.hierarchies.build.build import Ask, Progress
    from anondb.hierarchies.build.build import Building as Built


class Building:
    """What a database does with hierarchies that nobody has written."""

    session: Session

    def build_vgh(
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
    ) -> Built:
        """Builds hierarchies for a column from an ontology, or from the distribution of its numbers.

        They are stored as `NAME.base`, `NAME.1`, …; `senses` says what values mean (value → term, key or id),
        and `ask` is asked for those that nothing else tells apart.
        """
        from anondb.hierarchies.build import build as build_vgh
        from anondb.hierarchies.build.aika import Options

        upgrade.require_current(self.session)
        options, given = Options(k, levels, perspectives, seed), dict(senses or {})
        asked = build_vgh.BuildRequest(name, table, column, options, ontology, bound, given, replace, ask)
        return build_vgh.build(self.session, asked, progress)

    def rank_vghs(self, names: Sequence[str] | str, method: RankingMethod | None = None) -> Ranking:
        """Ranks hierarchies on four sides, best first; a name that was built stands for all its candidates."""
        upgrade.require_current(self.session)
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

    def keep_vgh(self, vgh: str, name: str, *, replace: bool = False) -> None:
        """Stores a hierarchy once more, under the name that policies use."""
        upgrade.require_current(self.session)
        queries.copy(self._unwatched, vgh, name, replace=replace)

    def edge_losses(self, name: str, *, measure: str = "wup", aggregate: str = "avg") -> dict[Node, float]:
        """The loss of each edge of a hierarchy, by the node (level, label) at its lower end."""
        upgrade.require_current(self.session)
        found = gsl.leaf_losses(self.session, name, measure)
        return edge_losses(vgh.fetch(self.session, name), found, aggregate)

    def report_vghs(
        self, ranking: Ranking, file: Path | str, made_by: Mapping[str, str] | None = None
    ) -> None:
        """Writes a ranking as one HTML file, with pictures of the hierarchies; these show values of the column."""
        from anondb.report import hierarchies

        upgrade.require_current(self.session)
        measure = ranking.method.measure
        drawn = []
        for place, ranked in enumerate(ranking.ranked[: hierarchies.DRAWN]):
            table = vgh.fetch(self.session, ranked.vgh)
            losses: Losses = {}
            edges: Losses | None = None
            if ranked.aspects["semq"].score is not None:
                losses = gsl.node_losses(self.session, ranked.vgh, measure)
                if place == 0:
                    found = gsl.leaf_losses(self.session, ranked.vgh, measure)
                    edges = edge_losses(table, found, "avg")
            drawn.append(hierarchies.Drawn(ranked.vgh, table, losses, edges))
        hierarchies.write(ranking, drawn, made_by or {}, file)

    def _candidates(self, names: Sequence[str] | str) -> list[str]:
        if not isinstance(names, str):
            return list(names)
        return queries.candidates(self._unwatched, names) or [names]

    @property
    def _unwatched(self) -> Executor:
        """Nobody keeps the steps of what is no run."""
        from anondb.db.execute import Executor

        return Executor(self.session, lambda step: None)
