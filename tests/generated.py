"""Every statement that a run sends, with a name of a test's choice for all that a user may name."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

from anondb.hierarchies.forms import (
    Age,
    BuiltinCode,
    Cap,
    Code,
    CsvVgh,
    Dates,
    Grid,
    Intervals,
    Mask,
    StoredVgh,
    Values,
)
from anondb.hierarchies.forms.builtin import FOLDER
from anondb.methods.full_domain import cells_sql as cells
from anondb.methods.full_domain import costs_sql as costs
from anondb.methods.full_domain import packed_sql
from anondb.methods.full_domain import sql as node
from anondb.methods.full_domain.packed_sql import Packing
from anondb.methods.full_domain.sql import Costs
from anondb.methods.mondrian import classes_sql as classes
from anondb.methods.mondrian import cuts_sql as cuts
from anondb.methods.mondrian import halves_sql as halves
from anondb.methods.mondrian import loss_sql as loss
from anondb.methods.mondrian import sql as partition
from anondb.methods.mondrian import tree_sql as trees
from anondb.methods.mondrian.sql import Condition, Partitioning
from anondb.models import sql as models
from anondb.models.l_diversity import LDiversity
from anondb.models.registry import CLASS_MODELS
from anondb.models.sql import Judged, Models
from anondb.models.t_closeness import DISTANCES, TCloseness
from anondb.run import account_sql as account
from anondb.run import covered_sql as covering
from anondb.run import encode_sql as encode
from anondb.run import frequency_sql as frequency
from anondb.run import linked_sql as linked
from anondb.run import publish_sql as publish
from anondb.run import shared_sql as shared
from anondb.run import swap_sql as swap
from anondb.run import verify_sql as audit
from anondb.run.frequency_sql import Counted
from anondb.run.publish_sql import Chosen
from anondb.run.risen_sql import risen
from anondb.sqltree import equality
from anondb.sqltree.build import Node, call
from anondb.sqltree.tables import Quasi, Relation, Scratch, Sensitive, SourceColumn

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
    yield encode.raw_frequencies(names, source, quasi, [copied], SourceColumn(name + "8", "text", "text"))
    yield encode.records(names, quasi)
    yield encode.set_nulls_aside(names, quasi)
    yield encode.leave_out_nulls(names, quasi)
    yield encode.stored_leaves(names, quasi[3])
    yield encode.file_leaves(names, quasi[4])
    yield encode.fill_leaves(names, quasi[4])
    for q in quasi:
        yield equality.spellings(names, q)
        yield encode.longest_value(names, q)
        yield encode.dictionary(names, q)
        yield encode.node_counts(names, q)
        yield encode.outside(names, q)
        yield encode.outside_values(names, q, 20)
    for q in (*quasi, *_computed(name)):
        for level in range(q.height + 1):
            covered = Chosen(q, level, has_null=True)
            if (read_back := covering.are_read_back(names, covered)) is not None:
                yield read_back
                yield covering.values(names, [covered])
                yield linked.of_levels(names, [covered], repeated=True, covered=[covered])
                yield linked.cells(names, [q], [covered], nulls=False, covered=[covered])
    for q in _computed(name):
        yield encode.dictionary(names, q)
        yield encode.outside(names, q)
        yield costs.cost_table(names, [q])
    yield from _searched(name, names, tuple(quasi))
    for at_root in (True, False):
        chosen = [Chosen(q, q.height if at_root else 0, has_null=q.number % 2 == 0) for q in quasi]
        for mask in (True, False):
            yield publish.classes(names, chosen, Models(Counted(tuple(quasi)), 5), mask=mask)
            yield publish.combinations(names, chosen, repeated=mask)
        yield publish.leave_out(names)
        yield audit.fewest_persons(names, chosen)
        yield audit.other_classes(names, fresh, chosen)
        yield publish.insert_records(names, source, fresh, columns, chosen)
        yield shared.combinations(names, chosen)
        yield shared.release(names, source, fresh, columns, chosen, columns, unlogged=True)
        yield publish.insert_rows(names, fresh, [*columns[:-1], copied], chosen)
        yield linked.of_levels(names, chosen, repeated=at_root)
        keys = [c.key for c in chosen if not c.at_root]
        yield cells.small(names, keys, Models(Counted(tuple(quasi)), 5))
        yield cells.suppress(names, keys, (0,), Models(Counted(tuple(quasi)), 5))
        yield cells.figures(names, keys)
        yield cells.partitioned(names, chosen, keys)
        yield cells.classes(names, chosen)
        yield linked.cells(names, quasi, chosen, nulls=at_root)
        yield risen(names, chosen)
    bare = [replace(q, hierarchy=Values(), height=1) for q in quasi[:3]]
    condition = Condition("s1", lambda value, n: call("bool_and", n.eq(value)))
    for strict in (True, False):
        p = Partitioning(names, [*bare, *quasi[3:]], 5, strict, [condition])
        yield from partitioning(p, condition)
        yield classes.insert_rows(p, fresh, columns, [other])
    p = Partitioning(names, [*bare, *quasi[3:]], 5, conditions=[condition], by_loss=True)
    yield from by_loss(p, condition)
    yield linked.label_codes(names, quasi)
    yield linked.of_classes(names, quasi)
    yield linked.unseen(names, quasi)
    yield linked.with_nulls(names, quasi)
    yield linked.cells(names, quasi, None, nulls=True)
    yield linked.cells_of_sample(names)
    yield linked.released(names, quasi)
    yield linked.in_texts(names, quasi)
    yield linked.take_nulls_back(names)
    yield linked.different(names, quasi)
    yield account.original_sizes(names.link, quasi)
    yield account.released_sizes(names.link, quasi)
    for q in filter(account.has_leaves, quasi):
        yield account.hierarchy(names, q)
    yield publish.create_release(fresh, columns, unlogged=True)
    yield publish.class_figures(publish.class_sizes(fresh, [q.name for q in quasi]))
    yield audit.written(names, fresh, [q.name for q in quasi], ["a", "b"])
    yield publish.class_figures(audit.written_sizes(names, [q.name for q in quasi]))
    yield from (shared.gains(names), shared.keys(names), shared.forget(names), shared.drop(fresh))
    yield publish.comment(fresh, name)
    yield publish.own([source], 42)
    yield swap.lock(source, readers=True)
    yield swap.replace_rows(fresh, source, columns)
    yield swap.count(source)
    yield swap.place(fresh, source)
    yield swap.rename(fresh, name)
    yield swap.drop(fresh)
    yield swap.without_grants(source)
    yield publish.all_rows(fresh, 10)


def _computed(name: str) -> Iterator[Quasi]:
    """A column of each further form of a hierarchy that computes its labels."""
    cap, widths = Cap(Decimal("-1.5"), Decimal(89)), (Decimal("0.1"), Decimal(1))
    for type_, form in (
        ("int4", Intervals(Decimal(0), (Decimal(5),), cap)),
        ("date", Age(date(2024, 2, 29), (Decimal(5),), Decimal(0), cap)),
        ("date", Dates(("year", "5 years"))),
        ("point", Grid(widths)),
        ("float8", Grid(widths)),
        ("text", Code((1, 3))),
        *(("text", BuiltinCode(file.stem)) for file in sorted(FOLDER.glob("*.toml"))),
    ):
        yield Quasi(1, SourceColumn(name, type_, type_), form, form.height)


def _searched(name: str, names: Scratch, quasi: tuple[Quasi, ...]) -> Iterator[Node]:
    """What a search asks, by every model on sensitive columns of this name."""
    fresh, released = Relation(name, "anondb_run_42"), [q.name for q in quasi]
    first = Sensitive(1, SourceColumn(name + "9", "numeric", "numeric"), None, height=1, position=1)
    second = Sensitive(
        2, SourceColumn(name + "10", "text", "text"), StoredVgh(name), height=2, root=name, vgh=8, position=2
    )
    labels = [[40_000] * (q.height + 1) for q in quasi]
    levels = (0, 1, 2, 2, 0)
    for persons in (True, False):
        counted = Counted(quasi, (first, second), persons)
        judged = Models(
            counted,
            5,
            (
                Judged(LDiversity(first.name, 3, "distinct"), first),
                Judged(LDiversity(first.name, 2.5, "entropy"), first),
                Judged(LDiversity(first.name, 2, "recursive", 3), first),
                *[Judged(TCloseness(second.name, 0.2, distance), second) for distance in DISTANCES],
                *_of_examples(second),
            ),
        )
        yield frequency.frequency_set(names, counted, labels, [3, 40_000], merge=persons)
        for leaves in (True, False):
            packing = Packing(counted, labels, leaves=leaves)
            yield packed_sql.packed(names, packing)[0]
            yield packed_sql.rolled_up(names.packed, names.rollup(1), packing, levels)
        for by_leaf in (True, False):
            packing = Packing(counted, labels, leaves=by_leaf)
            shares = Costs([0.2] * len(quasi), by_leaf=by_leaf, budget=7)
            yield node.figures(names, names.packed, packing, judged, levels, shares)
            yield node.put_down_figures(names, packing, judged, levels, shares)
            yield costs.cost_table(names, quasi, measure="wup" if by_leaf else None)
            yield costs.column_costs(names, quasi[0], by_leaf=by_leaf)
            yield node.put_down(names, names.packed, packing, judged, levels, reference=by_leaf)
        yield node.masked_passes(names, names.packed, packing, judged, levels)
        yield node.remove_distant(names, names.node, judged)
    yield frequency.units(names)
    yield frequency.drop(names.node)
    yield models.totals(names, second)
    yield models.ancestors(names, second, 4)
    for one in judged.judged:
        asked = one.model.measured(fresh, released, one.sensitive.name)
        if asked is None:
            asked = one.model.audited(names, fresh, released, one.sensitive)
        if asked is not None:
            yield asked
            continue
        yield audit.coded_release(names, fresh, released, one.sensitive, 4)
        yield audit.farthest(names, released, one)


def _of_examples(sensitive: Sensitive) -> Iterator[Judged]:
    """Every other model as its own example demands it, in each of its kinds."""
    for model in CLASS_MODELS:
        if model in (LDiversity, TCloseness):
            continue
        keys = tomllib.loads(model.example)[model.name] | {"column": sensitive.name}
        key, kinds = model.kinds or ("column", (sensitive.name,))
        for kind in kinds:
            yield Judged(model.made(keys | {key: kind}), sensitive)


def by_loss(p: Partitioning, condition: Condition) -> Iterator[Node]:
    """The statements of a search that partitions by loss, as far as they are others."""
    yield trees.tree(p)
    yield from partition.tables(p)
    yield partition.empty_round(p)
    yield loss.items(p)
    yield loss.ranks(p)
    yield loss.rank_figures(p)
    for rank in (1, 2):
        yield loss.cut(p, rank)
    yield halves.refuse(p, condition)
    yield loss.figures(p)
    yield halves.close_small(p)
    yield halves.large(p)


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
