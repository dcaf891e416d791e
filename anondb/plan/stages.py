"""The stages of a run between its two edges: encode, search, publish, verify, swap."""

from __future__ import annotations

from dataclasses import dataclass, replace

from anondb.algorithms.lattice import Demand, Lattice, Levels, NodeFigures
from anondb.algorithms.outcome import Classes
from anondb.algorithms.registry import ALGORITHMS
from anondb.errors import UnsatisfiableError, UsageError
from anondb.hierarchy.csvfile import split_sense
from anondb.hierarchy.model import CsvVgh, Mask, StoredVgh, Values
from anondb.plan import partitioning
from anondb.plan.model import Options, Plan
from anondb.plan.steps import Steps
from anondb.plan.verify import Published
from anondb.sqlgen import encode as encoding
from anondb.sqlgen import frequency, publish
from anondb.sqlgen.publish import Chosen
from anondb.sqlgen.shape import Quasi, Relation, Scratch

LONGEST_MASK = 100  # characters; each is a level of the hierarchy
SHOWN_VALUES = 20


@dataclass(frozen=True)
class Encoded:
    """The frequency set, as far as Python needs to know it."""

    quasi: tuple[Quasi, ...]  # with their heights
    nodes: tuple[tuple[int, ...], ...]  # of each column, at each level: how many labels occur
    has_null: tuple[bool, ...]  # of each column
    records: int
    with_null: int  # records left out because of NULLs

    @property
    def eligible(self) -> int:
        return self.records - self.with_null


def encode(db: Steps, plan: Plan, names: Scratch, options: Options) -> Encoded:
    """One pass over the source; the search reads the frequency set."""
    counted = plan.kept if plan.whole_rows else ()
    db.run("frequencies", encoding.raw_frequencies(names, plan.source, plan.quasi, counted))
    records, with_null = db.one("records", encoding.records(names, plan.quasi))
    if records == 0 and not options.allow_empty:
        raise UsageError(
            f"source {plan.policy.source} is empty",
            hint="is it the right table? --allow-empty publishes an empty release",
        )
    if plan.policy.privacy.nulls == "suppress":
        db.run("leave out nulls", encoding.leave_out_nulls(names, plan.quasi))
    else:
        with_null = 0
    quasi = tuple(_prepare(db, plan, names, q) for q in plan.quasi)
    nodes, has_null = zip(*(_dictionary(db, names, q, options) for q in quasi), strict=True)
    db.run("frequency set", encoding.frequency_set(names, quasi, whole_rows=plan.whole_rows))
    db.run("statistics", encoding.analyze(names.freq))
    return Encoded(quasi, nodes, has_null, records, with_null)


def search(
    db: Steps, plan: Plan, names: Scratch, encoded: Encoded
) -> tuple[Levels, Lattice] | tuple[Classes, None]:
    """The algorithm decides; all that it asks is asked of the frequency set."""
    privacy = plan.policy.privacy
    if 0 < encoded.eligible < privacy.k:
        raise UnsatisfiableError(
            f"k = {privacy.k} is larger than the table: {encoded.eligible} records to release",
            hint="lower k, or take a larger table",
        )
    algorithm = ALGORITHMS[plan.policy.method.algorithm]
    if algorithm.search is None:
        return partitioning.search(db, partitioning.of(plan, names, encoded.quasi)), None

    def ask(levels: tuple[int, ...]) -> NodeFigures:
        statement = frequency.node_figures(names, encoded.quasi, levels, privacy.k)
        return NodeFigures(*db.one(f"node {','.join(map(str, levels))}", statement))

    lattice = Lattice(tuple(q.height for q in encoded.quasi), encoded.nodes, ask)
    demand = Demand(privacy.k, privacy.may_suppress(encoded.eligible), mask=privacy.suppress == "mask")
    found = algorithm.search(lattice, demand)
    if found is None:
        raise UnsatisfiableError(
            f"no generalization reaches k = {privacy.k}",
            hint='lower k, allow more suppression, or use suppress = "remove"',
        )
    return found, lattice


