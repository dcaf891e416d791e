"""The rows of linked tables as a run copies them: who is whose parent, whose person, and the codes of their labels.

A row has the words of codes of its own columns and of all rows above it: what is known with a row needs no join.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from anondb.run.keyed_sql import Key, keyed, with_keys
from anondb.run.linked.places_sql import at, create, home
from anondb.run.linked.plan import LinkedPlan, LinkedScratch, TablePlan
from anondb.run.persons_sql import kept_value
from anondb.sqltree.build import (
    call,
    cast,
    col,
    equal,
    every,
    left_join,
    named,
    null,
    number,
    query,
    scratch,
    star,
    subquery,
    table,
)
from anondb.sqltree.equality import as_text, grouping_value, with_entry
from anondb.sqltree.released import Pseudonym
from anondb.sqltree.tables import Quasi, Relation, SourceColumn

_BITS = 63  # of a bigint that is not negative


@dataclass(frozen=True)
class Place:
    """Where the code of a column at a level is: bits of a word of its table."""

    word: str
    shift: int
    bits: int

    def code(self, of: str) -> exp.Expr:
        shifted = exp.Paren(
            this=exp.BitwiseRightShift(this=col(self.word, of), expression=number(self.shift))
        )
        return exp.Paren(this=exp.BitwiseAnd(this=shifted, expression=number((1 << self.bits) - 1)))


class Words:
    """The codes of all columns of all tables, at each level below their roots that may be released."""

    def __init__(
        self, linked: LinkedPlan, quasi: Mapping[int, Quasi], labels: Mapping[int, Sequence[int]]
    ) -> None:
        """`quasi` and the numbers of their `labels` at each level, by the numbers of the columns."""
        self.quasi = quasi
        self.labels = labels
        self._places: dict[tuple[int, int], Place] = {}
        self.of_table: dict[int, list[str]] = {}
        for one in linked.tables:
            used: list[int] = []
            for q in one.plan.quasi:
                self._fill(one.number, quasi[q.number], used)
            self.of_table[one.number] = [_word(one.number, word) for word in range(len(used))]

    def _fill(self, table_number: int, q: Quasi, used: list[int]) -> None:
        highest = q.height if q.max_level is None else min(q.max_level, q.height)
        for level in range(q.min_level, min(highest + 1, q.height)):
            bits = max(int(self.labels[q.number][level]).bit_length(), 1)
            word = next((w for w, taken in enumerate(used) if taken + bits <= _BITS), len(used))
            if word == len(used):
                used.append(0)
            self._places[q.number, level] = Place(_word(table_number, word), used[word], bits)
            used[word] += bits

    def place(self, quasi: int, level: int) -> Place | None:
        """None at the root, where all have one code."""
        return self._places.get((quasi, level))

    def of_column(self, quasi: int) -> dict[str, list[tuple[int, Place]]]:
        """The words that hold codes of a column, with its levels there."""
        found: dict[str, list[tuple[int, Place]]] = {}
        for (number_, level), place in self._places.items():
            if number_ == quasi:
                found.setdefault(place.word, []).append((level, place))
        return found


def _word(table_number: int, word: int) -> str:
    return f"p{table_number}_{word + 1}"


def column_words(all_names: LinkedScratch, q: Quasi, words: Words) -> exp.Create:
    """Each value of a column with what it adds to the words of a row."""
    names = all_names.column(q)
    found: list[exp.Expr] = [named(col(q.raw, "r"), "v")]
    for word, places in words.of_column(q.number).items():
        parts: list[exp.Expr] = []
        for level, place in places:
            code = call("coalesce", col("leaf" if level == 0 else f"l{level}", q.code), number(0))
            shifted = exp.BitwiseLeftShift(this=cast(code, "bigint"), expression=number(place.shift))
            parts.append(exp.Paren(this=shifted))
        found.append(named(_either(parts), word))
    rows = query(found, scratch(names.raw, "r"))
    rows = with_entry(rows, names, q, as_text(col(q.raw, "r")))
    return create(all_names, names.packed, rows)


def _either(parts: Sequence[exp.Expr]) -> exp.Expr:
    whole = parts[0]
    for part in parts[1:]:
        whole = exp.BitwiseOr(this=whole, expression=part)
    return whole


def copied_rows(
    names: LinkedScratch,
    linked: LinkedPlan,
    one: TablePlan,
    words: Words,
    source: Relation,
    most: int | None,
    *,
    numbered: bool,
) -> exp.Create:
    """The rows of a table with those above them; `most` of a person, where that is bounded.

    Rows without a parent have no person; of a bounded number a keyed hash says which are kept. Rows are `numbered`
    where single ones are told apart; numbering them takes one process.
    """
    rid = cast(exp.Window(this=call("row_number")), "int")
    root = one.parent is None
    found: list[exp.Expr] = [] if root else [col("person", "u")]
    if numbered and not root:
        found += [named(rid, "rid"), named(col("rid", "u"), "parent")]
    found += [col(word, "u") for above in linked.path(one)[:-1] for word in words.of_table[above.number]]
    of_words: dict[str, list[exp.Expr]] = {word: [] for word in words.of_table[one.number]}
    rows = query([], table(source.name, source.schema, "s"))
    for q in one.plan.quasi:
        alias = f"w{q.number}"
        value = equal(col("v", alias), grouping_value(q.column, "s"))
        rows = left_join(rows, at(names, names.column(q).packed, alias), value)
        for word in words.of_column(q.number):
            of_words[word].append(call("coalesce", col(word, alias), number(0)))
    found += [named(_either(parts), word) for word, parts in of_words.items()]
    kept = kept_columns(one)
    found += [named(_value(linked, one, c), f"c{place}") for place, c in enumerate(kept, 1)]
    found += [
        named(key_value(theirs, "s"), _key(child, place))
        for child in linked.children(one)
        for place, (_, theirs) in enumerate(child.key, 1)
    ]
    found += [named(grouping_value(linked.unit, "s"), "unit")] if root else []
    if not root:
        parent = linked.tables[one.parent or 0]
        same = every(
            [
                equal(col(_key(one, place), "u"), key_value(mine, "s"))
                for place, (mine, _) in enumerate(one.key, 1)
            ]
        )
        rows = left_join(rows, at(names, names.rows(parent), "u"), same)
    rows = with_keys(rows.select(*found, copy=False), names.keys, home(names, names.keys.keys))
    if root:
        # numbered last: all before that several processes can do
        found = [named(rid, "person"), *[named(rid.copy(), "rid")] * numbered, star("x")]
        rows = query(found, subquery(rows.offset(number(0)), "x"))
    if most is None or root:
        return create(names, names.rows(one), rows)
    own = [grouping_value(q.column, "s") for q in one.plan.quasi]
    hashed = keyed(Key.DRAW, [*own, *[col(c.name, "s") for c in kept]])
    order = exp.Order(expressions=[exp.Ordered(this=hashed)])
    place = exp.Window(this=call("row_number"), partition_by=[col("person", "u")], order=order)
    ranked = rows.select(named(place, "place"), copy=False)
    bounded = query([star("x")], subquery(ranked, "x"))
    few = exp.LTE(this=col("place", "x"), expression=number(most))
    return create(
        names,
        names.rows(one),
        bounded.where(exp.or_(few, exp.Is(this=col("person", "x"), expression=null()))),
    )


def kept_columns(one: TablePlan) -> tuple[SourceColumn, ...]:
    return one.plan.kept


def _value(linked: LinkedPlan, one: TablePlan, column: SourceColumn) -> exp.Expr:
    """The released value; a pseudonym that the parent's row has already is not computed again."""
    if isinstance(column.form, Pseudonym) and one.parent is not None:
        parent = linked.tables[one.parent]
        for mine, theirs in one.key:
            if mine.name == column.name:
                for place, there in enumerate(kept_columns(parent), 1):
                    if there.name == theirs.name and there.form == column.form:
                        return col(f"c{place}", "u")
    return kept_value(column, "s")


