"""Encode: one pass over the source, then dictionaries of its values and the frequency set that is searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from anondb.errors import DatabaseError, UsageError
from anondb.hierarchies.csvfile import split_sense
from anondb.hierarchies.forms import Computed, StoredVgh, TableVgh, Values
from anondb.methods.outcome import Levels
from anondb.releases import values_sql
from anondb.run import encode_sql as encoding
from anondb.run import frequency_sql as frequency
from anondb.run import keyed_sql as keyed
from anondb.run.engine import Engine
from anondb.run.frequency_sql import Counted
from anondb.run.masks import length_of, longest_of
from anondb.run.plan import Options, Plan
from anondb.run.publish_sql import Chosen
from anondb.run.statement import MANY, Runner, Statement, no_rows, row
from anondb.sqltree import equality
from anondb.sqltree.tables import Coded, Quasi, Scratch, Sensitive

AnyCoded = TypeVar("AnyCoded", bound=Coded)

SHOWN_VALUES = 20


@dataclass(frozen=True)
class Encoded:
    """The frequency set, as far as Python needs to know it."""

    counted: Counted  # its columns, with their heights
    nodes: tuple[tuple[int, ...], ...]  # of each quasi-identifier, at each level: how many labels occur
    has_null: tuple[bool, ...]  # of each quasi-identifier
    values: tuple[int, ...]  # of each sensitive column: how many values occur besides NULL
    sensitive_null: tuple[bool, ...]  # of each sensitive column
    records: int
    with_null: int  # records left out because of NULLs
    rows: int  # of the frequency set

    @property
    def quasi(self) -> tuple[Quasi, ...]:
        return self.counted.quasi

    @property
    def eligible(self) -> int:
        return self.records - self.with_null

    def null_code(self, sensitive: Sensitive) -> int:
        """NULL comes after all values of a sensitive column."""
        return self.values[sensitive.number - 1] + 1


def take_keys(db: Runner, engine: Engine, plan: Plan, names: Scratch) -> None:
    """Makes the run's keys from the secret of the installation; they do not leave the server."""
    engine.measure_spread(names)
    if not db.run(
        Statement(
            "keys",
            keyed.keys(names, plan.policy.method.seed, plan.scope, plan.changes),
            note="from the secret of the installation, which does not leave the server",
        )
    ):
        raise DatabaseError("this installation has no secret", hint="make one: anondb secret renew")
    db.run(Statement("key statistics", encoding.analyze(names.keys)))  # or they would be taken for many


def encode(db: Runner, engine: Engine, plan: Plan, names: Scratch, options: Options) -> Encoded:
    """One pass over the source; the search reads the frequency set."""
    engine.count_combinations(names)
    records, with_null = db.one(
        Statement("records", encoding.records(names, plan.quasi), answers=row(records=MANY, with_null=0))
    )
    if records == 0 and not options.allow_empty:
        raise UsageError(
            f"source {plan.policy.source} is empty",
            hint="is it the right table? --allow-empty publishes an empty release",
        )
    if plan.policy.privacy.nulls == "suppress":
        db.run(Statement("set nulls aside", encoding.set_nulls_aside(names, plan.quasi)))
        db.run(Statement("leave out nulls", encoding.leave_out_nulls(names, plan.quasi)))
    else:
        with_null = 0
    if plan.compares_values:
        engine.released_values(names)
    quasi = tuple(prepare_hierarchy(db, plan, names, q) for q in plan.quasi)
    sensitive = tuple(prepare_hierarchy(db, plan, names, s) for s in plan.sensitive)
    counted = Counted(
        quasi, sensitive, plan.unit is not None, frequency.counts_type(records), plan.at_any_level
    )
    if len(quasi) + sum(q.height for q in quasi) > frequency.MOST_COLUMNS:
        raise UsageError(
            "the hierarchies have too many levels in all",
            hint='masks of long texts have a level for each character: use { mask = "all" } or a hierarchy',
        )
    found = [dictionary(db, names, coded, options) for coded in (*quasi, *sensitive)]
    (nodes, has_null), judged = zip(*found[: len(quasi)], strict=True), found[len(quasi) :]
    values = tuple(labels[0] - null for labels, null in judged)
    if plan.compares_values:
        db.run(Statement("forget released values", values_sql.forget_released_values(names)))
    if plan.unit is not None:
        db.run(Statement("units", frequency.units(names)))
        db.run(Statement("unit statistics", encoding.analyze(names.units)))
    spelled = any(coded.has_spellings for coded in (*quasi, *sensitive))
    merge = plan.whole_rows or plan.unit is not None or spelled
    rows = db.run(
        Statement(
            "frequency set",
            frequency.frequency_set(names, counted, nodes, values, merge=merge),
            note="the run knows how many values there are; NULL comes after them",
        )
    )
    db.run(Statement("statistics", encoding.analyze(names.freq)))
    nulls = tuple(null for _, null in judged)
    return Encoded(counted, nodes, has_null, values, nulls, records, with_null, rows)


