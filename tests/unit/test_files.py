"""Files that anondb writes are their owner's alone, and never another's link, pipe or mode."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from anondb import files

if sys.platform == "win32":
    pytest.skip("modes and links of Unix", allow_module_level=True)

TOP = Path(__file__).parents[2]
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")


@pytest.fixture(autouse=True)
def generous_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    files.write(tmp_path / "report.html", "ä")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "ä"
    assert mode(tmp_path / "report.html") == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_file_that_is_replaced_keeps_no_wider_mode(tmp_path: Path) -> None:
    old = tmp_path / "report.html"
    old.write_text("old")
    old.chmod(0o666)
    files.write(old, "new")
    assert (old.read_text(), mode(old)) == ("new", 0o600)


def test_all_can_read_it_if_asked(tmp_path: Path) -> None:
    token = files.mode.set(files.ALL)
    try:
        files.write(tmp_path / "report.html", "new")
    finally:
        files.mode.reset(token)
    assert mode(tmp_path / "report.html") == 0o644


def test_whoever_has_the_old_file_open_does_not_see_the_new_one(tmp_path: Path) -> None:
    old = tmp_path / "report.html"
    old.write_text("old")
    with old.open() as reader:
        files.write(old, "new and longer")
        assert reader.read() == "old"


@pytest.mark.parametrize("there", [True, False], ids=["a file", "nothing"])
def test_a_planted_link_is_replaced_and_not_followed(tmp_path: Path, there: bool) -> None:
    victim, link = tmp_path / "victim", tmp_path / "report.html"
    if there:
        victim.write_text("precious")
    link.symlink_to(victim)
    files.write(link, "new")
    assert victim.exists() == there
    assert not there or victim.read_text() == "precious"
    assert (link.is_symlink(), link.read_text(), mode(link)) == (False, "new", 0o600)


@only_root
def test_a_pipe_that_another_user_has_planted_gets_nothing(tmp_path: Path) -> None:
    pipe, place = tmp_path / "pipe", tmp_path / "report.html"
    os.mkfifo(pipe)
    os.chown(pipe, 65534, 65534)
    for plant in (lambda: pipe.rename(place), lambda: place.symlink_to(pipe)):
        plant()
        files.write(place, "new")  # with nobody at the other end, opening the pipe would wait for ever
        assert (place.is_fifo(), place.read_text()) == (False, "new")
        place.unlink()
        if not pipe.exists():
            os.mkfifo(pipe)
            os.chown(pipe, 65534, 65534)


def test_standard_output_is_written_to_by_its_name() -> None:
    code = "from anondb import files; files.write('/dev/stdout', 'text')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "text"
    assert Path("/dev/stdout").is_symlink()


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        files.write(tmp_path / "folder", "text")
    with pytest.raises(UnicodeEncodeError):
        files.write(tmp_path / "report.html", "\ud800")
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_to_ask_leaves_no_trace_and_changes_nothing(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("old")
    before = old.lstat()
    for name in ("old", "new", "x" * 255):
        files.require_writable(tmp_path / name)
    assert (old.lstat(), list(tmp_path.iterdir())) == (before, [old])
    for impossible in (tmp_path, tmp_path / "nowhere" / "file"):
        with pytest.raises(OSError, match=r"directory"):
            files.require_writable(impossible)


def test_no_other_place_of_the_code_writes_a_file() -> None:
    """Copies of WordNet are public; the server's own files have rules of their own."""
    writes = re.compile(
        r"write_text\(|write_bytes\(|copyfile|savefig\(\s*[\"'f]|open\([^)]*[\"'][wax]b?[\"']"
    )
    found = {
        path.relative_to(TOP).as_posix()
        for path in TOP.glob("anondb/**/*.py")
        if writes.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"anondb/files.py", "anondb/ontology/wordnet.py", "anondb/compare/memory.py"}
