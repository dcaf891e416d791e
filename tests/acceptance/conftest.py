"""Fixtures of the acceptance tests: a hospital, and folders and servers of a test's own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from anondb.db.connection import Connection
from tests.acceptance.clinic import GATE, HOSPITAL, Clinic
from tests.conftest import Cli


@pytest.fixture
def clinic(dsn: str, connection: Connection, cli: Cli, tmp_path: Path) -> Clinic:
    """A hospital with 24 admissions."""
    connection.execute(HOSPITAL)
    connection.execute(GATE.encode())
    return Clinic(dsn, connection, cli, tmp_path)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder on a short path that the server's user can enter, where the tests run as root."""
    folder = Path(tempfile.mkdtemp(prefix="anondb-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
