"""What a policy says of kept columns that are released changed: with noise, rounded, or exchanged in a class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from anondb.errors import UsageError
from anondb.policy.check import Key, PolicyKeys, Spot, Table, choice, read_flag, read_number, shown
from anondb.policy.model import Role
from anondb.policy.names import quoted
from anondb.policy.persons import read_shift

if TYPE_CHECKING:
    from anondb.methods.method import ReleaseMethod

MOST_NOISE = 10
UNITS = ("hour", "day", "week", "month", "quarter", "year")
"""What dates are rounded to."""
CHANGES = ("noise", "round", "shuffle")
INSTEAD = "leave the key out; numbers and dates can be rounded: round"
_HINTS = {
    Role.QUASI: "leave the key out: a quasi-identifier is generalized",
    Role.SENSITIVE: "leave the key out: what a model protects is counted as it is",
    Role.IDENTIFIER: "leave the key out: the column is not released",
    Role.PSEUDONYM: "leave the key out: a pseudonym is a code already",
}


def read_noise(spot: Spot, value: object) -> Decimal:
    noise = read_number(spot, value)
    if not 0 < noise <= MOST_NOISE:
        message = f"{spot.key} must be above 0 and at most {MOST_NOISE}, not {shown(value)}"
        raise UsageError(message, hint=f"a tenth of the column's standard deviation: {spot.name} = 0.1")
    return noise


def read_round(spot: Spot, value: object) -> Decimal | str:
    """What numbers are multiples of afterwards, or the unit whose start dates become."""
    if isinstance(value, str):
        return str(choice(UNITS)(spot, value))
    step = read_number(spot, value)
    if step <= 0:
        message = f"{spot.key} must be above 0, not {shown(value)}"
        raise UsageError(
            message, hint=f'to multiples of 100: {spot.name} = 100; dates: {spot.name} = "month"'
        )
    return step


FORMS_OF_KEPT: Mapping[str, Key] = {
    "shift": Key(read_shift),
    "noise": Key(read_noise),
    "round": Key(read_round),
    "shuffle": Key(read_flag),
}
"""Keys of a column that is not generalized: what becomes of its values."""


def changes_of(column: Table) -> list[str]:
    """The keys of a column by which its values are changed."""
    return [key for key in CHANGES if column.get(key)]


def check_perturbed(
    spot: Spot, policy: PolicyKeys, method: ReleaseMethod | None, methods: Mapping[str, ReleaseMethod]
) -> None:
    """Reports changes that a column or a method does not go with."""
    for name, column in policy.columns.items():
        here, role = spot.at("columns", name), policy.roles.get(name)
        for key in CHANGES:
            if key in column and role not in (Role.OTHER, None):
                here.at(key).report(
                    f"{role} column {quoted(name)} has {key}, and only columns of role other are released changed",
                    _HINTS[role],
                )
        keys = changes_of(column)
        if keys and policy.privacy.get("unit") == name:
            here.at(keys[0]).report(
                f"{quoted(name)} names the persons that k counts, and would be released changed",
                'set role = "identifier" to leave it out, or role = "pseudonym" to release a code',
            )
        if len(both := [*keys, *(["shift"] if "shift" in column else [])]) > 1:
            here.at(both[1]).report(
                f"{quoted(name)} has {' and '.join(both)}, and a column is released changed in one way",
                f"leave {' or '.join(both)} out",
            )
        if "shuffle" in keys and method is not None:
            _check_shuffle(here.at("shuffle"), name, policy, method, methods)


def all_of_one(columns: Table) -> Iterator[tuple[str, str]]:
    """Columns and keys by which a value depends on all records of one table."""
    return (
        (name, key) for name, column in columns.items() for key in ("noise", "shuffle") if column.get(key)
    )


def check_followed(spot: Spot, columns: Table) -> None:
    """Records that are followed from release to release would all change with each."""
    for name, key in all_of_one(columns):
        spot.at("columns", name, key).report(
            f"{quoted(name)} has {key}, and with a key records are followed, which would all change with each release",
            INSTEAD,
        )


def _check_shuffle(
    spot: Spot,
    name: str,
    policy: PolicyKeys,
    method: ReleaseMethod,
    methods: Mapping[str, ReleaseMethod],
) -> None:
    if method.refused_shuffle is not None:
        able = [quoted(one.name) for one in methods.values() if one.refused_shuffle is None]
        spot.report(
            f"{method.name} does not exchange values of {quoted(name)}: {method.refused_shuffle}",
            f"leave the key out, or set algorithm to one of {', '.join(able)}",
        )
    elif "strict" in policy.method and policy.method["strict"] is False:
        spot.report(
            f"with strict = false records of one value are dealt to several classes, so that values of "
            f"{quoted(name)} have no class to be exchanged in",
            "leave strict out, or leave shuffle out",
        )
