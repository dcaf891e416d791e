"""Logs of searches over a small ontology, and the policies that release them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anondb.api import Database
from anondb.db.ontology import store
from anondb.policy.load import parse
from anondb.policy.model import Policy
from tests.toys import Graph, ontology

GRAPH: Graph = {
    "sport": [], "water sport": ["sport"], "swimming": ["water sport"], "windsurfing": ["water sport"],
    "football": ["sport"], "sea": [], "mediterranean": ["sea"], "atlantic": ["sea"],
    "music": [], "jazz": ["music"], "opera": ["music"],
}  # fmt: skip
SECOND: Graph = {
    "art": [], "music": ["art"], "song": ["music"], "ballad": ["music"], "jazz": ["music"],
    "animal": [], "cat": ["animal"], "dog": ["animal"],
}  # fmt: skip
"""Of another ontology, which shares two words with the first."""
BOTH = '["toy", "second"]'

SWIMMERS = [
    ["Swimming", "Mediterranean"],
    ["windsurfing", "mediterranean"],
    ["lessons in swimming", "Swimming"],
]
LISTENERS = [["jazz", "opera"], ["jazz"], ["opera", "Jazz"]]

ITEMS = 'items = { table = "items", key = "id", item = "item" }'


def a_policy(
    *,
    k: int = 3,
    column: str = "set = true",
    method: str = "",
    privacy: str = "",
    city: str = "other",
    ontology: str = '"toy"',
) -> Policy:
    return parse(
        f"""
        source = "logs"
        target = "share"
        [privacy]
        k = {k}
        {privacy}
        [method]
        algorithm = "mdav"
        {method}
        [columns]
        id = {{ role = "identifier" }}
        city = {{ role = "{city}" }}
        queries = {{ role = "quasi", {column}, ontology = {ontology} }}
        """
    )


def log(db: Database, sets: Sequence[Sequence[str | None] | None]) -> None:
    """The table `logs`, anew; record n is of city n."""
    store(db.connection, "toy", ontology(GRAPH))
    db.connection.execute("drop table if exists logs; create table logs (id int, city text, queries text[])")
    with db.connection.cursor() as cursor:
        rows = [(number, f"city {number}", texts) for number, texts in enumerate(sets)]
        cursor.executemany("insert into logs values (%s, %s, %s::text[])", rows)


def log_of_two(db: Database, sets: Sequence[Sequence[str | None] | None]) -> None:
    """The same, and a second ontology."""
    store(db.connection, "second", ontology(SECOND))
    log(db, sets)


def log_items(db: Database, sets: Sequence[Sequence[str | None]]) -> None:
    """The same with the texts in a table of their own."""
    log(db, sets)
    db.connection.execute(
        "create table items as select id, unnest(queries) as item from logs; alter table logs drop column queries"
    )


def released(db: Database) -> list[tuple[Any, ...]]:
    return db.connection.execute("select city, queries from share order by city").fetchall()
