"""A signal at any moment ends a command with its own code and a word, never with a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.clinic import Clinic, ended
from tests.commands import fresh

# Python runs a file of this name at its start; this one sends a signal when a module is about to be loaded.
SITECUSTOMIZE = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["AT"]:
            os.kill(os.getpid(), int(os.environ["SIGNAL"]))
sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize("module", ["psycopg", "typer", "anondb.cli.output", "anondb.run.release", "sqlglot"])
@pytest.mark.parametrize(
    ("sign", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["int", "term", "hup"],
)
def test_a_signal_while_a_command_loads(clinic: Clinic, sign: signal.Signals, code: int, module: str) -> None:
    (clinic.folder / "sitecustomize.py").write_text(SITECUSTOMIZE)
    at = {"PYTHONPATH": str(clinic.folder), "AT": module, "SIGNAL": str(int(sign))}
    done = clinic.cli("run", clinic.policy(), **at)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_a_command_that_is_to_survive_its_terminal_does(clinic: Clinic) -> None:
    with clinic.gate_shut() as wait_for_backend:
        running = subprocess.Popen(
            ["nohup", *fresh(["run", clinic.policy(source="hospital.gated")])],
            env=os.environ | {"ANONDB_DSN": clinic.dsn},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(clinic.folder),
        )
        wait_for_backend()
        running.send_signal(signal.SIGHUP)
    assert ended(running).returncode == 0
