"""Projects as ARX saves them, made by hand: a zip of XML and CSV."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

COLUMNS: Sequence[tuple[str, str, Mapping[str, str]]] = (
    ("name", "IDENTIFYING_ATTRIBUTE", {}),
    ("age", "QUASI_IDENTIFYING_ATTRIBUTE", {"max": "2"}),
    ("zip", "QUASI_IDENTIFYING_ATTRIBUTE", {"min": "1"}),
    ("size/x", "QUASI_IDENTIFYING_ATTRIBUTE", {}),
    ("diagnosis", "SENSITIVE_ATTRIBUTE", {}),
    ("ward", "INSENSITIVE_ATTRIBUTE", {}),
)
AGES = "".join(
    f"{a};[{a // 5 * 5}, {a // 5 * 5 + 5}[;[{a // 10 * 10}, {a // 10 * 10 + 10}[;*\n" for a in range(20, 40)
)
ZIPS = "".join(f"{z};{z[:4]}*;{z[:2]}***;*****\n" for z in ("01234", "01235", "47102", "47103"))
DISEASES = "flu;airways;*\ncold;airways;*\nulcer;stomach;*\ngastritis;stomach;*\n"
HIERARCHIES = {"age": AGES, "zip": ZIPS, "diagnosis": DISEASES}
CRITERIA = ("distinct-2-diversity for attribute 'diagnosis'", "3-anonymity")
PERSONS = 60


def table(persons: int = PERSONS) -> str:
    rows = ["name;age;zip;size/x;diagnosis;ward"]
    for i in range(persons):
        zip_code = ("01234", "01235", "47102", "47103")[i % 4]
        disease = ("flu", "cold", "ulcer", "gastritis")[i // 2 % 4]
        rows.append(
            f"Person{i};{20 + i * 7 % 20};{zip_code};{('tall', 'small', 'NULL')[i % 3]};{disease};W{i % 2}"
        )
    return "\n".join(rows) + "\n"


def _element(name: str, inside: object) -> str:
    return f"<{name}>{inside}</{name}>\n"


def config(
    criteria: Iterable[str] = CRITERIA,
    metric: str = "Loss (0.5/1.0/1.0)",
    suppression: object = 0.1,
    weights: Mapping[str, float] | None = None,
) -> str:
    weighed = (
        _element("attributeWeight", _element("attribute", escape(name)) + _element("weight", weight))
        for name, weight in (weights or {}).items()
    )
    return _element(
        "config",
        _element("relativeMaxOutliers", suppression)
        + _element("metric", escape(metric))
        + _element("attributeWeights", "".join(weighed))
        + _element("criteria", "".join(_element("criterion", escape(text)) for text in criteria)),
    )


def definition(columns: Iterable[tuple[str, str, Mapping[str, str]]] = COLUMNS) -> str:
    assigned = []
    for name, role, more in columns:
        facts = {"name": name, "type": role, "datatype": "String", **more}
        # the word is ARX's own
        assigned.append(
            _element("assigment", "".join(_element(key, escape(text)) for key, text in facts.items()))
        )
    return _element("definition", "".join(assigned))


def members(**changes: str) -> dict[str, str]:
    """The files of a project; what is named with its last word is another."""
    files = {
        "metadata.xml": _element("metadata", _element("version", "3.9.1") + _element("vocabulary", "2.0")),
        "project.xml": _element("project", _element("name", "Clinic") + _element("separator", ";")),
        "data/input.csv": table(),
        "input/config.xml": config(),
        "input/definition.xml": definition(),
        **{f"input/hierarchies/{name}.csv": text for name, text in HIERARCHIES.items()},
    }
    places = {"project": "project.xml", "table": "data/input.csv"}
    for name, text in changes.items():
        files[places.get(name, f"input/{name}.xml")] = text
    return files


def packed(files: Mapping[str, str] | Sequence[tuple[str, str]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as file:
        for name, text in files.items() if isinstance(files, Mapping) else files:
            file.writestr(name, text)
    return content.getvalue()


def project(folder: Path, **changes: str) -> Path:
    path = folder / "clinic.deid"
    path.write_bytes(packed(members(**changes)))
    return path
