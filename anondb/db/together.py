"""What two releases tell together: which tables they are, what is asked of them, and the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anondb.db import kept_runs, ledger
from anondb.db.connection import Connection, Door, one_snapshot
from anondb.db.errors import translated
from anondb.db.install.upgrade import require_current
from anondb.db.introspect import column_categories, resolve_source, target_text
from anondb.db.ledger import ReleaseInfo
from anondb.db.run_list import run_that_released
from anondb.errors import UsageError, did_you_mean
from anondb.policy.load import part_as_written
from anondb.policy.names import check_part, parse_name
from anondb.run.linked_sql import relation_text
from anondb.sqltree.tables import Relation

# rows that a policy of a table hides would be missing in every figure: better an error
_SETTINGS = "select pg_catalog.set_config('row_security', 'off', true)"
_TOGETHER = """
select t.name, t.of_column, t.value
from anondb.released_together(%s::text::regclass, %s::text::regclass, %s::name[], %s::name[], %s::int, %s::name[],
                              %s::text[], %s::text::regclass, %s::name) as t
"""
_POLICY = """
select p.body from anondb.run as r join anondb.policy as p on p.sha256 = r.policy and p.added_by = r.started_by
where r.id = %s
"""
TOLD = ("entered_below_k", "left_below_k", "both_below_k", "persons_below_k")
CERTAIN = ("entered_certain", "left_certain", "both_certain", "persons_certain")


@dataclass(frozen=True)
class Side:
    """One of two releases: a table, or a run of ours."""

    name: str  # as the caller says it
    relation: Relation | None  # None: its rows are no longer there
    columns: Sequence[str] = ()
    run: int | None = None
    target: str | None = None
    replaced_by: int | None = None  # the run whose rows are in its place
    said: Mapping[str, Any] = field(default_factory=dict)  # what its policy says of columns, and k

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "run": self.run, "target": self.target, "replaced_by": self.replaced_by}


@dataclass(frozen=True)
class Question:
    """What the caller asks besides the two releases; what he leaves out is taken from policies of ours."""

    quasi: Sequence[str] | None = None
    sensitive: Sequence[str] | None = None
    kept: Sequence[str] | None = None
    k: int | None = None
    vghs: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    unit: str | None = None


@dataclass(frozen=True)
class Difference:
    """What changed from one release to another, and what somebody learns who has both."""

    before: Side
    after: Side
    quasi: Sequence[str]
    sensitive: Sequence[str]
    k: int
    figures: Sequence[tuple[str, str | None, int]] = ()  # none where the rows of a release are gone
    between: Sequence[ReleaseInfo] = ()  # of one series, after the first up to the second; newest first

    @property
    def compared(self) -> bool:
        return bool(self.figures)

    def value(self, name: str, column: str | None = None) -> int | None:
        return next((v for n, c, v in self.figures if (n, c) == (name, column)), None)

    @property
    def exposes(self) -> bool:
        """Whether somebody is told apart, or a value becomes certain, by having both."""
        return any(value for name, _, value in self.figures if name in TOLD + CERTAIN)

    def as_json(self) -> dict[str, Any]:
        return {
            "before": self.before.as_json(),
            "after": self.after.as_json(),
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "k": self.k,
            "compared": self.compared,
            "exposes": self.exposes if self.compared else None,
            "figures": [{"name": n, "column": c, "value": v} for n, c, v in self.figures],
            "between": [release.as_json() for release in self.between],
        }


def difference(door: Door, first: str | int, second: str | int, asked: Question) -> Difference:
    """The difference of two releases, each the number of a run, or a table; with the caller's rights."""
    with door.open() as connection:
        require_current(connection)
        with one_snapshot(connection, "comparing releases"):
            before, after = _side(connection, first), _side(connection, second)
            asked = _completed(before, after, asked)
            quasi, sensitive, k = asked.quasi or (), asked.sensitive or (), asked.k or 2
            if before.relation is None or after.relation is None:
                between = _between(connection, before, after)
                return Difference(before, after, quasi, sensitive, k, between=between)
            figures = _figures(connection, before.relation, after.relation, asked)
            return Difference(before, after, quasi, sensitive, k, figures)


def _side(connection: Connection, name: str | int) -> Side:
    text = str(name)
    if not (text.isdigit() or text == kept_runs.LAST):
        relation = resolve_source(connection, parse_name(text), "release")
        return Side(text, relation, list(column_categories(connection, relation)))
    run = kept_runs.find(connection, text)
    with translated("reading the history"):
        [(body,)] = connection.execute(_POLICY, (run.run,)).fetchall() or [("",)]
    said = _said(str(body))
    side = Side(text, None, (), run.run, run.target, None, said)
    if not said:
        raise UsageError(
            f"run {run.run} has released several tables",
            hint="compare them one by one: anondb diff TABLE TABLE --quasi A,B --sensitive C",
        )
    try:
        relation = resolve_source(connection, parse_name(run.target), "target")
    except UsageError:
        return side  # dropped, or two tables of (l, e)-diversity
    there = run_that_released(connection, relation)
    if there != run.run:
        return Side(text, None, (), run.run, run.target, there, said)
    return Side(
        text, relation, list(column_categories(connection, relation)), run.run, run.target, None, said
    )


