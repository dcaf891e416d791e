"""The study of sets on any data: every distance and its twins without meaning, for every k. Nothing is published."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from anondb.db.connection import Connection, Door, one_snapshot
from anondb.db.errors import translated
from anondb.db.install.upgrade import require_current
from anondb.db.introspect import column_categories, resolve_source
from anondb.errors import UsageError, did_you_mean
from anondb.hierarchies.forms import Values
from anondb.methods.mdav import mdav
from anondb.methods.mdav import sql as sets
from anondb.methods.mdav.stages import tagged
from anondb.policy.names import parse_name
from anondb.sqltree.render import render
from anondb.sqltree.tables import Quasi, Scratch, SourceColumn
from anondb.study.set_study import Log, Loss, SetStudy
from anondb.study.synthetic_logs import SETS, LogShape, draw_log

Progress = Callable[[str, float], None]

_TEXTS = 'create temporary table mdav_text (record int not null, text text collate "C" not null)'
_FILL_TEXTS = "copy pg_temp.mdav_text from stdin"
_FILL_PHRASES = "copy pg_temp.mdav_phrase from stdin"
_UNKNOWN = "select t from anondb.mdav_unknown_texts(%s) as t"
_ITEMS = "select i.mapped, i.unmapped from anondb.mdav_items(%s) as i"
_COUNTS = "select count(distinct i.record), count(distinct i.concept) from pg_temp.mdav_item as i"
_DISTANCES = "select anondb.mdav_distances(%s, %s)"
_PARTITION = "select anondb.mdav_partition(%s)"
_WHOLE_CENTROIDS = "select anondb.mdav_centroids(1)"  # as published, whoever else has their concepts
_LOSS = "select anondb.mdav_loss()"


@dataclass(frozen=True)
class SetRequest:
    """What to try: a column of sets, or without one synthetic logs."""

    table: str | None = None
    column: str | None = None
    set: str = "words"
    records: int = 150  # of a synthetic log
    texts: int = 10  # of a record of it, on average
    k: tuple[int, ...] = (2, 3, 4, 5)
    ontology: str = mdav.ONTOLOGY
    seed: int = 7
    draws: int = 3  # synthetic logs


def experiment(door: Door, request: SetRequest, progress: Progress | None = None) -> SetStudy:
    """Runs the study, and leaves nothing behind."""
    tell = progress or (lambda doing, share: None)
    _check(request)
    logs: list[Log] = []
    losses: list[Loss] = []
    seeds = [None] if request.table is not None else range(request.seed, request.seed + request.draws)
    with door.open() as connection:
        require_current(connection)
        for number, seed in enumerate(seeds):
            tell("reading the texts", number / len(seeds))
            with one_snapshot(connection, "the experiment", undo=True):
                logs.append(_encoded(connection, request, seed))
                if logs[-1].records < max(request.k):
                    raise UsageError(
                        f"only {logs[-1].records} records have texts that the ontology knows",
                        hint="lower --k, or name another column or ontology",
                    )
                for place, loss in enumerate(_losses(connection, request, number), 1):
                    losses.append(loss)
                    settings = len(mdav.DISTANCES) * len(mdav.VARIANTS) * len(request.k)
                    tell(f"{loss.distance}, {loss.variant}", (number + place / settings) / len(seeds))
    return SetStudy(_source(request), request.ontology, tuple(logs), request.k, tuple(losses))


def _check(request: SetRequest) -> None:
    if (request.table is None) != (request.column is None):
        raise UsageError(
            "a table needs a column, and a column a table", hint="give both --table and --column"
        )
    if not request.k or min(request.k) < 1:
        raise UsageError("there is nothing to try", hint="give k from 1 on")
    if request.set not in SETS:
        hint = did_you_mean(request.set, SETS) or f"choose from {', '.join(SETS)}"
        raise UsageError(f'there is no set "{request.set}"', hint=hint)
    if min(request.records, request.texts, request.draws) < 1:
        raise UsageError("a log has records, and a record has texts", hint="--records 150 --texts 10")


def _source(request: SetRequest) -> str:
    return f"{request.table}.{request.column}" if request.table else f"the synthetic set {request.set}"


def _encoded(connection: Connection, request: SetRequest, seed: int | None) -> Log:
    """The texts of a log and their concepts, in the tables that the functions of mdav read."""
    if seed is None:
        _read(connection, request)
    else:
        shape = LogShape(request.records, request.texts, queries=request.set == "queries")
        log = draw_log(connection, shape, seed)
        connection.execute(_TEXTS)
        _copy(connection, _FILL_TEXTS, ((n, text) for n, texts in enumerate(log) for text in set(texts)))
    unknown = [str(text) for (text,) in connection.execute(_UNKNOWN, (request.ontology,)).fetchall()]
    tagger, phrases = tagged(unknown)
    _copy(connection, _FILL_PHRASES, phrases)
    mapped, unmapped = _one(connection, _ITEMS, request.ontology)
    records, concepts = _one(connection, _COUNTS)
    return Log(records, concepts, mapped + unmapped, unmapped, tagger, seed)


def _read(connection: Connection, request: SetRequest) -> None:
    """The texts of a column of the user's."""
    assert request.table is not None
    assert request.column is not None
    relation, names = resolve_source(connection, parse_name(request.table)), Scratch(0)
    known = column_categories(connection, relation)
    if request.column not in known:
        hint = did_you_mean(request.column, known) or f"choose from {', '.join(known)}"
        raise UsageError(f'{request.table} has no column "{request.column}"', hint=hint)
    if known[request.column] != "A":
        # or the server would say so of a value, and quote it in its log
        raise UsageError(
            f'a set is an array of texts, and column "{request.column}" is none',
            hint="make it text[] in a view of the table",
        )
    column = SourceColumn(request.column, mdav.SET_TYPE, "_text")
    quasi = Quasi(1, column, hierarchy=Values(), height=1)
    with translated("reading the texts"):
        for statement in (sets.records(names, relation, [], quasi, None), sets.texts(names, None)):
            connection.execute(render(statement).encode())


def _losses(connection: Connection, request: SetRequest, log: int) -> Iterator[Loss]:
    for distance, variant in product(mdav.DISTANCES, mdav.VARIANTS):
        started = time.perf_counter()
        connection.execute(_DISTANCES, (distance, mdav.MEASURES[variant]))
        compared = time.perf_counter() - started
        for k in request.k:
            started = time.perf_counter()
            [classes] = _one(connection, _PARTITION, k)
            seconds = compared + time.perf_counter() - started
            connection.execute(_WHOLE_CENTROIDS)
            [loss] = _one(connection, _LOSS)
            yield Loss(log, distance, variant, k, float(loss), classes, round(seconds, 4))


def _copy(connection: Connection, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for row in rows:
            copy.write_row(row)


def _one(connection: Connection, statement: str, *parameters: object) -> tuple[Any, ...]:
    [row] = connection.execute(statement.encode(), parameters).fetchall()
    return row
