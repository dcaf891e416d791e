"""What a draft asks of a table: names, types, keys and comments of the catalogue, and counts over a sample of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from psycopg import sql

from anondb.db import introspect as catalog
from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.hierarchies import csvfile
from anondb.hierarchies.forms import Age, BuiltinTable, Computed, Hierarchy
from anondb.hierarchies.forms.builtin import builtin_hierarchy
from anondb.policy.draft.codes import candidates
from anondb.policy.draft.patterns import names_of_persons, patterns
from anondb.policy.draft.profile import ColumnProfile, ColumnSet, TableProfile
from anondb.policy.draft.words import meaning_of
from anondb.policy.model import Name
from anondb.sqltree import fitting
from anondb.sqltree.render import render
from anondb.sqltree.tables import Relation, SourceColumn

CELLS = 1_500_000
"""How many values of a table are looked at, at most; and so many rows, whatever it has for columns."""
ROWS = (2_000, 50_000)
MOST_WORDS = 1_000  # values of a column that is compared with an ontology

SAMPLE = "pg_temp.anondb_sample"

# The first three words of a column: what a domain is made of counts, as for the kinds of identifying_columns.
_COLUMNS = """
select a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod),
       coalesce(pg_catalog.col_description(a.attrelid, a.attnum), ''),
       exists (select from pg_catalog.pg_index as i
               where i.indrelid = a.attrelid and i.indisunique and i.indisvalid and i.indpred is null
                 and i.indnkeyatts = 1 and i.indkey[0] = a.attnum),
       (select c.confrelid::pg_catalog.regclass::text from pg_catalog.pg_constraint as c
        where c.conrelid = a.attrelid and c.contype = 'f' and c.conkey = array[a.attnum]
        order by c.conname limit 1)
from pg_catalog.pg_attribute as a
where a.attrelid = %s::pg_catalog.regclass and a.attnum > 0 and not a.attisdropped
order by a.attnum
"""
_COMMENT = "select coalesce(pg_catalog.obj_description(%s::pg_catalog.regclass, 'pg_class'), '')"
_TAKE = "select s.records, s.looked_at from anondb.draft_sample(%s::pg_catalog.regclass, %s) as s"
_ANALYZE = "analyze pg_temp.anondb_sample"
_SHAPES = """
select s.of_column::text, s.kind, s.filled, s.distinct_values, s.alone, s.most_frequent, s.longest,
       s.whole, s.negative, s.ages, s.years, s.spread, s.old, s.tail, s.high
