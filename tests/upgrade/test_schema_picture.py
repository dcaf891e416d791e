"""The installed schema is the one that tests/schema.txt shows; ANONDB_WRITE_PICTURE=1 draws it anew."""

from __future__ import annotations

import os
from pathlib import Path

from anondb.db.connection import Connection
from anondb.db.install.upgrade import upgrade
from tests.upgrade.schema_picture import picture

PICTURE = Path(__file__).parents[1] / "schema.txt"


def test_the_installed_schema_is_the_one_in_the_picture(connection: Connection) -> None:
    upgrade(connection)
    drawn = picture(connection)
    if os.environ.get("ANONDB_WRITE_PICTURE"):
        PICTURE.write_text(drawn, encoding="utf-8")
    assert drawn == PICTURE.read_text(encoding="utf-8")
