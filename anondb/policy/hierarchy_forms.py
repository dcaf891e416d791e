"""The forms in which a policy writes a hierarchy: a stored one, a file, one that is built, or computed labels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from anondb.errors import UsageError
from anondb.hierarchies.forms import COMPUTED, BuiltVgh, CsvVgh, Hierarchy, StoredVgh
from anondb.hierarchies.forms.builtin import PREFIX, names, read_builtin
from anondb.policy.check import Key, Spot, Table, read_table, read_text, shown
from anondb.policy.names import quoted

ANY_TYPE = (
    "add the hierarchy that fits the column: for dates { dates = true }, for numbers { widths = [5, 10, 20] }, "
    'for codes { mask = "right" }, for few values { mask = "all" }, for words { csv = "…" } or the name of a stored one'
)
"""What to do about a hierarchy that is missing, before the type of the column is known."""


def read_hierarchy(spot: Spot, value: object) -> Hierarchy | None:
    if isinstance(value, str):
        return read_builtin(spot, value) if value.startswith(PREFIX) else StoredVgh(read_text(spot, value))
    forms = _meant(value) if isinstance(value, dict) else []
    if len(forms) != 1:
        fault = "mixes several forms" if forms else "has none of the forms that there are"
        examples = ", ".join(form.example for form in FORMS)
        hint = f'write one of "name of a stored hierarchy", "{PREFIX}{names()[0]}", {examples}'
        raise UsageError(f"{spot.key} {fault}", hint=hint)
    before = len(spot.reported)
    keys = read_table(spot, value, forms[0].keys)
    return forms[0].made(spot, keys) if len(spot.reported) == before else None


def _read_csv(spot: Spot, value: object) -> Path:
    name = read_text(spot, value)
    path = spot.base / name
    shown_path = quoted(str(path), longest=4096)  # cut off, it would lose the file's name
    hint = "a relative path starts in the folder of the policy"
    try:
        if not path.exists():
            raise UsageError(f"there is no file {shown_path}", hint=hint)
        if not path.is_file():  # a pipe would be waited for, a folder cannot be read
            raise UsageError(f"{shown_path} is not a file", hint=hint)
        with path.open("rb") as file:
            spot.digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{shown_path} cannot be read: {error.strerror}", hint=hint) from None
    return path


def _read_build(spot: Spot, value: object) -> bool:
    if value is not True:
        raise UsageError(f"{spot.key} must be true, not {shown(value)}", hint="write build = true")
    return True


@dataclass(frozen=True)
class _Form:
    example: str
    keys: Mapping[str, Key]  # the first one tells the form from others
    made: Callable[[Spot, Table], Hierarchy]

    @property
    def own(self) -> str:
        return next(iter(self.keys))


FORMS = (
    _Form('{ csv = "job.csv" }', {"csv": Key(_read_csv)}, lambda spot, keys: CsvVgh(keys["csv"])),
    _Form(
        "{ build = true }",
        {"build": Key(_read_build, "add build = true"), "ontology": Key(read_text)},
        lambda spot, keys: BuiltVgh(keys.get("ontology", "wordnet")),
    ),
    *(_Form(form.example, form.keys, form.made) for form in COMPUTED),
)


def _meant(keys: Collection[str]) -> list[_Form]:
    """The forms that these keys can mean: those whose own key is there, and is no key of another one that is."""
    own = [form for form in FORMS if form.own in keys]
    if not own:
        return [form for form in FORMS if not form.keys.keys().isdisjoint(keys)][:1]
    return [form for form in own if not any(form.own in other.keys for other in own if other is not form)]
