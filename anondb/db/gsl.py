"""Scores of stored hierarchies, computed and kept by the functions in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.rows import class_row, tuple_row

from anondb.db import introspect as catalog
from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.errors import UsageError
from anondb.hierarchies.score import Coverage, Fault, Level, Method, NodeSense, Score, ScoreSet, Transition
from anondb.hierarchies.tree import Node
from anondb.policy.names import parse_name

_WORST = 5

_SCORE = """
select v.ontology, g.gsl, anondb.gsl_rating(g.gsl), c.leaves, c.mapped_leaves, c.pairs, c.mapped_pairs
from anondb.vgh_gsl(
    vgh => %(vgh)s, measure => %(measure)s, aggregate => %(aggregate)s, weights => %(weights)s,
    level_weights => %(level_weights)s::double precision[],
    source => pg_catalog.to_regclass(%(source)s::text), source_column => %(column)s::name,
    unmapped => %(unmapped)s) as g (gsl)
cross join anondb.vgh_coverage(%(vgh)s) as c
join anondb.vgh as v on v.name = %(vgh)s
"""
_LEVELS = """
select k.level, case %(aggregate)s when 'max' then m.loss else a.loss end as loss,
       m.loss as max, a.loss as avg, m.deviation
from anondb.vgh as v
cross join pg_catalog.generate_series(1, v.height) as k (level)
left join anondb.level_gsl(
    vgh => %(vgh)s, measure => %(measure)s, aggregate => 'max', unmapped => %(unmapped)s,
    source => pg_catalog.to_regclass(%(source)s::text), source_column => %(column)s::name) as m on m.level = k.level
left join anondb.level_gsl(
    vgh => %(vgh)s, measure => %(measure)s, aggregate => 'avg', unmapped => %(unmapped)s,
    source => pg_catalog.to_regclass(%(source)s::text), source_column => %(column)s::name) as a on a.level = k.level
where v.name = %(vgh)s
order by k.level
"""
_TRANSITIONS = """
select t.leaf, t.level, t.ancestor, t.loss
from anondb.trans_gsl(vgh => %(vgh)s, measure => %(measure)s, unmapped => %(unmapped)s) as t
where t.loss > 0
order by t.loss desc, t.level, t.leaf collate "C"
limit %(limit)s
"""
_FAULTS = """
select f.kind, f.level, f.node, f.other, f.leaves, f.loss, f.suggestion, f.advice
from anondb.vgh_faults(vgh => %(vgh)s, measure => %(measure)s, unmapped => %(unmapped)s) as f
"""
_SET = """
select g.gsl, anondb.gsl_rating(g.gsl)
from anondb.vgh_set_gsl(
    vghs => %(vghs)s::text[], preferences => %(preferences)s::double precision[], measure => %(measure)s,
    aggregate => %(aggregate)s, weights => %(weights)s, level_weights => %(level_weights)s::double precision[],
    source => pg_catalog.to_regclass(%(source)s::text), source_columns => %(columns)s::name[],
    unmapped => %(unmapped)s) as g (gsl)
