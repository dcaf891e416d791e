"""anondb.anonymize: a frame becomes its release, whatever its columns are, and leaves nothing in the database."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anondb
from anondb.api import Database
from anondb.api.frame_columns import columns_of
from anondb.errors import PolicyError, UnsatisfiableError, UsageError
from tests.acceptance.clinic import LEFTOVERS

pytestmark = pytest.mark.once  # another server version would say the same

SECRET = "Secretia"
LEFT = """
select (select count(*) from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname !~ '^(pg_catalog|information_schema|pg_toast)$'),
       (select count(*) from anondb.run), (select count(*) from anondb.policy), (select count(*) from anondb.run_step)
"""


def persons(rows: int = 48) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": [f"{SECRET}{i}" for i in range(rows)],
            "age": [20 + i * 5 % 40 for i in range(rows)],
            "zip": [f"0{i % 4}234" for i in range(rows)],
            "illness": [("flu", "cold", "ulcer")[i % 3] for i in range(rows)],
        }
    )


def policy(**changes: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"widths": [10, 20]}},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "illness": {"role": "sensitive"},
    }
    privacy = {"k": 4, "l_diversity": {"column": "illness", "l": 2}}
    return {"privacy": privacy, "method": {"algorithm": "optimal"}, "columns": columns} | changes


def test_a_frame_becomes_what_a_run_makes_of_the_same_table(db: Database) -> None:
    released = anondb.anonymize(persons(), policy(), database=db)
    db.connection.execute("create table public.people (name text, age bigint, zip text, illness text)")
    with db.connection.cursor() as cursor:
        cursor.executemany(
            "insert into public.people values (%s, %s, %s, %s)",
            list(persons().itertuples(index=False, name=None)),
        )
    run = db.run({"source": "public.people", "target": "public.anonymous", **policy()})
    pd.testing.assert_frame_equal(released, run.to_frame())
    told = released.attrs["anondb"]
    assert (told["k"], told["levels"]) == (run.result.k, dict(run.result.levels))
    assert not {"run", "source", "target"} & told.keys()


def test_nothing_is_left_in_the_database_also_where_there_is_no_release(db: Database) -> None:
    before = db.connection.execute(LEFT).fetchall()
    anondb.anonymize(persons(), policy(), database=db)
    impossible = policy(privacy={"k": 49})
    with pytest.raises(UnsatisfiableError):
        anondb.anonymize(persons(), impossible, database=db)
    assert db.connection.execute(LEFT).fetchall() == before
    assert db.connection.execute(LEFTOVERS).fetchall() == []


def test_the_database_is_found_as_by_every_command(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(anondb.anonymize(persons(), policy(), dsn=dsn)) == 48
    monkeypatch.setenv("ANONDB_DSN", dsn)
    assert len(anondb.anonymize(persons(), {"source": "a.b", "target": "c.d", **policy()})) == 48


def test_a_column_that_tells_persons_apart_is_refused_as_by_a_run(db: Database) -> None:
    kept = policy()
    kept["columns"] = kept["columns"] | {"name": {"role": "other"}}
    with pytest.raises(PolicyError, match="records are known apart by it") as raised:
        anondb.anonymize(persons(), kept, database=db)
    assert SECRET not in str(raised.value)


def test_a_column_that_the_policy_does_not_name_is_an_error(db: Database) -> None:
    with pytest.raises(PolicyError, match="more"):
        anondb.anonymize(persons().assign(more=1), policy(), database=db)


def test_the_index_is_no_column_and_is_not_released(db: Database) -> None:
    indexed = persons().set_index("name")
    unnamed = policy()
    unnamed["columns"] = {name: said for name, said in unnamed["columns"].items() if name != "name"}
    released = anondb.anonymize(indexed, unnamed, database=db)
    assert list(released.columns) == ["age", "zip", "illness"]
    assert list(released.index) == list(range(48))
    assert not released.map(lambda value: SECRET in str(value)).any(axis=None)


ZONE = dt.timezone(dt.timedelta(hours=2))
DAY, MOMENT = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 10, 30)
COLUMNS: dict[str, tuple[Any, str, list[Any]]] = {
    "int8": (pd.Series([1, 2], dtype="int8"), "bigint", ["1", "2"]),
    "uint64": (pd.Series([1, 2**64 - 1], dtype="uint64"), "numeric", ["1", str(2**64 - 1)]),
    "nullable int": (pd.array([1, None], dtype="Int64"), "bigint", ["1", None]),
    "nullable float": (pd.array([1.5, None], dtype="Float64"), "double precision", ["1.5", None]),
    "nullable bool": (pd.array([True, None], dtype="boolean"), "boolean", ["true", None]),
    "bool": ([True, False], "boolean", ["true", "false"]),
    "float": ([0.1, np.nan, np.inf], "double precision", ["0.1", None, "inf"]),
    "text": (["Zoë", None, ""], "text", ["Zoë", None, ""]),
    "string": (pd.array(["a", None], dtype="string"), "text", ["a", None]),
    "categories": (pd.Categorical(["b", None, "a"]), "text", ["b", None, "a"]),
    "categories of numbers": (pd.Categorical([3, None, 1]), "bigint", ["3", None, "1"]),
    "categories of days": (pd.Categorical([DAY, None]), "date", ["2024-02-29", None]),
    "sparse": (pd.arrays.SparseArray([0, 0, 1]), "bigint", ["0", "0", "1"]),
    "datetimes": (
        pd.to_datetime(pd.Series(["2024-02-29 10:30", None])),
        "timestamp without time zone",
        ["2024-02-29 10:30:00", None],
    ),
    "datetimes with a zone": (
        pd.to_datetime(["2024-02-29 10:30"]).tz_localize("Europe/Berlin"),
        "timestamp with time zone",
        ["2024-02-29 10:30:00+01:00"],
    ),
    "timedeltas": (pd.to_timedelta(["-1s"]), "interval", ["-1 days 86399 seconds 0 microseconds"]),
    "days": ([DAY, None], "date", ["2024-02-29", None]),
    "moments": (pd.Series([MOMENT], dtype=object), "timestamp without time zone", ["2024-02-29 10:30:00"]),
    "moments with a zone": (
        pd.Series([MOMENT.replace(tzinfo=ZONE)], dtype=object),
        "timestamp with time zone",
        ["2024-02-29 10:30:00+02:00"],
    ),
    "times": ([dt.time(10, 30)], "time without time zone", ["10:30:00"]),
    "objects that are numbers": (
        pd.Series([1, None, 2**70], dtype=object),
        "numeric",
        ["1", None, str(2**70)],
    ),
    "objects with fractions": (pd.Series([1, 0.5], dtype=object), "double precision", ["1.0", "0.5"]),
    "decimals": ([Decimal("1.50"), Decimal("NaN")], "numeric", ["1.50", None]),
    "uuids": ([uuid.UUID(int=1)], "uuid", [str(uuid.UUID(int=1))]),
    "lists": (
        [["b", "a"], {"d", "c"}, np.array(["e"]), None],
        "text[]",
        [["b", "a"], ["c", "d"], ["e"], None],
    ),
    "nothing": ([None, None], "text", [None, None]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_has_the_type_that_its_values_have(db: Database, name: str) -> None:
    values, type_, cells = COLUMNS[name]
    frame = pd.DataFrame({"x": values})
    assert columns_of(frame) == {"x": (type_, cells)}
    said = {
        "k": {"role": "quasi", "hierarchy": {"mask": "all"}},
        "x": {"role": "other", "keep": "identifying"},
    }
    many = pd.concat([frame.assign(k=1)] * 2, ignore_index=True)[["k", "x"]]
    released = anondb.anonymize(many, policy(privacy={"k": 2}, columns=said), database=db)
    assert released["x"].isna().sum() == many["x"].isna().sum()
    assert sorted(map(str, released["k"])) == ["1"] * len(many)


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), 'two columns are called "a"'),
        (
            pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
            "several levels",
        ),
        (persons().set_index(["name", "age"]), "several levels"),
        (pd.DataFrame([[1, 2]], columns=["a", 7]), "the name of column 2 is no text"),
        (pd.DataFrame(), "no columns"),
        (pd.DataFrame({"a": [SECRET, 1]}), '"a" holds object of int, str'),
        (pd.DataFrame({"a": [b"x"]}), '"a" holds object of bytes'),
        (pd.DataFrame({"a": [[1]]}), '"a" holds object of list of others'),
        (pd.DataFrame({"a": [MOMENT, DAY]}, dtype=object), '"a" holds object of date, datetime'),
        (pd.DataFrame({"a": [1j]}), '"a" holds complex128'),
        (pd.DataFrame({"a": pd.period_range("2024", periods=2, freq="M")}), '"a" holds period'),
        (pd.DataFrame({"a": pd.interval_range(0, 2)}), '"a" holds interval'),
        (pd.DataFrame({"a": [f"{SECRET}\0"]}), 'a text of "a" has a NUL'),
        (pd.DataFrame({"a": [f"{SECRET}\ud800"]}), 'a text of "a" cannot be written'),
        ([1, 2], "a pandas DataFrame is needed, and not list"),
    ],
)
def test_a_frame_that_cannot_be_taken_is_refused_without_a_value(frame: Any, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        columns_of(frame)
    assert told in raised.value.message
    assert raised.value.hint
    assert SECRET not in str(raised.value)


def test_a_method_that_makes_several_tables_is_refused(db: Database) -> None:
    several = policy(
        privacy={"le_diversity": {"column": "illness", "l": 2, "e": 1}}, method={"algorithm": "le_diversity"}
    )
    several["columns"] = several["columns"] | {
        "age": {"role": "quasi"},
        "zip": {"role": "quasi"},
        "illness": {"role": "sensitive", "hierarchy": "illness"},
    }
    with pytest.raises(UsageError, match="makes several tables"):
        anondb.anonymize(persons(), several, database=db)


def test_a_frame_without_rows_is_told_so(db: Database) -> None:
    with pytest.raises(UsageError):
        anondb.anonymize(persons(0), policy(), database=db)
