"""What a hierarchy of a quasi-identifier can be. A form that computes its labels is a file of this folder."""

from __future__ import annotations

from anondb.hierarchies.forms.base import (
    ROOT,
    BuiltVgh,
    Computed,
    CsvVgh,
    Hierarchy,
    Meaning,
    StoredVgh,
    TableVgh,
    Values,
    VghTable,
)
from anondb.hierarchies.forms.builtin import BuiltinCode, BuiltinTable
from anondb.hierarchies.forms.code import Code
from anondb.hierarchies.forms.dates import DATE_UNITS, Age, Dates
from anondb.hierarchies.forms.grid import Grid
from anondb.hierarchies.forms.mask import MASK_SIDES, Mask
from anondb.hierarchies.forms.ranges import Cap, Intervals

COMPUTED: tuple[type[Computed], ...] = (Intervals, Dates, Age, Mask, Code, Grid)
"""The forms that a policy writes as a table of keys, in the order in which they are suggested."""

__all__ = [
    "COMPUTED",
    "DATE_UNITS",
    "MASK_SIDES",
    "ROOT",
    "Age",
    "BuiltVgh",
    "BuiltinCode",
    "BuiltinTable",
    "Cap",
    "Code",
    "Computed",
    "CsvVgh",
    "Dates",
    "Grid",
    "Hierarchy",
    "Intervals",
    "Mask",
    "Meaning",
    "StoredVgh",
    "TableVgh",
    "Values",
    "VghTable",
]