def chosen_levels(encoded: Encoded, outcome: Levels) -> list[Chosen]:
    return list(map(Chosen, encoded.quasi, outcome.levels, encoded.has_null))


def prepare_hierarchy(db: Runner, plan: Plan, names: Scratch, coded: AnyCoded) -> AnyCoded:
    """What a hierarchy needs before the dictionary: its leaves in a table, or the length of its masks."""
    if isinstance(coded.hierarchy, StoredVgh):
        db.run(Statement(f"leaves {coded.code}", encoding.stored_leaves(names, coded)))
    elif isinstance(coded.hierarchy, TableVgh):
        db.run(Statement(f"leaves {coded.code}", encoding.file_leaves(names, coded)))
        rows = plan.files[coded.name].rows
        labels = ((position, *(split_sense(label)[0] for label in row)) for position, row in enumerate(rows))
        db.copy(Statement(f"fill leaves {coded.code}", encoding.fill_leaves(names, coded)), labels)
    elif isinstance(coded.hierarchy, Computed) and coded.hierarchy.by_length and not coded.length:
        return longest_of(coded, length_of(db, coded, encoding.longest_value(names, coded)))
    return coded


def dictionary(db: Runner, names: Scratch, coded: Coded, options: Options) -> tuple[tuple[int, ...], bool]:
    """Makes a column's dictionary; returns how many labels occur at each level, and whether NULL does."""
    if coded.has_spellings:
        db.run(Statement(f"spellings {coded.code}", equality.spellings(names, coded)))
        db.run(Statement(f"spelling statistics {coded.code}", encoding.analyze(names.spellings(coded))))
    db.run(Statement(f"dictionary {coded.code}", encoding.dictionary(names, coded)))
    db.run(Statement(f"dictionary statistics {coded.code}", encoding.analyze(names.dictionary(coded))))
    *nodes, has_null, outside = db.one(
        Statement(
            f"labels {coded.code}",
            encoding.node_counts(names, coded),
            answers=row(**{f"l{level}": 1 for level in range(coded.height + 1)}, has_null=False, outside=0),
        )
    )
    if outside:
        _refuse_values(db, names, coded, options)
    return tuple(count or 0 for count in nodes), bool(has_null)


def _refuse_values(db: Runner, names: Scratch, coded: Coded, options: Options) -> None:
    if isinstance(coded.hierarchy, Values):
        raise UsageError(
            f'column "{coded.name}" has values that are not finite, and no range could hold them',
            hint="make them NULL in a view of the source",
        )
    values, records = db.one(
        Statement(f"outside {coded.code}", encoding.outside(names, coded), answers=row(values=0, records=0))
    )
    message = (
        f'column "{coded.name}": {values} distinct value{"s" * (values != 1)} in {records} '
        f"record{'s' * (records != 1)} {'are' if values != 1 else 'is'} outside the hierarchy"
    )
    if not options.show_values:
        raise UsageError(message, hint="run with --show-values to see them, then add them to the hierarchy")
    rows = db.rows(
        Statement(
            f"outside values {coded.code}",
            encoding.outside_values(names, coded, SHOWN_VALUES),
            answers=no_rows("value"),
        )
    )
    shown = ", ".join(repr(value) for (value,) in rows)
    more = ", …" if values > SHOWN_VALUES else ""
    raise UsageError(f"{message}: {shown}{more}", hint="add them to the hierarchy")
