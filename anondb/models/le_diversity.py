"""(l, e)-diversity (Wang et al.): l well-represented values, every two of them more than e apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from anondb.errors import UsageError
from anondb.evaluation.metric import Metric
from anondb.models.model import SensitiveModel, Tables
from anondb.policy.check import Key, Spot, Table, read_number, read_table, read_text, shown


def _read_l(spot: Spot, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value < 2**31:
        raise UsageError(
            f"{spot.key} must be a whole number of at least 2, not {shown(value)}",
            hint="3 is a common choice: l = 3",
        )
    return value


def _read_e(spot: Spot, value: object) -> float:
    number = read_number(spot, value)
    if number < 0:
        raise UsageError(
            f"{spot.key} must be 0 or more, not {shown(value)}",
            hint="values that share a parent are 1 apart: e = 1 keeps them out of one class",
        )
    return float(number)


@dataclass(frozen=True)
class LeDiversity(SensitiveModel):
    """Only the method of its name can satisfy it; its classes are not those of generalized records."""

    name = "le_diversity"
    title = "(l, e)-diversity"
    sign = "l = "
    without_k = "Quasi-identifiers are released exactly as they are, which gives no k; who is in the data can be seen."
    bounds_guess = True
    example = 'le_diversity = { column = "disease", l = 3, e = 1 }'
    keys: ClassVar[Mapping[str, Key]] = {
        "column": Key(read_text, 'add the sensitive column to protect: column = "disease"'),
        "l": Key(_read_l, "add l = 3: no value then has more than a third of a class"),
        "e": Key(_read_e, "add e = 1: values that share a parent are then not in one class"),
    }
    metrics = (
        Metric("le_diversity", "l: no value has more of a class than 1/l", "models", "higher", "number",
               "sensitive column",
               "The l of (l, e)-diversity: no sensitive value has more than 1/l of a class."),
    )  # fmt: skip

    l: int  # noqa: E741
    e: float

    @classmethod
    def read(cls, spot: Spot, value: object) -> Tables:
        if isinstance(value, list):
            raise UsageError(
                f"{spot.key} protects one sensitive column, and here are several tables",
                hint=f'write {cls.example}; leave other sensitive columns out: role = "identifier"',
            )
        if not isinstance(value, dict):
            raise UsageError(f"{spot.key} must be a table, not {shown(value)}", hint=f"write {cls.example}")
        return ((spot, read_table(spot, value, cls.keys)),)

    @classmethod
    def uses_hierarchy(cls, keys: Table) -> bool:
        return True

    @property
    def demanded(self) -> float:
        return self.l

    def failure(self, reached: float) -> str | None:
        return None if reached >= self.l else f"a value has more than 1/{self.l} of a class"

    @classmethod
    def sentence(cls, reached: float, shown: str, column: str | None, variant: str | None) -> str:
        known = (
            f"Sensitive values are known by class alone: none of {column} has more than 1/{shown} of a class"
        )
        if variant in (None, "e = 0"):
            return f"{known}."
        return f"{known}, and no two values of it are as near in its hierarchy as {variant}."
