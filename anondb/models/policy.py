"""How a policy asks for models beyond k-anonymity: l-diversity and t-closeness of sensitive columns.

A model is read as the table that it is, with all that could be understood of it, so that the rules between
the tables of a policy still see a model with a mistake in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from anondb.errors import UsageError
from anondb.methods.le_diversity import policy as le_diversity
from anondb.policy.check import Key, Spot, Table, choice, read_number, read_table, read_text, shown
from anondb.policy.model import LDiversity, TCloseness
from anondb.policy.names import quoted

KINDS = ("distinct", "entropy", "recursive")  # the first is the default
DISTANCES = ("equal", "ordered", "hierarchical")  # the first is the default

Models = Sequence[tuple[Spot, Table]]
"""What a policy says of each model of one sort, and where."""


def read_l_diversity(spot: Spot, value: object) -> Models:
    example = 'l_diversity = { column = "diagnosis", l = 3 }'
    models = _read_models(spot, value, L_DIVERSITY, ("kind", KINDS[0]), example)
    for here, said in models:
        _check_l(here.at("l"), said)
        _check_c(here.at("c"), said)
    return models


def read_t_closeness(spot: Spot, value: object) -> Models:
    example = 't_closeness = { column = "diagnosis", t = 0.2 }'
    return _read_models(spot, value, T_CLOSENESS, ("distance", DISTANCES[0]), example)


def with_models(privacy: Table) -> Table:
    """The same table, with the models that it speaks of."""
    diversity, closeness = privacy.get("l_diversity", ()), privacy.get("t_closeness", ())
    similar = le_diversity.made(privacy.get("le_diversity", ()))
    # whoever publishes sensitive values apart from their records leaves out what fits nowhere
    usual = {} if similar is None else {"suppression": 1.0}
    return (
        usual
        | privacy
        | {
            "l_diversity": tuple(LDiversity(**said | {"l": float(said["l"])}) for _, said in diversity),
            "t_closeness": tuple(TCloseness(**said) for _, said in closeness),
            "le_diversity": similar,
        }
    )


def _read_models(
    spot: Spot, value: object, keys: Mapping[str, Key], default: tuple[str, str], example: str
) -> Models:
    """What one table says, or each table of an array; a column has one model of a kind."""
    tables = value if isinstance(value, list) and value else [value]
    for table in tables:
        if not isinstance(table, dict):
            message = f"{spot.key} must be a table or an array of tables, not {shown(table)}"
            raise UsageError(message, hint=f"write {example}")
    sort, usual = default
    models: list[tuple[Spot, Table]] = []
    seen: set[tuple[str, str]] = set()
    for number, table in enumerate(tables, start=1):
        here = spot.at(number) if isinstance(value, list) else spot
        said = read_table(here, table, keys)
        if sort not in table:
            said[sort] = usual
        if "column" in said and sort in said:
            model = (said["column"], said[sort])
            if model in seen:
                here.at("column").report(
                    f"{here.key} is the second of {quoted(model[0])} with {sort} = {quoted(model[1])}",
                    "keep the one that is meant: a column has one model of a kind",
                )
            seen.add(model)
        models.append((here, said))
    return models


def _check_l(spot: Spot, said: Table) -> None:
    number: Decimal | None = said.get("l")
    if number is None:
        return
    hint = "3 is a common choice: l = 3"
    # a kind that could not be understood may be the one that takes fractions
    whole = said.get("kind", "entropy") != "entropy"
    if whole and (number < 2 or number != number.to_integral_value()):
        spot.report(
            f"{spot.key} must be a whole number of at least 2, not {shown(number)}",
            f'{hint}; fractions above 1 need kind = "entropy"',
        )
    elif float(number) <= 1:
        spot.report(f"{spot.key} must be above 1, not {shown(number)}", hint)
    elif number >= 2**63:  # counts are bigint
        spot.report(f"{spot.key} is larger than any table can be", hint)


def _check_c(spot: Spot, said: Table) -> None:
    kind = said.get("kind", "recursive")
    if kind != "recursive" and "c" in said:
        hint = 'leave c out, or set kind = "recursive"'
        spot.report(f"{spot.key} belongs to recursive l-diversity alone, not to {kind}", hint)
    elif said.get("kind") == "recursive" and "c" not in said and not spot.faulty:
        # Machanavajjhala et al. 2007: r1 < c (rl + … + rm), the r being counts of values in falling order
        hint = "add c = 3: the most frequent value then has fewer records than 3 times all from the l-th on"
        spot.report(f"{spot.key} is missing", hint)


def _read_c(spot: Spot, value: object) -> float:
    number = read_number(spot, value)
    if number <= 0:
        raise UsageError(
            f"{spot.key} must be above 0, not {shown(value)}", hint="3 is a common choice: c = 3"
        )
    return float(number)


def _read_t(spot: Spot, value: object) -> float:
    number = read_number(spot, value)
    if not 0 <= number <= 1:
        hint = "the smaller the stricter: t = 0.2 is a common choice, and 1 demands nothing"
        raise UsageError(f"{spot.key} must lie between 0 and 1, not {shown(value)}", hint=hint)
    return float(number)


_COLUMN = Key(read_text, 'add the sensitive column to protect: column = "diagnosis"')
L_DIVERSITY: Mapping[str, Key] = {
    "column": _COLUMN,
    "l": Key(read_number, "add l = 3: each class then has at least three well-represented values"),
    "kind": Key(choice(KINDS)),
    "c": Key(_read_c),
}
T_CLOSENESS: Mapping[str, Key] = {
    "column": _COLUMN,
    "t": Key(_read_t, "add t = 0.2: how far a class may be from the whole release, between 0 and 1"),
    "distance": Key(choice(DISTANCES)),
}
