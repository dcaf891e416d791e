"""The columns of a pandas DataFrame as PostgreSQL takes them: a type, and a text for each value."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from anondb.errors import UsageError

if TYPE_CHECKING:
    import pandas

Cell = str | list[str] | None
Typed = tuple[str, list[Cell]]
"""The type of PostgreSQL, and the cells."""

_FLAT = "flatten it: frame.reset_index(), or one row of names for the columns"


def columns_of(frame: pandas.DataFrame) -> dict[str, Typed]:
    """Every column, in order; the index is left out."""
    import pandas

    if not isinstance(frame, pandas.DataFrame):
        raise UsageError(
            f"a pandas DataFrame is needed, and not {type(frame).__name__}",
            hint="many others have .to_pandas()",
        )
    if isinstance(frame.columns, pandas.MultiIndex) or isinstance(frame.index, pandas.MultiIndex):
        raise UsageError("the frame has an index of several levels", hint=_FLAT)
    names = list(frame.columns)
    if strangers := [i for i, name in enumerate(names, 1) if not isinstance(name, str) or not name]:
        raise UsageError(
            f"the name of column {strangers[0]} is no text", hint="frame.columns = frame.columns.map(str)"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f'two columns are called "{twice}"', hint="give each a name of its own")
    if not names:
        raise UsageError("the frame has no columns", hint="a record needs at least a quasi-identifier")
    return {name: _typed(name, frame[name]) for name in names}


def _typed(name: str, series: pandas.Series[Any]) -> Typed:
    import pandas

    dtype = series.dtype
    types = pandas.api.types
    if isinstance(dtype, pandas.CategoricalDtype):
        kind, labels = _typed(name, dtype.categories.to_series())
        return kind, [None if code < 0 else labels[code] for code in series.cat.codes]
    if isinstance(dtype, pandas.SparseDtype):
        return _typed(name, pandas.Series(list(series)))
    values = [None if _is_missing(value) else value for value in series.tolist()]
    if isinstance(dtype, pandas.PeriodDtype | pandas.IntervalDtype) or types.is_complex_dtype(dtype):
        raise _odd(name, str(dtype))
    if types.is_bool_dtype(dtype):
        return "boolean", _each(values, lambda value: "true" if value else "false")
    if types.is_integer_dtype(dtype):
        return _integers(values)
    if types.is_float_dtype(dtype):
        return "double precision", _each(values, lambda value: repr(float(value)))
    return _told_by_values(name, values, str(dtype))


def _told_by_values(name: str, values: Sequence[Any], dtype: str) -> Typed:
    """The type of a column of objects: what all of its values are."""
    kinds = {_kind(value) for value in values if value is not None}
    for fitting, make in _OBJECTS:
        if kinds <= fitting:
            kind, cells = make(values)
            if kind in ("text", "text[]"):
                _require_texts(name, cells)
            return kind, cells
    raise _odd(name, f"{dtype} of {', '.join(sorted(kinds))}")


def _kind(value: Any) -> str:
    """The name of a value's type, as far as it matters: subclasses are what they are made from."""
    match value:
        case bool():
            return "bool"
        case str() | int() | float() | Decimal() | dt.time() | dt.timedelta() | uuid.UUID():
            return next(base.__name__ for base in type(value).__mro__ if base.__module__ in _PLAIN)
        case dt.datetime():
            return "datetime" if value.tzinfo is None else "datetime with zone"
        case dt.date():
            return "date"
    if isinstance(value, list | tuple | set | frozenset) or type(value).__name__ == "ndarray":
        return "list" if all(isinstance(item, str) for item in value) else "list of others"
    return type(value).__name__


_PLAIN = ("builtins", "decimal", "datetime", "uuid")


def _each(values: Sequence[Any], text: Callable[[Any], Cell]) -> list[Cell]:
    return [None if value is None else text(value) for value in values]


def _integers(values: Sequence[Any]) -> Typed:
    fits = all(-(2**63) <= value < 2**63 for value in values if value is not None)
    return "bigint" if fits else "numeric", _each(values, lambda value: str(int(value)))


def _as(type_: str, text: Callable[[Any], Cell]) -> Callable[[Sequence[Any]], Typed]:
    return lambda values: (type_, _each(values, text))


def _duration(value: dt.timedelta) -> str:
    return f"{value.days} days {value.seconds} seconds {value.microseconds} microseconds"


def _listed(value: Any) -> list[str]:
    # a set has no order of its own
    return sorted(value) if isinstance(value, set | frozenset) else list(value)


# the first of which all values are
_OBJECTS: Sequence[tuple[set[str], Callable[[Sequence[Any]], Typed]]] = (
    ({"str"}, _as("text", str)),
    ({"bool"}, _as("boolean", lambda value: "true" if value else "false")),
    ({"int"}, _integers),
    ({"int", "float"}, _as("double precision", lambda value: repr(float(value)))),
    ({"int", "Decimal"}, _as("numeric", str)),
    ({"date"}, _as("date", lambda value: value.isoformat())),
    ({"datetime"}, _as("timestamp without time zone", lambda value: value.isoformat(" "))),
    ({"datetime with zone"}, _as("timestamp with time zone", lambda value: value.isoformat(" "))),
    ({"time"}, _as("time without time zone", lambda value: value.isoformat())),
    ({"timedelta"}, _as("interval", _duration)),
    ({"UUID"}, _as("uuid", str)),
    ({"list"}, _as("text[]", _listed)),
)


def _is_missing(value: Any) -> bool:
    """None, NaN, NA, NaT: none of them is equal to itself, and none is a list."""
    import pandas

    if value is None or value is pandas.NA or value is pandas.NaT:
        return True
    return isinstance(value, float | Decimal) and value != value


def _require_texts(name: str, cells: Sequence[Cell]) -> None:
    for cell in cells:
        for text in cell if isinstance(cell, list) else [cell or ""]:
            if "\0" in text:
                raise UsageError(
                    f'a text of "{name}" has a NUL character', hint="no text in PostgreSQL has one"
                )
            try:
                text.encode()
            except UnicodeEncodeError:
                raise UsageError(
                    f'a text of "{name}" cannot be written in UTF-8', hint="decode it anew"
                ) from None


def _odd(name: str, what: str) -> UsageError:
    return UsageError(
        f'column "{name}" holds {what}, for which there is no type',
        hint=f'frame["{name}"].astype(str), for example',
    )
