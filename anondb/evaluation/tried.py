"""A measure that cannot be had says why, and takes nothing else down with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from anondb.errors import AnondbError, EndedError
from anondb.evaluation.figure import Figure
from anondb.run.statement import Runner


def tried(db: Runner, names: Sequence[str], measure: Callable[[], Iterable[Figure]]) -> list[Figure]:
    """The figures of a measure; if it fails, its names with the reason, and the transaction goes on."""
    try:
        with db.savepoint():
            return list(measure())
    except EndedError:
        raise
    except AnondbError as error:
        return [Figure(name, note=error.message) for name in names]
