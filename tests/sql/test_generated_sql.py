"""PostgreSQL reads generated SQL as it was meant: names, values, syntax, and calls of our own functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString, cast

import psycopg
import pytest
from psycopg import sql

import anondb
from anondb import resources
from anondb.db.connection import Connection
from anondb.sqltree.build import Node, call, ident, string
from anondb.sqltree.render import render
from tests.generated import HOSTILE, statements

CODE = Path(anondb.__file__).parent
CALL = re.compile(r"(?<!function )\banondb\.(\w+)\(")
COMMENT = re.compile(r"('(?:[^']|'')*')|--.*")
NESTED = re.compile(r"'(?:[^']|'')*'|[(\[]|[)\]]|,")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("pretty", [False, True])
def test_names_and_values_come_back_as_they_were_given(
    connection: Connection, name: str, pretty: bool
) -> None:
    value, alias = render(string(name), pretty=pretty), render(ident(name), pretty=pretty)
    with psycopg.RawCursor(connection) as cursor:
        cursor.execute(f"select {value} as {alias}".encode())
        assert cursor.fetchall() == [(name,)]
        assert [column.name for column in cursor.description or ()] == [name]


@pytest.mark.parametrize("name", ["harmless", *HOSTILE])
@pytest.mark.parametrize("pretty", [False, True])
def test_every_statement_is_sql_whatever_the_names(connection: Connection, name: str, pretty: bool) -> None:
    texts = [render(statement, pretty=pretty) for statement in statements(name)]
    # PL/pgSQL checks the syntax of a body's statements, and looks up nothing yet
    body = "begin\n" + "".join(f"{text};\n" for text in texts) + "end"
    check = "create function pg_temp.check(jsonb[]) returns void language plpgsql as {}"
    connection.execute(sql.SQL(check).format(sql.Literal(body)))


def calls_in_trees() -> Iterator[tuple[str, int]]:
    for statement in statements("harmless"):
        for found in CALL.finditer(render(statement)):
            yield found[1], arguments(render(statement), found.end())


def calls_in_texts() -> Iterator[tuple[str, int]]:
    """Calls in the strings of our Python code and in the bodies of our SQL functions."""
    for path in CODE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):  # its parts are no texts of their own
                passed |= {id(part) for part in node.values}
                yield from calls_in("".join(_part(part) for part in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
                yield from calls_in(node.value)
    for path in resources.path("sql").rglob("*.sql"):
        # comments are left out, and dashes in a text are none
        yield from calls_in(COMMENT.sub(lambda found: found[1] or "", path.read_text(encoding="utf-8")))


def _part(part: ast.expr) -> str:
    """A part of a formatted text; what is put into it is one argument."""
    return str(part.value) if isinstance(part, ast.Constant) else "x"


def calls_in(text: str) -> Iterator[tuple[str, int]]:
    for found in CALL.finditer(text):
        yield found[1], arguments(text, found.end())


def arguments(text: str, start: int) -> int:
    """How many arguments follow, up to the parenthesis that closes the call."""
    if re.match(r"\s*\)", text[start:]):
        return 0
    depth = count = 1
    for token in NESTED.finditer(text, start):
        if token[0] in "([":
            depth += 1
        elif token[0] in ")]":
            depth -= 1
        elif token[0] == "," and depth == 1:
            count += 1
        if depth == 0:
            return count
    raise AssertionError(text[start:])


def test_every_call_of_our_functions_fits_one_that_is_installed(connection: Connection) -> None:
    rows = connection.execute(
        "select p.proname, p.pronargs - p.pronargdefaults, p.pronargs from pg_proc as p"
        " where p.pronamespace = 'anondb'::regnamespace"
    )
    installed = {
        (name, count)
        for name, least, most in cast(list[tuple[str, int, int]], rows.fetchall())
        for count in range(least, most + 1)
    }
    generated, written = set(calls_in_trees()), set(calls_in_texts())
    assert {name for name, _ in generated} >= {"range_label", "date_label", "mask_label", "replace_rows"}
    assert {name for name, _ in written} >= {"release_obstacles", "check_columns", "role_name"}
    assert generated | written <= installed


@pytest.mark.parametrize(
    ("text", "count"), [("anondb.f()", 0), ("anondb.f(1)", 1), ("anondb.f(g(1, 2), array[3, 4], ', (')", 3)]
)
def test_arguments_are_counted(text: LiteralString, count: int) -> None:
    assert list(calls_in(text)) == [("f", count)]


def test_a_call_that_fits_nothing_would_be_found(connection: Connection) -> None:
    node: Node = call("anondb.range_label", string("x"))
    with pytest.raises(psycopg.errors.UndefinedFunction):
        connection.execute(f"select {render(node)}".encode())