"""
_NODES = """
select n.level, n.label, n.loss
from anondb.node_gsl(vgh => %s, measure => %s, aggregate => %s, unmapped => 'skip') as n
"""
_EDGES = (
    "select t.leaf, t.level, t.loss from anondb.trans_gsl(vgh => %s, measure => %s, unmapped => 'skip') as t"
)
_SENSES = """
select s.level, s.label, s.concept, s.meaning, s.how, s.confidence, s.leaves from anondb.vgh_senses(%s) as s
"""
_CHOOSE = "select anondb.choose_sense(vgh => %s, label => %s, concept => %s)"
_QUOTED = "select pg_catalog.format('%%I.%%I', %s::text, %s::text)"


def score(connection: Connection, name: str, method: Method) -> Score:
    """The score of a hierarchy, its parts, and what is wrong with it."""
    given = _parameters(connection, method)
    with translated("scoring a hierarchy"), connection.transaction():
        return _score(connection, name, method, given)


def score_set(
    connection: Connection, names: Sequence[str], method: Method, preferences: Sequence[float] | None = None
) -> ScoreSet:
    """Several hierarchies, best first, and the score of the set; a column holds for all of them."""
    given = _parameters(connection, method)
    columns = None if method.column is None else [method.column] * len(names)
    wanted = None if preferences is None else list(preferences)
    with translated("scoring hierarchies"), connection.transaction():
        # first of all: it refuses preferences that do not fit
        parameters = {"vghs": list(names), "preferences": wanted, "columns": columns}
        [(gsl, rating)] = _rows(connection, _SET, given | parameters)
        scores = [_score(connection, name, method, given) for name in names]
    scores.sort(key=lambda score: (score.gsl, score.vgh))
    return ScoreSet(tuple(scores), gsl, rating, None if wanted is None else tuple(wanted))


def node_losses(
    connection: Connection, name: str, measure: str, aggregate: str = "avg"
) -> dict[Node, float | None]:
    """The loss of each node, over the leaves below it; None where nothing is known."""
    with translated("scoring a hierarchy"):
        rows = _rows(connection, _NODES, (name, measure, aggregate))
    return {(level, label): loss for level, label, loss in rows}


def leaf_losses(connection: Connection, name: str, measure: str) -> dict[Node, float]:
    """What each leaf (its label) loses at each level, where both are known."""
    with translated("scoring a hierarchy"):
        return {(level, leaf): loss for leaf, level, loss in _rows(connection, _EDGES, (name, measure))}


def senses(connection: Connection, name: str) -> list[NodeSense]:
    """What every node of a hierarchy means."""
    with (
        translated("understanding a hierarchy"),
        connection.cursor(row_factory=class_row(NodeSense)) as cursor,
    ):
        return cursor.execute(_SENSES, (name,)).fetchall()


def choose_sense(connection: Connection, name: str, label: str, concept: str | None) -> None:
    """Says what a label means; None takes the choice back."""
    with translated("choosing a sense"):
        connection.execute(_CHOOSE, (name, label, concept))


def _score(connection: Connection, name: str, method: Method, given: Mapping[str, Any]) -> Score:
    parameters = {**given, "vgh": name, "limit": _WORST}
    [(ontology, gsl, rating, *covered)] = _rows(connection, _SCORE, parameters)
    with connection.cursor(row_factory=class_row(Level)) as cursor:
        levels = cursor.execute(_LEVELS, parameters).fetchall()
    with connection.cursor(row_factory=class_row(Transition)) as cursor:
        worst = cursor.execute(_TRANSITIONS, parameters).fetchall()
    with connection.cursor(row_factory=class_row(Fault)) as cursor:
        faults = cursor.execute(_FAULTS, parameters).fetchall()
    return Score(
        name, ontology, method, gsl, rating, tuple(levels), Coverage(*covered), tuple(worst), tuple(faults)
    )


def _parameters(connection: Connection, method: Method) -> dict[str, Any]:
    if (method.table is None) != (method.column is None):
        raise UsageError(
            "frequencies come from a column of a table, and one of the two is missing",
            hint="give both --table and --column",
        )
    named = isinstance(method.weights, str)
    return {
        "measure": method.measure,
        "aggregate": method.aggregate,
        "weights": method.weights if named else "uniform",
        "level_weights": None if named else list(method.weights),
        "source": None if method.table is None else _source(connection, method.table),
        "column": method.column,
        "unmapped": method.unmapped,
    }


def _source(connection: Connection, table: str) -> str:
    relation = catalog.resolve_source(connection, parse_name(table))
    with translated("looking up the table"):
        [(quoted,)] = _rows(connection, _QUOTED, (relation.schema, relation.name))
    return str(quoted)


def _rows(
    connection: Connection, query: str, parameters: Mapping[str, Any] | Sequence[Any]
) -> list[tuple[Any, ...]]:
    with connection.cursor(row_factory=tuple_row) as cursor:
        return cursor.execute(query.encode(), parameters).fetchall()
