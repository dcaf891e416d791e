"""Every statement that a run sends, with a name of a test's choice for all that a user may name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from anondb.hierarchy.model import CsvVgh, Dates, Intervals, Mask, StoredVgh, Values
from anondb.sqlgen import classes, cuts, encode, frequency, halves, partition, publish
from anondb.sqlgen.build import Node, call
from anondb.sqlgen.partition import Condition, Partitioning
from anondb.sqlgen.publish import Chosen
from anondb.sqlgen.shape import Quasi, Relation, Scratch, SourceColumn

HOSTILE = [
    '"; drop table x--',
    "'; drop table x--",
    "100 % %s %(x)s",
    "$1 $$ $body$",
    "\\'; \\\"",
    "a\nb\r\nc\td",
    "🙂 größe",
    "/* -- */",
    "select",
    "User",
    ":name {x} ?",
    " a.b ",
    "*",
    "@x",
]


def statements(name: str) -> Iterator[Node]:
    """Every statement of a run, with this name for all that a user may name."""
    text, age = SourceColumn(name, "text", "text"), SourceColumn(name + "2", "numeric", "numeric")
    day = SourceColumn(name + "3", "timestamp", "timestamp")
    other = SourceColumn(name + "4", "json", "json")
    quasi = [
        Quasi(1, text, Mask("right"), height=3, length=3),
        Quasi(2, age, Intervals(Decimal("-0.5"), (Decimal("2.5"),)), height=2),
        Quasi(3, day, Dates(("month", "year")), height=3),
        Quasi(4, SourceColumn(name + "5", "text", "text"), StoredVgh(name), height=2, root=name, vgh=7),
        Quasi(5, SourceColumn(name + "6", "text", "text"), CsvVgh(Path(name)), height=1, root=name),
    ]
    columns = [q.column for q in quasi] + [other]
    names, source, fresh = Scratch(42), Relation(name, name), Relation(name, "anondb_run_42")
    copied = SourceColumn(name + "7", "text", "text")
    yield encode.raw_frequencies(names, source, quasi)
    yield encode.raw_frequencies(names, source, quasi, [copied])
    yield encode.records(names, quasi)
    yield encode.leave_out_nulls(names, quasi)
    for whole_rows in (True, False):
        yield encode.frequency_set(names, quasi, whole_rows=whole_rows)
    yield encode.stored_leaves(names, quasi[3])
    yield encode.file_leaves(names, quasi[4])
    yield encode.fill_leaves(names, quasi[4])
    for q in quasi:
        yield encode.longest_value(names, q)
        yield encode.dictionary(names, q)
        yield encode.node_counts(names, q)
        yield encode.outside(names, q)
        yield encode.outside_values(names, q, 20)
    yield frequency.node_figures(names, quasi, [0, 1, 2, 2, 0], k=5)
    for at_root in (True, False):
        chosen = [Chosen(q, q.height if at_root else 0, has_null=q.number % 2 == 0) for q in quasi]
        for mask in (True, False):
            yield publish.classes(names, chosen, 5, mask=mask)
        yield publish.combinations(names, chosen)
        yield publish.insert_records(names, source, fresh, columns, chosen)
        yield publish.insert_rows(names, fresh, [*columns[:-1], copied], chosen)
    bare = [replace(q, hierarchy=Values(), height=1) for q in quasi[:3]]
    condition = Condition("s1", lambda value, n: call("bool_and", n.eq(value)))
    for strict in (True, False):
        p = Partitioning(names, [*bare, *quasi[3:]], 5, strict, [condition])
        yield from partitioning(p, condition)
        yield classes.insert_rows(p, fresh, columns, [other])
    yield publish.create_release(fresh, columns, quasi)
    yield publish.class_figures(fresh, [q.name for q in quasi])
    yield publish.comment(fresh, name)
    yield publish.swap(fresh, source)
    yield publish.own(source, 42)
    yield publish.all_rows(fresh, 10)


def partitioning(p: Partitioning, condition: Condition) -> Iterator[Node]:
    """Every statement of a search that partitions."""
    for q in p.quasi:
        yield encode.dictionary(p.names, q)
    yield partition.places(p)
    yield partition.index_places(p)
    yield from partition.tables(p)
    yield partition.whole(p)
    yield partition.whole_holds(p, condition)
    yield partition.empty_round(p)
    yield cuts.ranks(p)
    yield cuts.rank_figures(p)
    for rank in (1, 2):
        yield cuts.cut(p, rank)
    yield halves.refuse(p, condition)
    yield halves.figures(p)
    yield halves.close_uncut(p)
    yield halves.close_small(p)
    yield halves.large(p)
    yield halves.close_all(p)
    yield classes.classes(p)
    yield classes.combinations(p)