def _said(body: str) -> dict[str, Any]:
    """What the policy of a run says; the text may be that of an older version, so nothing is checked."""
    columns = part_as_written(body, "columns")
    if not columns:
        return {}
    with_role = {
        role: [name for name, said in columns.items() if said.get("role") == role]
        for role in ("quasi", "sensitive", "other")
    }
    vghs = {
        name: said["hierarchy"] for name, said in columns.items() if isinstance(said.get("hierarchy"), str)
    }
    privacy = part_as_written(body, "privacy")
    return {**with_role, "vghs": vghs, "k": privacy.get("k"), "unit": privacy.get("unit")}


def _completed(before: Side, after: Side, asked: Question) -> Question:
    """With what the policies say, where the caller says nothing."""
    said = [side.said for side in (before, after) if side.said]

    def union(role: str) -> list[str]:
        return list(dict.fromkeys(name for policy in said for name in policy[role]))

    gone = before.relation is None or after.relation is None
    sides = [side for side in (before, after) if side.relation is not None]

    def there(names: Sequence[str]) -> list[str]:
        """Of the columns that policies name, those that a release has: others were not released."""
        return [name for name in names if gone or any(name in side.columns for side in sides)]

    quasi = list(asked.quasi) if asked.quasi is not None else there(union("quasi"))
    sensitive = [
        n
        for n in (asked.sensitive if asked.sensitive is not None else there(union("sensitive")))
        if n not in quasi
    ]
    kept = asked.kept if asked.kept is not None else there(union("other"))
    kept = [name for name in kept if name not in (*quasi, *sensitive)]
    if not quasi:
        raise UsageError(
            "no quasi-identifier is named",
            hint="name the columns that people could be found by: --quasi age,zip",
        )
    for name in (*quasi, *sensitive, *kept):
        check_part(name)
        if not gone and not any(name in side.columns for side in sides):
            known = [column for side in sides for column in side.columns]
            raise UsageError(
                f'neither release has a column "{name}"',
                hint=did_you_mean(name, known) or "names are taken as the catalogue spells them",
            )
    common = [name for name in quasi if all(name in side.columns for side in sides)]
    if not gone and not common:
        raise UsageError(
            "the releases have no quasi-identifier in common",
            hint="nothing links them by what is known of a person; name columns that both have with --quasi",
        )
    vghs = {name: vgh for policy in said for name, vgh in policy["vghs"].items()} | dict(asked.vghs)
    for name in asked.vghs:
        if name not in quasi:
            raise UsageError(
                f'a hierarchy is given for "{name}", which is no quasi-identifier',
                hint=did_you_mean(name, quasi) or "--vgh COLUMN=NAME",
            )
    k = asked.k if asked.k is not None else max((policy["k"] or 2 for policy in said), default=2)
    unit = asked.unit
    if unit is None and asked.source is not None:
        unit = next((policy["unit"] for policy in said if policy["unit"]), None)
    return Question(quasi, sensitive, kept, k, vghs, asked.source, unit)


def _figures(
    connection: Connection, before: Relation, after: Relation, asked: Question
) -> list[tuple[str, str | None, int]]:
    quasi = list(asked.quasi or ())
    source = None
    if asked.source is not None:
        source = relation_text(resolve_source(connection, parse_name(asked.source), "source"))
    values = (
        relation_text(before),
        relation_text(after),
        quasi,
        list(asked.sensitive or ()),
        asked.k,
        list(asked.kept or ()),
        [asked.vghs.get(name) for name in quasi],
        source,
        asked.unit,
    )
    connection.execute(_SETTINGS)
    rows: list[Any] = connection.execute(_TOGETHER, values).fetchall()
    return [(name, column, value) for name, column, value in rows]


def _between(connection: Connection, before: Side, after: Side) -> list[ReleaseInfo]:
    """What the ledger has counted from one run of a target to another."""
    if before.run is None or after.run is None or before.target != after.target:
        return []
    known = ledger.releases(connection, _spelled(before))
    first, last = sorted((before.run, after.run))
    return [release for release in known if first <= release.run <= last]


def _spelled(side: Side) -> str:
    name = parse_name(side.target or "")
    return target_text(Relation(name.schema or "", name.table)) if name.schema else str(name)
