"""Is a release what its policy promises? Counted over the released rows alone, in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def breaches(policy: Mapping[str, Any], rows: Sequence[Row], sensitive: Sequence[Row] = ()) -> Iterator[str]:
    """What of the policy the rows of a release do not keep; of le_diversity both tables are given."""
    columns: Mapping[str, Any] = policy["columns"]
    released = set(rows[0]) if rows else set()
    for name, column in columns.items():
        if column["role"] == "identifier" and name in released:
            yield f"the identifier {name} is released"
    if policy["method"]["algorithm"] == "le_diversity":
        yield from _dealt(policy, rows, sensitive)
        return
    privacy = policy["privacy"]
    quasi = [name for name, column in columns.items() if column["role"] == "quasi"]
    classes: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        classes[tuple(str(row[name]) for name in quasi)].append(row)
    counts_rows = "unit" not in privacy and privacy.get("stars") != "match"
    for members in classes.values():
        if counts_rows and len(members) < privacy.get("k", 1):
            yield f"a class of {len(members)} where k is {privacy['k']}"
        for model in _listed(privacy.get("l_diversity")):
            values = Counter(str(row[model["column"]]) for row in members)
            if model.get("kind", "distinct") == "distinct" and len(values) < model["l"]:
                yield f"{len(values)} values of {model['column']} where l is {model['l']}"
    for model in _listed(privacy.get("t_closeness")):
        if model.get("distance", "equal") == "equal":
            yield from _far(model, rows, classes.values())


def _listed(models: Any) -> list[dict[str, Any]]:
    return [] if models is None else models if isinstance(models, list) else [models]


def _far(model: Mapping[str, Any], rows: Sequence[Row], classes: Any) -> Iterator[str]:
    everywhere = Counter(str(row[model["column"]]) for row in rows)
    for members in classes:
        here = Counter(str(row[model["column"]]) for row in members)
        far = sum(abs(here[v] / len(members) - n / len(rows)) for v, n in everywhere.items()) / 2
        if far > model["t"] + 1e-9:
            yield f"a distance of {far:.3f} where t is {model['t']}"


def _dealt(policy: Mapping[str, Any], rows: Sequence[Row], sensitive: Sequence[Row]) -> Iterator[str]:
    """No value has more than 1/l of a class, and both tables have the same classes."""
    model = policy["privacy"]["le_diversity"]
    if Counter(row["class_id"] for row in rows) != Counter(row["class_id"] for row in sensitive):
        yield "the two tables have other classes"
    classes: dict[Any, Counter[str]] = defaultdict(Counter)
    for row in sensitive:
        classes[row["class_id"]][str(row[model["column"]])] += 1
    for values in classes.values():
        if max(values.values()) * model["l"] > values.total():
            yield f"one value in {max(values.values())} of {values.total()} records where l is {model['l']}"
