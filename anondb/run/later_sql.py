"""A column at a level that is known when the statement is sent, and not when it is written.

Where a statement hangs on the level stands a mark, in whose place the writer of the statement puts what it is then.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from anondb.run.chosen_sql import Chosen
from anondb.sqltree.build import call, col


@dataclass(frozen=True)
class Marks:
    """What stands for what is not known yet: names, and whole expressions."""

    key: str  # the column of the frequency set, q1 … or q1_2
    code: str  # the column of the dictionary that has the code: leaf or l2
    label: str  # the column that has the label: g2
    missing: str  # the code of NULL: that of all others at the root
    root: str  # what NULL is released as: nothing below the root


@dataclass(frozen=True)
class ChosenLater(Chosen):
    """A column whose level is read from the ledger; the root is a level as all others."""

    marks: Marks

    @property
    def at_root(self) -> bool:
        return False

    @property
    def key(self) -> str:
        return self.marks.key

    @property
    def missing(self) -> exp.Expr:
        return exp.Var(this=self.marks.missing)

    def code(self, of: str) -> exp.Expr:
        return col(self.marks.code, of)

    def label_in(self, of: str) -> exp.Expr:
        return col(self.marks.label, of)

    def shown(self) -> exp.Expr:
        return call("coalesce", col("label", self.label), exp.Var(this=self.marks.root))
