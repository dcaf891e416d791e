"""What a policy says of persons: columns that are released as pseudonyms, and dates that move with their person."""

from __future__ import annotations

from collections.abc import Mapping

from anondb.errors import UsageError, did_you_mean
from anondb.policy.check import Key, Spot, Table, read_table, read_text, shown
from anondb.policy.model import DateShift, Role
from anondb.policy.names import quoted

MOST_DAYS = 36_500


def read_shift(spot: Spot, value: object) -> DateShift | None:
    keys = read_table(spot, value, _SHIFT)
    return DateShift(**keys) if keys.keys() == _SHIFT.keys() else None


def _read_days(spot: Spot, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_DAYS:
        message = f"{spot.key} must be a whole number from 1 to {MOST_DAYS}, not {shown(value)}"
        raise UsageError(message, hint=f"half a year in both directions: {spot.name} = 180")
    return value


_SHIFT = {
    "by": Key(read_text, 'add by = "…": the column that names the person, whose dates all move alike'),
    "days": Key(_read_days, "add days = 180: so many days at most, in both directions"),
}


def check_persons(spot: Spot, columns: Table, roles: Mapping[str, Role | None], has_scope: bool) -> None:
    """Reports forms of columns that do not have them, and a scope of nothing."""
    for name, column in columns.items():
        here, role = spot.at("columns", name), roles.get(name)
        if "type" in column and role not in (Role.PSEUDONYM, None):
            here.at("type").report(
                f"{role} column {quoted(name)} has a type, which is that of a pseudonym",
                'leave the key out, or set role = "pseudonym"',
            )
        if "shift" in column:
            _check_shift(here.at("shift"), name, column["shift"], role, roles)
    used = any(role in (Role.PSEUDONYM, None) for role in roles.values())
    if has_scope and not used and not any("shift" in column for column in columns.values()):
        spot.at("scope").report(
            "no column is released as a pseudonym, so that scope means nothing",
            'leave the key out, or set role = "pseudonym" for the column that names the person',
        )


def _check_shift(
    spot: Spot, name: str, shift: DateShift, role: Role | None, roles: Mapping[str, Role | None]
) -> None:
    if role not in (Role.OTHER, None):
        hints = {
            Role.QUASI: "leave shift out: a hierarchy generalizes dates",
            Role.SENSITIVE: "leave shift out: what a model protects is counted as it is",
        }
        spot.report(
            f"{role} column {quoted(name)} has a shift, and only dates that are released as they are move",
            hints.get(role, "leave shift out"),
        )
    if shift.by not in roles:
        hint = did_you_mean(shift.by, roles) or "name a column as [columns] does"
        spot.at("by").report(f"shift.by: [columns] has no column {quoted(shift.by)}", hint)
    elif roles[shift.by] is Role.QUASI:
        spot.at("by").report(
            f"dates would move by {quoted(shift.by)}, a quasi-identifier, which persons share by design",
            'name the column that tells persons apart, mostly one with role = "identifier" or "pseudonym"',
        )
