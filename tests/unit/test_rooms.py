"""What belongs to one room is in no other: a method is named in its own room alone."""

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
OUTSIDE = [path for path in MODULES if not path.startswith("anondb/methods/") and path not in NAMESAKES]


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
