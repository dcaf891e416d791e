"""Calls of anondb.generate and generate_recipe: by name, by recipes that cannot inject, and wrong ones."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, timedelta
from typing import Any

import psycopg
import pytest
from psycopg import sql

from anondb.db import synthetic as cocoa
from anondb.db.connection import Connection
from anondb.db.errors import translate
from anondb.errors import UsageError
from anondb.sqltree.tables import Relation
from anondb.synthetic.cocoa import recipe
from anondb.synthetic.domain_file import load, parse
from tests.documentation import blocks
from tests.sql.synthetic_rows import TOY, rows_of


class TestByName:
    def test_a_built_in_domain_is_generated_by_its_name(self, rolled_back: Connection) -> None:
        made = rolled_back.execute("select anondb.generate('insurance', 'public.insured', 20, seed => 3)")
        assert made.fetchall() == [(20,)]
        found = rolled_back.execute("select * from public.insured").fetchall()
        assert Counter(found) == Counter(rows_of(rolled_back, recipe(load("insurance")), 20, 3))

    def test_a_name_that_is_not_built_in_is_told(self, rolled_back: Connection) -> None:
        with pytest.raises(psycopg.Error) as caught:
            rolled_back.execute("select anondb.generate('nobody', 'public.t', 20)")
        assert caught.value.sqlstate == "SA252"

    def test_the_documented_calls_make_one_table_in_parts(self, rolled_back: Connection) -> None:
        [text] = blocks("docs/generate.md", "sql")
        rolled_back.execute(text.encode())
        found = rolled_back.execute("select * from public.people").fetchall()
        assert Counter(found) == Counter(rows_of(rolled_back, recipe(load("irish_census")), 2000, 7))


class TestExpressions:
    AS_SQL = (
        "size * 2 - 7 / (size + 1)",
        "-size % 2",
        "case when size between 2 and 3 then 'middle' else 'end' end",
        "case size when 1 then 'one' when 2 then shape else upper(shape) end",
        "size in (1, 3) and not shape = 'round' or size > 3",
        "shape || '-' || size",
        "greatest(size, 2) + least(size, 3, 2.5)",
        "round(size / 3.0, 2)",
        "ceil(size / 2.0) + floor(size / 2.0) + sqrt(size) + abs(1 - size) + exp(0) + ln(size)",
        "shape <> 'it''s'",
    )

    def test_they_are_what_postgresql_makes_of_their_text(self, rolled_back: Connection) -> None:
        text = TOY + "".join(
            f"[attributes.z{place}]\nexpression = {json.dumps(one)}\n"
            for place, one in enumerate(self.AS_SQL)
        )
        cocoa.generate(rolled_back, recipe(parse(text)), Relation("public", "t"), 60, 5)
        for place, one in enumerate(self.AS_SQL):
            other = "select z{} from public.t where z{} is distinct from ({})::text"
            assert rolled_back.execute(other.format(place, place, one).encode()).fetchall() == [], one

    def test_texts_are_compared_by_their_bytes_whatever_the_collation(self, rolled_back: Connection) -> None:
        text = """
        [attributes.a]
        frequencies = { b = 1 }
        [attributes.before]
        expression = "a < 'C'"
        [attributes.capital]
        expression = "lower('É' || upper(a))"
        """
        assert rows_of(rolled_back, recipe(parse(text)), 1) == [("b", "false", "Éb")]

    def test_days_are_drawn_from_their_ranges_and_compared(self, rolled_back: Connection) -> None:
        text = """
        [attributes.admitted]
        type = "date"
        frequencies = { "2024-02-28..2024-03-01" = 3, "2024-12-31" = 1 }
        [attributes.left]
        type = "date"
        expression = "admitted + 2"
        [attributes.season]
        expression = "case when admitted < date '2024-06-01' then 'spring' else 'winter' end"
        [attributes.gift]
        given = ["admitted"]
        lookup = { 2024-12-31 = "rocket", "*" = "flower" }
        [attributes.told]
        expression = "season || ' ' || admitted"
        """
        rolled_back.execute("set local datestyle = 'SQL, DMY'")
        cocoa.generate(rolled_back, recipe(parse(text)), Relation("public", "t"), 200, 1)
        rolled_back.execute("set local datestyle = 'ISO, YMD'")
        days = [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1), date(2024, 12, 31)]
        expected = {
            (day, day + timedelta(2), season, gift, f"{season} {day}")
            for day in days
            for season, gift in [("winter", "rocket") if day.month == 12 else ("spring", "flower")]
        }
        assert set(rolled_back.execute("select * from public.t").fetchall()) == expected

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("size / 0", "division by zero"),
            ("2147483647 + size", "out of range"),
            ("ln(0 * size)", "logarithm"),
            ("shape + 1", "does not exist"),
            ("case when shape then 1 else 2 end", "boolean"),
        ],
    )
    def test_what_cannot_be_computed_is_told(self, rolled_back: Connection, text: str, told: str) -> None:
        domain = parse(TOY + f'[attributes.z]\nexpression = "{text}"\n')
        with pytest.raises(UsageError, match=f"cannot be computed: .*{told}"):
            cocoa.generate(rolled_back, recipe(domain), Relation("public", "t"), 60, 1)


@pytest.mark.parametrize(
    ("arguments", "state"),
    [
        ("'public.t', 0", "SA123"),
        ("'public.t', -5", "SA123"),
        ("'public.t', null", "SA123"),
        ("'public.t', 1, seed => null", "SA123"),
        ("null, 1", "SA124"),
        ("'public.t', 1, first_row => 0", "SA123"),
        ("'t', 1", "SA124"),
        ("'pg_catalog.pg_class', 1", "SA125"),
    ],
)
def test_a_wrong_call_is_told(rolled_back: Connection, arguments: str, state: str) -> None:
    call = f"select anondb.generate_recipe(%s::jsonb, {arguments})"
    with pytest.raises(psycopg.Error) as caught:
        rolled_back.execute(call.encode(), (json.dumps(recipe(parse(TOY))),))
    assert caught.value.sqlstate == state
    assert isinstance(translate(caught.value), UsageError)


@pytest.mark.parametrize("recipe_", ["{}", "null", '{"attributes": []}'])
def test_a_recipe_without_columns_is_told(rolled_back: Connection, recipe_: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        rolled_back.execute("select anondb.generate_recipe(%s::jsonb, 'public.t', 1)", (recipe_,))
    assert caught.value.sqlstate == "SA250"


def test_a_value_without_a_row_is_told_with_its_attribute(rolled_back: Connection) -> None:
    text = """
    [attributes.a]
    frequencies = { x = 1 }
    [attributes.b]
    given = ["c"]
    table.y = { z = 1 }
    [attributes.c]
    expression = "a || '!'"
    """
    with pytest.raises(UsageError, match='attribute "b" has no value'):
        cocoa.generate(rolled_back, recipe(parse(text)), Relation("public", "t"), 5, 1)


@pytest.mark.parametrize(
    "tree",
    [
        {"function": "pg_sleep", "arguments": [{"number": "1"}]},
        {"operator": "; drop table x", "arguments": [{"number": "1"}, {"number": "1"}]},
        {"number": "1); select 1"},
        {"attribute": "0, (select 1)"},
        {"raw": "1"},
        {"truth": "true"},
        {"date": "2024-01-01'::text; --"},
        {"operator": "in", "arguments": [{"number": "1"}]},
        {"operator": "between", "arguments": [{"number": "1"}, {"number": "1"}]},
        {
            "operand": {"raw": "1"},
            "cases": [[{"number": "1"}, {"number": "1"}]],
            "otherwise": {"number": "1"},
        },
        {},
    ],
)
def test_a_recipe_cannot_bring_sql_of_its_own(rolled_back: Connection, tree: dict[str, Any]) -> None:
    made = {"attributes": [{"name": "x", "type": "text", "level": 1, "expression": tree}]}
    with pytest.raises(psycopg.Error) as caught:
        rows_of(rolled_back, made, 1)
    assert caught.value.sqlstate == "SA122"


def test_names_and_texts_of_a_recipe_are_quoted(rolled_back: Connection) -> None:
    text = """
    [attributes.'a"; drop table x; --']
    frequencies = { "'); drop table x; --" = 1 }
    [attributes.'level']
    expression = "'it''s' || \\"a\\"\\"; drop table x; --\\""
    """
    made = recipe(parse(text))
    cocoa.generate(rolled_back, made, Relation("public", 'odd "t'), 1, 1)
    query = sql.SQL("select * from {}").format(sql.Identifier("public", 'odd "t'))
    assert rolled_back.execute(query).fetchall() == [("'); drop table x; --", "it's'); drop table x; --")]
