"""How a policy asks for (l, e)-diversity, and what it then must and cannot say."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from anondb.errors import UsageError
from anondb.methods.method import ReleaseMethod
from anondb.policy.check import Key, Spot, Table, read_number, read_table, read_text, shown
from anondb.policy.model import LeDiversity, Role
from anondb.policy.names import quoted

Said = tuple[tuple[Spot, Table], ...]
"""What a policy says of the model, and where; as it has those of other models, of which there may be several."""

_EXAMPLE = 'le_diversity = { column = "disease", l = 3, e = 1 }'


def read_le_diversity(spot: Spot, value: object) -> Said:
    if isinstance(value, list):
        raise UsageError(
            f"{spot.key} protects one sensitive column, and here are several tables",
            hint=f'write {_EXAMPLE}; leave other sensitive columns out: role = "identifier"',
        )
    if not isinstance(value, dict):
        raise UsageError(f"{spot.key} must be a table, not {shown(value)}", hint=f"write {_EXAMPLE}")
    return ((spot, read_table(spot, value, LE_DIVERSITY)),)


def made(said: Said) -> LeDiversity | None:
    """The model, once everything is right."""
    return LeDiversity(**said[0][1]) if said else None


def check_le_diversity(
    spot: Spot,
    said: Table,
    roles: Mapping[str, Role | None],
    with_hierarchy: Collection[str],
    algorithm: ReleaseMethod | None,
) -> None:
    """The model and its algorithm belong together, and to one sensitive column with a hierarchy."""
    privacy = said.get("privacy", {})
    here = spot.at("privacy", "le_diversity")
    model: Said = privacy.get("le_diversity", ())
    own = algorithm is not None and bool(algorithm.suffixes())  # it releases them apart from their records
    if algorithm is None or not (own or model):
        return
    if not own:
        here.report(
            f"{algorithm.name} does not look at (l, e)-diversity",
            'set algorithm = "le_diversity", or ask for l_diversity',
        )
        return
    if not model:
        if "privacy" in said and not here.faulty:
            here.report(f"{algorithm.name} needs to know what to protect", f"add {_EXAMPLE}")
        return
    for key, reason in _NOT_WITH.items():
        if key in privacy and (key != "suppress" or privacy[key] != "remove"):
            hint = "leave the key out" if key == "suppress" else "choose another algorithm, such as optimal"
            spot.at("privacy", key).report(f"{algorithm.name} {reason}", hint)
    column = model[0][1].get("column", "")
    sensitive = [name for name, role in roles.items() if role is Role.SENSITIVE]
    for name in sensitive:
        if column in sensitive and name != column:
            spot.at("columns", name, "role").report(
                f"{algorithm.name} protects one sensitive column, and {quoted(name)} is another",
                f'leave it out of the release: {name} = {{ role = "identifier" }}',
            )
    if column in sensitive and column not in with_hierarchy:
        spot.at("columns", column, "hierarchy").report(
            f"sensitive column {quoted(column)} has no hierarchy, and e counts its levels",
            'add hierarchy = { csv = "…" } or the name of a stored one',
        )


def _read_l(spot: Spot, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value < 2**31:
        raise UsageError(
            f"{spot.key} must be a whole number of at least 2, not {shown(value)}",
            hint="3 is a common choice: l = 3",
        )
    return value


def _read_e(spot: Spot, value: object) -> float:
    number = read_number(spot, value)
    if number < 0:
        raise UsageError(
            f"{spot.key} must be 0 or more, not {shown(value)}",
            hint="values that share a parent are 1 apart: e = 1 keeps them out of one class",
        )
    return float(number)


LE_DIVERSITY: Mapping[str, Key] = {
    "column": Key(read_text, 'add the sensitive column to protect: column = "disease"'),
    "l": Key(_read_l, "add l = 3: no value then has more than a third of a class"),
    "e": Key(_read_e, "add e = 1: values that share a parent are then not in one class"),
}
_NOT_WITH = {
    "suppress": "has nothing to mask: what is suppressed is left out",
    "unit": "counts records, not persons",
    "l_diversity": "sees to (l, e)-diversity alone",
    "t_closeness": "sees to (l, e)-diversity alone",
}
