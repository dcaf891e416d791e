"""The ledger as people ask for it: releases, what two of them tell together, the proof of one, what is forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.sqltree.tables import Relation

# A role sees its own series; a run switches this off for its source, where it must not hide rows.
_RELEASES = """
select s.target, s.id, r.release, r.run, r.released_at, s.ended_at is null, r.levels, r.records, r.classes, r.entered,
       r.left_it, r.moved, r.waiting, r.departed, r.withheld, s.changes
from anondb.series_release as r join anondb.series as s on s.id = r.series
where %(target)s::text is null or s.target = %(target)s
order by s.target, s.id desc, r.release desc
"""
_FORGET = """
delete from anondb.series as s where s.target = %(target)s and (s.ended_at is not null or %(all)s)
"""
_FORGET_MEMBERS = """
delete from anondb.member as m
where m.series in (select s.id from anondb.series as s
                   where s.target = %(target)s and (s.ended_at is not null or %(all)s))
"""
_VERIFY = """
select v.name, v.holds, v.detail
from anondb.verify_release(pg_catalog.format('%%I.%%I', %s::text, %s::text)::pg_catalog.regclass) as v
"""


@dataclass(frozen=True)
class ReleaseInfo:
    """A release of a target, in numbers of records."""

    target: str
    series: int
    release: int  # its number in the series
    run: int
    released_at: datetime
    goes_on: bool  # the series has not been ended
    levels: list[int] | None  # in the order of the policy's quasi-identifiers
    records: int
    classes: int
    entered: int  # published for the first time
    left: int  # published no longer
    moved: int  # together, to another class
    waiting: int  # until they are enough to enter a class
    departed: int  # published as they were, until enough have left
    withheld: int  # not published again in this series
    changes: str

    def as_json(self) -> dict[str, Any]:
        kept = dict(vars(self))
        return kept | {"released_at": self.released_at.isoformat(), "levels": self.levels}


@dataclass(frozen=True)
class Proof:
    """A condition on a release, and whether it holds; None where it cannot be told."""

    name: str
    holds: bool | None
    detail: str

    def as_json(self) -> dict[str, Any]:
        return dict(vars(self))


def releases(connection: Connection, target: str | None = None) -> list[ReleaseInfo]:
    """The releases that the ledger knows, newest first; those of one target, as the history spells it."""
    with translated("reading the ledger"):
        rows: list[Any] = connection.execute(_RELEASES, {"target": target}).fetchall()
    return [ReleaseInfo(*row) for row in rows]


def forget(connection: Connection, target: str, *, everything: bool) -> int:
    """Deletes ended series of a target, or all of them; returns how many."""
    values = {"target": target, "all": everything}
    with translated("forgetting releases"), connection.transaction():
        connection.execute(_FORGET_MEMBERS, values)
        return connection.execute(_FORGET, values).rowcount


def verify(connection: Connection, release: Relation) -> list[Proof]:
    """What a release reaches, proven from its own rows, from what its policy demands and from the ledger."""
    with translated("verifying the release"):
        place = (release.schema, release.name)
        rows: list[tuple[Any, ...]] = connection.execute(_VERIFY, place).fetchall()
    return [Proof(*row) for row in rows]
