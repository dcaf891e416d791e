"""A mapping as the text of a TOML file, so that a policy made in Python is kept as one from a file is."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Integral

from anondb.errors import UsageError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write(document: Mapping[str, object]) -> str:
    """The text that reads as `document`: single values first, then a [table] for each table in it."""
    if strangers := [key for key in document if not isinstance(key, str)]:
        raise _unnamed(strangers[0], ())
    tables = {key: value for key, value in document.items() if isinstance(value, Mapping)}
    values = {key: value for key, value in document.items() if key not in tables}
    parts = ["".join(_lines(values, ()))] if values else []
    for key, table in tables.items():
        parts.append(f"[{_key(key, ())}]\n" + "".join(_lines(table, (key,))))
    return "\n".join(parts)


def line(key: str, value: object) -> str:
    """A key and its value on one line, a table in braces."""
    return _pair(key, value, ())


def _lines(table: Mapping[str, object], path: tuple[str, ...]) -> list[str]:
    return [f"{_pair(key, value, path)}\n" for key, value in table.items()]


def _pair(key: object, value: object, path: tuple[str, ...]) -> str:
    name = _key(key, path)
    return f"{name} = {_value(value, (*path, str(key)))}"


def _key(key: object, path: tuple[str, ...]) -> str:
    if not isinstance(key, str):
        raise _unnamed(key, path)
    return str(key) if _BARE.fullmatch(key) else _text(key)


def _value(value: object, path: tuple[str, ...]) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Integral():  # also numpy's, which is no int
            return str(int(value))
        case float():
            return _decimal(Decimal(float.__repr__(value)))
        case Decimal():
            return _decimal(value)
        case str():
            return _text(value)
        case os.PathLike():
            return _text(os.fsdecode(value))
        case datetime() | date() | time():
            return value.isoformat()
        case Mapping():
            pairs = [_pair(key, entry, path) for key, entry in value.items()]
            return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
        case list() | tuple():
            return f"[{', '.join(_value(entry, path) for entry in value)}]"
    kind = "None" if value is None else f"a value of the type {type(value).__name__}"
    hint = "leave the key out" if value is None else "use texts, numbers, true and false, lists and dicts"
    raise UsageError(f"{'.'.join(path)} is {kind}, which a policy cannot hold", hint=hint)


def _decimal(number: Decimal) -> str:
    """A number that is read as a Decimal again, and not as an integer."""
    if number.is_nan():
        return "nan"
    if number.is_infinite():
        return "inf" if number > 0 else "-inf"
    text = str(number)
    return text if "." in text or "E" in text else f"{text}.0"


def _text(text: str) -> str:
    # JSON escapes what TOML wants escaped, but for one control character
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _unnamed(key: object, path: tuple[str, ...]) -> UsageError:
    where = f" of {'.'.join(path)}" if path else ""
    return UsageError(
        f"a key{where} is {type(key).__name__}, and the keys of a policy are texts", hint="write it in quotes"
    )