def write(
    db: Steps, plan: Plan, names: Scratch, encoded: Encoded, outcome: Levels | Classes, fresh: Relation
) -> int:
    """Writes the release under a new name; returns the rows written. Reads the source unless it was counted whole."""
    if isinstance(outcome, Classes):
        p = partitioning.of(plan, names, encoded.quasi)
        return partitioning.write(db, p, plan, encoded.has_null, fresh)
    chosen = list(map(Chosen, encoded.quasi, outcome.levels, encoded.has_null))
    privacy = plan.policy.privacy
    db.run("classes", publish.classes(names, chosen, privacy.k, mask=privacy.suppress == "mask"))
    db.run("create release", publish.create_release(fresh, plan.columns, encoded.quasi))
    if plan.whole_rows:
        insert = publish.insert_rows(names, fresh, plan.columns, chosen)
    else:
        db.run("combinations", publish.combinations(names, chosen))
        # without them the planner would hash the source instead
        db.run("combination statistics", encoding.analyze(names.combinations))
        insert = publish.insert_records(names, plan.source, fresh, plan.columns, chosen)
    return db.run("insert release", insert)


def measure(db: Steps, encoded: Encoded, fresh: Relation) -> Published:
    """The release's own figures, counted from its rows."""
    figures = db.one("count classes", publish.class_figures(fresh, [q.name for q in encoded.quasi]))
    return Published(*(int(figure) for figure in figures))


def swap(db: Steps, plan: Plan, fresh: Relation, run: int) -> None:
    """Puts the verified release in the target's place, and notes that it is ours."""
    policy, target = plan.policy, plan.target
    text = f"anondb run {run}, policy {policy.sha256}, k = {policy.privacy.k}"
    db.run("comment", publish.comment(fresh, text))
    db.run("swap", publish.swap(fresh, target))
    db.run("own", publish.own(target, run))


def _prepare(db: Steps, plan: Plan, names: Scratch, quasi: Quasi) -> Quasi:
    """What a hierarchy needs before the dictionary: its leaves in a table, or the length of its masks."""
    if isinstance(quasi.hierarchy, StoredVgh):
        db.run(f"leaves {quasi.number}", encoding.stored_leaves(names, quasi))
    elif isinstance(quasi.hierarchy, CsvVgh):
        db.run(f"leaves {quasi.number}", encoding.file_leaves(names, quasi))
        rows = plan.files[quasi.name].rows
        labels = ((position, *(split_sense(label)[0] for label in row)) for position, row in enumerate(rows))
        db.copy(f"fill leaves {quasi.number}", encoding.fill_leaves(names, quasi), labels)
    elif isinstance(quasi.hierarchy, Mask) and quasi.hierarchy.side != "all":
        [length] = db.one(f"longest {quasi.number}", encoding.longest_value(names, quasi))
        if length > LONGEST_MASK:
            raise UsageError(
                f'the longest value of "{quasi.name}" has {length} characters, too many to mask one by one',
                hint='use { mask = "all" } or a hierarchy of values',
            )
        return replace(quasi, height=max(length, 1), length=length)
    return quasi


def _dictionary(db: Steps, names: Scratch, quasi: Quasi, options: Options) -> tuple[tuple[int, ...], bool]:
    """Makes a column's dictionary; returns how many labels occur at each level, and whether NULL does."""
    db.run(f"dictionary {quasi.number}", encoding.dictionary(names, quasi))
    db.run(f"dictionary statistics {quasi.number}", encoding.analyze(names.dictionary(quasi)))
    *nodes, has_null, outside = db.one(f"labels {quasi.number}", encoding.node_counts(names, quasi))
    if outside:
        _refuse_values(db, names, quasi, options)
    return tuple(count or 0 for count in nodes), bool(has_null)


def _refuse_values(db: Steps, names: Scratch, quasi: Quasi, options: Options) -> None:
    if isinstance(quasi.hierarchy, Values):
        raise UsageError(
            f'column "{quasi.name}" has values that are not finite, and no range could hold them',
            hint="make them NULL in a view of the source",
        )
    values, records = db.one(f"outside {quasi.number}", encoding.outside(names, quasi))
    message = (
        f'column "{quasi.name}": {values} distinct value{"s" * (values != 1)} in {records} '
        f"record{'s' * (records != 1)} {'are' if values != 1 else 'is'} outside the hierarchy"
    )
    if not options.show_values:
        raise UsageError(message, hint="run with --show-values to see them, then add them to the hierarchy")
    rows = db.rows(f"outside values {quasi.number}", encoding.outside_values(names, quasi, SHOWN_VALUES))
    shown = ", ".join(repr(value) for (value,) in rows)
    more = ", …" if values > SHOWN_VALUES else ""
    raise UsageError(f"{message}: {shown}{more}", hint="add them to the hierarchy")
