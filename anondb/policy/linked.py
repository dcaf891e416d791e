"""A policy of several tables: `[[table]]`, who is whose parent, and what holds for all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anondb.errors import Problem, UsageError, did_you_mean
from anondb.methods.registry import METHODS
from anondb.models.registry import SENSITIVE_MODELS
from anondb.policy.check import Key, Spot, Table, read_name, read_table, read_text, shown
from anondb.policy.model import Name, Parent, Role
from anondb.policy.names import quoted
from anondb.policy.over_time import OVER_TIME
from anondb.policy.perturbed import INSTEAD, all_of_one

KNOWS = (0, 1, 2, "all")
ORPHANS = ("refuse", "leave out")
PROTECTING = ("l_diversity", "t_closeness")
"""The models that a release of linked tables can meet."""

_NAMING = (Role.PSEUDONYM, Role.IDENTIFIER, None)
_TABLES_ALONE = ("knows", "max_rows", "orphans", "suppression_rows")
"""Keys of [privacy] that mean something to linked tables alone."""


def as_one(document: Table) -> Table:
    """A single [[table]] is what a policy without is: its keys stand at the top."""
    tables = document.get("table")
    if not (isinstance(tables, list) and len(tables) == 1 and isinstance(tables[0], dict)):
        return document
    if "parent" in tables[0] or document.keys() & {"source", "target", "columns"}:
        return document
    return {key: value for key, value in document.items() if key != "table"} | tables[0]


def read_knows(spot: Spot, value: object) -> int | str:
    if isinstance(value, bool) or value not in KNOWS:
        message = f'{spot.key} must be 0, 1, 2 or "all", not {shown(value)}'
        hint = "so many rows of the tables below an attacker may know of a person: 1 is the default"
        raise UsageError(message, hint=hint)
    return value


def read_max_rows(spot: Spot, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**31:
        message = f"{spot.key} must be a whole number of at least 1, not {shown(value)}"
        raise UsageError(message, hint="so many rows of a person at most are released of each table below")
    return value


def read_parent(spot: Spot, value: object) -> Parent | None:
    keys = read_table(spot, value, _PARENT)
    return Parent(**keys) if keys.keys() >= {"table", "key"} else None


def _read_key(spot: Spot, value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or not value:
        hint = 'write { patient_id = "id" }: the column here, and the one of the parent that it refers to'
        raise UsageError(f"{spot.key} must be a table of columns, not {shown(value)}", hint=hint)
    return tuple((name, read_text(spot.at(name), other)) for name, other in value.items())


_PARENT: Mapping[str, Key] = {
    "table": Key(read_name, "add the target of the table above: whose rows these belong to"),
    "key": Key(
        _read_key, 'add key = { patient_id = "patient_id" }: the columns here, and those of the parent'
    ),
}


def check_alone(spot: Spot, keys: Table) -> None:
    """Reports what only linked tables have, in a policy that has one table."""
    for key in _TABLES_ALONE:
        if key in keys.get("privacy", {}):
            spot.at("privacy", key).report(
                f"{key} is for several tables, and this policy has one",
                "leave the key out, or name the tables below it, each as a [[table]] with a parent",
            )
    if keys.get("privacy", {}).get("suppress") == "rows":
        spot.at("privacy", "suppress").report(
            'suppress = "rows" is for several tables, and this policy has one',
            'leave the key out: a class that fails is left out as a whole, or masked: suppress = "mask"',
        )


def check_linked(spot: Spot, keys: Table, tables: Sequence[Table]) -> list[Problem]:
    """What is wrong between the tables of a policy, each of which may be right."""
    problems: list[Problem] = []
    targets = [table.get("target") for table in tables]
    for number, table in enumerate(tables, 1):
        place = f"{spot.file} [[table]] {number}"
        problems += _same(place, table, tables[: number - 1])
        problems += _parents(place, table, targets, tables)
        for column, key in all_of_one(table.get("columns", {})):
            told = f"{quoted(column)} has {key}, and rows of linked tables have no classes of one table"
            problems.append(Problem(place, told, INSTEAD))
    roots = [table for table in tables if "parent" not in table]
    if len(roots) != 1 and not problems:
        told = "no table is" if not roots else f"{len(roots)} tables are"
        hint = "give all but one a parent = { table, key }; the one without is that of the persons"
        problems.append(Problem(spot.file, f"{told} without a parent", hint))
    if not problems:
        problems += _cycle(spot, tables)
    problems += _privacy(spot, keys, tables, roots)
    return problems


def _same(place: str, table: Table, earlier: Sequence[Table]) -> Iterable[Problem]:
    for key in ("target", "source"):
        if key in table and table[key] in [other.get(key) for other in earlier]:
            what = "each makes a table of its own" if key == "target" else "each of its rows has one role"
            yield Problem(place, f"{key} {table[key]} stands in two tables", f"name it once: {what}")
    if "source" in table and table["source"] in [other.get("target") for other in earlier]:
        yield Problem(place, f"source {table['source']} is the target of another table", "name another table")


def _parents(
    place: str, table: Table, targets: Sequence[Name | None], tables: Sequence[Table]
) -> Iterable[Problem]:
    parent: Parent | None = table.get("parent")
    if parent is None:
        return
    if parent.table not in targets:
        hint = did_you_mean(str(parent.table), list(map(str, targets))) or "name it by its target"
        yield Problem(place, f"parent.table {parent.table} is no target of this policy", hint)
        return
    above = tables[targets.index(parent.table)]
    for mine, other in parent.key:
        for column, of in ((mine, table), (other, above)):
            columns = of.get("columns", {})
            role = columns.get(column, {}).get("role")
            if column not in columns:
                hint = did_you_mean(column, columns) or "name a column as [table.columns] does"
                yield Problem(place, f"parent.key: {of.get('target')} has no column {quoted(column)}", hint)
            elif role is not Role.PSEUDONYM and role is not None:
                yield Problem(
                    place,
                    f"parent.key: {quoted(column)} of {of.get('target')} has the role {role}, and a released row "
                    "would not say whose it is",
                    f'set role = "pseudonym" for {quoted(column)}; a table that is not to be joined is released by a '
                    "policy of its own",
                )
        types = {
            t.get("columns", {}).get(c, {}).get("type", "uuid") for c, t in ((mine, table), (other, above))
        }
        if len(types) > 1:
            yield Problem(
                place,
                f"parent.key: {quoted(mine)} and {quoted(other)} have other types",
                "give both one type",
            )


def _cycle(spot: Spot, tables: Sequence[Table]) -> Iterable[Problem]:
    above = {table["target"]: table["parent"].table for table in tables if "parent" in table}
    for table in tables:
        seen, at = [table.get("target")], table.get("target")
        while at in above:
            at = above[at]
            if at in seen:
                yield Problem(
                    spot.file,
                    f"the parents of {table['target']} go in a circle: {' → '.join(map(str, [*seen, at]))}",
                    "a table of persons has no parent; all others hang below it",
                )
                return
            seen.append(at)


def _privacy(spot: Spot, keys: Table, tables: Sequence[Table], roots: Sequence[Table]) -> Iterable[Problem]:
    privacy, place = keys.get("privacy", {}), f"{spot.file} [privacy]"
    unit = privacy.get("unit")
    root = roots[0] if len(roots) == 1 else {}
    if unit is None and privacy:
        yield Problem(
            place,
            "unit is missing: whom k counts",
            'add unit = "patient_id": the column of the table without a parent that names the person',
        )
    elif unit is not None and root and unit not in root.get("columns", {}):
        hint = did_you_mean(unit, root.get("columns", {})) or "name a column of the table without a parent"
        yield Problem(place, f"unit: {root.get('target')} has no column {quoted(unit)}", hint)
    elif unit is not None and root and root["columns"][unit].get("role") not in _NAMING:
        yield Problem(
            place,
            f"unit {quoted(unit)} names the persons, and has the role {root['columns'][unit].get('role')}",
            f'set role = "pseudonym" for {quoted(unit)}, or role = "identifier" to leave it out',
        )
    quasi = {name for t in tables for name, c in t.get("columns", {}).items() if c.get("role") is Role.QUASI}
    for name in keys.get("method", {}).get("weights", {}):
        if name not in quasi:
            hint = did_you_mean(name, quasi) or "weights are of quasi-identifiers"
            yield Problem(
                f"{spot.file} [method]", f"weights: no quasi-identifier is called {quoted(name)}", hint
            )
    if "k" not in privacy and privacy:
        yield Problem(place, "k is missing", "add k = 5: so many persons match whatever is known of one")
    for key, word in {"suppress": "mask", "nulls": "suppress"}.items():
        if privacy.get(key) == word:
            yield Problem(
                place,
                f"{key} = {quoted(word)} is of one table: of several, whole persons or rows are left out",
                "leave the key out",
            )
    if privacy.get("suppress") == "rows" and privacy.get("knows") == "all":
        yield Problem(
            place,
            'with knows = "all" every row counts, and none can be left out without changing what is known',
            "leave suppress out: persons are then left out as a whole; or set knows = 1",
        )
    if privacy.get("suppress") == "cells":
        yield Problem(
            place,
            'suppress = "cells" is of one table: of several, whole persons or rows are left out',
            'leave the key out, or set suppress = "rows"',
        )
    if privacy.get("changes") == "hold":
        yield Problem(
            place,
            'changes = "hold" follows the persons of one table, and those of several are not followed over time',
            'leave changes out: a release that would change is refused; changes = "free" publishes it all the same',
        )
    for key in OVER_TIME:
        if key in privacy and key != "changes":
            yield Problem(
                place,
                f"{key} is of one table: persons of several are not followed over time",
                "leave the key out",
            )
    for table in tables:
        for name, column in table.get("columns", {}).items():
            if column.get("release", ("text",)) != ("text",):
                yield Problem(
                    f"{spot.file} [columns.{name}]",
                    f"the labels of {quoted(name)} would be released as {', '.join(column['release'])}, and those of "
                    "several tables are texts",
                    "leave release out",
                )
    if "suppression_rows" in privacy and privacy.get("suppress") != "rows":
        yield Problem(
            place,
            "suppression_rows is the share of rows that may be left out, and persons are left out as a whole",
            'set suppress = "rows", or leave the key out',
        )
    method = METHODS.get(keys.get("method", {}).get("algorithm", ""))
    if method is not None and (reason := method.refused_links(keys["method"])) is not None:
        yield Problem(f"{spot.file} [method]", *reason)
    for model in SENSITIVE_MODELS:
        if model.name in privacy and model.name not in PROTECTING:
            yield Problem(
                place,
                f"{model.title} is a demand on classes of one table, and here persons are in several choices",
                f"protect them by {' or '.join(PROTECTING)}",
            )


def models_of(
    spot: Spot, privacy: Table, tables: Sequence[Table]
) -> tuple[list[dict[str, list[Any]]], list[Problem]]:
    """The models of each table, by the one table that has the column that they protect."""
    found: list[dict[str, list[Any]]] = [{} for _ in tables]
    problems = []
    for model in SENSITIVE_MODELS:
        for here, demand in privacy.get(model.name, ()):
            column = demand.get("column")
            having = [i for i, table in enumerate(tables) if column in table.get("columns", {})]
            sensitive = [i for i in having if tables[i]["columns"][column].get("role") is Role.SENSITIVE]
            having = sensitive or having
            if len(having) == 1:
                found[having[0]].setdefault(model.name, []).append((here, demand))
                lower = "parent" in tables[having[0]]
                if lower and not (
                    model.name == "l_diversity" and demand.get("kind", "distinct") == "distinct"
                ):
                    problems.append(
                        Problem(
                            f"{spot.file} [privacy]",
                            f"{model.name} protects {quoted(column)} of a table below that of the persons, where a "
                            "person has several values, and only l-diversity of distinct values is defined for it",
                            'use l_diversity with kind = "distinct"',
                        )
                    )
            elif column is not None:
                many = "several tables have" if having else "no table has"
                problems.append(
                    Problem(
                        f"{spot.file} [privacy]",
                        f"{model.name}: {many} a column {quoted(column)}",
                        "name a column of one of the tables; where names repeat, rename it in a view of the source",
                    )
                )
    return found, problems
