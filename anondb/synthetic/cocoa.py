"""COCOA (Ayala-Rivera et al. 2016): a domain becomes a recipe that `anondb.generate_recipe` draws rows from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate, product
from typing import Any

from anondb.errors import UsageError, did_you_mean
from anondb.synthetic import distributions
from anondb.synthetic.domain import (
    OTHERWISE,
    Attribute,
    Conditional,
    Domain,
    Expression,
    Frequencies,
    Kind,
    Range,
    Value,
    Weights,
)
from anondb.synthetic.lengths import check_lengths

SORTS = ("alpha", "reverse", "none")
MOST_SINGLE = 1000
MOST_COMBINATIONS = 200_000
"""Rows that the `*` of a table may stand for: they multiply with every attribute that it depends on."""


def recipe(domain: Domain, distribution: str | None = None, sort: str | None = None) -> dict[str, Any]:
    """What the database draws rows from; `distribution` and `sort` go before those that the domain says.

    `distribution` is one for all attributes (`normal`), or one for each that is named (`age=normal,gender=uniform`).
    What depends on others still does: a distribution lies over the values that a condition leaves possible.
    """
    chosen = distributions.by_attribute(distribution, [attribute.name for attribute in domain.attributes])
    if sort is not None and sort not in SORTS:
        raise UsageError(f'there is no sort "{sort[:80]}"', hint=f"there are {', '.join(SORTS)}")
    depths = levels(domain)
    check_lengths(domain, depths)
    places = {attribute.name: place for place, attribute in enumerate(domain.attributes)}
    entries = []
    for attribute in domain.attributes:
        entry = {
            "name": attribute.name,
            "type": attribute.kind,
            "hidden": attribute.hidden,
            "level": depths[attribute.name],
        }
        if isinstance(attribute.generator, Expression):
            entries.append(entry | {"expression": _placed(attribute.generator.tree, places)})
            continue
        rows = _rows(domain, attribute, chosen.get(attribute.name), sort)
        ranges = any(
            isinstance(value, Range) and value.low < value.high for _, weights in rows for value in weights
        )
        given = [places[name] for name in attribute.needs]
        table = [_row(attribute.kind, key, weights, ranges) for key, weights in rows]
        entries.append(entry | {"given": given, "ranges": ranges, "table": table})
    return {"attributes": entries}


def levels(domain: Domain) -> dict[str, int]:
    """How many dependencies lie below an attribute, lowest first; those of one level can be drawn at once."""
    names = {attribute.name for attribute in domain.attributes}
    for attribute in domain.attributes:
        for name in attribute.needs:
            if name not in names:
                raise UsageError(
                    f'attribute "{attribute.name}" depends on "{name}", which is not there',
                    hint=did_you_mean(name, names) or "add it to the domain, or correct the name",
                )
    needs = {attribute.name: attribute.needs for attribute in domain.attributes}
    level_of: dict[str, int] = {}
    for name in ordered(needs):
        level_of[name] = 1 + max((level_of[other] for other in needs[name]), default=0)
    return level_of


def ordered(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """The names in an order in which each comes after all that it depends on."""
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise UsageError(
            f"the attributes depend on each other in a circle: {' → '.join(error.args[1])}",
            hint="take one of these dependencies away",
        ) from None


def possible(domain: Domain, name: str) -> list[str] | None:
    """All values that an attribute can have, as text; None where they are not known beforehand."""
    attribute = next(attribute for attribute in domain.attributes if attribute.name == name)
    match generator := attribute.generator:
        case Frequencies():
            rows: Sequence[Weights] = [generator.weights]
        case Conditional():
            rows = list(generator.rows.values())
        case Expression(_, tree, _):
            return _results(tree)
    values: dict[str, None] = {}
    for value in (value for weights in rows for value in weights):
        if isinstance(value, str):
            values[value] = None
        elif value.low == value.high:
            values[str(_end(attribute.kind, value.low))] = None
        elif attribute.kind == "number" or value.high - value.low > 10000:
            return None
        else:
            days = range(int(value.low), int(value.high) + 1)
            values.update(dict.fromkeys(str(_end(attribute.kind, n)) for n in days))
    return list(values)


def _results(tree: Mapping[str, Any]) -> list[str] | None:
    """The texts that a case expression chooses from; None for what computes its value."""
    if "text" in tree:
        return [tree["text"]]
    if "cases" not in tree:
        return None
    distinct: dict[str, None] = {}
    for branch in (*(result for _, result in tree["cases"]), tree["otherwise"]):
        results = _results(branch)
        if results is None:
            return None
        distinct.update(dict.fromkeys(results))
    return list(distinct)


def number_text(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _rows(
    domain: Domain, attribute: Attribute, distribution: str | None, sort: str | None
) -> list[tuple[tuple[str, ...], Weights]]:
    """The weights of an attribute for each combination of values that it depends on."""
    generator = attribute.generator
    if isinstance(generator, Frequencies):
        name, order = distribution or generator.distribution, sort or generator.sort
        return [((), _distributed(domain, attribute.kind, generator.weights, name, order))]
    assert isinstance(generator, Conditional)
    rows = _expanded(domain, attribute.name, generator)
    if distribution in (None, distributions.ORIGINAL):
        return list(rows)
    return [
        (key, _distributed(domain, attribute.kind, _possible(weights), distribution, sort))
        for key, weights in rows
    ]


def _possible(weights: Weights) -> Weights:
    """Without the values that a condition rules out: no distribution makes a child a widow."""
    return {value: weight for value, weight in weights.items() if weight > 0}


def _distributed(
    domain: Domain, kind: Kind, weights: Weights, distribution: str | None, sort: str | None
) -> Weights:
    name, order = distribution or distributions.ORIGINAL, sort or "alpha"
    if name == distributions.ORIGINAL:
        return {value: weights[value] for value in _sorted(weights, order)}
    are_whole = kind in ("integer", "date")
    values = _sorted(_single(weights) if are_whole else weights, order)
    parameters = domain.distributions.get(name, distributions.PARAMETERS[name])
    return dict(zip(values, distributions.weights(name, parameters, len(values)), strict=True))


def _single(values: Iterable[Value]) -> list[Value]:
    """The whole numbers of ranges one by one, for a distribution over them; as they are where they are many."""
    ranges = [value for value in values if isinstance(value, Range)]
    if sum(value.high - value.low + 1 for value in ranges) > MOST_SINGLE:
        return list(ranges)
    singles = (Range(n, n) for value in ranges for n in range(int(value.low), int(value.high) + 1))
    return list(dict.fromkeys(singles))


def _sorted(values: Iterable[Value], sort: str) -> list[Value]:
    if sort == "none":
        return list(values)
    # numbers in their own order, texts by their code points: the same everywhere
    by_value = sorted(
        values, key=lambda value: (0, *value, "") if isinstance(value, Range) else (1, 0, 0, value)
    )
    return by_value[::-1] if sort == "reverse" else by_value


def _expanded(domain: Domain, name: str, generator: Conditional) -> Iterator[tuple[tuple[str, ...], Weights]]:
    """The rows of a conditional table, with `*` replaced by the values that have no row of their own."""
    if not any(OTHERWISE in key for key in generator.rows):
        yield from generator.rows.items()
        return
    known = [possible(domain, other) for other in generator.given]
    choices: list[list[str]] = []
    for place, (other, values) in enumerate(zip(generator.given, known, strict=True)):
        if values is None:
            if any(key[place] == OTHERWISE for key in generator.rows):
                raise UsageError(
                    f'the table of "{name}" has a row "*", and the values of "{other}" cannot be told beforehand',
                    hint="name every value, or put a case expression with else between the two",
                )
            values = list(dict.fromkeys(key[place] for key in generator.rows))
        choices.append(values)
    if math.prod(map(len, choices)) > MOST_COMBINATIONS:
        raise UsageError(
            f'the table of "{name}" is for more than {MOST_COMBINATIONS:,} combinations of values',
            hint="let it depend on fewer attributes, or on hidden ones with fewer values",
        )
    for combination in product(*choices):
        # what is said of a value goes before what is said of the rest, from the first attribute on
        for key in product(*((value, OTHERWISE) for value in combination)):
            if key in generator.rows:
                yield combination, generator.rows[key]
                break


def _row(kind: Kind, key: tuple[str, ...], weights: Weights, ranges: bool) -> dict[str, Any]:
    """A row of weights as the database reads it: bounds are the cumulated shares without the last one, 1."""
    total = math.fsum(weights.values())
    sums = list(accumulate(weights.values()))
    # the last value that has a weight ends at 1 exactly, whatever the sums were rounded to
    bounds = [1.0 if partial >= sums[-1] else partial / total for partial in sums[:-1]]
    ends = [value if isinstance(value, Range) else (value, value) for value in weights]
    lows, highs = ([_end(kind, end) for end in side] for side in zip(*ends, strict=True))
    row: dict[str, Any] = {"given": list(key), "bounds": bounds, "low": lows}
    return row | {"high": highs} if ranges else row


def _end(kind: Kind, end: str | float) -> str | float:
    """A text, or the end of a range, as JSON has it."""
    if isinstance(end, str):
        return end
    if kind == "date":
        return date.fromordinal(int(end)).isoformat()
    return int(end) if kind == "integer" or float(end).is_integer() else float(end)


def _placed(tree: Any, places: Mapping[str, int]) -> Any:
    """A tree that names attributes by their place in the recipe."""
    if isinstance(tree, list):
        return [_placed(part, places) for part in tree]
    if isinstance(tree, Mapping):
        return {
            key: places[part] if key == "attribute" else _placed(part, places) for key, part in tree.items()
        }
    return tree
