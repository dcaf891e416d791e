"""The hierarchies of an experiment: stored under names that nobody else uses, scored, and forgotten afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from psycopg.rows import tuple_row

from anondb.db import vgh
from anondb.db.connection import Connection, Door
from anondb.db.errors import translated
from anondb.db.install.upgrade import require_current
from anondb.hierarchies.build.ranking import ASPECTS
from anondb.hierarchies.forms import VghTable

SCRATCH = "anondb experiment"

_OWN = "select pg_catalog.concat(%s::text, ' ', pg_catalog.pg_backend_pid(), ': ')"
# what an experiment has left behind whose session is gone: it was killed
_FORGET = """
delete from anondb.vgh as v
where pg_catalog.starts_with(v.name, %(own)s)
   or pg_catalog.starts_with(v.name, %(scratch)s || ' ') and not exists (
       select from pg_catalog.pg_stat_activity as a
       where pg_catalog.starts_with(v.name, pg_catalog.concat(%(scratch)s::text, ' ', a.pid, ': ')))
"""
# nodes keep their labels and levels when they are moved, and so their concepts
_KEEP_CONCEPTS = """
insert into anondb.vgh_sense (vgh, node, concept, how, chosen)
select v.id, n.node, s.concept, s.how, s.chosen
from anondb.vgh as b
join anondb.vgh_node as o on o.vgh = b.id
join anondb.vgh_sense as s on s.vgh = o.vgh and s.node = o.node
join anondb.vgh as v on v.name = any (%s::text[])
join anondb.vgh_node as n on n.vgh = v.id and n.level = o.level and n.label = o.label
where b.name = %s
"""
_ANALYZE = "analyze anondb.vgh_sense"
_LEAF_LOSSES = """
select t.leaf, avg(t.loss) from anondb.trans_gsl(%s, %s, unmapped => 'skip') as t group by t.leaf
"""
_RATING = "select anondb.gsl_rating(%s)"
_SET_GSL = """
select anondb.vgh_set_gsl(
    vghs => %(vghs)s::text[], measure => %(measure)s, aggregate => %(aggregate)s, unmapped => 'skip',
    source => case when %(dynamic)s then pg_catalog.to_regclass(%(table)s) end,
    source_columns => case when %(dynamic)s then %(columns)s::name[] end)
"""
_ASPECTS = """
select a.semq, a.priv, a.distrn, a.isize
from anondb.vgh_aspects(
    %(vghs)s::text[], k => %(k)s, measure => %(measure)s, aggregate => 'avg',
    source => pg_catalog.to_regclass(%(table)s), source_column => %(column)s::name) with ordinality as a (
        vgh, semq, priv, distrn, isize, place)
order by a.place
"""


@contextmanager
def scratch_names(door: Door) -> Iterator[str]:
    """How the names of an experiment's hierarchies begin; they are gone when it is left, whatever the reason."""
    with door.open() as connection:
        require_current(connection)
        [(own,)] = _rows(connection, "experimenting", _OWN, (SCRATCH,))
        given = {"own": own, "scratch": SCRATCH}
        try:
            with translated("experimenting"):
                connection.execute(_FORGET, given)
            yield own
        finally:
            with translated("forgetting the hierarchies of an experiment"):
                connection.execute(_FORGET, given)


def store(connection: Connection, base: str, tables: Mapping[str, VghTable], ontology: str) -> None:
    """Stores hierarchies of the same nodes as the base, which mean what they mean there."""
    with translated("storing hierarchies"), connection.transaction():
        for name, table in tables.items():
            vgh.store(connection, name, table, ontology=ontology)
        connection.execute(_KEEP_CONCEPTS, (list(tables), base))
        connection.execute(_ANALYZE)


def set_gsl(
    connection: Connection,
    vghs: Sequence[str],
    measure: str,
    aggregate: str,
    source: tuple[str, Sequence[str]] | None = None,
) -> float:
    """The loss of a set of hierarchies; with a table and a column for each, leaves count as often as they occur."""
    table, columns = source or (None, ())
    given: dict[str, Any] = {"vghs": list(vghs), "measure": measure, "aggregate": aggregate, "table": table}
    given |= {"columns": list(columns), "dynamic": source is not None}
    [(gsl,)] = _rows(connection, "scoring hierarchies", _SET_GSL, given)
    return float(gsl)


def leaf_losses(connection: Connection, name: str, measure: str) -> dict[str, float]:
    """The mean loss of each leaf over the levels above it."""
    rows = _rows(connection, "scoring hierarchies", _LEAF_LOSSES, (name, measure))
    return {leaf: float(loss or 0.0) for leaf, loss in rows}


def rating(connection: Connection, gsl: float) -> str:
    """Very Good to Very Poor."""
    [(word,)] = _rows(connection, "scoring hierarchies", _RATING, (gsl,))
    return str(word)


def aspects(
    connection: Connection, vghs: Sequence[str], k: int, measure: str, table: str, column: str
) -> list[dict[str, float | None]]:
    """The four sides of each hierarchy for a k, by the values of a column."""
    given = {"vghs": list(vghs), "k": k, "measure": measure, "table": table, "column": column}
    rows = _rows(connection, "judging hierarchies", _ASPECTS, given)
    return [dict(zip(ASPECTS, row, strict=True)) for row in rows]


def _rows(
    connection: Connection, doing: str, query: str, parameters: Mapping[str, Any] | Sequence[Any]
) -> list[tuple[Any, ...]]:
    with translated(doing), connection.cursor(row_factory=tuple_row) as cursor:
        return cursor.execute(query.encode(), parameters).fetchall()
