"""Results go to standard output, logs and errors to standard error; silence where nobody looks."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess

import pytest

from tests.acceptance.clinic import Clinic, complaint
from tests.commands import fresh
from tests.conftest import Cli

pytestmark = pytest.mark.once  # another server version would say the same

KEYS = (
    "run algorithm source target levels heights records released suppressed classes k released_as_is"
    " declared_harmless surest_guess checks rollups lattice series seconds metrics notes"
).split()


def test_json_is_one_object_with_the_promised_keys(clinic: Clinic) -> None:
    done = clinic.cli("run", clinic.policy(), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    result = json.loads(done.stdout)
    assert list(result) == KEYS
    assert result["algorithm"] == "datafly"
    assert list(result["levels"]) == list(result["heights"]) == ["age", "zip"]
    assert result["released"] + result["suppressed"] == result["records"] == 24
    assert result["k"] == result["metrics"]["class_size_min"] >= 3
    assert set(result["seconds"]) == {"prepare", "encode", "search", "publish", "verify", "evaluate", "swap"}
    assert clinic.execute("select r.result - 'report' - 'version' from anondb.run as r") == [(result,)]


def test_a_run_tells_people_what_it_published_and_is_silent_in_cron(clinic: Clinic) -> None:
    done = clinic.cli("run", clinic.policy())
    assert (done.returncode, done.stderr) == (0, "")
    assert "share.admissions is published: 24 records in" in done.stdout
    assert "0 of 24 records (0.00%) are suppressed" in done.stdout
    assert "\x1b" not in done.stdout


def test_every_step_is_logged_when_asked_for(clinic: Clinic) -> None:
    done = clinic.cli("--verbose", "run", clinic.policy(), "--json")
    assert json.loads(done.stdout)
    assert "encode: frequencies, " in done.stderr
    assert clinic.execute("select count(*) from anondb.run_step") == [(len(done.stderr.splitlines()),)]


def test_logs_and_errors_can_be_lines_of_json(clinic: Clinic) -> None:
    done = clinic.cli("--log-format", "json", "--verbose", "run", clinic.policy(), "--json")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert {"time", "level", "message", "stage", "step", "rows", "ms"} <= lines[0].keys()
    assert json.loads(done.stdout)["released"] == 24

    failed = clinic.cli("--log-format", "json", "run", clinic.policy(privacy="k = 99"))
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (3, "", 1)
    error = json.loads(failed.stderr)
    assert (error["level"], error["exit_code"]) == ("error", 3)
    assert "k = 99 is larger than the table" in error["message"]
    assert error["hint"]


@pytest.mark.parametrize("arguments", [["run"], ["run", "x.toml", "--jason"], ["vgh", "load", "x"]])
def test_a_wrong_call_is_told_with_code_2(cli: Cli, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: " in done.stderr
    as_json = cli("--log-format", "json", *arguments)
    assert (as_json.returncode, as_json.stdout) == (2, "")
    assert json.loads(as_json.stderr)["exit_code"] == 2


def test_a_terminal_sees_progress_and_the_result_stays_clean(clinic: Clinic) -> None:
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        fresh(["run", clinic.policy(), "--json"]),
        env=os.environ | {"ANONDB_DSN": clinic.dsn, "TERM": "xterm", "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    )
    os.close(terminal)
    out, _ = process.communicate(timeout=60)
    shown = b""
    try:
        while chunk := os.read(screen, 65536):
            shown += chunk
    except OSError:  # a pseudo-terminal ends like this once nobody writes to it
        pass
    os.close(screen)
    assert process.returncode == 0
    assert json.loads(out)["released"] == 24
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert "━" in text
    assert re.search(r"prepare|encode|search|publish|verify|swap", text)


def test_a_closed_pipe_is_no_error(clinic: Clinic) -> None:
    process = clinic.start("plan", clinic.policy())
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == ("", 0)


def test_help_and_version_need_no_database(cli: Cli) -> None:
    nowhere = {"ANONDB_DSN": "host=/nowhere"}
    assert cli("--version", **nowhere).stdout.startswith("anondb ")
    for command in ([], ["run"], ["vgh", "load"]):
        done = cli(*command, "--help", **nowhere)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Usage: " in done.stdout


@pytest.mark.parametrize("option", [("--lock-timeout", "1e9"), ("--work-mem", "lots")])
def test_an_option_that_cannot_be_is_told_before_anything_is_done(
    clinic: Clinic, option: tuple[str, str]
) -> None:
    with clinic.unchanged(None):
        complaint(clinic.cli("run", clinic.policy(), *option), 2)
