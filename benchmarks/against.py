"""Whole commands against ARX's whole process on the same rows: alternating, from a table or a CSV file to another.

ARX is no part of this: `--arx` names a folder with the jar, or the classes, that the user has built, and its libraries.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from psycopg import sql

from anondb.api import Database
from anondb.errors import AnondbError, UsageError
from benchmarks import command, machine, tables
from benchmarks.options import Options
from benchmarks.progress import say
from benchmarks.tables import Case

_DRIVER = Path(__file__).parent / "arx" / "Anonymize.java"
_COPY = sql.SQL("copy (select {} from {}) to stdout (format csv, header, delimiter ';')")


def run(options: Options) -> dict[str, Any]:
    """All tables of `whole` and `wide`."""
    if options.arx is None:
        raise UsageError("against what?", hint="name the folder of ARX's jar or classes: --arx DIR")
    with TemporaryDirectory() as folder:
        classes = _compiled(options.arx, Path(folder))
        with tables.prepared(options) as (conninfo, db, data):
            cases = [
                _measure(conninfo, db, options, classes, case)
                for case in _cases(db, options, data, Path(folder))
            ]
            return {"benchmark": "against", "machine": machine.facts(db.connection), "cases": cases}


def _cases(db: Database, options: Options, data: Path, folder: Path) -> Iterator[Case]:
    yield from tables.varied(db, options, data)
    yield from tables.wide(db, folder)
    yield tables.zips(db, folder)


def _compiled(arx: Path, folder: Path) -> str:
    """The class path with our driver of ARX on it."""
    if (compiler := shutil.which("javac")) is None:
        raise UsageError(
            "there is no Java compiler", hint="install a JDK: javac and java have to be on the PATH"
        )
    jars = sorted(str(jar.resolve()) for jar in arx.rglob("*.jar"))
    folders = [str(there.resolve()) for there in (arx, arx / "classes", arx / "bin") if there.is_dir()]
    path = os.pathsep.join([*folders, *jars])
    done = subprocess.run(
        [compiler, "-nowarn", "-d", folder, "-cp", path, _DRIVER], stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise UsageError(
            f"{arx} is no ARX: {done.stderr.splitlines()[0]}",
            hint="it has to hold its jar, or its classes and libraries",
        )
    return os.pathsep.join([str(folder), path])


def _measure(conninfo: str, db: Database, options: Options, classes: str, case: Case) -> dict[str, Any]:
    ours: list[dict[str, Any]] = []
    theirs: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        policy, rows = Path(folder) / "policy.toml", Path(folder) / "rows.csv"
        policy.write_text(case.policy(), encoding="utf-8")
        _write(db, case, rows)
        java = [
            "java",
            "-cp",
            classes,
            "Anonymize",
            rows,
            Path(folder) / "release.csv",
            tables.K,
            tables.SUPPRESSION,
        ]
        java += [
            f"{column}={file.resolve()}" for column, file in zip(case.quasi, case.hierarchies, strict=True)
        ]
        for _ in range(options.repeat):
            command_figures, found = command.policy(conninfo, sys.executable, policy)
            db.connection.execute("drop table bench.release")
            ours.append({**command_figures, "seconds": found["seconds"], "levels": found.get("levels")})
            try:
                measured = command.run(conninfo, [str(word) for word in java])
            except AnondbError:
                say(f"{case}: ARX gave up, anondb took {command_figures['command_seconds']} s")
                return {"case": str(case), "algorithm": case.algorithm, "runs": ours, "arx": None}
            theirs.append({**measured.figures(), **json.loads(measured.output.splitlines()[-1])})
    figures = _figures(ours, theirs)
    say(f"{case}: {figures['command_seconds']} s, ARX {figures['arx_seconds']} s, {figures['ratio']} × ARX")
    return {"case": str(case), "algorithm": case.algorithm, **figures, "runs": ours, "arx": theirs}


def _write(db: Database, case: Case, file: Path) -> None:
    columns = sql.SQL(", ").join(map(sql.Identifier, (*case.quasi, *case.kept)))
    with (
        file.open("wb") as out,
        db.connection.cursor() as cursor,
        cursor.copy(_COPY.format(columns, case.source)) as copy,
    ):
        for piece in copy:
            out.write(piece)


def _figures(ours: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]]) -> dict[str, float]:
    one, other = (median(found["command_seconds"] for found in runs) for runs in (ours, theirs))
    return {
        "command_seconds": round(one, 3),
        "arx_seconds": round(other, 3),
        "ratio": round(one / other, 2),
        "client_peak_mb": max(found["client_peak_mb"] for found in ours),
        "backend_peak_mb": max(found["backend_peak_mb"] or 0 for found in ours),
        "arx_peak_mb": max(found["client_peak_mb"] for found in theirs),
    }
