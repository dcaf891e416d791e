"""What the texts of a policy's columns would mean to a run, before there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.db.introspect import resolve_source
from anondb.policy.model import Column, Policy
from anondb.run.linked_sql import relation_text

_VALUES = """
select v.value, v.records, v.ontology, v.concept, v.label, v.gloss, v.how, v.senses
from anondb.review_values(%s::text::regclass, %s::name, %s::text[]) as v
order by v.records desc, v.value collate "C"
"""
_TEXTS = """
select t.text, t.records, p.concept
from anondb.texts_of(%s::text::regclass, %s::name) as t
left join lateral (
    select m.concept
    from unnest(case when anondb.text_without_senses(t.text) = btrim(t.text) then %s::text[] end) as o (name)
    cross join lateral anondb.term_senses(t.text, anondb.find_ontology(o.name)) as m
    where m.how not in ('head', 'stem') limit 1) as p on true
order by t.records desc, t.text collate "C"
"""
_PHRASES = """
select p.value, p.phrase, p.ontology, p.concept, p.label, p.gloss
from anondb.review_phrases(%s::text[], %s::text[], variadic %s::text[]) as p
"""

Phrases = Callable[[str, Sequence[str] | None], Sequence[str]]
"""Of a text, without these stop words."""


@dataclass(frozen=True)
class ReviewedValue:
    """A text of the data, and what it means."""

    column: str
    value: str
    records: int
    phrase: str | None  # of a text in a set: what of it was looked up
    ontology: str | None
    concept: str | None  # None: no ontology of the column knows it
    label: str | None
    gloss: str | None
    how: str | None  # mapping, lemma, plural, stem, head, …; phrase: what the tagger found
    senses: int | None  # it was chosen of so many


def review(
    connection: Connection, policy: Policy, ontologies: Mapping[str, Sequence[str]], phrases: Phrases
) -> list[ReviewedValue]:
    """The values of the columns that are compared by ontologies, those of most records first."""
    with translated("reading what is to be reviewed"):
        return [
            found
            for column in policy.quasi
            if column.name in ontologies
            for found in _of_column(connection, policy, column, ontologies[column.name], phrases)
        ]


def _of_column(
    connection: Connection, policy: Policy, column: Column, ontologies: Sequence[str], phrases: Phrases
) -> Iterator[ReviewedValue]:
    name, source = column.name, policy.source
    if column.items is not None:
        name, source = column.items.item, column.items.table
    table = relation_text(resolve_source(connection, source, "source"))
    if not column.is_set:
        rows: list[Any] = connection.execute(_VALUES, (table, name, list(ontologies))).fetchall()
        for value, records, *meant in rows:
            yield ReviewedValue(column.name, value, records, None, *meant)
        return
    texts: list[Any] = connection.execute(_TEXTS, (table, name, list(ontologies))).fetchall()
    pairs = [
        (text, phrase)
        for text, _, known in texts
        for phrase in ([text] if known is not None else phrases(text, column.stop_words) or [text])
    ]
    asked = [text for text, _ in pairs], [phrase for _, phrase in pairs], list(ontologies)
    found: list[Any] = connection.execute(_PHRASES, asked).fetchall()
    meant_by = {(value, phrase): tuple(meant) for value, phrase, *meant in found}
    records_of = {text: records for text, records, _ in texts}
    for text, phrase in pairs:
        ontology, concept, label, gloss = meant_by[text, phrase]
        how = "phrase" if concept else None
        yield ReviewedValue(
            column.name, text, records_of[text], phrase, ontology, concept, label, gloss, how, None
        )
