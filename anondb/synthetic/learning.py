"""Domains from tables: counts at or above a threshold, and the dependencies between columns."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

from anondb.db import introspect as catalog
from anondb.db.connection import Connection
from anondb.db.learning import Counted, LearningTable, TableColumn
from anondb.errors import UsageError, did_you_mean
from anondb.policy.names import parse_name
from anondb.synthetic import cocoa
from anondb.synthetic.domain import OTHERWISE
from anondb.synthetic.domain_file import day, parse
from anondb.synthetic.learned_domain import (
    Bins,
    LearnedColumn,
    balanced,
    choose_parents,
    safe_marginal,
    write,
)

Parents = dict[str, tuple[str, ...]]
Labels = tuple[str, ...]


@dataclass(frozen=True)
class LearnOptions:
    threshold: int = 10
    identifiers: Collection[str] = ()
    given: Mapping[str, tuple[str, ...]] | None = None
    minimum: float = 0.1
    bins: int = 20


@dataclass(frozen=True)
class Learned:
    """The text of a domain, what depends on what in it, and what was left out."""

    text: str
    given: Mapping[str, tuple[str, ...]]
    left_out: tuple[str, ...]


def learn(connection: Connection, table: str, options: LearnOptions | None = None) -> Learned:
    """A domain of a table's counts; nothing that fewer records than the threshold have goes into it."""
    options = options or LearnOptions()
    if options.threshold < 1 or options.bins < 1 or not 0 <= options.minimum <= 1:
        raise UsageError(
            "threshold and bins are numbers from 1, and the least dependency is one from 0 to 1",
            hint="for example --threshold 10 --bins 20 --minimum 0.1",
        )
    source = LearningTable(connection, catalog.resolve_source(connection, parse_name(table)))
    with connection.transaction():
        return _Learner(source, table, options).learned()


