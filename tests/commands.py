"""Commands of anondb in processes of their own, without the time that each takes to load the program.

A process that has loaded anondb, and has done nothing else, waits for calls and forks itself for each. What it forks
has a folder, an environment, arguments, output and an exit code of its own, as from a shell, and runs the module as
`python -m anondb` does.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

TOP = Path(__file__).resolve().parents[1]
# what the interpreter and the terminal's library read while they are loaded, and heed no other value of
AT_START = (
    "PYTHON",
    "LC_",
    "LANG",
    "COLUMNS",
    "LINES",
    "TERM",
    "COLORTERM",
    "FORCE_COLOR",
    "NO_COLOR",
    "TTY_",
)
WIDTH = {"COLUMNS": "120"}
# what commands load when they get to it; the others load their share themselves
LOADED = (
    "anondb.cli.policies",
    "anondb.api.database",
    "anondb.run.release",
    "sqlglot.dialects.postgres",
    "psycopg",
)


def fresh(arguments: Sequence[str | Path]) -> list[str]:
    """The words that start the command line in an interpreter of its own."""
    return [sys.executable, "-m", "anondb", *map(str, arguments)]


class Commands:
    """The process that waits for calls, until this one closes it or ends."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="anondb-", ignore_cleanup_errors=True)
        self._path = str(Path(self._folder.name) / "calls")
        self._environment = os.environ | WIDTH
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.commands", self._path],
            env=self._environment,
            cwd=TOP,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()  # it listens

    def close(self) -> None:
        self._process.communicate(timeout=60)
        self._folder.cleanup()

    def run(
        self, arguments: Sequence[str | Path], environment: Mapping[str, str], folder: Path, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        words = fresh(arguments)
        changed = dict(environment.items() ^ self._environment.items())
        if any(name.startswith(AT_START) for name in changed):
            return subprocess.run(
                words, env=environment, cwd=folder, capture_output=True, text=True, timeout=timeout
            )
        call = {"arguments": words[3:], "environment": dict(environment), "folder": str(folder)}
        with (
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            socket.socket(socket.AF_UNIX) as line,
        ):
            line.connect(self._path)
            socket.send_fds(line, [b"+"], [out.fileno(), err.fileno()])
            line.sendall(json.dumps(call).encode())
            line.shutdown(socket.SHUT_WR)
            line.settimeout(timeout)
            with line.makefile("rb") as answers:
                process = int(answers.readline())
                try:
                    code = int(answers.readline())
                except TimeoutError:
                    os.kill(process, signal.SIGKILL)
                    raise subprocess.TimeoutExpired(words, timeout, _text(out), _text(err)) from None
            return subprocess.CompletedProcess(words, code, _text(out), _text(err))


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


def serve(path: str) -> None:
    """Forks for each call, until nobody is left who could call."""
    for name in LOADED:
        __import__(name)
    gc.collect()
    gc.freeze()  # what is loaded stays, and shared with what is forked
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, and for the commands
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen()
        print("ready", flush=True)
        while sys.stdin.fileno() not in select.select([door, sys.stdin.fileno()], [], [])[0]:
            line, _ = door.accept()
            with line:
                if os.fork() == 0:
                    door.close()
                    _answer(line)
            _bury()


def _bury() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return


def _answer(line: socket.socket) -> None:
    """In a process between: starts the command, and tells its number and how it ended."""
    try:
        _, (out, err), _, _ = socket.recv_fds(line, 1, 2)
        with line.makefile("rb") as file:
            call = json.loads(file.read())
        command = os.fork()
        if command == 0:
            line.close()
            _become(call, out, err)
        line.sendall(b"%d\n" % command)
        _, status = os.waitpid(command, 0)
        line.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    finally:
        os._exit(0)


def _become(call: Mapping[str, Any], out: int, err: int) -> None:
    """The command itself, in what a new process would find."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.closerange(3, max(out, err) + 1)
        os.chdir(call["folder"])
        os.environ.clear()
        os.environ.update(call["environment"])
        sys.path[0] = call["folder"]
        sys.argv = ["anondb", *call["arguments"]]
        runpy.run_module("anondb", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        _leave(code)


def _leave(code: int) -> None:
    """As an interpreter ends, but for what belongs to the process that it was forked from."""
    import atexit

    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or 120  # the interpreter's own, for output that could not be written
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