from anondb.column_shapes(%s::pg_catalog.regclass) as s
"""
_IDENTIFYING = """
select i.of_column::text, i.reasons from anondb.identifying_columns(%s::pg_catalog.regclass) as i
"""
_MATCHING = """
select m.looked_at, m.matching
from anondb.matching_values(%s::pg_catalog.regclass, %s::pg_catalog.name, %s::pg_catalog.jsonb) as m
"""
_NAMES = """
select n.looked_at, n.known
from anondb.known_names(%s::pg_catalog.regclass, %s::pg_catalog.name, %s::text[]) as n
"""
_WORDS = """
select k.looked_at, k.known
from anondb.known_words(%s::pg_catalog.regclass, %s::pg_catalog.name, %s) as k
"""
_APART = """
select t.alone, t.separation
from anondb.told_apart(%s::pg_catalog.regclass, %s::pg_catalog.name[]) as t
"""
_ONTOLOGIES = "select o.name from anondb.ontology as o order by o.name <> 'wordnet', o.name"


@dataclass(frozen=True)
class Profiler:
    """Looks at one table, inside a transaction: the sample is gone at its end."""

    connection: Connection
    relation: Relation

    @property
    def name(self) -> str:
        return sql.Identifier(self.relation.schema, self.relation.name).as_string(self.connection)

    def profile(self, source: Name) -> TableProfile:
        """Everything that roles and hierarchies are decided by."""
        catalogued = self._rows("reading the catalogue", _COLUMNS, self.name)
        rows = max(ROWS[0], min(ROWS[1], CELLS // max(len(catalogued), 1)))
        [(records, looked_at)] = self._rows("looking at the table", _TAKE, self.name, rows)
        [(comment,)] = self._rows("reading the catalogue", _COMMENT, self.name)
        reasons = dict(self._rows("counting", _IDENTIFYING, SAMPLE))
        shapes = {name: shape for name, *shape in self._rows("counting", _SHAPES, SAMPLE)}
        columns = [
            _column(name, type_, said, unique, references, shapes[name], reasons[name])
            for name, type_, said, unique, references in catalogued
        ]
        sources = {column.name: column for column in catalog.columns(self.connection, self.relation)}
        looked = (self._looked(column) for column in columns)
        coded = tuple(self._fitted(column, sources[column.name]) for column in looked)
        return TableProfile(source, round(records), looked_at, coded, comment)

    def told_apart(self, columns: Sequence[str]) -> ColumnSet:
        """What a set of columns tells, counted on the sample."""
        [(alone, separation)] = self._rows("counting combinations", _APART, SAMPLE, list(columns))
        return ColumnSet(tuple(columns), alone, separation)

    def with_words(self, columns: Collection[str], table: TableProfile) -> TableProfile:
        """The same, with the ontology that knows the words of these columns, if one does."""
        ontologies = [name for (name,) in self._rows("reading the catalogue", _ONTOLOGIES)]
        known = {name: self._known(name, ontologies) for name in columns} if ontologies else {}
        looked = (replace(column, known=known.get(column.name)) for column in table.columns)
        return replace(table, columns=tuple(looked))

    def _known(self, column: str, ontologies: Sequence[str]) -> str | None:
        for ontology in ontologies:
            [(looked_at, known)] = self._rows("looking up words", _WORDS, SAMPLE, column, ontology)
            if looked_at > 2 and known >= 0.9 * looked_at:
                return str(ontology)
        return None

    def _looked(self, column: ColumnProfile) -> ColumnProfile:
        """With what its values look like: of texts, and of whole numbers long enough to be one of a person."""
        if column.kind not in ("text", "address") and not (column.is_whole and column.longest >= 8):
            return column
        tried = patterns()
        tests = json.dumps([pattern.as_test() for pattern in tried])
        [(looked_at, matching)] = self._rows("counting patterns", _MATCHING, SAMPLE, column.name, tests)
        of = max(looked_at, 1)
        looks = {pattern.name: n / of for pattern, n in zip(tried, matching, strict=True) if n}
        column = replace(column, looks=looks)
        if column.kind == "text" and column.distinct >= 10 and meaning_of(column.name, column.kind) is None:
            given = (SAMPLE, column.name, list(names_of_persons()))
            [(looked_at, known)] = self._rows("counting names", _NAMES, *given)
            column = replace(column, names=known / max(looked_at, 1))
        return column

    def _fitted(self, column: ColumnProfile, source: SourceColumn) -> ColumnProfile:
        """With the classification that it has codes of, or the day that ages can be counted at.

        Hierarchies that a value of the table is outside of are not proposed: the run would fail.
        """
        if column.kind == "text":
            for name in candidates(column):
                if self._is_within(source, builtin_hierarchy(name)):
                    return replace(column, codes=name)
        named = meaning_of(column.name, column.kind)
        if column.days and named is not None and named.name == "birth":
            at = date(date.today().year + 1, 1, 1)  # whoever is born this year is in it, too
            if self._is_within(source, Age(at)):
                return replace(column, born_by=at)
        return column

    def _is_within(self, source: SourceColumn, hierarchy: Hierarchy) -> bool:
        if isinstance(hierarchy, Computed):
            if hierarchy.misfit(source) is not None:
                return False
            counted = fitting.outside(self.relation, source, hierarchy)
        else:
            assert isinstance(hierarchy, BuiltinTable)
            leaves = [row[0] for row in csvfile.read(hierarchy.path, comments=True).rows]
            counted = fitting.unlisted(self.relation, source, leaves)
        [(outside,)] = self._rows("counting codes", render(counted))
        return bool(outside == 0)

    def _rows(self, doing: str, query: str, *given: object) -> list[tuple[Any, ...]]:
        with translated(doing):
            return self.connection.execute(query.encode(), given or None).fetchall()


def _column(
    name: str,
    type_: str,
    comment: str,
    unique: bool,
    references: str | None,
    shape: Sequence[Any],
    reasons: Sequence[str],
) -> ColumnProfile:
    kind, filled, distinct, alone, frequent, longest, *figures = shape
    found: Mapping[str, Any] = dict(
        zip(("whole", "negative", "ages", "years", "spread", "old", "tail", "high"), figures, strict=True)
    )
    return ColumnProfile(
        name=name,
        type=type_,
        kind=kind,
        comment=comment,
        unique=unique,
        references=references,
        filled=filled,
        distinct=distinct,
        alone=alone,
        most_frequent=frequent,
        longest=longest,
        identifying=tuple(reasons),
        **found,
    )
