"""The sessions that a page of the documentation shows: commands after `$`, and what they print."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from tests.conftest import Cli
from tests.documentation import blocks


@dataclass(frozen=True)
class Call:
    """A command, and the lines that a page shows below it; `…` stands for any that are left out."""

    words: tuple[str, ...]
    shown: tuple[str, ...]


def calls(page: str) -> Iterator[Call]:
    """Every command of a page, in order."""
    for block in blocks(page, "console"):
        yield from calls_of(block)


def calls_of(block: str) -> Iterator[Call]:
    """The commands of one block."""
    for part in ("\n" + block).split("\n$ ")[1:]:
        command, *shown = part.splitlines()
        program, *words = shlex.split(command, comments=True)
        assert program == "anondb", command
        yield Call(tuple(words), tuple(line.rstrip() for line in shown))


def obey(cli: Cli, call: Call) -> str:
    """Runs a command as it is written, and holds what it prints against what is shown; returns what it printed."""
    done = cli(*call.words)
    is_error = any(line.startswith("error: ") for line in call.shown)
    assert (done.returncode != 0) == is_error, (call.words, done.stderr, done.stdout)
    printed = [line.rstrip() for line in (done.stderr if is_error else done.stdout).splitlines()]
    told = "\n".join(printed)
    at = 0
    is_gap = False
    for line in call.shown:
        if line == "…":
            is_gap = True
            continue
        found = next((i for i in range(at, len(printed)) if printed[i] == line), None)
        assert found is not None, f"{' '.join(call.words)} does not print {line!r}:\n{told}"
        assert is_gap or found == at, f"{' '.join(call.words)} prints more before {line!r}:\n{told}"
        at, is_gap = found + 1, False
    assert is_gap or not call.shown or at == len(printed), f"{' '.join(call.words)} prints more:\n{told}"
    return told
