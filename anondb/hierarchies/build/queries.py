"""The queries of building: read values, senses and hypernyms; store the candidates, and rank them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from anondb.db import introspect as catalog
from anondb.db.vgh import node_numbers, node_parents
from anondb.errors import UsageError, did_you_mean
from anondb.hierarchies.build.ranking import ASPECTS, Aspect, Ranked, Ranking, RankingMethod, Spread
from anondb.hierarchies.forms import VghTable
from anondb.hierarchies.tree import Node
from anondb.policy.model import Name
from anondb.run.statement import Statement

if TYPE_CHECKING:
    from anondb.db.execute import Executor

Numbers = Mapping[str, Mapping[Node, int]]  # of the nodes of each hierarchy

_QUOTED = "select pg_catalog.format('%I.%I', $1::text, $2::text)"
VALUES = "select v.value, v.n from anondb.column_values(pg_catalog.to_regclass($1::text), $2::name) as v"
_SENSES = """
select s.term, s.concept, s.how, s.confidence, s.senses from anondb.value_senses($1::text[], $2) as s
"""
_CHOICES = """
select l.term, c.key, c.gloss
from anondb.lesk($1::text[], anondb.find_ontology($2)) as l join anondb.concept as c on c.id = l.concept
order by l.term, l.sense, c.key collate "C"
"""
_FIND_CONCEPT = "select anondb.find_concept($1, $2)"
_HYPERNYMS = """
select h.concept, h.key, h.label, h.pos, h.depth, h.parents, h.names from anondb.hypernyms_above($1::int[]) as h
"""
_PERSPECTIVES = """
select p.concept, p.other, p.label from anondb.perspectives($1::int[], $2) as p
"""
# NAME.base and NAME.1, NAME.2, …: the base first, then by number
_CANDIDATES = """
select v.name from anondb.vgh as v
where pg_catalog.left(v.name, pg_catalog.length($1::text) + 1) = $1::text || '.'
  and pg_catalog.substr(v.name, pg_catalog.length($1::text) + 2) ~ '^(base|[1-9][0-9]{0,8})$'
order by case when v.name = $1::text || '.base' then 0
              else pg_catalog.substr(v.name, pg_catalog.length($1::text) + 2)::int end
"""
_DROP = "delete from anondb.vgh as v where v.name = any ($1::text[])"
_TAKEN = (
    'select v.name from anondb.vgh as v where v.name = any ($1::text[]) order by v.name collate "C" limit 1'
)
_CREATE = """
insert into anondb.vgh (name, height, leaves, ontology)
select u.name, u.height, u.leaves, $1
from unnest($2::text[], $3::int[], $4::int[]) as u (name, height, leaves)
returning name, id
"""
_COPY_NODES = "copy anondb.vgh_node (vgh, node, level, label, parent) from stdin"
_COPY_PATHS = "copy anondb.vgh_path (vgh, leaf, level, node) from stdin"
# chosen, so that they outlive an upgrade: a label could be taken for another sense of the word
_COPY_SENSES = "copy anondb.vgh_sense (vgh, node, concept, how, chosen) from stdin"
# Who does not own the tables is warned and goes on; one who builds at the same time is not waited for.
_ANALYZE = "analyze (skip_locked) anondb.vgh_node, anondb.vgh_path, anondb.vgh_sense"
_COPY = "select anondb.copy_vgh($1, $2)"
_RANK = """
select r.vgh, r.score, r.rank, r.semq_score, r.semq_rank, r.priv_score, r.priv_rank,
       r.distrn_score, r.distrn_rank, r.isize_score, r.isize_rank
from anondb.rank_vghs(
    vghs => $1::text[], semq => $2, priv => $3, distrn => $4, isize => $5, k => $6, measure => $7, aggregate => $8,
    source => pg_catalog.to_regclass($9::text), source_column => $10::name) as r
"""
_STRUCTURE = """
select s.vgh, s.leaves, s.ancestors, s.figure, s.mean, s.deviation, s.minimum, s.maximum
from anondb.vgh_structure($1::text[]) as s
"""


class ColumnSource(NamedTuple):
    """A column of a table, by names that can be looked up, and what PostgreSQL takes its type for."""

    table: str
    column: str
    category: str


class ValueSense(NamedTuple):
    """What a value means: its concept, how that was found, how sure it is, of how many senses."""

    term: str
    concept: int
    how: str
    confidence: float
    senses: int

    @property
    def is_ambiguous(self) -> bool:
        """Nothing in the other values tells its senses apart."""
        return self.senses > 1 and self.confidence == 0


class Hypernym(NamedTuple):
    concept: int
    key: str
    label: str
    pos: str
    depth: int
    parents: list[int]
    names: list[str]


class Built(NamedTuple):
    """A hierarchy that is to be stored, with the concepts of its nodes; none for one of numbers."""

    table: VghTable
    concepts: Mapping[Node, int | None] | None


def find_column(db: Executor, name: Name, column: str) -> ColumnSource:
    """The column by its name; raises if there is none."""
    relation = catalog.resolve_source(db.connection, name)
    categories = catalog.column_categories(db.connection, relation)
    if column not in categories:
        raise UsageError(
            f'table {name} has no column "{column}"',
            hint=did_you_mean(column, categories) or "check its name",
        )
    [quoted] = db.one(Statement("name of the table", _QUOTED, (relation.schema, relation.name)))
    return ColumnSource(quoted, column, categories[column])


def values(db: Executor, source: ColumnSource) -> dict[str, int]:
    """The distinct values of a column as text, and how often each occurs."""
    return dict(db.rows(Statement("values", VALUES, (source.table, source.column))))


def senses(db: Executor, terms: Sequence[str], ontology: str) -> dict[str, ValueSense]:
    """The senses of the values that the ontology knows."""
    return {
        row[0]: ValueSense(*row) for row in db.rows(Statement("senses", _SENSES, (list(terms), ontology)))
    }


def sense_choices(db: Executor, terms: Sequence[str], ontology: str) -> list[tuple[str, str, str]]:
    """Every concept that a term could mean, the best known first: term, key, gloss."""
    return cast(
        list[tuple[str, str, str]], db.rows(Statement("choices of senses", _CHOICES, (list(terms), ontology)))
    )


def find_concept(db: Executor, term: str, ontology: str) -> int:
    """The concept of a term, a key or an id."""
    [concept] = db.one(Statement("concept", _FIND_CONCEPT, (term, ontology)))
    return cast(int, concept)


def hypernyms(db: Executor, concepts: Sequence[int]) -> list[Hypernym]:
    """The concepts and all their generalizations."""
    return [Hypernym(*row) for row in db.rows(Statement("hypernyms", _HYPERNYMS, (list(concepts),)))]


def perspectives(db: Executor, concepts: Sequence[int], bound: float) -> list[tuple[int, int, str]]:
    """A concept, another concept that could name the same class, and that one's label; the most similar first."""
    return cast(
        list[tuple[int, int, str]], db.rows(Statement("perspectives", _PERSPECTIVES, (list(concepts), bound)))
    )


