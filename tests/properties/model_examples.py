"""Random small tables of admissions, each with a policy of privacy models and an objective that fits it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from math import prod
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from tests.properties.examples import COLUMNS, KEPT, NAMES, Column
from tests.properties.models_oracle import Closeness, Demanded, Diversity, Node, Record, best, compared
from tests.properties.oracle import Calendar, Hierarchy, Ranges, Stars, Tree, Value, label_of, text

MOST_NODES = 60  # of a lattice
OBJECTIVES = ("loss", "classes", "discernibility", "average_class_size", "semantic", "height")
DAYS = {"day": "1", "month": "30.436875", "quarter": "91.310625", "year": "365.2425", "decade": "3652.425"}

# Leaves at different depths, and not in the order of their texts.
DIAGNOSES = Tree(
    {
        "pneumonia": ("lung", "infection", "any"),
        "flu": ("lung", "infection", "any"),
        "hepatitis": ("liver", "infection", "any"),
        "ulcer": ("stomach", "any"),
        "gastritis": ("stomach", "any"),
        "burn": ("any",),
    }
)
# Not by the texts of the numbers, either; and without a hierarchy.
GRADES = (-3, 2, 10, 11)
ANIMALS = Tree(
    {
        "salmon": ("fish", "animal"),
        "trout": ("fish", "animal"),
        "dog": ("mammal", "animal"),
        "cat": ("mammal", "animal"),
        "yeti": ("mammal", "animal"),  # no ontology knows it
    }
)
SENSITIVE: Mapping[str, Sequence[Value]] = {"diagnosis": list(DIAGNOSES.paths), "grade": GRADES}

Losses = Mapping[tuple[Value, int], float]
"""Semantic losses by leaf and level, of the leaves that have a concept."""


@dataclass(frozen=True)
class Search:
    columns: tuple[Column, ...]
    hierarchies: tuple[Hierarchy, ...]
    records: tuple[Record, ...]  # a record's number is its place
    demanded: Demanded
    ranges: tuple[range, ...]  # the levels that each column may take
    suppression: Fraction
    suppress: str
    nulls: str
    objective: str
    weights: tuple[Fraction, ...]
    ranked: bool  # the diagnoses have a hierarchy
    numbered: bool  # the record's number is released; else rows may be counted as a whole
    analyzed: bool

    @property
    def eligible(self) -> list[Record]:
        return [r for r in self.records if self.nulls == "value" or None not in r.quasi]

    def best(self, losses: Losses) -> Node | None:
        records = self.eligible
        if not records:
            return None
        budget = int(self.suppression * len(records))
        rule: dict[str, Callable[[Node], Fraction]] = {
            "classes": lambda node: Fraction(-len(node.released)),
            "average_class_size": lambda node: Fraction(-len(node.released)),
            "discernibility": lambda node: Fraction(
                sum(len(members) ** 2 for members in node.released.values())
                + len(records) * len(node.suppressed)
            ),
            "height": lambda node: Fraction(sum(map(_times, self.weights, node.levels))),
            "loss": lambda node: self._mean_cost(node, {}),
            "semantic": lambda node: self._mean_cost(node, losses),
        }
        return best(
            records,
            self.hierarchies,
            self.demanded,
            self.ranges,
            budget,
            rule[self.objective],
            mask=self.suppress == "mask",
        )

    def _mean_cost(self, node: Node, losses: Losses) -> Fraction:
        """Over all records and, by their weights, columns; rounded, as semantic losses are no fractions."""
        total = Fraction(len(node.suppressed))
        for place, (level, weight) in enumerate(zip(node.levels, self.weights, strict=True)):
            values = [record.quasi[place] for members in node.released.values() for record in members]
            costs = {value: self._cost(place, value, level, losses) for value in set(values)}
            total += weight / sum(self.weights) * sum(costs[value] for value in values)
        return round(total / len(self.eligible), 9)

    def _cost(self, place: int, value: Value, level: int, losses: Losses) -> Fraction:
        """What can no longer be told of a value, as a share of its column."""
        hierarchy = self.hierarchies[place]
        if hierarchy is ANIMALS and (value, level) in losses:
            return Fraction(losses[value, level])
        if level == 0 or (value is None and (level < hierarchy.height or self.objective == "semantic")):
            return Fraction(0)
        if level == hierarchy.height:
            return Fraction(1)
        occurring = {record.quasi[place] for record in self.eligible} - {None}
        match hierarchy:
            case Ranges():
                numbers = [Fraction(text(number)) for number in occurring]
                return _part(Fraction(hierarchy.widths[level - 1]), max(numbers) - min(numbers))
            case Calendar():
                days = [_days(moment) for moment in occurring]
                return _part(Fraction(DAYS[hierarchy.units[level - 1]]), max(days) - min(days))
            case Tree():
                occurring = set(hierarchy.paths)
        texts = {text(other): label_of(other, hierarchy, level) for other in occurring}
        alike = sum(label == texts[text(value)] for label in texts.values())
        return Fraction(alike - 1, max(len(texts) - 1, 1))

    def policy(self, algorithm: str, folder: Path) -> str:
        (folder / "diagnoses.csv").write_text(
            "".join(";".join([leaf, *above]) + "\n" for leaf, above in DIAGNOSES.paths.items())
        )
        demanded = self.demanded
        privacy: dict[str, Any] = {
            "suppression": float(self.suppression),
            "suppress": self.suppress,
            "nulls": self.nulls,
        }
        privacy |= {"k": demanded.k} if demanded.k > 1 else {}
        privacy |= {"unit": "patient"} if demanded.by_person else {}
        names = list(SENSITIVE)
        diversity = [
            {"column": names[m.column], "l": m.l, "kind": m.kind} | ({"c": float(m.c)} if m.c else {})
            for m in demanded.diversity
        ]
        closeness = [
            {"column": names[m.column], "t": float(m.t), "distance": m.distance} for m in demanded.closeness
        ]
        others: dict[str, list[dict[str, Any]]] = {}
        for key, model in demanded.compared:
            others.setdefault(key, []).append({"column": names[model.column]} | model.keys())
        method: dict[str, Any] = {"algorithm": algorithm, "objective": self.objective}
        if self.objective in ("loss", "semantic", "height"):
            weights = zip(self.columns, self.weights, strict=True)
            method["weights"] = {column.name: float(weight) for column, weight in weights}
        columns: dict[str, str] = {}
        for number, (column, levels) in enumerate(zip(self.columns, self.ranges, strict=True)):
            written = column.written
            if column.file is not None:
                (folder / f"{number}.csv").write_text(column.file, encoding="utf-8", newline="")
                written = f'{{ csv = "{number}.csv" }}'
            bounds = f"min_level = {levels[0]}, max_level = {levels[-1]}"
            columns[column.name] = f'{{ role = "quasi", hierarchy = {written}, {bounds} }}'
        ranked = ', hierarchy = { csv = "diagnoses.csv" }' if self.ranked else ""
        columns["diagnosis"] = f'{{ role = "sensitive"{ranked} }}'
        columns["grade"] = '{ role = "sensitive" }'
        columns["patient"] = '{ role = "identifier" }'
        columns["record"] = KEPT if self.numbered else '{ role = "identifier" }'
        return "\n".join(
            [
                'source = "clinic.admissions"\ntarget = "share.admissions"',
                "[privacy]",
                *[f"{key} = {json.dumps(value)}" for key, value in privacy.items()],
                f"l_diversity = [{', '.join(map(_inline, diversity))}]" if diversity else "",
                f"t_closeness = [{', '.join(map(_inline, closeness))}]" if closeness else "",
                *[f"{key} = [{', '.join(map(_inline, tables))}]" for key, tables in others.items()],
                f"[method]\n{_lines(method)}\n[columns]",
                *[f"{json.dumps(name)} = {column}" for name, column in columns.items()],
            ]
        )


def _inline(table: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in table.items()) + " }"


def _lines(table: Mapping[str, Any]) -> str:
    said = {
        key: _inline(value) if isinstance(value, dict) else json.dumps(value) for key, value in table.items()
    }
    return "\n".join(f"{key} = {value}" for key, value in said.items())


def _times(weight: Fraction, level: int) -> Fraction:
    return weight * level


def _part(width: Fraction, span: Fraction) -> Fraction:
    return min(width / span, Fraction(1)) if span else Fraction(0)


def _days(moment: Value) -> Fraction:
    assert isinstance(moment, date)
    if not isinstance(moment, datetime):
        return Fraction((moment - date(1, 1, 1)).days)
    since = moment - datetime(1, 1, 1)
    return since.days + Fraction(since.seconds * 10**6 + since.microseconds, 86400 * 10**6)


def animals(name: str) -> st.SearchStrategy[Column]:
    """A stored hierarchy whose terms have concepts."""
    return st.just(Column(name, "text", ANIMALS, '"animals"', list(ANIMALS.paths)))


def models(dice: Random) -> tuple[Demanded, bool]:
    """What is demanded, and whether the diagnoses have a hierarchy."""
    diversity = []
    for which, kind in _some(
        dice, [(c, kind) for c in (0, 1) for kind in ("distinct", "entropy", "recursive")]
    ):
        l_ = dice.choice([1.2, 1.5, 2] if kind == "entropy" else [2, 2, 2, 3])
        c = dice.choice(["1", "1.5", "3", "9"]) if kind == "recursive" else "0"
        diversity.append(Diversity(which, l_, kind, Fraction(c)))
    measured = _some(dice, [(0, "equal"), (0, "ordered"), (0, "hierarchical"), (1, "equal"), (1, "ordered")])
    ranked = (0, "hierarchical") in measured or ((0, "ordered") in measured and dice.random() < 0.5)
    paths: dict[Value, list[str]] = {
        leaf: [DIAGNOSES.label(leaf, level) for level in (1, 2)] for leaf in DIAGNOSES.paths
    }
    diagnoses = list(DIAGNOSES.paths) if ranked else sorted(DIAGNOSES.paths)
    closeness = [
        Closeness(
            which,
            Fraction(dice.choice(["0", "0.2", "0.3", "0.4", "0.5", "0.6", "1"])),
            distance,
            diagnoses if which == 0 else GRADES,
            paths,
        )
        for which, distance in measured
    ]
    further = compared(dice, (0, 1))
    protected = bool(diversity or further) or any(model.t < 1 for model in closeness)
    k = dice.choice([1, 2, 3, 5] if protected else [2, 3, 5])
    return Demanded(k, k > 1 and dice.random() < 0.5, diversity, closeness, further), ranked


def _some(dice: Random, options: list[tuple[int, str]]) -> list[tuple[int, str]]:
    return dice.sample(options, dice.choice([0, 0, 1, 2]))


@st.composite
def searches(draw: st.DrawFn) -> Search:
    makers = draw(st.lists(st.sampled_from([*COLUMNS, animals]), min_size=1, max_size=3))
    columns = tuple(draw(maker(name)) for maker, name in zip(makers, NAMES, strict=False))
    dice = Random(draw(st.integers(0, 2**32)))  # drawn one by one, most tables would be all too simple
    pools = [dice.sample(column.values, min(dice.randint(2, 5), len(column.values))) for column in columns]
    pools += [dice.sample(values, dice.randint(2, len(values))) for values in SENSITIVE.values()]
    nulls_in = [dice.choice([0.0, 0.1]) for _ in pools]
    persons = dice.choice([4, 20, 60])
    records = []
    for _ in range(dice.choice([1, 20, 30, 40, 50, 60, 80])):
        row = tuple(
            None if dice.random() < share else dice.choice(pool)
            for pool, share in zip(pools, nulls_in, strict=True)
        )
        person = None if dice.random() < 0.05 else dice.randrange(persons)
        records.append(Record(row[: len(columns)], row[len(columns) :], person))
    nulls = dice.choice(["value", "suppress"])
    eligible = [record.quasi for record in records if nulls == "value" or None not in record.quasi]
    hierarchies = tuple(
        _fitted(column.hierarchy, [row[place] for row in eligible]) for place, column in enumerate(columns)
    )
    ranges = []
    for hierarchy in hierarchies:
        low = dice.choice([0, 0, 0, 1])
        ranges.append(range(low, dice.choice([hierarchy.height] * 5 + [max(low, hierarchy.height - 1)]) + 1))
    assume(prod(map(len, ranges)) <= MOST_NODES)
    demanded, ranked = models(dice)
    weights = tuple(Fraction(dice.choice(["1", "1", "2", "0.5", "0"])) for _ in columns)
    return Search(
        columns,
        hierarchies,
        tuple(records),
        demanded,
        tuple(ranges),
        suppression=Fraction(dice.choice(["0", "0.1", "0.29", "0.5", "0.7"])),
        suppress=dice.choice(["remove", "mask"]),
        nulls=nulls,
        objective=dice.choice(OBJECTIVES),
        weights=weights if any(weights) else (Fraction(1),) * len(columns),
        ranked=ranked,
        numbered=dice.random() < 0.5,
        analyzed=dice.random() < 0.5,
    )


def _fitted(hierarchy: Hierarchy, values: Sequence[Value]) -> Hierarchy:
    """A mask is as high as the longest value that it has to hide."""
    longest = max((len(text(value)) for value in values if value is not None), default=0)
    return replace(hierarchy, length=longest) if isinstance(hierarchy, Stars) else hierarchy
