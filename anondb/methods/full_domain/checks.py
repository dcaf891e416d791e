"""Asking: puts the questions of a search to the frequency set, or to a roll-up of it that can answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anondb.methods.full_domain import packed_sql
from anondb.methods.full_domain import sql as node
from anondb.methods.full_domain.grid import Partial
from anondb.methods.full_domain.lattice import Demand, NodeFigures
from anondb.methods.full_domain.packed_sql import Packing
from anondb.methods.full_domain.publish import leave_distant_out
from anondb.methods.full_domain.rollup import Rollups
from anondb.methods.full_domain.sql import Costs
from anondb.models.sql import Models
from anondb.run import frequency_sql as frequency
from anondb.run.encode_sql import analyze
from anondb.run.statement import Answer, Runner, Statement, row
from anondb.sqltree.build import Node
from anondb.sqltree.render import render
from anondb.sqltree.tables import Scratch

_OF_EVERY_NODE = (
    "the search asks this of every node it looks at, of the frequency set or a roll-up; the first is shown"
)


class Asking:
    """Puts the questions of a search to the database, each to the smallest set that can answer it."""

    def __init__(
        self,
        db: Runner,
        names: Scratch,
        judged: Models,
        demand: Demand,
        cost: Costs | None,
        labels: Sequence[Sequence[int]],
    ) -> None:
        self.db, self.names, self.models, self.demand, self.cost = db, names, judged, demand, cost
        self.packing = Packing(judged.counted, labels, leaves=cost is not None and cost.by_leaf)
        rows = db.run(Statement("packed frequency set", *packed_sql.packed(names, self.packing)))
        db.run(Statement("packed statistics", analyze(names.packed)))
        self.rollups = Rollups(rows)
        self._tables: dict[Partial, str] = {}
        self._texts: dict[tuple[str | int, ...], str] = {}  # by the source and its words
        self._best = ""
        # what is left out changes what the others are compared with
        self._reference_moves = bool(judged.relative) and demand.budget > 0 and not demand.mask
        # what is left out becomes a class, of which more must hold than that it is large enough
        self._mask_is_judged = demand.mask and not judged.only_records

    @property
    def _shape(self) -> Answer:
        """In the example a record is left out, so that a plan shows what becomes of it."""
        cost = {} if self.cost is None else {"cost": 0.0}
        return row(classes=1, outliers=1, hopeless=0, squares=1, groups=1, **cost)

    def __call__(self, levels: Partial) -> NodeFigures:
        kept, rows = self.rollups.source(levels)
        source = self.names.packed if kept is None else self._tables[kept]
        name = f"node {','.join('-' if level is None else str(level) for level in levels)}{self._best}"
        if self._reference_moves or self._mask_is_judged:
            figures = self._in_steps(name, source, levels)
        else:
            question, parameters = self._question(source, levels)
            figures = self._figures(
                self.db.one(Statement(name, question, parameters, answers=self._shape, note=_OF_EVERY_NODE))
            )
        self._keep(levels, figures.groups, rows)
        return figures

    def tell(self, best: str) -> None:
        """What the best node so far is worth, for whoever watches the steps go by."""
        self._best = f", best so far: {best}"

    def _question(self, source: str, levels: Partial) -> tuple[Node | str, Sequence[int]]:
        """A node's figures; where no costs are asked for, nodes differ in parameters alone, and share a text."""
        if self.cost is not None:
            return node.figures(self.names, source, self.packing, self.models, levels, self.cost), ()
        masks = self.packing.masks(levels)
        key: tuple[str | int, ...] = (source, *masks)
        if key not in self._texts:
            question = node.figures(self.names, source, self.packing, self.models, levels)
            self._texts[key] = render(question, pretty=True)
        return self._texts[key], list(masks.values())

    def _in_steps(self, name: str, source: str, levels: Partial) -> NodeFigures:
        moves = self._reference_moves
        self.db.run(
            Statement(
                f"classes of {name}",
                node.put_down(self.names, source, self.packing, self.models, levels, reference=not moves),
            ),
        )
        if moves:
            leave_distant_out(self.db, self.names, self.names.node, self.models)
        figures = self.db.one(
            Statement(
                name,
                node.put_down_figures(self.names, self.packing, self.models, levels, self.cost),
                answers=self._shape,
                note=_OF_EVERY_NODE,
            )
        )
        passes = True
        if self._mask_is_judged and 0 < figures[1] <= self.demand.budget:
            question = node.masked_passes(self.names, source, self.packing, self.models, levels)
            [passes] = self.db.one(
                Statement(
                    f"mask of {name}",
                    question,
                    answers=row(passes=True),
                    note="where records would be masked",
                )
            )
        self.db.run(Statement("forget classes", frequency.drop(self.names.node)))
        return self._figures(figures, masked_passes=bool(passes))

    def _figures(self, row: tuple[Any, ...], *, masked_passes: bool | None = None) -> NodeFigures:
        classes, outliers, hopeless, squares, groups, *cost = row
        return NodeFigures(
            classes=classes,
            outliers=outliers,
            # without suppression every additive model is monotone
            hopeless=hopeless if self.demand.budget or not self.demand.additive else outliers,
            squares=int(squares),
            outlier_cost=cost[0] if cost else 0.0,
            groups=groups,
            masked_passes=outliers >= self.models.k if masked_passes is None else masked_passes,
        )

    def _keep(self, levels: Partial, groups: int, rows: int) -> None:
        """Rolls a set up where that has begun to pay, and drops those that are no longer worth their room."""
        chosen = self.rollups.note(levels, groups, rows)
        if chosen is None:
            return
        kept, _ = self.rollups.source(chosen)
        source = self.names.packed if kept is None else self._tables[kept]
        table = self.names.rollup(self.rollups.made + 1)
        made = self.db.run(Statement("roll up", packed_sql.rolled_up(source, table, self.packing, chosen)))
        self._tables[chosen] = table
        for dropped in self.rollups.keep(chosen, made):
            self.db.run(Statement("drop roll-up", frequency.drop(self._tables.pop(dropped))))
