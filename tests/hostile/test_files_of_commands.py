"""Who shares the machine reads no file of a command, and leads none elsewhere."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.acceptance import arx_projects
from tests.acceptance.clinic import Clinic

pytestmark = pytest.mark.once

COMMANDS = {
    "run": ("run", "{policy}", "--report", "{file}"),
    "report": ("report", "last", "--out", "{file}"),
    "export": ("vgh", "export", "zips", "{file}"),
    "release": ("export", "share.admissions", "{file}"),
    "import-arx": ("import-arx", "{file}.deid", "--table", "patients", "--out", "{file}", "--replace", "--force"),
    "show": ("vgh", "show", "zips", "--format", "svg", "--out", "{file}"),
    "rank": ("vgh", "rank", "zips", "--report", "{file}"),
    "learn": ("learn", "hospital.admissions", "--threshold", "2", "--identifier", "name", "--out", "{file}"),
    "compare to csv": ("compare", "{policy}", "--algorithms", "datafly", "--csv", "{file}"),
    "compare": ("compare", "{policy}", "--algorithms", "datafly", "--report", "{file}"),
    "generate": (
        "generate", "adult", "--all-distributions", "--sizes", "10", "--table", "public.t", "--report", "{file}",
    ),
}  # fmt: skip


def command(clinic: Clinic, name: str, file: Path, *more: str) -> None:
    words = (word.format(policy=clinic.policy(), file=file) for word in COMMANDS[name])
    done = clinic.cli(*words, *more)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def ready(clinic: Clinic) -> Clinic:
    """With a release to report, and a hierarchy to export."""
    (clinic.folder / "zips.csv").write_text("Z9070;*\nZ9071;*\nZ9072;*\nZ9073;*\n")
    assert clinic.cli("vgh", "load", "zips", clinic.folder / "zips.csv").returncode == 0
    clinic.has_released()
    (clinic.folder / "written.deid").write_bytes(arx_projects.packed(arx_projects.members()))
    return clinic


def mode(file: Path) -> int:
    return stat.S_IMODE(file.lstat().st_mode)


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_writes_is_its_users_alone_unless_asked(ready: Clinic, name: str) -> None:
    file, victim = ready.folder / "written", ready.folder / "victim"
    victim.write_text("precious")
    file.symlink_to(victim)  # as anybody can who may write there
    command(ready, name, file)
    assert (file.is_symlink(), mode(file), victim.read_text()) == (False, 0o600, "precious")
    if name != "generate":  # its tables are there now
        command(ready, name, file, "--public")
        assert mode(file) == 0o644
