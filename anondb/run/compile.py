"""Compile: a policy and a snapshot of the catalogue become a plan, or one error with all that does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace as changed
from math import inf, prod
from typing import Any

from anondb.errors import PolicyError, Problem, UsageError, did_you_mean
from anondb.hierarchies import column_types, csvfile
from anondb.hierarchies.forms import (
    ROOT,
    BuiltinTable,
    BuiltVgh,
    Computed,
    CsvVgh,
    Meaning,
    StoredVgh,
    Values,
    VghTable,
)
from anondb.methods.meanings import unknown_ontologies
from anondb.methods.method import ReleaseMethod
from anondb.methods.registry import METHODS, listed, method_of
from anondb.policy.check import written
from anondb.policy.model import Column, Name, Policy, Role
from anondb.policy.names import quoted
from anondb.releases.following import Following
from anondb.run.citus.layout import laid_out
from anondb.run.frequency_sql import MOST_COLUMNS
from anondb.run.persons import in_form, misfits
from anondb.run.plan import Plan
from anondb.run.snapshot import SCHEMAS, BuiltInfo, Snapshot, TargetInfo
from anondb.run.typed import misfits as typed_misfits
from anondb.run.typed import typed
from anondb.sqltree.released import Noise, Shift, Shuffled
from anondb.sqltree.tables import Quasi, Sensitive, SourceColumn

Table = dict[str, Any]


def compile_plan(
    policy: Policy, snapshot: Snapshot, *, replace: bool = False, following: Following | None = None
) -> Plan:
    """The plan; raises PolicyError naming every column, hierarchy and target that does not fit."""
    method = method_of(policy)
    snapshot, of_own_columns = method.with_own_columns(policy, snapshot)
    there = {column.name: column for column in snapshot.source.columns}
    named = {column.name: column for column in policy.columns}
    problems = [
        *_unnamed(policy, there, named),
        *_unknown(policy, there, named),
        *method.problems(policy),
        *_outlived(policy, () if replace else snapshot.outlived),
        *unknown_ontologies(policy, snapshot.ontologies),
        *of_own_columns,
        *(
            problem
            for target in snapshot.tables or (snapshot.target,)
            for problem in _target(policy, snapshot, target, replace)
        ),
    ]
    files: dict[str, VghTable] = {}
    quasi: list[Quasi] = []
    for column in policy.quasi:
        if column.name in there:
            facts = _coded(method, policy, column, there[column.name], snapshot, files)
            if isinstance(facts, Problem):
                problems.append(facts)
                continue
            problems += _levels(policy, column, facts)
            lowest = 0 if column.hierarchy is None else column.hierarchy.lowest
            facts |= {"min_level": max(column.min_level, lowest), "max_level": column.max_level}
            quasi.append(Quasi(len(quasi) + 1, typed(column, there[column.name]), **facts))
    sensitive: list[Sensitive] = []
    for column in _judged(policy):
        if column.name in there:
            problems += _incomparable(policy, there[column.name])
            facts = _coded(method, policy, column, there[column.name], snapshot, files)
            if isinstance(facts, Problem):
                problems.append(facts)
            else:
                sensitive.append(Sensitive(len(sensitive) + 1, there[column.name], **facts))
    for column in policy.columns:
        if column.name in there:
            problems += misfits(policy, column, there)
            problems += typed_misfits(policy, column, there[column.name], list(there))
    if policy.privacy.unit in there:
        problems += _incomparable(policy, there[policy.privacy.unit])
    if problems:
        raise PolicyError(problems)
    columns = tuple(
        in_form(named[c.name], typed(named[c.name], c), there)
        for c in snapshot.source.columns
        if named[c.name].role is not Role.IDENTIFIER
    )
    kept = [column for column in columns if named[column.name].role is not Role.QUASI]
    unit = there[policy.privacy.unit] if policy.privacy.unit is not None else None
    if unit is not None and unit.unique:
        unit = None  # every record is another person's, so that there is nothing to count
    if unit is not None and (refusal := method.refused_unit(policy)) is not None:
        raise PolicyError([_not_of_persons(policy, refusal)])
    repeat = rows_repeat(kept, snapshot.source.rows)
    single = following is not None and following.judged
    whole_rows = unit is None and not single and method.counts_whole_rows(policy, repeat=repeat)
    counted = kept if whole_rows else [s.column for s in sensitive]
    plan = Plan(
        policy=policy,
        source=snapshot.source.relation,
        target=snapshot.target.relation,
        columns=columns,
        quasi=tuple(map(method.coded, quasi)),
        sensitive=tuple(changed(s, position=counted.index(s.column) + 1) for s in sensitive),
        unit=unit,
        files=files,
        built={name: build for name, build in snapshot.built.items() if isinstance(build, BuiltInfo)},
        items=method.item_rows(policy, snapshot),
        whole_rows=whole_rows,
        places=method.places(policy, columns, snapshot),
        rows=snapshot.source.rows or snapshot.source.size,
        following=following,
    )
    return laid_out(plan, snapshot)


def _not_of_persons(policy: Policy, refusal: str) -> Problem:
    if policy.privacy.suppress == "cells":
        return Problem(f"{policy.place} [privacy]", refusal, 'leave whole records out: suppress = "remove"')
    able = listed(method for method in METHODS.values() if method.refused_unit(policy) is None)
    return Problem(f"{policy.place} [privacy]", refusal, f"choose an algorithm that counts persons: {able}")


def _judged(policy: Policy) -> list[Column]:
    """The sensitive columns that a privacy model looks at."""
    judged = {model.column for model in policy.privacy.models}
    return [column for column in policy.columns if column.name in judged]


def _outlived(policy: Policy, tables: Sequence[TargetInfo]) -> Iterable[Problem]:
    """An earlier release in another shape would not be replaced, and two of the same records tell more than one."""
    if tables:
        names = " and ".join(str(Name(table.relation.schema, table.relation.name)) for table in tables)
        yield Problem(
            policy.place,
            f"an earlier run with this target has released {names}, which this one would not replace; "
            "who has both releases can learn more than either tells",
            "drop what is there, choose another name for target, or keep both with --replace",
        )


def _levels(policy: Policy, column: Column, facts: Table) -> Iterable[Problem]:
    """The levels that a column may take must be in its hierarchy; a mask's is known once its values are."""
    height = facts["height"]
    for key, level in (("min_level", column.min_level), ("max_level", column.max_level)):
        if level is not None and 0 < height < level:
            yield Problem(
                _place(policy, column.name),
                f'{key} = {level} is above the root of the hierarchy of "{column.name}"',
                f"its levels go from 0 to {height}",
            )


