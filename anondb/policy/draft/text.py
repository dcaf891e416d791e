"""A drafted policy as TOML, with the reason behind each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anondb.policy import toml_text
from anondb.policy.model import Role

if TYPE_CHECKING:
    from anondb.policy.draft.draft import Draft
    from anondb.policy.draft.roles import Proposal

SCHEMA_FILE = "anondb-policy.schema.json"
_WIDEST = 60  # the longest line that comments are aligned for


def write(draft: Draft) -> str:
    """The whole file."""
    parts = [_head(draft), _tables(draft), _columns(draft)]
    return "\n".join(parts)


def _head(draft: Draft) -> str:
    lines = [
        f"#:schema {SCHEMA_FILE}",
        f"# Drafted by anondb for {_plain(str(draft.table.source))}: {_looked_at(draft)}.",
        "# Each line says why. It runs as it is; what a person must decide is marked DECIDE.",
    ]
    for found in draft.sets:
        what = "one column" if len(found.columns) == 1 else f"{len(found.columns)} columns"
        lines.append(
            f"# {found.alone:.1%} of the records are alone in {what}: "
            f"{_plain(', '.join(found.columns[:8]))}{' …' if len(found.columns) > 8 else ''} "
            f"({found.separation:.1%} of all pairs differ)."
        )
    lines += [f"# Note: {_plain(note)}." for note in draft.notes]
    return "\n".join(lines) + "\n"


def _looked_at(draft: Draft) -> str:
    table = draft.table
    if not table.records:
        return "it is empty, so that names and types are all there was to go by"
    if table.is_whole:
        return f"{table.records:,} records, {len(table.columns)} columns"
    return f"about {table.records:,} records, of which {table.looked_at:,} were looked at, {len(table.columns)} columns"


def _tables(draft: Draft) -> str:
    lines = [
        toml_text.write({"source": str(draft.table.source), "target": str(draft.target)}),
        "[privacy]",
        *_commented("k", draft.k, _why_k(draft)),
    ]
    if draft.unit is not None:
        why = f"{draft.each:.1f} records of a person on average: k counts persons"
        lines += _commented("unit", draft.unit, why)
    if draft.has_levels:
        lines += _commented("suppression", 0.05, "so many records may be left out where they stand alone")
    for one in draft.diversity:
        why = f"each class has {one.l} values of it, so that a class does not tell"
        lines += _commented("l_diversity", {"column": one.column, "l": one.l}, why)
    unprotected = [
        one.name for one in draft.named(Role.SENSITIVE) if one.name not in {d.column for d in draft.diversity}
    ]
    if unprotected:
        shown = ", ".join(unprotected[:6]) + (" …" if len(unprotected) > 6 else "")
        lines.append(
            f"# DECIDE: no model protects {_plain(shown)}: a class in which all have one value tells it"
        )
    lines += [
        '# changes = "free"  # while nobody has a release yet: later ones that differ are refused without it',
        "",
        "[method]",
    ]
    lines += _commented("algorithm", draft.algorithm, draft.method_reason)
    lines += [toml_text.line(key, value) for key, value in draft.method.items() if key != "algorithm"]
    return "\n".join(lines) + "\n"


def _why_k(draft: Draft) -> str:
    who = "person" if draft.unit is not None else "record"
    return f"each released {who} looks like at least {draft.k - 1} others; 5 is common, 11 where data is published"


def _columns(draft: Draft) -> str:
    lines = ["[columns]"]
    rows = [(_line(one), one) for one in draft.proposals]
    width = max((len(line) for line, _ in rows if len(line) <= _WIDEST), default=0)
    for line, one in rows:
        reason = one.why + (f"; {one.form}" if one.form else "")
        if one.role is Role.SENSITIVE and one.column.codes is not None:
            reason += f'; as a quasi-identifier it would have hierarchy = "builtin:{one.column.codes}"'
        decide = "" if one.decide is None else f" DECIDE: {one.decide}"
        lines.append(f"{line:<{width}}  # {_plain(one.column.type)}: {_plain(reason)}.{_plain(decide)}")
    return "\n".join(lines) + "\n"


def _line(one: Proposal) -> str:
    keys: dict[str, object] = {"role": str(one.role)}
    for key in ("hierarchy", "cap", "release"):
        if (value := getattr(one, key)) is not None:
            keys[key] = value
    return toml_text.line(one.name, keys)


def _commented(key: str, value: object, why: str) -> Iterator[str]:
    yield f"{toml_text.line(key, value)}  # {_plain(why)}"


def _plain(text: str) -> str:
    """A text that stays in its comment."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
