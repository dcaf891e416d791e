"""What belongs to one room is in no other: a method is named in its own, the rows of a source are the engine's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from anondb.methods.registry import METHODS
from tests.unit.test_house_rules import MODULES, imports

PACKAGES = {Path(path).parts[2] for path in MODULES if re.fullmatch(r"anondb/methods/\w+/method\.py", path)}
NAMES = re.compile(rf"\b({'|'.join(sorted(PACKAGES | METHODS.keys()))})\b")
# a privacy model that has the name of the method that sees to it
NAMESAKES = {f"anondb/models/{name}.py" for name in METHODS} & MODULES.keys()
# a study of one method reruns its parts one by one, as the paper did
STUDIES = {f"anondb/study/set_{part}.py" for part in ("experiment", "study", "report")}
OUTSIDE = [
    path for path in MODULES if not path.startswith("anondb/methods/") and path not in NAMESAKES | STUDIES
]


def docstrings(tree: ast.AST) -> set[ast.AST]:
    """Docstrings may show a policy that names a method; so may the help of a command, which is one."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, owners) and node.body and isinstance(node.body[0], ast.Expr)
    }


def methods_named(tree: ast.AST) -> Iterator[str]:
    """Names of methods in texts of the code, and imports from the room of one."""
    described = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in described:
            yield from NAMES.findall(node.value)
    for name in imports(tree):
        room = name.split(".")
        if room[:2] == ["anondb", "methods"] and PACKAGES & set(room[2:3]):
            yield name


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_place_outside_of_the_methods_names_one(path: str) -> None:
    assert list(methods_named(MODULES[path])) == []


@pytest.mark.parametrize(
    "code",
    [
        'if policy.method.algorithm == "fusion": pass',
        'hint = f"set algorithm = {x}, or choose mdav"',
        "from anondb.methods.mondrian.sql import divided",
        "from anondb.methods.full_domain import search",
        "def f():\n    import anondb.methods.le_diversity.policy",
    ],
)
def test_a_named_method_would_be_found(code: str) -> None:
    assert list(methods_named(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        '"""Compares datafly and mondrian."""',
        "from anondb.methods.registry import METHODS",
        "from anondb.methods.method import ReleaseMethod",
        'text = "the confusion of mondrians"',
    ],
)
def test_what_names_no_method_is_left_alone(code: str) -> None:
    assert not list(methods_named(ast.parse(code)))


# who may name the source's table besides the engine: who plans the run, and who builds hierarchies of its values
ENGINES = {"anondb/run/engine.py", "anondb/run/citus/engine.py"}
KNOW_THE_SOURCE = {"anondb/run/compile.py", "anondb/hierarchies/build/run_columns.py"}
# who writes down how a procedure locks it, and looks whether that is possible
KNOW_THE_SOURCE |= {"anondb/releases/procedure/frame.py", "anondb/api/procedures.py"}
# what locks, renames and drops the tables of a release, of which it touches no row
MOVES_TABLES = {"anondb/run/swap.py"}


def names_in(node: ast.AST) -> set[str]:
    inside = list(ast.walk(node))
    return {one.id for one in inside if isinstance(one, ast.Name)} | {
        one.attr for one in inside if isinstance(one, ast.Attribute)
    }


def source_tables(tree: ast.AST) -> Iterator[int]:
    """Lines that take the source's table from a plan or a snapshot: what is not taken is in no statement."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and node.attr == "source"
            and ast.unparse(node.value).endswith("plan")
        ):
            yield node.lineno
        if isinstance(node, ast.Attribute) and ast.unparse(node).endswith("snapshot.source.relation"):
            yield node.lineno


def statements_over_rows(tree: ast.AST) -> Iterator[int]:
    """Lines with a statement about the table that a release is written to."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "Statement":
            continue
        if {"fresh", "release"} & names_in(node):
            yield node.lineno


@pytest.mark.parametrize("path", MODULES)
def test_the_engine_alone_sends_statements_over_the_source(path: str) -> None:
    if path in ENGINES | KNOW_THE_SOURCE:
        assert list(source_tables(MODULES[path]))
    else:
        assert not list(source_tables(MODULES[path]))


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path.startswith(("anondb/run/", "anondb/methods/"))]
)
def test_the_engine_alone_sends_statements_over_the_rows_of_a_release(path: str) -> None:
    if path not in MOVES_TABLES | ENGINES:
        assert list(statements_over_rows(MODULES[path])) == []


@pytest.mark.parametrize(
    "code", ["rows = table(plan.source.name)", "copy(self.job.plan.source)", "look(snapshot.source.relation)"]
)
def test_a_source_that_is_taken_elsewhere_would_be_found(code: str) -> None:
    assert list(source_tables(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        'db.one(Statement("count", sizes_of(self.fresh)))',
        'db.run(Statement("delete", delete_from(release), answers=row(n=0)))',
    ],
)
def test_a_statement_over_a_release_would_be_found(code: str) -> None:
    assert list(statements_over_rows(ast.parse(code)))
