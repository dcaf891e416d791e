"""docs/sql.md is what the database says of its functions; ANONDB_WRITE_SQL_PAGE=1 writes it anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from anondb.db.connection import Connection
from tools.sql_page import FILE, NAMES, page

pytestmark = pytest.mark.once

DOCS = Path(__file__).resolve().parents[2] / "docs"
# called in documentation to explain how others work, and not for users
PARTS = {
    *"class_beta class_delta concept_set_sizes disclosure_reference emd_equal emd_hierarchical emd_ordered".split(),
    *"entropy_l hierarchical_reference is_recursive keep_linked linked_linkage linked_query".split(),
    *"linked_utility ordered_reference recursive_l similarity_same_parent".split(),
}


def test_the_page_is_what_the_database_says(connection: Connection) -> None:
    if os.environ.get("ANONDB_WRITE_SQL_PAGE"):
        FILE.write_text(page(connection), encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == page(connection)


def test_every_function_that_users_are_told_of_is_on_the_page(connection: Connection) -> None:
    pages = [path.read_text(encoding="utf-8") for path in (*DOCS.glob("*.md"), DOCS.parent / "README.md")]
    called = {name for text in pages for name in re.findall(r"\banondb\.([a-z_0-9]+)\(", text)}
    query = "select p.proname from pg_proc as p where p.pronamespace = 'anondb'::regnamespace"
    functions = {name for (name,) in connection.execute(query).fetchall()}
    assert called & functions - PARTS - set(NAMES) == set()
