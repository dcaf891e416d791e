"""What an ARX project says: columns and their roles, hierarchies, privacy models, and how it is searched."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anondb.errors import UsageError
from anondb.exchange.arx_archive import Archive, Element
from anondb.exchange.csv_types import KINDS
from anondb.hierarchies import csvfile
from anondb.hierarchies.forms import ROOT, VghTable

TABLE = "data/input.csv"
NULLS = ("", "NULL", "null")  # what ARX takes for a missing value

_HALF = 0.5  # the weight of a column in ARX unless it is changed


@dataclass(frozen=True)
class Attribute:
    """A column: its role in ARX's words, and what may be released of it."""

    name: str
    role: str
    least: int | None
    most: int | None
    aggregated: str | None
    """The function by which ARX aggregates it, where it does not generalize."""
    hierarchy: VghTable | None
    height: int
    """Levels above the values that ARX has; ours may have one more, for the root."""


@dataclass(frozen=True)
class Project:
    delimiter: str
    attributes: tuple[Attribute, ...]
    criteria: tuple[str, ...]
    metric: str
    suppression: float
    weights: Mapping[str, float]
    """1 for a column whose weight was not changed."""


def read(archive: Archive) -> Project:
    """The project as ARX would run it; a part that is missing is an error."""
    delimiter = _text(archive.xml("project.xml"), "separator", archive)
    if len(delimiter) != 1:
        raise UsageError(
            f"{archive.path}: its separator is no single character", hint="save it again with ARX"
        )
    config = archive.xml("input/config.xml")
    definition = archive.xml("input/definition.xml")
    attributes = tuple(_attribute(archive, each, delimiter) for each in definition.all("assigment"))
    if not attributes:
        raise UsageError(f"{archive.path}: defines no columns", hint="open it in ARX, and save it again")
    weights = {
        each.get("attribute") or "": _number(archive, each.get("weight") or "") / _HALF
        for each in config.all("attributeWeight")
    }
    return Project(
        delimiter=delimiter,
        attributes=attributes,
        criteria=tuple(each.text.strip() for each in config.all("criterion")),
        metric=_text(config, "metric", archive).strip(),
        suppression=_number(archive, _text(config, "relativeMaxOutliers", archive)),
        weights=weights,
    )


def types(attributes: Sequence[Attribute], kinds: Mapping[str, str]) -> dict[str, str]:
    """The columns that stay texts, as the leaves of their hierarchies are, though their values look like more."""
    as_text = {name for name, kind in KINDS.items() if kind.type in ("integer", "bigint") or name == "date"}
    return {
        each.name: "text"
        for each in attributes
        if each.hierarchy is not None and kinds.get(each.name, "text") not in as_text
    }


def _attribute(archive: Archive, element: Element, delimiter: str) -> Attribute:
    name = element.get("name") or ""
    file = f"input/hierarchies/{name}.csv"
    found = _hierarchy(archive, file, delimiter) if file in archive else (None, 0)
    return Attribute(
        name=name,
        role=(element.get("type") or "").strip(),
        least=_level(archive, element.get("min")),
        most=_level(archive, element.get("max")),
        aggregated=element.get("microaggregationFunction"),
        hierarchy=found[0],
        height=found[1],
    )


def _hierarchy(archive: Archive, file: str, delimiter: str) -> tuple[VghTable | None, int]:
    """A hierarchy with one root, and the height that it has in ARX, where several roots may be."""
    rows = [
        row for row in csv.reader(io.StringIO(archive.text(file), newline=""), delimiter=delimiter) if row
    ]
    rows = [row for row in rows if row[0].strip() not in NULLS]  # a missing value is NULL here, and no leaf
    height = max((len(row) for row in rows), default=1) - 1
    if height == 0:
        return None, 0
    if len({row[-1] for row in rows}) > 1:
        rows = [[*row, ROOT] for row in rows]
    return csvfile.parse(
        csvfile.write(VghTable(tuple(map(tuple, rows)))), place=f"{archive.path}: {file}"
    ), height


def _text(element: Element, name: str, archive: Archive) -> str:
    found = next(element.all(name), None)
    if found is None:
        raise UsageError(f"{archive.path}: says nothing of its {name}", hint="save it again with ARX")
    return found.text


def _number(archive: Archive, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UsageError(
            f"{archive.path}: a number of its configuration is none", hint="save it again with ARX"
        )
    return number


def _level(archive: Archive, text: str | None) -> int | None:
    return None if text is None or text.strip() == "All" else int(_number(archive, text))