def candidates(db: Executor, name: str) -> list[str]:
    """The stored candidates of a name: the base first, then by number."""
    return [candidate for (candidate,) in db.rows(Statement("candidates", _CANDIDATES, (name,)))]


def store(db: Executor, built: Mapping[str, Built], ontology: str, *, replace: Sequence[str]) -> None:
    """Stores hierarchies by name, all or none; those in `replace` go first."""
    with db.connection.transaction():
        if replace:
            db.run(Statement("drop candidates", _DROP, (list(replace),)))
        _refuse_taken(db, list(built))
        tables = [candidate.table for candidate in built.values()]
        sizes = [table.height for table in tables], [len(table.rows) for table in tables]
        ids = dict(db.rows(Statement("create candidates", _CREATE, (ontology, list(built), *sizes))))
        numbers = {name: node_numbers(candidate.table) for name, candidate in built.items()}
        db.copy(Statement("nodes of candidates", _COPY_NODES), _nodes(built, ids, numbers))
        db.copy(Statement("paths of candidates", _COPY_PATHS), _paths(built, ids, numbers))
        db.copy(Statement("senses of candidates", _COPY_SENSES), _meanings(built, ids, numbers))
        db.run(Statement("statistics of candidates", _ANALYZE))


def _nodes(built: Mapping[str, Built], ids: Mapping[str, int], numbers: Numbers) -> Iterator[Sequence[Any]]:
    for name, candidate in built.items():
        parents = node_parents(candidate.table, numbers[name])
        for (level, label), node in numbers[name].items():
            yield ids[name], node, level, label, parents.get(node)


def _paths(built: Mapping[str, Built], ids: Mapping[str, int], numbers: Numbers) -> Iterator[Sequence[Any]]:
    for name, candidate in built.items():
        for leaf, labels in enumerate(candidate.table.rows, start=1):
            for level, label in enumerate(labels):
                yield ids[name], leaf, level, numbers[name][level, label]


def _meanings(
    built: Mapping[str, Built], ids: Mapping[str, int], numbers: Numbers
) -> Iterator[Sequence[Any]]:
    for name, candidate in built.items():
        for step, node in numbers[name].items():
            if candidate.concepts is None:
                # said, as an ontology may know the words for some numbers
                yield ids[name], node, None, "number", True
            elif step in candidate.concepts:
                yield ids[name], node, candidate.concepts[step], "built", True


def copy(db: Executor, vgh: str, name: str, *, replace: bool) -> None:
    """Stores a hierarchy once more, under another name."""
    if vgh == name:
        return
    with db.connection.transaction():
        if replace:
            db.run(Statement("drop a hierarchy", _DROP, ([name],)))
        _refuse_taken(db, [name])
        db.run(Statement("copy a hierarchy", _COPY, (vgh, name)))


def _refuse_taken(db: Executor, names: Sequence[str]) -> None:
    for (taken,) in db.rows(Statement("names that are taken", _TAKEN, (list(names),))):
        raise UsageError(f'hierarchy "{taken}" exists', hint="give --replace to build it anew")


def rank(db: Executor, names: Sequence[str], method: RankingMethod, source: ColumnSource | None) -> Ranking:
    """Ranks hierarchies by the four aspects, best first; with a column, leaves count as often as they occur."""
    weights = [method.weights[aspect] for aspect in ASPECTS]
    column = (None, None) if source is None else (source.table, source.column)
    given = (list(names), *weights, method.k, method.measure, method.aggregate, *column)
    with db.connection.transaction():
        rows = db.rows(Statement("rank candidates", _RANK, given))
        built: dict[str, dict[str, Spread]] = {name: {} for name in names}
        sizes: dict[str, tuple[int, int]] = {}
        for vgh, leaves, ancestors, figure, *numbers in db.rows(
            Statement("structure", _STRUCTURE, (list(names),))
        ):
            sizes[vgh] = leaves, ancestors
            built[vgh][figure] = Spread(*numbers)
    ranked = tuple(
        Ranked(vgh, score, place, _aspects(figures), *sizes[vgh], built[vgh])
        for vgh, score, place, *figures in rows
    )
    return Ranking(method, ranked)


def _aspects(figures: Sequence[Any]) -> dict[str, Aspect]:
    pairs = zip(figures[::2], figures[1::2], strict=True)
    return {name: Aspect(*pair) for name, pair in zip(ASPECTS, pairs, strict=True)}
