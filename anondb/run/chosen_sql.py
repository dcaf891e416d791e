"""A quasi-identifier at the level of a release: what it is called where."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from anondb.sqltree.build import col, number, string
from anondb.sqltree.released import Typed
from anondb.sqltree.tables import Quasi


@dataclass(frozen=True)
class Chosen:
    """A quasi-identifier at the level that the search chose for it."""

    quasi: Quasi
    level: int
    has_null: bool

    @property
    def at_root(self) -> bool:
        return self.level == self.quasi.height

    @property
    def key(self) -> str:
        """Its column in the frequency set and in the classes; none at the root."""
        return self.quasi.code_at(self.level)

    @property
    def label(self) -> str:
        return f"g{self.quasi.number}"

    @property
    def mean(self) -> str:
        """The mean of a class, among the means of all."""
        return f"m{self.quasi.number}"

    def place_of(self, position: int) -> str:
        """Where the classes have what is released of it, if that is not the label."""
        return f"t{self.quasi.number}_{position}"

    @property
    def written(self) -> dict[str, str]:
        """Its columns in the release, and what each of them is called in the classes."""
        form = self.quasi.column.form
        if not isinstance(form, Typed):
            return {self.quasi.name: self.label}
        return {shown.name: self.place_of(position) for position, shown in enumerate(form.shown, 1)}

    @property
    def missing(self) -> exp.Expr:
        """The code of NULL, which has no entry."""
        return number(0)

    def code(self, of: str) -> exp.Expr:
        """Its code in a dictionary entry."""
        return col("leaf" if self.level == 0 else f"l{self.level}", of)

    def label_in(self, of: str) -> exp.Expr:
        """Its label in a dictionary entry."""
        return col(f"g{self.level}", of)

    def shown(self) -> exp.Expr:
        """Its label in a class."""
        return string(self.quasi.root) if self.at_root else col("label", self.label)
