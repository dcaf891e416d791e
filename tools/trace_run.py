"""Traces a command: the functions of the package in the order of their first call, and how often the package changes.

    python tools/trace_run.py run admissions.toml --replace       any command of anondb, in the database it would take
    python tools/trace_run.py datafly mdav report score           on tables of its own in a database of its own
    python tools/trace_run.py --list datafly                      with the functions, package by package

A package is the folder that a function's file lies in. What a command prints goes to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import runpy
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from types import FrameType

PACKAGE = Path(__file__).resolve().parents[1] / "anondb"


class Trace:
    """Functions by file and name, each once, in the order in which they were first entered."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str], None] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(f"{PACKAGE}/"):
            return
        name = code.co_qualname
        if "<module>" in name or name.endswith(
            ("<lambda>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")
        ):
            return
        if not code.co_flags & 0x01:  # the body of a class, which is run when its module is loaded
            return
        self.functions.setdefault((str(Path(code.co_filename).relative_to(PACKAGE)), name))

    @property
    def packages(self) -> list[str]:
        return [str(Path(file).parent) for file, _ in self.functions]

    @property
    def changes(self) -> int:
        found = self.packages
        return sum(one != other for one, other in pairwise(found))

    @property
    def summary(self) -> str:
        files = {file for file, _ in self.functions}
        return (
            f"{len(self.functions)} functions in {len(files)} files, the package changes {self.changes} times"
        )

    @property
    def listing(self) -> Iterator[str]:
        for package, functions in groupby(self.functions, key=lambda one: str(Path(one[0]).parent)):
            yield f"{package}: " + ", ".join(f"{Path(file).stem}.{name}" for file, name in functions)


DATAFLY = """
source = "persons"
target = "persons_shared"
privacy = {{ k = 2, suppression = 0.2 }}
method = {{ algorithm = "datafly" }}
[columns]
age = {{ role = "quasi", hierarchy = {{ widths = [5, 10, 20] }} }}
zip = {{ role = "quasi", hierarchy = {{ mask = "right" }} }}
job = {{ role = "quasi", hierarchy = {{ csv = "{folder}/job.csv" }} }}
illness = {{ role = "sensitive" }}
"""
MDAV = """
source = "searches"
target = "searches_shared"
privacy = {{ k = 2 }}
method = {{ algorithm = "mdav", seed = 7 }}
[columns]
id = {{ role = "identifier" }}
queries = {{ role = "quasi", set = true, ontology = "things" }}
"""
JOBS = "nurse;health;*\ndoctor;health;*\ncook;kitchen;*\nbaker;kitchen;*\n"
THINGS = "health,work\nkitchen,work\nnurse,health\ndoctor,health\ncook,kitchen\nbaker,kitchen\n"
TABLES = """
create table persons as
select 20 + i % 40 as age, '1010' || i % 7 as zip, (array['nurse', 'doctor', 'cook', 'baker'])[1 + i % 4] as job,
       (array['flu', 'asthma', 'ulcer'])[1 + i % 3] as illness
from generate_series(1, 300) as i;
create table searches as
select i as id, array[(array['nurse', 'doctor'])[1 + i % 2], (array['cook', 'baker'])[1 + i % 3 % 2]] as queries
from generate_series(1, 40) as i;
"""
COMMANDS = {
    "datafly": ["run", "{folder}/datafly.toml"],
    "mdav": ["run", "{folder}/mdav.toml"],
    "report": ["report", "last", "--out", "{folder}/report.html"],
    "score": ["vgh", "score", "job"],
}
BEFORE = [
    ["ontology", "load", "{folder}/things.csv", "--name", "things"],
    ["vgh", "load", "job", "{folder}/job.csv", "--ontology", "things"],
]


def command(words: Sequence[str], trace: Trace | None = None) -> None:
    """Runs a command of anondb in this process, as the shell would."""
    sys.argv = ["anondb", *words]
    with contextlib.redirect_stdout(sys.stderr):
        sys.setprofile(trace)
        try:
            runpy.run_module("anondb", run_name="__main__")
        except SystemExit as leaving:
            if leaving.code:
                raise
        finally:
            sys.setprofile(None)


@contextlib.contextmanager
def own_database() -> Iterator[Path]:
    """A folder with all files, and the small tables in a database that is gone in the end."""
    import psycopg

    from benchmarks.database import fresh_database

    with tempfile.TemporaryDirectory() as name, fresh_database(None) as dsn:
        folder = Path(name)
        files = {"job.csv": JOBS, "things.csv": THINGS}
        files |= {f"{name}.toml": text.format(folder=folder) for name, text in POLICIES.items()}
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        with psycopg.connect(dsn) as connection:
            connection.execute(TABLES)
        os.environ["ANONDB_DSN"] = dsn
        yield folder


POLICIES = {"datafly": DATAFLY, "mdav": MDAV}


def traced(words: Sequence[str]) -> Trace:
    trace = Trace()
    command(words, trace)
    return trace


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="print the functions too")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND")
    arguments = parser.parse_args()
    words = arguments.words
    traces = {}
    if words and set(words) <= set(COMMANDS):
        with own_database() as folder:
            for before in BEFORE:
                command([word.format(folder=folder) for word in before])
            if "report" in words and not {"datafly", "mdav"} & set(words):
                command([word.format(folder=folder) for word in COMMANDS["datafly"]])
            for name in words:
                traces[name] = traced([word.format(folder=folder) for word in COMMANDS[name]])
    elif words:
        traces[" ".join(words)] = traced(words)
    else:
        parser.error("which command?")
    for name, trace in traces.items():
        print(f"{name}: {trace.summary}")
        if arguments.list:
            print(*(f"  {line}" for line in trace.listing), sep="\n")


if __name__ == "__main__":
    sys.path.insert(0, str(PACKAGE.parent))
    main()
