"""Names of tables as a policy or a call writes them: `table`, `schema.table`, `schema."Odd.Table"`."""

from __future__ import annotations

import json
import re

from anondb.errors import UsageError
from anondb.policy.model import Name

LONGEST = 63
"""Bytes that PostgreSQL keeps of a name; it cuts longer ones off, and then means another object."""

_PART = re.compile(r'"((?:[^"]|"")*)"|([^".]*)')


def parse_name(text: str) -> Name:
    """The table that `text` names; every part is taken as the catalogue spells it, nothing is folded."""
    parts = _split(text)
    if len(parts) > 2:
        raise UsageError(
            f"{quoted(text)} has {len(parts)} parts, and a table has at most a schema and a name",
            hint='write schema.table; a dot inside a name needs double quotes: schema."my.table"',
        )
    for part in parts:
        check_part(part)
    return Name(parts[0] if len(parts) == 2 else None, parts[-1])


def check_part(part: str) -> None:
    """Refuse what PostgreSQL cannot have as the name of a schema, a table or a column."""
    if not part:
        raise UsageError("a name is empty", hint="give it at least one character, as in schema.table")
    if "\0" in part:
        raise UsageError(f"{quoted(part)} contains a NUL character", hint="no name in PostgreSQL has one")
    try:
        length = len(part.encode())
    except UnicodeEncodeError:
        raise UsageError(f"{quoted(part)} cannot be written in UTF-8", hint="write it in UTF-8") from None
    if length > LONGEST:
        raise UsageError(
            f"{quoted(part)} is {length} bytes long, and PostgreSQL keeps {LONGEST}",
            hint="use the name as the catalogue has it, cut off where PostgreSQL cut it",
        )


def quoted(text: str, longest: int = 80) -> str:
    """A text in double quotes, short and on one line, for messages."""
    cut = text if len(text) <= longest else text[:longest] + "…"
    # a lone surrogate could not be printed, so it is shown as its escape
    return json.dumps(cut, ensure_ascii=False).encode(errors="backslashreplace").decode()


def _split(text: str) -> list[str]:
    parts: list[str] = []
    position = 0
    while True:
        part = _PART.match(text, position)
        assert part is not None  # the second alternative matches nothing at all, too
        in_quotes, plain = part.groups()
        parts.append(plain if in_quotes is None else in_quotes.replace('""', '"'))
        position = part.end()
        if position == len(text):
            return parts
        if text[position] != ".":
            raise UsageError(
                f"{quoted(text)} has a double quote in the wrong place",
                hint='quotes go around a whole part, and are doubled inside it: schema."my ""odd"" table"',
            )
        position += 1
