"""Ontologies as CSV: one is-a edge a row, `child,parent`; a root has no parent, or is only ever a parent."""

from __future__ import annotations

import csv
from pathlib import Path

from anondb.errors import UsageError
from anondb.ontology.model import Concept, Edge, Ontology, number_senses

_HEADERS = {("child", "parent"), ("concept", "parent"), ("term", "parent")}


def read(path: Path) -> Ontology:
    """The ontology in a CSV file; its concepts are their own names."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", hint="check the file's name") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not UTF-8", hint="save it as UTF-8") from None
    return parse(text, place=path.name)


def parse(text: str, *, place: str) -> Ontology:
    rows = csv.reader(text.splitlines(), delimiter=_separator(text))
    keys: dict[str, None] = {}
    edges: dict[Edge, None] = {}
    for line, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or (line == 1 and tuple(cell.lower() for cell in cells[:2]) in _HEADERS):
            continue
        if len(cells) > 2 and any(cells[2:]):
            raise UsageError(
                f"{place} line {line}: has {len(cells)} cells", hint="an edge is child,parent; quote commas in names"
            )
        child, parent = (*cells, "")[:2]
        if not child:
            raise UsageError(f"{place} line {line}: has no child", hint="a root is written as a child without a parent")
        keys[child] = None
        if parent:
            keys[parent] = None
            edges[Edge(child, parent, "isa")] = None
    if not keys:
        raise UsageError(f"{place}: has no edges", hint="one row an edge: child,parent")
    return Ontology(
        "csv",
        None,
        root_depth=0,
        concepts=[Concept(key, "n", key, "") for key in keys],
        edges=list(edges),
        lexemes=number_senses([(key, key, "lemma") for key in keys]),
    )


def _separator(text: str) -> str:
    first = text.splitlines()[0] if text.strip() else ""
    return next((separator for separator in (";", "\t") if separator in first and "," not in first), ",")
