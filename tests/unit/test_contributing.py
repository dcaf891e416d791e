"""CONTRIBUTING.md is true: the files, the names and the signatures that it speaks of exist."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.documentation import ROOT, blocks
from tests.unit.test_house_rules import MODULES

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SPANS = list(dict.fromkeys(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", TEXT, flags=re.M | re.S))))
PLACEHOLDER = re.compile(r"<\w+>")
PATH = re.compile(r"[\w.*<>-]*(/[\w.*<>-]+)+/?|[\w<>]+\.(md|py|toml|sql)|MANIFEST")
SIGNATURE = re.compile(r"(?:[a-z]+\.)?(\w+)\(([\w, ]*)\)")
NAME = re.compile(r"[A-Z_][A-Za-z_]*[A-Za-z]|[a-z]+_[a-z_]+|anondb\.[\w<>]+")


def paths() -> Iterator[str]:
    """The files and folders that are named, also in commands; in a command's way to them `.venv` may not be there."""
    for span in SPANS:
        for word in span.split():
            if PATH.fullmatch(word) and not word.startswith((".venv", "/")):
                yield word


def python_functions() -> dict[str, list[list[str]]]:
    """The arguments of every function and method of the package, by name."""
    found = defaultdict(list)
    for tree in MODULES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                found[node.name].append([name for name in arguments if name not in ("self", "cls")])
    return found


def sql_functions() -> dict[str, list[list[str]]]:
    """The arguments of every function of ours in SQL."""
    found = defaultdict(list)
    for path in ROOT.glob("sql/**/*.sql"):
        text = path.read_text(encoding="utf-8")
        for name, arguments in re.findall(
            r"^create function anondb\.(\w+)\(\s*(.*?)\)\s*returns", text, re.M | re.S
        ):
            found[name].append(re.findall(r"(?:^|,)\s*(\w+) [a-z]", arguments))
    return found


def test_recipes_and_rules_are_there_to_be_checked() -> None:
    assert len(list(paths())) > 40
    assert sum(bool(SIGNATURE.fullmatch(span)) for span in SPANS) > 12


@pytest.mark.parametrize("path", sorted(set(paths())))
def test_a_file_that_is_named_exists(path: str) -> None:
    """A placeholder stands for any; a name without a folder is one somewhere in the project."""
    pattern = PLACEHOLDER.sub("*", path).rstrip("/")
    folders = [f"anondb/**/{pattern}", f"sql/**/{pattern}", pattern]
    assert any(True for folder in folders for _ in ROOT.glob(folder)), path


@pytest.mark.parametrize("span", [span for span in SPANS if SIGNATURE.fullmatch(span)])
def test_a_signature_is_that_of_a_function(span: str) -> None:
    match = SIGNATURE.fullmatch(span)
    assert match
    name, told = match[1], [argument for argument in match[2].split(", ") if argument]
    known = sql_functions() if span.startswith("anondb.") else python_functions()
    if name in ("drawn", "downgrade"):  # of tests, and of migrations
        folder, argument = {
            "drawn": ("tests/properties", "*_oracle.py"),
            "downgrade": ("migrations", "*.py"),
        }[name]
        texts = [path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob(argument)]
        assert any(re.search(rf"def {name}\({'.*'.join(told)}", text) for text in texts)
        return
    assert told in known.get(name, []), known.get(name)


@pytest.mark.parametrize(
    "span", [span for span in SPANS if NAME.fullmatch(span) and not PATH.fullmatch(span)]
)
def test_a_name_is_one_of_the_code(span: str) -> None:
    if span.startswith("anondb."):
        pattern = PLACEHOLDER.sub(r"\\w+", span.replace(".", r"\."))
        texts = [path.read_text(encoding="utf-8") for path in ROOT.glob("sql/**/*.sql")]
        assert any(re.search(rf"^create function {pattern}\(", text, re.M) for text in texts), span
        return
    files = [*ROOT.glob("anondb/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("sql/**/*.sql")]
    word = re.compile(rf"\b{span}\b")
    others = (path for path in files if path.name != "test_contributing.py")
    assert any(word.search(path.read_text(encoding="utf-8")) for path in others), span


def test_the_tree_is_that_of_the_project() -> None:
    """Every folder of the package and of the project is drawn, and no other."""
    [tree] = blocks("CONTRIBUTING.md", "text")
    drawn = set(re.findall(r"^(\w+)/ ", tree, re.M))
    inner = set(re.findall(r"^  (\w+)/ ", tree, re.M))
    assert inner == {path.parent.name for path in ROOT.glob("anondb/*/__init__.py")}
    assert drawn <= {path.name for path in ROOT.iterdir() if path.is_dir()}
    assert {"anondb", "sql", "migrations", "tests", "benchmarks", "examples", "tools"} == drawn
