"""Writes docs/api.md, the page of the library, from signatures and docstrings: `python tools/api_page.py`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import anondb
from anondb import api

FILE = Path(__file__).resolve().parents[1] / "docs" / "api.md"

HEAD = """\
# The library

This page is written by `tools/api_page.py` from the code; a test compares the two.
What is raised: [errors.md](errors.md). What a policy says: [policy.md](policy.md).
"""

# what stands where: the title of a section, and the class that it describes
ROOMS = {
    "Database": api.Database,
    "db.hierarchies": api.Hierarchies,
    "db.ontologies": api.Ontologies,
    "db.synthetic": api.Synthetic,
    "db.releases": api.Releases,
    "db.tables": api.Tables,
    "db.secret": api.Secret,
    "Policy": anondb.Policy,
    "Release": anondb.Release,
    "Options": anondb.Options,
}
_LONGEST = 100


def page() -> str:
    """The whole page."""
    parts = [HEAD, "## connect\n", *_function("anondb.connect", anondb.connect, is_method=False)]
    parts += ["## anonymize\n", *_function("anondb.anonymize", anondb.anonymize, is_method=False)]
    for title, room in ROOMS.items():
        parts += [f"## {title}\n", _text(room) + "\n", *_members(title, room)]
    return "\n".join(parts)


def _members(title: str, room: type) -> Iterator[str]:
    if title == "Options":
        yield _block(_signature("anondb.Options", room, is_method=False))
        return
    owner = {"Database": "db", "Policy": "anondb.Policy", "Release": "release"}.get(title, title)
    for name, member in vars(room).items():
        if name.startswith("_"):
            continue
        if isinstance(member, (property, cached_property)):
            yield f"### {owner}.{name}\n\n{_text(member)}\n"
        elif isinstance(member, staticmethod):
            yield from _function(f"{owner}.{name}", member.__func__, is_method=False)
        elif inspect.isfunction(member):
            yield from _function(f"{owner}.{name}", member, is_method=True)


def _function(name: str, function: Callable[..., object], *, is_method: bool) -> Iterator[str]:
    yield f"### {name}\n"
    if hasattr(function, "__wrapped__"):  # it stands in full where it is the same as
        yield f"{_text(function)}\n"
        return
    yield _block(_signature(name, function, is_method=is_method))
    yield f"{_text(function)}\n"


def _signature(name: str, function: Callable[..., object], *, is_method: bool) -> str:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[is_method:]
    answer = signature.return_annotation
    arrow = "" if answer in (inspect.Signature.empty, None, "None") else f" -> {_plain(str(answer))}"
    texts = [_parameter(parameter) for parameter in parameters]
    first_named = next((i for i, one in enumerate(parameters) if one.kind is one.KEYWORD_ONLY), None)
    if first_named is not None:
        texts.insert(first_named, "*")
    line = f"{name}({', '.join(texts)}){arrow}"
    if len(line) <= _LONGEST:
        return line
    return "\n".join([f"{name}(", *(f"    {text}," for text in texts), f"){arrow}"])


def _parameter(parameter: inspect.Parameter) -> str:
    text = f"{parameter.name}: {_plain(str(parameter.annotation))}"
    return text if parameter.default is parameter.empty else f"{text} = {parameter.default!r}"


def _plain(annotation: str) -> str:
    """An annotation as readers know it: a class with a method `list` has to spell the type out."""
    return re.sub(r"\bbuiltins\.", "", annotation).replace("PolicyInput", "Policy | dict | Path | str")


def _block(code: str) -> str:
    return f"```text\n{code}\n```\n"


def _text(documented: object) -> str:
    text = inspect.getdoc(documented)
    assert text, f"{documented} has no docstring"
    return text


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