def _incomparable(policy: Policy, column: SourceColumn) -> Iterable[Problem]:
    """Persons, or sensitive values, that nothing can tell apart; their texts could be several of one value."""
    if column.compared_as is None:
        yield Problem(
            _place(policy, column.name),
            f'"{column.name}" is {column.type}, a type whose values cannot be compared, so they cannot be counted',
            "cast it in a view of the source to a type that has an equality: json to jsonb, others to text",
        )


def rows_repeat(kept: Sequence[SourceColumn], rows: float) -> bool:
    """Whether so many rows are mostly repetitions, as far as their kept columns and statistics tell.

    Counted as a whole, such rows are far fewer, and reading, sorting and writing them is far faster.
    With more than a tenth as many combinations of kept values as there are rows, most may be single.
    """
    if len(kept) > MOST_COLUMNS or not all(column.equals_are_copies for column in kept):
        return False  # with their counts, they would be more columns than a table can have
    apart = Shift | Noise | Shuffled
    combinations = (inf if c.distinct is None or isinstance(c.form, apart) else c.distinct for c in kept)
    return not kept or prod(combinations) <= rows / 10


def _unnamed(policy: Policy, there: dict[str, SourceColumn], named: dict[str, Column]) -> Iterable[Problem]:
    for name in there:
        if name not in named:
            yield Problem(
                f"{policy.place} [columns]",
                f"column {quoted(name)} of {policy.source} is not named, so nothing says whether it may be released",
                f'add {written(name)} = {{ role = "identifier" }} to leave it out, or role = "quasi" to generalize it',
            )


def _unknown(policy: Policy, there: dict[str, SourceColumn], named: dict[str, Column]) -> Iterable[Problem]:
    for name in named:
        if name not in there:
            yield Problem(
                _place(policy, name),
                f"{policy.source} has no column {quoted(name)}",
                did_you_mean(name, there),
            )


