"""Ontologies as CSV: one is-a edge a row, `child,parent`; a root has no parent."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from anondb.errors import UsageError
from anondb.ontology.model import Concept, Edge, Ontology, number_senses

_HEADERS = {("child", "parent"), ("concept", "parent"), ("term", "parent")}
_SEPARATORS = ("\t", ";", ",")


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
    """The ontology in the text of a file. Where roots have rows of their own, all other parents must too."""
    roots = False
    keys: dict[str, None] = {}
    parents: dict[str, int] = {}  # with the line that names them first
    edges: dict[Edge, None] = {}
    for line, child, parent in _rows(text, place):
        keys[child] = None
        if parent:
            parents.setdefault(parent, line)
            edges[Edge(child, parent, "isa")] = None
        else:
            roots = True
    unknown = [parent for parent in parents if parent not in keys]
    if roots and unknown:
        raise UsageError(
            f'{place} line {parents[unknown[0]]}: unknown parent "{unknown[0]}"'
            + (f", and {len(unknown) - 1} more unknown parents" if len(unknown) > 1 else ""),
            hint="the roots have rows without a parent here; give it such a row too, or correct its name",
        )
    keys |= dict.fromkeys(unknown)
    if not keys:
        raise UsageError(f"{place}: has no edges", hint="one row an edge: child,parent")
    return Ontology(
        "csv",
        None,
        root_depth=0,
        concepts=[Concept(key, "n", key, "") for key in keys],
        edges=list(edges),
        lexemes=number_senses((key, key, "lemma") for key in keys),
        place=place,
    )


def _rows(text: str, place: str) -> Iterator[tuple[int, str, str]]:
    """Line, child and parent of each row."""
    if "\0" in text:
        raise UsageError(f"{place}: has a NUL character", hint="save it as plain text")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    first = True
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            is_header = first and tuple(cell.lower() for cell in cells) in _HEADERS
            first = False
            if is_header:
                continue
            if any(cells[2:]):
                raise UsageError(
                    f"{place} line {rows.line_num}: has {len(cells)} cells",
                    hint='an edge is child,parent; a name with a separator stands in quotes: "Paris, France",city',
                )
            if not cells[0]:
                raise UsageError(
                    f"{place} line {rows.line_num}: has no child",
                    hint="a root is written as a child without a parent",
                )
            yield rows.line_num, cells[0], (*cells, "")[1]
    except csv.Error as error:
        raise UsageError(
            f"{place} line {rows.line_num}: is not CSV: {error}", hint="quotes come in pairs"
        ) from None


def _separator(text: str) -> str:
    """The separator of the first line that one of them splits into two cells; else a comma."""
    for line in io.StringIO(text):
        for separator in _SEPARATORS:
            if len(next(csv.reader([line], delimiter=separator), ())) == 2:
                return separator
    return ","
