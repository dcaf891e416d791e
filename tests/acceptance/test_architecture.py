"""docs/architecture.md names what exists, and tells a run in the order in which it happens."""

from __future__ import annotations

import pkgutil
import re
import sys
from collections.abc import Iterator
from types import FunctionType

import pytest

from anondb.api.database import connect
from anondb.policy.load import load
from tests.acceptance.clinic import Clinic
from tests.documentation import ROOT
from tools.trace_run import Trace

pytestmark = pytest.mark.once  # another server version would say the same

TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALK = TEXT.split("## The walk of a run", 1)[1].split("\n## ", 1)[0]
ROOMS = {path.name for path in (ROOT / "anondb").iterdir() if path.is_dir()}


def names(text: str) -> list[str]:
    """What stands in code marks and begins with the name of a room."""
    found = re.findall(r"`([a-z_]+(?:\.\w+)+)`", text)
    return [name for name in found if name.partition(".")[0] in ROOMS and not name.endswith(".py")]


def resolved(name: str) -> object:
    """The module, class or function of a name below anondb."""
    return pkgutil.resolve_name(f"anondb.{name}")


def functions(text: str) -> Iterator[str]:
    return (name for name in names(text) if isinstance(resolved(name), FunctionType))


def test_every_name_on_the_page_exists() -> None:
    assert len(names(TEXT)) > 40
    for name in names(TEXT):
        assert resolved(name) is not None, name


def test_every_room_is_on_the_page() -> None:
    assert sorted(room for room in ROOMS - {"__pycache__"} if f"`anondb/{room}`" not in TEXT) == []
    for place in re.findall(r"`((?:anondb/|tests/|tools/)[\w/.]+)`", TEXT):
        assert (ROOT / place).exists(), place


def test_a_run_calls_the_functions_of_the_walk_in_its_order(clinic: Clinic) -> None:
    file = clinic.policy()
    trace = Trace()
    sys.setprofile(trace)
    try:
        policy = load(file)
        with connect(clinic.dsn) as db:
            db.run(policy)
    finally:
        sys.setprofile(None)
    called = [f"{file.removesuffix('.py').replace('/', '.')}.{name}" for file, name in trace.functions]
    told = list(dict.fromkeys(functions(WALK)))
    seen = [name for name in told if name in called]
    assert len(seen) > 30
    assert sorted(seen, key=called.index) == seen
    assert [name for name in told if name not in called and not name.startswith("cli.")] == []
