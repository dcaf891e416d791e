"""docs/api.md is what the code says of itself; ANONDB_WRITE_API=1 writes it anew."""

from __future__ import annotations

import os

import anondb
from anondb import api
from tools.api_page import FILE, ROOMS, page


def test_the_page_of_the_library_is_up_to_date() -> None:
    if os.environ.get("ANONDB_WRITE_API"):
        FILE.write_text(page(), encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == page()


def test_everything_that_the_library_exports_has_a_section() -> None:
    exported = {getattr(owner, name) for owner in (anondb, api) for name in owner.__all__}
    classes = {one for one in exported if isinstance(one, type) and not issubclass(one, Exception)}
    assert classes == set(ROOMS.values())
