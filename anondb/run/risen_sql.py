"""How far up in their hierarchies the cells of a release are."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.run.publish_sql import Chosen
from anondb.sqltree.build import cast, col, divided, equal, number, query, scratch
from anondb.sqltree.tables import Scratch


def risen(names: Scratch, chosen: Sequence[Chosen]) -> exp.Select:
    """Of each column, the mean share of its hierarchy's height that a cell rose.

    What is released as it is, a NULL too, has not risen; what is suppressed is at the root.
    """

    def share(c: Chosen) -> exp.Expr:
        rose = divided(cast(number(c.level), "float8"), number(c.quasi.height))
        of_cell = exp.Case().when(exp.Not(this=col("released", "c")), number(1))
        if not c.at_root:
            as_it_was = exp.NullSafeEQ(this=col("r", "c"), expression=col("o", "c"))
            of_cell = of_cell.when(as_it_was, number(0))
        weighted = exp.Sum(this=exp.Mul(this=col("n", "c"), expression=exp.paren(of_cell.else_(rose))))
        here = exp.Where(this=equal(col("i", "c"), number(c.quasi.number)))
        records = exp.Filter(this=exp.Sum(this=col("n", "c")), expression=here)
        return divided(exp.Filter(this=weighted, expression=here.copy()), records)

    return query([share(c) for c in chosen], scratch(names.pairs, "c"))
