"""The Adult census data that the package carries, and hierarchies for its columns."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from anondb.exchange.builtin import content

# ARX's own hierarchies, for figures that were taken with them; laws are tried with ours below too
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"

COLUMNS = "sex age race marital_status education native_country workclass occupation salary_class".split()
RECORDS = 30_162
ROOT = "*"

Groups = dict[str, "str | Groups"]

# groups from the root down, the last of them with their values
GROUPS: dict[str, Groups] = {
    "sex": {"": "Female Male"},
    "race": {"": "Amer-Indian-Eskimo Asian-Pac-Islander Black Other White"},
    "salary_class": {"": "<=50K >50K"},
    "marital_status": {
        "lives with a spouse": "Married-AF-spouse Married-civ-spouse",
        "lives alone": "Divorced Married-spouse-absent Never-married Separated Widowed",
    },
    "education": {
        "primary": {"first school": "Preschool 1st-4th 5th-6th"},
        "secondary": {"second school": "7th-8th 9th 10th 11th 12th HS-grad"},
        "higher": {
            "for a profession": "Assoc-voc Assoc-acdm Prof-school",
            "for a first degree": "Some-college Bachelors",
            "for a second degree": "Masters Doctorate",
        },
    },
    "native_country": {
        "Americas": "United-States Outlying-US(Guam-USVI-etc) Puerto-Rico Canada Mexico Guatemala Honduras El-Salvador"
        " Nicaragua Cuba Jamaica Haiti Dominican-Republic Trinadad&Tobago Columbia Ecuador Peru",
        "Europe": "England Scotland Ireland France Germany Holand-Netherlands Portugal Italy Greece Hungary Poland"
        " Yugoslavia",
        "Asia": "Iran India China Hong Taiwan Japan South Philippines Vietnam Laos Cambodia Thailand",
    },
    "workclass": {
        "public": "Federal-gov State-gov Local-gov",
        "private": "Private Self-emp-inc Self-emp-not-inc Without-pay",
    },
    "occupation": {
        "desk": "Adm-clerical Exec-managerial Prof-specialty Sales Tech-support",
        "hands": "Craft-repair Farming-fishing Handlers-cleaners Machine-op-inspct Transport-moving",
        "service": "Armed-Forces Other-service Priv-house-serv Protective-serv",
    },
}
# ties are decided by the order of the leaves: that of the data's own description, where figures hang on it
ORDER = {
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th"
    " 10th Doctorate 5th-6th Preschool"
}
AGES = range(100)
WIDTHS = (5, 10, 20)


def text() -> bytes:
    """The table as CSV, with a line for the names of its columns."""
    return content("adult")


@cache
def records() -> list[tuple[str, ...]]:
    _, *rows = csv.reader(text().decode().splitlines(), delimiter=";")
    return [tuple(row) for row in rows]


def paths(column: str) -> list[list[str]]:
    """The hierarchy of a column: each value with its labels up to the root."""
    if column == "age":
        return [[str(age), *(_range(age, width) for width in WIDTHS), ROOT] for age in AGES]
    found = _paths(GROUPS[column], [ROOT])
    order = ORDER[column].split() if column in ORDER else [leaf for leaf, *_ in found]
    return sorted(found, key=lambda path: order.index(path[0]))


def _range(age: int, width: int) -> str:
    least = age - age % width
    return f"{least}-{least + width - 1}"


def _paths(groups: Groups, above: list[str]) -> list[list[str]]:
    found = []
    for label, below in groups.items():
        labels = [label, *above] if label else above
        if isinstance(below, str):
            found += [[value, *labels] for value in below.split()]
        else:
            found += _paths(below, labels)
    return found


def file_name(column: str) -> str:
    return f"adult_hierarchy_{column.replace('_', '-')}.csv"


def hierarchies(folder: Path, columns: Iterable[str]) -> dict[str, str]:
    """How a policy names the hierarchies of these columns, which have been written to the folder."""
    return {column: f'{{ csv = "{folder / file_name(column)}" }}' for column in columns}


def write(folder: Path) -> Path:
    """The folder, with the table and its hierarchies in files as ARX has them."""
    (folder / "adult.csv").write_bytes(text())
    for column in COLUMNS:
        lines = "".join(";".join(path) + "\n" for path in paths(column))
        (folder / file_name(column)).write_text(lines, encoding="utf-8")
    return folder
