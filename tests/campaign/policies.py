"""Policies that nobody would write: whole ones with something changed, so that most of them still mean something."""

from __future__ import annotations

import copy
import random
import tomllib
from collections.abc import Iterator
from typing import Any

from tests.campaign.cases import RUNS

# policies over one table, as `anondb run` takes them
_WHOLE = [
    policy
    for case in RUNS
    if "table" not in (policy := tomllib.loads(case.files["policy.toml"])) and case.name != "refresh"
]
_ALGORITHMS = ["datafly", "incognito", "optimal", "mondrian", "fusion", "mdav", "le_diversity"]
_HIERARCHIES: list[Any] = [
    {"mask": "right"},
    {"mask": "left"},
    {"mask": "all"},
    {"widths": [5, 10]},
    {"start": 3, "widths": [7, 21]},
    {"widths": [0]},
    {"code": [1, 3]},
    {"dates": True},
    {"csv": "disease.csv"},
    "disease",
    "nothing",
    {},
    {"mask": "right", "widths": [5]},
]
_MODELS: dict[str, list[Any]] = {
    "k": [1, 2, 4, 48, 49, 10**9, 0, -1, 2.5, "three"],
    "suppression": [0, 0.05, 0.5, 1, 1.5, -0.1, "all"],
    "suppress": ["remove", "mask", "rows", "cells", "nothing"],
    "stars": ["value", "match"],
    "nulls": ["value", "suppress", "none"],
    "unit": ["id", "name", "zip", "nobody"],
    "l_diversity": [{"column": "disease", "l": n} for n in (1, 2, 3, 4)]
    + [{"column": "disease", "l": 2, "kind": kind} for kind in ("entropy", "recursive", "odd")]
    + [{"column": "zip", "l": 2}, {"l": 2}, 2],
    "t_closeness": [{"column": "disease", "t": t} for t in (0, 0.1, 0.3, 1, 2)]
    + [{"column": "disease", "t": 0.5, "distance": "ordered"}],
    "le_diversity": [{"column": "disease", "l": 2, "e": e} for e in (0, 1, 2, -1)]
    + [{"column": "disease", "l": 2, "e": 1, "kind": "grouped"}],
    "beta_likeness": [{"column": "disease", "beta": b} for b in (0.5, 2, -1)],
    "delta_disclosure": [{"column": "disease", "delta": d} for d in (0.5, 3, 0)],
    "changes": ["free", "refuse", "hold", "often"],
    "leavers": ["delay", "drop"],
}
_METHODS: dict[str, list[Any]] = {
    "algorithm": [*_ALGORITHMS, "DATAFLY", "", 7],
    "objective": ["loss", "classes", "discernibility", "average_class_size", "beauty"],
    "heuristic": ["distinct", "semantic", "sem_iloss"],
    "recode": ["global", "local", "regional"],
    "split": ["width", "loss"],
    "strict": [True, False, "yes"],
    "seed": [7, -1, 2**70, "seven", 1.5],
    "weights": [{"age": 2}, {"age": 0}, {"disease": 1}, {"age": -1}, []],
    "measure": ["wup", "path", "guess"],
    "draw": ["class", "record"],
}
_COLUMNS: dict[str, list[Any]] = {
    "role": ["identifier", "quasi", "sensitive", "other", "pseudonym", "important", 1],
    "hierarchy": _HIERARCHIES,
    "ontology": ["leisure", "wordnet", "none", 3],
    "min_level": [0, 1, 2, 99, -1],
    "max_level": [0, 1, 2, 99],
    "release": ["text", "range", "midpoint", "mean", "lower"],
    "cap": [{"below": 22, "above": 29}, {"above": 1}, {}],
    "noise": [0.1, 0, -1],
    "round": [10, 0],
    "shuffle": [True],
    "shift": [{"by": "id", "days": 30}],
    "keep": ["identifying", "all"],
    "set": [True],
    "unknown": ["accept", "error"],
    "colour": ["red"],
}
_TOP: dict[str, list[Any]] = {
    "key": ["id", ["id"], ["id", "name"], "nobody", []],
    "scope": ["study", ""],
    "source": ["hospital.patients", "hospital.wishes", "hospital.nobody", "share.patients", "a.b.c.d", ""],
    "target": ["share.patients", "share.other", "hospital.patients", "Share.Émile 'x'", ""],
}

# what most algorithms can do something with
_MEANT: dict[str, list[Any]] = {
    "k": [2, 4, 5, 8],
    "suppression": [0, 0.1, 0.5, 1],
    "suppress": ["remove", "mask", "cells"],
    "l_diversity": _MODELS["l_diversity"][:5],
    "t_closeness": [{"column": "disease", "t": t} for t in (0.1, 0.3, 0.6)],
    "beta_likeness": [{"column": "disease", "beta": 2}],
    "delta_disclosure": [{"column": "disease", "delta": 3}],
    "nulls": ["value", "suppress"],
}
_MEANT_COLUMNS: dict[str, list[Any]] = {
    "hierarchy": [{"mask": "right"}, {"mask": "left"}, {"mask": "all"}, {"code": [1, 3]}],
    "min_level": [0, 1],
    "max_level": [1, 2],
    "role": ["identifier", "quasi", "sensitive", "other"],
}


def policies(seed: int, number: int) -> Iterator[dict[str, Any]]:
    """The same for the same seed."""
    dice = random.Random(seed)
    for _ in range(number):
        policy = copy.deepcopy(dice.choice(_WHOLE))
        for _ in range(dice.choice((1, 1, 1, 2, 3, 5))):
            _change(policy, dice)
        yield policy


def _change(policy: dict[str, Any], dice: random.Random) -> None:
    where = dice.random()
    if dice.random() < 0.6:
        if where < 0.6:
            _set(policy["privacy"], _MEANT, dice)
        elif policy["columns"]:
            _set(policy["columns"][dice.choice(sorted(policy["columns"]))], _MEANT_COLUMNS, dice)
    elif where < 0.35:
        _set(policy["privacy"], _MODELS, dice)
    elif where < 0.55:
        _set(policy["method"], _METHODS, dice)
    elif where < 0.9 and policy["columns"]:
        name = dice.choice(sorted(policy["columns"]))
        if dice.random() < 0.1:
            del policy["columns"][name]
        else:
            _set(policy["columns"][name], _COLUMNS, dice)
    else:
        _set(policy, _TOP, dice)


def _set(table: dict[str, Any], values: dict[str, list[Any]], dice: random.Random) -> None:
    key = dice.choice(sorted(values))
    if key in table and dice.random() < 0.2:
        del table[key]
    else:
        table[key] = copy.deepcopy(dice.choice(values[key]))
