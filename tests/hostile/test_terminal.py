"""Names of the database and of files reach a terminal as text alone: they neither steer it nor forge lines."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from anondb.cli.output import visible
from tests.acceptance.clinic import OTHER, Clinic, quasi
from tests.commands import fresh

pytestmark = pytest.mark.once

# clears the screen, sets the title, turns the direction of the text, forges a line; DEL, and C1's own CSI
EVIL = "age\x1b[2J\x1b]0;owned\x07\u202egnp\u2066\x7f\x9b31m\nerror: all is lost"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def evil(clinic: Clinic) -> Clinic:
    """A table whose column, a hierarchy whose name and labels, and an ontology whose term attack."""
    clinic.execute("create table hospital.evil as select a.zip, a.age from hospital.admissions as a")
    clinic.execute("alter table hospital.evil rename column age to {evil}", evil=EVIL)
    (clinic.folder / "evil.csv").write_text('"a\x1b[2J\u202e";*\nb;*\n', encoding="utf-8")
    assert clinic.cli("vgh", "load", EVIL, clinic.folder / "evil.csv").returncode == 0
    return clinic


def policy(clinic: Clinic, column: str) -> Path:
    columns = {"zip": OTHER, EVIL: quasi(column)}
    path = clinic.policy(columns, source="hospital.evil", target="share.evil")
    path.write_text(path.read_text(encoding="utf-8").replace("\x7f", "\\u007f"), encoding="utf-8")
    return path


def assert_tame(said: str) -> None:
    assert "age\\u001b[2J" in said
    assert STEERING.search(said.replace("\r\n", "\n")) is None
    assert not any(line.startswith("error: all is lost") for line in said.splitlines())


def test_what_commands_say_is_text(evil: Clinic) -> None:
    good = policy(evil, "{ widths = [5, 10] }")
    for arguments in (("run", good), ("lattice", good), ("vgh", "list"), ("evaluate", "last", "--columns")):
        done = evil.cli(*arguments)
        assert done.returncode == 0, done.stderr
        assert_tame(done.stdout)
    assert STEERING.search(evil.cli("vgh", "show", EVIL).stdout) is None


def test_what_errors_and_logs_say_is_text(evil: Clinic) -> None:
    bad = policy(evil, '"nowhere"')
    assert_tame(evil.cli("run", bad).stderr)
    (line,) = evil.cli("--log-format", "json", "run", bad).stderr.splitlines()
    assert "\x9b31m" in json.loads(line)["message"]
    assert STEERING.search(line) is None
    unnamed = evil.policy({"zip": quasi('{ mask = "right" }')}, source="hospital.evil")
    assert_tame(evil.cli("run", unnamed).stderr)


def test_json_stays_json_and_tells_the_names_as_they_are(evil: Clinic) -> None:
    done = evil.cli("run", policy(evil, "{ widths = [5, 10] }"), "--json")
    assert EVIL in json.loads(done.stdout)["levels"]
    assert STEERING.search(done.stdout) is None
    assert [one["name"] for one in json.loads(evil.cli("vgh", "list", "--json").stdout)] == [EVIL]


@pytest.mark.parametrize("arguments", [("plan", "{policy}"), ("vgh", "export", EVIL), ("vgh", "drop", EVIL)])
def test_what_is_printed_for_machines_is_whole_in_a_pipe_and_tame_on_a_terminal(
    evil: Clinic, arguments: tuple[str, ...]
) -> None:
    words = [word.replace("{policy}", str(policy(evil, "{ widths = [5, 10] }"))) for word in arguments]
    if "drop" not in words:
        assert "\x1b[2J" in evil.cli(*words).stdout
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        fresh(words), env=os.environ | {"ANONDB_DSN": evil.dsn}, cwd=evil.folder, stdout=theirs
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            said += os.read(ours, 65536)
        except OSError:  # the terminal is closed with its last writer
            break
    os.close(ours)
    assert process.wait(timeout=60) == 0
    text = said.decode()
    assert "\\u001b[2J" in text
    assert STEERING.search(text.replace("\r\n", "\n")) is None


def test_every_character_that_steers_is_shown_and_no_other_is_changed() -> None:
    every = "".join(map(chr, range(0x10000)))
    changed = {character for character in every if visible(character) != character}
    expected = set(STEERING.findall(every)) | set(map(chr, range(0xD800, 0xE000)))  # these are no characters
    assert changed == expected
    assert visible("a\x9b31m\u202e") == "a\\u009b31m\\u202e"
