"""Which hierarchy fits a column, by its type; and what to write where one does not."""

from __future__ import annotations

from anondb.hierarchies.forms import Dates, Hierarchy, Intervals, Mask
from anondb.policy.names import quoted
from anondb.sqltree.tables import DATE_TYPES, NUMERIC_TYPES, SourceColumn

# Their texts have no characters that go from coarse to fine: 1** would be 1, 10 to 19 and 100 to 199.
_UNMASKED = NUMERIC_TYPES | DATE_TYPES | frozenset("bool interval money oid".split())


def misfit(hierarchy: Hierarchy | None, column: SourceColumn) -> str | None:
    """What is wrong with a hierarchy for a column of this type; None if it fits."""
    match hierarchy:
        case Intervals() if column.base not in NUMERIC_TYPES:
            return f"intervals need a numeric column, and {quoted(column.name)} is {column.type}"
        case Dates() if column.base not in DATE_TYPES:
            return f"dates need a date or timestamp column, and {quoted(column.name)} is {column.type}"
        case Mask(side) if side != "all" and column.base in _UNMASKED:
            return f"a mask hides the characters of a code, and {quoted(column.name)} is {column.type}"
    return None


def hint(column: SourceColumn) -> str:
    """The hierarchies that fit."""
    if column.base in NUMERIC_TYPES:
        return (
            "write hierarchy = { widths = [5, 10, 20] }: ranges that nest; "
            "of codes kept as numbers, { widths = [10, 100, 1000] } hides one digit after the other"
        )
    if column.base in DATE_TYPES:
        return "write hierarchy = { dates = true }: day, month, quarter, year, decade"
    if column.base in _UNMASKED:
        return 'write hierarchy = { mask = "all" }, or a hierarchy of its values: { csv = "…" }'
    return (
        'write hierarchy = { mask = "right" } for codes, { mask = "all" } for few values, '
        'or a hierarchy of its values: { csv = "…" } or the name of a stored one'
    )
