"""Swap: a verified release takes the place of the one before.

The table of a release stays, and its rows are replaced: who reads it sees the old rows or the new ones, by his
own snapshot, and what hangs on it is not touched. Only a release with other columns is another table.

A run decides by its snapshot, which is as old as the run. So before anything of the old release is changed, it
is locked, and looked at again through another connection, `now`, which sees the present.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from anondb.db.introspect import target_text
from anondb.errors import BusyError, LockedError, UsageError
from anondb.run import publish_sql as publish
from anondb.run import swap_sql as sql
from anondb.run.engine import Engine
from anondb.run.plan import Options, Place, Plan
from anondb.run.statement import MANY, Answer, Runner, Statement, no_rows, row
from anondb.sqltree.build import set_local
from anondb.sqltree.tables import Relation

SHORT_WAIT = 500  # milliseconds for a lock that readers would queue behind
_PAUSE = 0.1  # seconds in which they go on

_LOOK = """
select t.oid::bigint, t.kind::text, t.ours, t.may_replace,
       coalesce(pg_catalog.obj_description(t.oid, 'pg_class') not like 'anondb run %', false)
from anondb.release_at($1, $2, $3) as t
"""
_SAME_COLUMNS = "select anondb.has_columns($1::bigint::oid, $2, $3, $4::text[])"
_IN_PLACE = "select o.kind, o.name from anondb.replacement_obstacles($1::bigint::oid) as o"
_OBSTACLES = "select o.kind, o.name from anondb.release_obstacles($1::bigint::oid, $2, $3) as o"
_BELONGINGS = "select b.rank, b.name, b.statement from anondb.release_belongings($1::bigint::oid, $2) as b"
_GRANTS = "select g.name, g.statement from anondb.release_grants($1::bigint::oid, $2) as g"
_CARRY = "select anondb.carry_over($1, $2)"
_WAIT = "lock_timeout"
_MADE_ANEW = "on the second connection; what it finds is made anew by further statements"
_OWNER, _VIEW = 1, 2  # ranks of belongings


class Replacement:
    """The tables of one run, on the run's connection `db` and beside it `now`."""

    def __init__(
        self, engine: Engine, db: Runner, now: Runner, plan: Plan, fresh: Relation, options: Options
    ) -> None:
        self.engine, self.db, self.now = engine, db, now
        self.plan, self.fresh, self.options = plan, fresh, options

    def swap(self, run: int, promise: str) -> None:
        """Puts every table in its place, and notes that they are this run's."""
        comment = f"anondb run {run}, policy {self.plan.policy.sha256}, {promise}"
        for place in self.plan.places:
            if place.oid is None:
                self._first(place, comment)
            else:
                way = self._replace if place.replaces else self._exchange
                self._patiently(way, place, comment)
        self.db.run(Statement("own", publish.own([place.relation for place in self.plan.places], run)))

    def _first(self, place: Place, comment: str) -> None:
        self._look(place)
        fresh = place.fresh(self.fresh)
        self.db.run(Statement("comment", publish.comment(fresh, comment)))
        self.db.run(Statement("place", sql.place(fresh, place.relation)))

    def _replace(self, place: Place, comment: str) -> None:
        """The rows of a release that has the same columns."""
        target = place.relation
        self._look(place)
        self.db.run(Statement("lock", sql.lock(target, readers=False)))
        has_own_comment = self._look(place)
        [same, *_] = self.now.one(
            Statement(
                "columns now",
                _SAME_COLUMNS,
                (place.oid, *place.signature),
                answers=row(same=True),
                note="on the second connection",
            )
        )
        if not same:
            raise UsageError(
                f"the columns of {target_text(target)} were changed while the run was under way",
                hint="nothing was published; run again",
            )
        refuse_obstacles(self.now, place)
        [[there, *_]] = self._shortly(
            Statement(
                "rows now",
                sql.count(target),
                answers=row(n=MANY),
                note="on the second connection: as many as were deleted",
            )
        )
        fresh = place.fresh(self.fresh)
        deleted = self.engine.replace_rows(place, fresh)
        # what was inserted since the run began is not in its snapshot, and would have stayed
        if deleted != there:
            raise BusyError(
                f"rows of {target_text(target)} were changed by another session while the run was under way",
                hint="nothing was published; run again",
            )
        if not has_own_comment:
            self.db.run(Statement("comment", publish.comment(target, comment)))
        self.db.run(Statement("drop", sql.drop(fresh)))

    def _exchange(self, place: Place, comment: str) -> None:
        """A release with other columns, or a table that the caller has given up, for the fresh one."""
        target, fresh, db, now = place.relation, place.fresh(self.fresh), self.db, self.now
        aside = Relation(fresh.schema, f"{fresh.name}_old")
        self._look(place)
        db.run(Statement("lock", sql.lock(target, readers=False)))
        self._look(place)
        refuse_obstacles(now, place)
        names = place.signature[0]
        belongings = self._shortly(
            Statement(
                "belongings",
                _BELONGINGS,
                (place.oid, names),
                answers=no_rows("rank", "name", "statement"),
                note=_MADE_ANEW,
            )
        )
        views = [thing for rank, *thing in belongings if rank == _VIEW]
        # readers lock a view before its table, so that whoever does the reverse may wait for them and they for him
        db.run(Statement("wait shortly", set_local(_WAIT, str(SHORT_WAIT))))
        self._carry("lock views", views)
        db.run(Statement("lock readers out", sql.lock(target, readers=True)))
        db.run(Statement("comment", publish.comment(fresh, comment)))  # a user's own one comes after it
        db.run(Statement("put aside", sql.rename(target, aside.name)))
        db.run(Statement("place", sql.place(fresh, target)))
        self._carry("owner", [thing for rank, *thing in belongings if rank == _OWNER])
        self._carry("views", views)
        db.run(Statement("drop", sql.drop(aside)))
        self._carry("belongings", [thing for rank, *thing in belongings if rank > _VIEW])
        db.run(Statement("without grants", sql.without_grants(target)))
        # the old table's rows in the catalogue are gone here: nobody can change them any more
        self._carry(
            "grants",
            now.rows(
                Statement(
                    "grants now",
                    _GRANTS,
                    (place.oid, names),
                    answers=no_rows("name", "statement"),
                    note="on the second connection; what it finds is granted by further statements",
                )
            ),
        )
        db.run(Statement("wait again", set_local(_WAIT, self.options.lock_wait)))

    def _look(self, place: Place) -> bool:
        """Raises unless that stands at a place which stood there when the run began; returns whether a user
        has commented on it."""
        target = target_text(place.relation)
        there = (place.relation.schema, place.relation.name, target_text(self.plan.target))
        rows = self.now.rows(
            Statement(
                "look",
                _LOOK,
                there,
                answers=standing(place),
                note="on a second connection, which sees the present, as the snapshot of the run does not",
            )
        )
        if not rows:
            if place.oid is None:
                return False
            raise UsageError(
                f"{target} was dropped or renamed while the run was under way",
                hint="nothing was published; if it is wanted again, run again",
            )
        [(oid, _, ours, may_replace, commented)] = rows
        if oid != place.oid:
            if ours:
                raise BusyError(
                    f"another run has published {target} meanwhile", hint="nothing was published; run again"
                )
            raise UsageError(
                f"{target} was made by somebody else while the run was under way, and is not overwritten",
                hint="nothing was published; choose another name for target, or run with --replace",
            )
        if not may_replace or not (ours or self.options.replace):
            raise UsageError(
                f"{target} was given to another owner while the run was under way",
                hint="nothing was published; run as a member of that role",
            )
        return bool(commented)

    def _shortly(self, statement: Statement) -> list[tuple[Any, ...]]:
        """Reads the target, or its definition, on the other connection while this one has it locked.

        Whoever waits to alter the target waits for this connection, and the other one would wait behind him, which
        the server cannot know: so it gives up soon, all locks are given back, and he goes first.
        """
        with self.now.savepoint():
            self.now.run(Statement("wait shortly", set_local(_WAIT, str(SHORT_WAIT))))
            return self.now.rows(statement)

    def _carry(self, name: str, things: Sequence[Sequence[Any]]) -> None:
        if things:
            names, statements = zip(*things, strict=True)
            self.db.run(Statement(name, _CARRY, (list(names), list(statements))))

    def _patiently(self, way: Callable[[Place, str], None], place: Place, comment: str) -> None:
        """Tries until the locks are had; before the next try, what the last one has locked is given back."""
        deadline = time.monotonic() + self.options.lock_timeout
        while True:
            try:
                with self.db.savepoint():
                    way(place, comment)
                return
            except LockedError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(_PAUSE)


def standing(place: Place) -> Answer:
    """What stands at a place, as the plan knows it."""
    there = Answer(("oid", "kind", "ours", "may_replace", "commented"))
    return there if place.oid is None else replace(there, example=((place.oid, "r", True, True, False),))


def refuse_obstacles(db: Runner, place: Place) -> None:
    """Raises with the names of what hangs on a release and is in the way of the next one."""
    names, types, _ = place.signature
    if place.replaces:
        obstacles = db.rows(
            Statement(
                "obstacles",
                _IN_PLACE,
                (place.oid,),
                answers=no_rows("kind", "name"),
                note="on the second connection",
            )
        )
    else:
        obstacles = db.rows(
            Statement(
                "obstacles",
                _OBSTACLES,
                (place.oid, names, types),
                answers=no_rows("kind", "name"),
                note="on the second connection",
            )
        )
    if obstacles:
        raise UsageError(
            "in the way of the new release: " + ", ".join(f"{kind} {name}" for kind, name in obstacles),
            hint="drop them, run again, and make them anew; nothing has been dropped",
        )
