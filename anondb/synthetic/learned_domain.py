"""A domain from counts of a table: which column depends on which, and the TOML file that says so."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from anondb.synthetic.domain import OTHERWISE, Kind

Counts = Mapping[tuple[str, ...], int]
"""How often combinations of labels occur; only those that occur often enough."""


@dataclass(frozen=True)
class Bins:
    """A grid over the numbers of a column."""

    step: Decimal
    kind: Kind

    @property
    def single(self) -> bool:
        """Whether every bin is one whole number."""
        return self.kind == "integer" and self.step == 1

    def range(self, number: str) -> str:
        """The numbers in a bin, as a domain writes them."""
        low = Decimal(number) * self.step
        high = low + (self.step - 1 if self.kind == "integer" else self.step)
        return f"{low.normalize():f}" if low == high else f"{low.normalize():f}..{high.normalize():f}"


@dataclass(frozen=True)
class LearnedColumn:
    """A column: its counts, and those together with the columns that it depends on; its own label stands last."""

    name: str
    counts: Counts
    bins: Bins | None = None
    given: tuple[str, ...] = ()
    conditional: Counts = field(default_factory=dict)
    is_date: bool = False

    @property
    def kind(self) -> Kind:
        if self.bins is not None:
            return self.bins.kind
        return "date" if self.is_date else "text"


def choose_parents(
    columns: Sequence[str],
    shares: Mapping[tuple[str, str], float],
    given: Mapping[str, tuple[str, ...]],
    minimum: float,
) -> dict[str, tuple[str, ...]]:
    """What each column depends on: what is given, else the earlier column that tells most of it, if enough.

    `shares` has the normalized mutual information of two columns, the earlier one first.
    """
    chosen = dict(given)
    for place, child in enumerate(columns):
        if child in given:
            continue
        candidates = [parent for parent in columns[:place] if child not in _below(parent, chosen)]
        best = max(
            candidates, key=lambda parent: (shares[parent, child], -columns.index(parent)), default=None
        )
        if best is not None and shares[best, child] >= minimum:
            chosen[child] = (best,)
    return chosen


def _below(name: str, parents: Mapping[str, tuple[str, ...]], seen: Collection[str] = ()) -> set[str]:
    """All that a column depends on, itself included."""
    names = {name}
    for parent in parents.get(name, ()):
        if parent not in {*seen, name}:
            names |= _below(parent, parents, {*seen, name})
    return names


def balanced(row: Mapping[str, int], total: int, threshold: int) -> dict[str, int]:
    """Counts that sum to their total, or lack at least as many records as a value needs to be told.

    Fewer could be had by subtraction, and be the count of a single rare value: they go to the most frequent one.
    """
    missing = total - sum(row.values())
    if not row or not 0 < abs(missing) < threshold:
        return dict(row)
    by_count = sorted(row, key=lambda label: (row[label], label))
    least, top = by_count[0], by_count[-1]
    if row[top] + missing < threshold:  # what is told of the total is lower, and the row must be too
        return balanced({label: row[label] for label in row if label != least}, total, threshold)
    return {**row, top: row[top] + missing}


def safe_marginal(marginal: Counts, conditional: Counts, threshold: int) -> dict[tuple[str, ...], int]:
    """The counts of a column, changed so that subtracting the conditional counts never reveals a few records."""
    sums: dict[str, int] = {}
    for labels, count in conditional.items():
        sums[labels[-1]] = sums.get(labels[-1], 0) + count
    return {
        (label,): count if count - sums.get(label, 0) >= threshold else sums[label]
        for (label,), count in marginal.items()
    }


def write(source: str, columns: Sequence[LearnedColumn], threshold: int, left_out: Sequence[str]) -> str:
    """The text of the domain."""
    parents = {parent for column in columns for parent in column.given}
    taken = {column.name for column in columns}
    binned: dict[str, str] = {}
    for column in columns:
        if column.bins is not None and not column.bins.single and column.name in parents:
            binned[column.name] = _free(f"{column.name}_bin", taken)
            taken.add(binned[column.name])
    lines = [
        f"title = {_quoted(f'Learned from {source}')}",
        "",
        "[learned]",
        f"source = {_quoted(source)}",
        f"threshold = {threshold}",
        "left_out = [",
        *(f"    {_quoted(column)}," for column in left_out),
        "]",
    ]
    for column in columns:
        lines += _attribute(column, binned)
    return "\n".join(lines) + "\n"


def _attribute(column: LearnedColumn, binned: Mapping[str, str]) -> Iterator[str]:
    hidden = binned.get(column.name)
    if hidden is not None:
        # others depend on the bin, and the number is drawn within it
        assert column.bins is not None
        path = f"attributes.{_quoted(column.name)}"
        yield from (
            "",
            f"[{path}]",
            f'type = "{column.kind}"',
            f"given = [{_quoted(hidden)}]",
            "",
            f"[{path}.table]",
        )
        for (label,) in column.counts:
            yield f"{_quoted(column.bins.range(label))} = {{ {_quoted(column.bins.range(label))} = 1 }}"
    path = f"attributes.{_quoted(hidden or column.name)}"
    yield from ("", f"[{path}]")
    yield from ["hidden = true"] if hidden else [f'type = "{column.kind}"']
    if column.given:
        yield f"given = [{', '.join(_quoted(binned.get(name, name)) for name in column.given)}]"
        yield from _table(path, column)
    else:
        yield from ("", f"[{path}.frequencies]")
        for (label,), count in column.counts.items():
            yield f"{_quoted(_shown(column.bins, label))} = {count}"


def _table(path: str, column: LearnedColumn) -> Iterator[str]:
    """The conditional counts; the marginal ones stand for combinations that are too rare for a row of their own."""
    rows: dict[tuple[str, ...], dict[str, int]] = {}
    for labels, count in column.conditional.items():
        rows.setdefault(labels[:-1], {})[labels[-1]] = count
    rest = {label: count for (label,), count in column.counts.items()}
    rows[(OTHERWISE,) * len(column.given)] = rest
    sections: dict[tuple[str, ...], list[str]] = {}
    for key, weights in rows.items():
        text = ", ".join(
            f"{_quoted(_shown(column.bins, label))} = {count}" for label, count in weights.items()
        )
        sections.setdefault(key[:-1], []).append(f"{_quoted(key[-1])} = {{ {text} }}")
    for outer, lines in sections.items():
        yield from ("", f"[{'.'.join([path, 'table', *map(_quoted, outer)])}]", *lines)


def _shown(bins: Bins | None, label: str) -> str:
    return label if bins is None else bins.range(label)


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _quoted(text: str) -> str:
    """A string of TOML: written as JSON, except for DEL, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