class _Learner:
    """Asks the table for counts, and keeps account of what is left out."""

    def __init__(self, source: LearningTable, table: str, options: LearnOptions) -> None:
        self.source, self.table, self.options = source, table, options
        self.left_out: list[str] = []
        self.bins: dict[str, Bins | None] = {}
        self.dates: set[str] = set()

    def learned(self) -> Learned:
        columns = self.source.columns()
        self.check([column.name for column in columns])
        marginals = {}
        for column in columns:
            if column.name in self.options.identifiers:
                self.left_out.append(f"{column.name}: an identifier, not looked at")
            elif counts := self.marginal(column):
                marginals[column.name] = counts
            else:
                self.left_out.append(f"{column.name}: the whole column")
        if not marginals:
            raise UsageError(
                f"nothing of {self.table} can be learned", hint="it is too small, or the threshold too high"
            )
        parents = self.parents(list(marginals))
        conditionals = {}
        # in the order of the dependencies: a row is balanced against what the file tells of its parent
        for name in cocoa.ordered({name: parents.get(name, ()) for name in marginals}):
            if name in parents:
                conditionals[name] = self.conditional(name, parents[name], marginals)
                marginals[name] = safe_marginal(marginals[name], conditionals[name], self.options.threshold)
        learned_columns = [
            LearnedColumn(
                name,
                counts,
                self.bins[name],
                parents.get(name, ()),
                conditionals.get(name, {}),
                name in self.dates,
            )
            for name, counts in marginals.items()
        ]
        text = write(self.table, learned_columns, self.options.threshold, self.left_out)
        cocoa.recipe(parse(text, place="what was learned"))  # what was given may have too many combinations
        return Learned(text, parents, tuple(self.left_out))

    def check(self, names: Sequence[str]) -> None:
        """Raises for columns that do not exist, and for dependencies of or on an identifier."""
        given = self.options.given or {}
        for name in (
            *self.options.identifiers,
            *given,
            *(column for parents in given.values() for column in parents),
        ):
            if name not in names:
                raise UsageError(
                    f'{self.table} has no column "{name[:80]}"',
                    hint=did_you_mean(name, names) or "check the name",
                )
        for child, parents in given.items():
            if identifier := next(
                (column for column in (child, *parents) if column in self.options.identifiers), None
            ):
                raise UsageError(
                    f'"{identifier}" is an identifier, and --given names it',
                    hint="nothing is learned of an identifier: take it out of --given",
                )

    def marginal(self, column: TableColumn) -> dict[Labels, int]:
        """The counts of a column: numbers in bins and in their order, texts with the most frequent first."""
        bins = self.bins[column.name] = self.grid(column) if column.is_number else None
        counted = self.source.counts([column.name], [_step(bins)], self.options.threshold)
        self.account(column.name, counted)
        row = {label: count for (label,), count in counted.counts.items()}
        # other columns tell how many records there are
        row = balanced(row, sum(row.values()) + counted.left_out_records, self.options.threshold)
        if bins is None:
            # infinity, or a year before the first, is a date that no domain knows
            if column.is_date and all(day(label) is not None for label in row):
                self.dates.add(column.name)
            return {(label,): count for label, count in row.items()}
        if any(abs(Decimal(label) + 1) * bins.step >= 2**31 for label in row):
            # what a domain's integers cannot hold is a number like all others
            self.bins[column.name] = Bins(bins.step, "number")
        return {(label,): row[label] for label in sorted(row, key=Decimal)}

    def grid(self, column: TableColumn) -> Bins:
        step = Decimal(repr(self.source.step(column.name, self.options.bins)))
        return (
            Bins(Decimal(max(1, math.ceil(step))), "integer") if column.is_integer else Bins(step, "number")
        )

    def parents(self, kept: Sequence[str]) -> Parents:
        """What each column depends on: what was given, else what tells most of it."""
        given: Parents = {}
        for child, parents in (self.options.given or {}).items():
            if {child, *parents} <= set(kept):
                given[child] = parents
            else:
                self.left_out.append(f"{child} by {', '.join(parents)}: one of them is left out")
        shares = {
            pair: self.source.shared_information(pair, [_step(self.bins[name]) for name in pair])
            for pair in combinations(kept, 2)
            if pair[1] not in given
        }
        return choose_parents(kept, shares, given, self.options.minimum)

    def conditional(
        self, name: str, parents: tuple[str, ...], marginals: Mapping[str, Mapping[Labels, int]]
    ) -> dict[Labels, int]:
        """The counts of a column with what it depends on, the parents' bins named by their ranges."""
        together = (*parents, name)
        steps = [_step(self.bins[column]) for column in together]
        counted = self.source.counts(together, steps, self.options.threshold)
        self.account(" × ".join(together), counted)
        rows: dict[Labels, dict[str, int]] = {}
        for labels, count in counted.counts.items():
            # a value that reads like the rest, as releases have it, has the rest's frequencies
            if OTHERWISE not in labels[:-1]:
                rows.setdefault(labels[:-1], {})[labels[-1]] = count
        if len(parents) == 1:
            totals = marginals[parents[0]]
        else:
            totals = self.source.counts(parents, steps[:-1], self.options.threshold).counts
        grids = [self.bins[parent] for parent in parents]
        return {
            (*(_named(part, bins) for part, bins in zip(key, grids, strict=True)), label): count
            for key, row in rows.items()
            for label, count in balanced(row, totals[key], self.options.threshold).items()
        }

    def account(self, what: str, counted: Counted) -> None:
        """Notes how much was left out; a number below the threshold is not published either."""
        values, records = counted.left_out_values, counted.left_out_records
        if records:
            shown = (
                f"fewer than {self.options.threshold}" if records < self.options.threshold else str(records)
            )
            kinds = "value or combination" if values == 1 else "values or combinations"
            self.left_out.append(f"{what}: {values} {kinds} of {shown} records, too rare or NULL")


def _named(label: str, bins: Bins | None) -> str:
    return label if bins is None else bins.range(label)


def _step(bins: Bins | None) -> float | None:
    return None if bins is None else float(bins.step)