def _target(policy: Policy, snapshot: Snapshot, target: TargetInfo, replace: bool) -> Iterable[Problem]:
    name = str(Name(policy.target.schema, target.relation.name))
    if not target.schema_exists:
        yield Problem(
            policy.place,
            f"the schema of target {name} does not exist",
            f'create schema "{target.relation.schema}", or change target',
        )
    if target.relation.schema in SCHEMAS:
        # where a role is called anondb, its search path puts a name without a schema here
        yield Problem(
            policy.place,
            f"target {name} would lie in anondb's own schema {target.relation.schema}",
            'name another schema: target = "schema.table"',
        )
    if target.oid is None:
        return
    if target.relation == snapshot.source.relation:
        yield Problem(policy.place, "the target is the source itself", "choose another name for target")
    elif target.kind not in ("r", "p"):
        yield Problem(
            policy.place,
            f"target {name} exists and is not a table",
            "choose another name for target",
        )
    elif not target.ours and not replace:
        yield Problem(
            policy.place,
            f"target {name} exists and was not made by anondb, so it is not overwritten",
            "choose another name for target, or run with --replace (also for a release that was restored "
            "from a dump)",
        )
    elif not target.may_replace:
        yield Problem(
            policy.place,
            f"target {name} belongs to a role that this one is no member of",
            "run as its owner, or choose another name for target",
        )


def _coded(
    method: ReleaseMethod,
    policy: Policy,
    column: Column,
    source: SourceColumn,
    snapshot: Snapshot,
    files: dict[str, VghTable],
) -> Table | Problem:
    """What a run has to know of a column's hierarchy before it reads a row."""
    place = _place(policy, column.name)
    if (own := method.own_form(place, column, source)) is not None:
        return own
    if column.hierarchy is not None and (wrong := column.hierarchy.misfit(source)):
        return Problem(place, wrong, column_types.hint(source))
    if column.hierarchy is not None and (wrong := method.refused_form(column.name, column.hierarchy)):
        return Problem(place, wrong, _takes(column))
    match column.hierarchy:
        case StoredVgh(name):
            stored = snapshot.hierarchies.get(name)
            if stored is None:
                hint = did_you_mean(name, snapshot.hierarchies)
                return Problem(
                    place,
                    f"there is no stored hierarchy {quoted(name)}",
                    hint or f"anondb vgh load {name} FILE.csv",
                )
            return {
                "hierarchy": column.hierarchy,
                "height": stored.height,
                "root": stored.root,
                "vgh": stored.id,
            }
        case CsvVgh() | BuiltinTable():
            try:
                table = files[column.name] = csvfile.read(
                    column.hierarchy.path, comments=isinstance(column.hierarchy, BuiltinTable)
                )
            except UsageError as error:
                return Problem(place, error.message, error.hint)
            return _whole(column, table)
        case BuiltVgh():
            built = snapshot.built.get(column.name)
            if isinstance(built, UsageError):
                return Problem(place, built.message, built.hint)
            table = files[column.name] = _stand_in(column) if built is None else built.table
            return _whole(column, table)
        case Computed():
            fitted = column.hierarchy.fitted(source)
            return {"hierarchy": fitted, "height": fitted.height}
        case None if column.role is Role.SENSITIVE:
            return {"hierarchy": None, "height": 1}
        case None if column.ontology:
            if not source.is_text:
                return Problem(
                    place,
                    f'an ontology knows words, and "{column.name}" is {source.type}',
                    "leave ontology out: numbers and dates are compared by their distance",
                )
            return {"hierarchy": Meaning(column.ontology), "height": 1}
        case None:
            return {"hierarchy": Values(), "height": 1}
    raise AssertionError(column.hierarchy)


def _takes(column: Column) -> str:
    """What else to choose where a method does not keep what the hierarchy of a column promises."""
    able = [
        one
        for one in METHODS.values()
        if column.hierarchy is not None and one.refused_form(column.name, column.hierarchy) is None
    ]
    return f"choose an algorithm that does: {listed(able)}"


def _stand_in(column: Column) -> VghTable:
    """For a hierarchy that nobody has built, because the plan is only to be shown."""
    return VghTable((("value", *["class"] * max(1, column.min_level, (column.max_level or 0) - 1), ROOT),))


def _whole(column: Column, table: VghTable) -> Table:
    root = csvfile.split_sense(table.rows[0][-1])[0]
    return {"hierarchy": column.hierarchy, "height": table.height, "root": root}


def _place(policy: Policy, column: str) -> str:
    return f"{policy.place} [columns.{written(column)}]"
