"""A policy for a built-in domain, with hierarchies of its columns: it runs on a table drawn from the domain."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from anondb import files
from anondb.errors import UsageError
from anondb.methods.registry import FIRST
from anondb.policy.toml_text import write
from anondb.synthetic.domain_file import BUILT_IN, NAMES

ROOT = "*"


class ReadyPolicy(NamedTuple):
    """The text of a policy, and the CSV files that it names."""

    text: str
    files: Mapping[str, str]


def ready_policy(domain: str, source: str, target: str, folder: str = "") -> ReadyPolicy:
    """The policy of a built-in domain for a table drawn from it: k = 5, at most 5 % left out.

    Its CSV files will lie in this folder beside it.
    """
    if domain not in NAMES:
        raise UsageError(
            "only the built-in domains have a policy of their own",
            hint=f"these are {', '.join(NAMES)}; for another table: anondb draft {source}",
        )
    document = tomllib.loads((BUILT_IN / "hierarchies" / f"{domain}.toml").read_text(encoding="utf-8"))
    columns = {name: _filed(column, folder) for name, column in document["columns"].items()}
    policy = {
        "source": source,
        "target": target,
        "privacy": {"k": 5, "suppression": 0.05},
        "method": {"algorithm": FIRST},
        "columns": columns,
    }
    return ReadyPolicy(write(policy), {f"{name}.csv": _csv(tree) for name, tree in document["trees"].items()})


def _filed(column: dict[str, Any], folder: str) -> dict[str, Any]:
    """The column of a policy, whose hierarchy's file lies in a folder."""
    file = column.get("hierarchy", {}).get("csv")
    return column if file is None else column | {"hierarchy": {"csv": str(PurePosixPath(folder, file))}}


def save(ready: ReadyPolicy, policy: Path, folder: str) -> None:
    """Writes the policy and its files."""
    beside = policy.parent / folder
    beside.mkdir(mode=0o700, exist_ok=True)
    for name, text in ready.files.items():
        files.write(beside / name, text)
    files.write(policy, ready.text)


def require_free(policy: Path, folder: str) -> None:
    """Raises where the policy or the folder of its files would be written over."""
    for place in (policy, policy.parent / folder):
        if place.exists() or place.is_symlink():
            raise UsageError(
                f'"{place.name}" exists already',
                hint="nothing was written over; give the policy another name",
            )


def _csv(tree: Mapping[str, Any]) -> str:
    """One row a leaf, from the leaf up to the root."""
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(_paths(tree, (ROOT,)))
    return text.getvalue()


def _paths(tree: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for label, below in tree.items():
        here = (label, *above)
        if isinstance(below, Mapping):
            yield from _paths(below, here)
        else:
            yield from ((leaf, *here) for leaf in below)
