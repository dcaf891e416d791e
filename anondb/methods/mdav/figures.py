"""What a release of synthetic sets is worth and gives away, by the link to the originals that only its run knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from anondb.evaluation.metric_value import MetricValue, values_or_reasons
from anondb.evaluation.metrics import GROUPS
from anondb.methods.mdav import mdav
from anondb.methods.mdav import sql as sets
from anondb.run import account_sql as account
from anondb.run import encode_sql as encode
from anondb.run import linked_sql as linked
from anondb.run.account import binned
from anondb.run.evaluate import DISCLOSURE, RISK
from anondb.run.plan import Plan
from anondb.run.statement import METRIC_ROWS, SIZES, Runner, Statement, row
from anondb.run.verify import Published
from anondb.sqltree.tables import Quasi, Scratch

_LOSS = "select anondb.mdav_loss()"


@dataclass(frozen=True)
class SetFigures:
    """The records of a run with what became of them, laid side by side."""

    db: Runner
    plan: Plan
    names: Scratch
    share: mdav.Share
    sets: Quasi
    beside: Sequence[Quasi]  # quasi-identifiers
    by_text: bool  # classes are told apart by the texts that they are released with, not by their concepts

    def link(self) -> None:
        """Puts the link down."""
        with_concepts, without = self.share.with_concepts > 0, self.share.without > 0
        columns = list(self._sensitive)
        self.db.run(
            Statement(
                "linked",
                sets.linked(
                    self.names,
                    self.sets,
                    {f"c{n}": quasi for n, quasi in enumerate(self.beside, len(self.plan.kept) + 1)},
                    columns,
                    by_text=self.by_text,
                    with_concepts=with_concepts,
                    without=without,
                ),
            )
        )
        self.db.run(Statement("linked statistics", encode.analyze(self.names.linked)))

    def all(self, published: Published) -> Iterator[MetricValue]:
        """Utility and risk; classes are told apart as the release tells them."""
        if self.share.with_concepts:
            yield from values_or_reasons(self.db, ["semantic_sse"], self._loss)
        records = published.rows + self.share.suppressed
        yield MetricValue("discernibility", value=float(published.squares + records * self.share.suppressed))
        k = self.plan.policy.privacy.k
        yield MetricValue("average_class_size", value=published.rows / (published.classes * k))
        yield from values_or_reasons(self.db, GROUPS["risk"], self._risk)
        for column, name in self._sensitive.items():
            found = values_or_reasons(self.db, GROUPS["disclosure"], partial(self._disclosure, column, name))
            yield from (replace(figure, column=name) for figure in found)

    def sizes(self) -> dict[str, Any]:
        """How many classes there are of each size, before and after."""
        k, quasi = self.plan.policy.privacy.k, self.plan.quasi
        before = self.db.rows(
            Statement(
                "class sizes before",
                account.original_sizes(self.names.linked, quasi),
                answers=SIZES,
            )
        )
        after = self.db.rows(
            Statement("class sizes", account.released_sizes(self.names.linked, quasi), answers=SIZES)
        )
        return {"sizes": {"before": binned(before, k), "after": binned(after, k)}}

    def _loss(self) -> Iterator[MetricValue]:
        [loss, *_] = self.db.one(Statement("loss", _LOSS, answers=row(loss=0.0)))
        yield MetricValue("semantic_sse", value=float(loss))

    def _disclosure(self, column: str, name: str) -> list[MetricValue]:
        arguments = (self._table, self._named("r"), column, [sets.NOT_RELEASED], None)
        return [
            MetricValue(*row)
            for row in self.db.rows(
                Statement(
                    f"disclosure of {name}",
                    DISCLOSURE,
                    arguments,
                    answers=METRIC_ROWS,
                )
            )
        ]

    def _risk(self) -> Iterator[MetricValue]:
        """A set that is whole, or is not there, has no columns that could contribute more or less."""
        rows = self.db.rows(
            Statement(
                "risk",
                RISK,
                (self._table, self._named("r"), [sets.NOT_RELEASED] * len(self.plan.quasi), "n", None),
                answers=METRIC_ROWS,
            )
        )
        after = {
            figure.name: figure for figure in (MetricValue(*row) for row in rows) if figure.column is None
        }
        for name, column, value, _ in self.db.rows(
            Statement(
                "risk before",
                RISK,
                (self._table, self._named("o"), None, "n", None),
                answers=METRIC_ROWS,
            )
        ):
            if column is None:
                yield replace(after.get(name, MetricValue(name)), before=value)

    def _named(self, of: str) -> list[str]:
        return [f"{of}{quasi.number}" for quasi in (self.sets, *self.beside)]

    @property
    def _table(self) -> str:
        return linked.temporary(self.names.linked)

    @property
    def _sensitive(self) -> dict[str, str]:
        """Our names of the sensitive columns, and the source's."""
        sensitive = {column.name for column in self.plan.policy.sensitive}
        return {
            f"c{n}": column.name for n, column in enumerate(self.plan.kept, 1) if column.name in sensitive
        }