def key_value(column: SourceColumn, of: str) -> exp.Expr:
    """A key as both sides spell it: numbers of any type, texts by their bytes."""
    value = grouping_value(column, of)
    return (
        cast(value, "numeric")
        if column.base not in ("int4", "int8", "int2") and _is_number(column)
        else value
    )


def _is_number(column: SourceColumn) -> bool:
    return column.base in ("numeric", "float4", "float8")


def _key(child: TablePlan, place: int) -> str:
    return f"k{child.number}_{place}"


def faults_of_key(names: LinkedScratch, child: TablePlan, parent: TablePlan) -> exp.Select:
    """How many keys of a parent stand in several of its rows."""
    keys = [col(_key(child, place), "r") for place, _ in enumerate(child.key, 1)]
    known = every([exp.Not(this=exp.Is(this=key.copy(), expression=null())) for key in keys])
    groups = query([number(1)], at(names, names.rows(parent), "r"), where=known, group=keys)
    groups.set("having", exp.Having(this=exp.GT(this=exp.Count(this=exp.Star()), expression=number(1))))
    return query([exp.Count(this=exp.Star())], subquery(groups, "g"))


def faults_of_unit(names: LinkedScratch, root: TablePlan) -> exp.Select:
    """Rows in all, persons who have several rows in the table of persons, and rows that name nobody."""
    unit = col("unit", "r")
    counted = query(
        [named(unit, "unit"), named(exp.Count(this=exp.Star()), "n")],
        at(names, names.rows(root), "r"),
        group=[unit.copy()],
    )
    nobody = exp.Is(this=col("unit", "g"), expression=null())
    several = exp.and_(exp.Not(this=nobody.copy()), exp.GT(this=col("n", "g"), expression=number(1)))
    return query(
        [
            cast(call("coalesce", exp.Sum(this=col("n", "g")), number(0)), "bigint"),
            exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=several)),
            cast(
                call(
                    "coalesce",
                    exp.Filter(this=exp.Sum(this=col("n", "g")), expression=exp.Where(this=nobody)),
                    number(0),
                ),
                "bigint",
            ),
        ],
        subquery(counted, "g"),
    )


def figures_of_rows(names: LinkedScratch, one: TablePlan) -> exp.Select:
    """Rows, and those without a parent."""
    nobody = exp.Where(this=exp.Is(this=col("person", "r"), expression=null()))
    orphans = exp.Filter(this=exp.Count(this=exp.Star()), expression=nobody)
    return query([exp.Count(this=exp.Star()), orphans], at(names, names.rows(one), "r"))


def most_rows(names: LinkedScratch, one: TablePlan) -> exp.Select:
    """The most rows that a person has in a table."""
    counted = query([named(exp.Count(this=exp.Star()), "n")], at(names, names.rows(one), "r"),
                    group=[col("person", "r")])  # fmt: skip
    most = call("coalesce", exp.Max(this=col("n", "g")), number(0))
    return query([cast(most, "bigint")], subquery(counted, "g"))


def without_orphans(names: LinkedScratch, one: TablePlan) -> exp.Delete:
    """Rows without a parent; of the table of persons, those that name nobody."""
    what = "unit" if one.parent is None else "person"
    orphan = exp.Is(this=col(what, "r"), expression=null())
    return exp.Delete(this=at(names, names.rows(one), "r"), where=exp.Where(this=orphan))
