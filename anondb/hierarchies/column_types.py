"""What to write where a hierarchy does not fit a column, by its type."""

from __future__ import annotations

from anondb.sqltree.tables import SourceColumn


def hint(column: SourceColumn) -> str:
    """The hierarchies that fit."""
    if column.is_number:
        return (
            "write hierarchy = { widths = [5, 10, 20] }: ranges that nest; "
            "of codes kept as numbers, { widths = [10, 100, 1000] } hides one digit after the other"
        )
    if column.is_date:
        return (
            "write hierarchy = { dates = true }: day, month, quarter, year, decade; "
            'of a date of birth, { age_at = "2024-01-01", widths = [5, 10, 20] }'
        )
    if column.base == "point":
        return "write hierarchy = { grid = [0.01, 0.1, 1] }: cells that nest"
    if not column.is_code:
        return 'write hierarchy = { mask = "all" }, or a hierarchy of its values: { csv = "…" }'
    return (
        'write hierarchy = { mask = "right" } for codes, { mask = "all" } for few values, '
        'or a hierarchy of its values: { csv = "…" } or the name of a stored one'
    )
