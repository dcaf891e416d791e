"""Random small tables with a sensitive column, and a naive program that says what each node of them gives."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import log
from random import Random

from hypothesis import strategies as st

from anondb.methods.full_domain import objective as objectives
from anondb.methods.full_domain.grid import Grid, Partial
from anondb.methods.full_domain.lattice import Demand, Lattice, NodeFigures
from anondb.methods.full_domain.objective import Objective
from tests.properties.models_oracle import Compared, compared

Record = tuple[int, ...]
Class = tuple[int, ...]
Histogram = Counter[int]

# what a class must satisfy besides k: a model and its parameter
DISTINCT, ENTROPY, CLOSENESS = "distinct", "entropy", "closeness"


@dataclass(frozen=True)
class Table:
    """Records of leaves, and for each column the path of each leaf: its node at every level."""

    records: tuple[Record, ...]
    values: tuple[int, ...]  # of the sensitive column
    paths: tuple[tuple[tuple[int, ...], ...], ...]
    k: int
    models: tuple[tuple[str, Fraction], ...]
    demand: Demand
    lowest: tuple[int, ...]
    highest: tuple[int, ...]
    weights: tuple[float, ...]
    costs: tuple[tuple[tuple[float, ...], ...], ...]  # of each column, at each level, of each leaf
    compared: tuple[Compared, ...] = ()  # other models that compare a class with all that is released
    _asked: dict[Partial, NodeFigures] = field(default_factory=dict, compare=False, repr=False)

    def ask(self, levels: Partial) -> NodeFigures:
        if levels not in self._asked:
            self._asked[levels] = self._figures(levels)
        return self._asked[levels]

    def _figures(self, levels: Partial) -> NodeFigures:
        classes: dict[Class, Histogram] = defaultdict(Counter)
        for record, value in zip(self.records, self.values, strict=True):
            classes[self._class_of(record, levels)][value] += 1
        released = self._released(classes)
        outliers = [r for r in self.records if self._class_of(r, levels) not in released]
        hopeless = sum(h.total() for h in classes.values() if self._fails_below(h))
        masked = sum((h for name, h in classes.items() if name not in released), Counter())
        return NodeFigures(
            classes=len(released),
            outliers=len(outliers),
            hopeless=hopeless if self.demand.budget else len(outliers),
            squares=sum(h.total() ** 2 for h in released.values()),
            outlier_cost=sum(self._cost(record, levels) for record in outliers),
            groups=len(classes),
            masked_passes=bool(masked) and len(self._released({**released, (-1,): masked})) > len(released),
        )

    def _released(self, classes: dict[Class, Histogram]) -> dict[Class, Histogram]:
        """The classes that pass; those too far from what is released are removed until none is."""
        released = {name: h for name, h in classes.items() if self._passes_alone(h)}
        limits = [limit for model, limit in self.models if model == CLOSENESS]
        while limits or self.compared:
            reference: Histogram = sum(released.values(), Counter())
            if self.demand.budget == 0:
                reference = Counter(self.values)
            close = {
                name: h
                for name, h in released.items()
                if all(is_close(h, reference, t) for t in limits)
                and all(model.fits(h, reference) for model in self.compared)
            }
            if len(close) == len(released):
                break
            released = close
        return released

    def _passes_alone(self, histogram: Histogram) -> bool:
        return not self._fails_below(histogram) and all(
            entropy(histogram) >= log(limit) - 1e-9 for model, limit in self.models if model == ENTROPY
        )

    def _fails_below(self, histogram: Histogram) -> bool:
        """A part of the class fails too: it has no more records, and no more distinct values."""
        few = any(len(histogram) < limit for model, limit in self.models if model in (DISTINCT, ENTROPY))
        return histogram.total() < self.k or few

    def _class_of(self, record: Record, levels: Partial) -> Class:
        return tuple(
            self.paths[c][leaf][level]
            for c, (leaf, level) in enumerate(zip(record, levels, strict=True))
            if level is not None
        )

    def _cost(self, record: Record, levels: Partial) -> float:
        shares = objectives.normalized(self.weights)
        return sum(
            shares[c] * self.costs[c][level][leaf]
            for c, (leaf, level) in enumerate(zip(record, levels, strict=True))
            if level is not None
        )

    def lattice(self) -> Lattice:
        return Lattice(Grid(self.lowest, self.highest), self.nodes(), self.ask)

    def nodes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(
            tuple(len({paths[record[c]][level] for record in self.records}) for level in range(len(paths[0])))
            for c, paths in enumerate(self.paths)
        )

    def objective(self, name: str) -> Objective:
        of_records = [
            [[of_leaf[record[c]] for record in self.records] for of_leaf in column]
            for c, column in enumerate(self.costs)
        ]
        return objectives.make(
            name,
            costs=[[sum(costs) / len(costs) for costs in column] for column in of_records],
            highest=[[max(costs) for costs in column] for column in of_records],
            nodes=self.nodes(),
            records=len(self.records),
            k=self.k,
            weights=self.weights,
        )

    def every_node(self) -> list[tuple[int, ...]]:
        levels = [range(low, high + 1) for low, high in zip(self.lowest, self.highest, strict=True)]
        return list(product(*levels))


def entropy(histogram: Histogram) -> float:
    total = histogram.total()
    return -sum(n / total * log(n / total) for n in histogram.values())


def is_close(histogram: Histogram, reference: Histogram, limit: Fraction) -> bool:
    """With equal ground distance: half of the summed differences of the shares; in whole numbers."""
    size, all_ = histogram.total(), reference.total()
    apart = sum(abs(histogram[v] * all_ - reference[v] * size) for v in {*histogram, *reference})
    return apart * limit.denominator <= 2 * limit.numerator * size * all_


@st.composite
def tables(draw: st.DrawFn) -> Table:
    paths, costs = [], []
    for _ in range(draw(st.integers(1, 3))):
        leaves = draw(st.integers(1, 5))
        path = [tuple(range(leaves))]
        for _ in range(draw(st.integers(0, 2))):
            merged = {node: draw(st.integers(0, 2)) for node in sorted(set(path[-1]))}
            path.append(tuple(merged[node] for node in path[-1]))
        path.append((0,) * leaves)
        paths.append(tuple(zip(*path, strict=True)))
        costs.append(tuple(_costs(draw, of_leaf) for of_leaf in path))
    record = st.tuples(*[st.integers(0, len(column) - 1) for column in paths])
    records = draw(st.lists(record, min_size=1, max_size=30))
    skewed = st.sampled_from([0, 0, 0, 1, 1, 2])
    values = draw(st.lists(skewed, min_size=len(records), max_size=len(records)))
    models = draw(st.lists(_models(), max_size=2, unique_by=lambda model: model[0]))
    further = tuple(model for _, model in compared(Random(draw(st.integers(0, 2**16))), [0]))
    demand = Demand(
        draw(st.sampled_from([0, 0, 1, 3, len(records) // 5, len(records)])),
        mask=draw(st.booleans()),
        monotone=not further and all(model == DISTINCT for model, _ in models),
    )
    heights = [len(column[0]) - 1 for column in paths]
    lowest = [draw(st.sampled_from([0, 0, 0, min(1, h)])) for h in heights]
    highest = [
        draw(st.sampled_from([h, h, h, max(low, h - 1)])) for h, low in zip(heights, lowest, strict=True)
    ]
    return Table(
        tuple(records),
        tuple(values),
        tuple(paths),
        draw(st.integers(1, 6)),
        tuple(models),
        demand,
        tuple(lowest),
        tuple(highest),
        tuple(draw(st.sampled_from([1.0, 1.0, 2.0, 0.3])) for _ in paths),
        tuple(costs),
        further,
    )


def _costs(draw: st.DrawFn, of_leaf: Sequence[int]) -> tuple[float, ...]:
    """The share of the other leaves that a leaf can no longer be told from; sometimes any cost, as with concepts."""
    if draw(st.integers(0, 3)) == 0:
        return tuple(draw(st.sampled_from([0.0, 0.25, 1 / 3, 0.9, 1.0])) for _ in of_leaf)
    alike = Counter(of_leaf)
    return tuple((alike[node] - 1) / max(len(of_leaf) - 1, 1) for node in of_leaf)


def _models() -> st.SearchStrategy[tuple[str, Fraction]]:
    def of(model: str, limits: Sequence[str]) -> st.SearchStrategy[tuple[str, Fraction]]:
        return st.tuples(st.just(model), st.sampled_from([Fraction(limit) for limit in limits]))

    return of(DISTINCT, ["2", "3"]) | of(ENTROPY, ["1.5", "2", "2.5"]) | of(CLOSENESS, ["0.1", "0.25", "0.5"])
