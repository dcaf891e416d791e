"""The engine for a source that Citus has spread over workers: rows are handled where they lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from anondb.errors import DatabaseError
from anondb.run.citus import stage_sql
from anondb.run.citus.layout import SHARD, refuse_pulling, refuse_records
from anondb.run.engine import PostgresEngine
from anondb.run.publish_sql import Chosen, create_release, insert_records
from anondb.run.snapshot import Distribution
from anondb.run.statement import MANY, Runner, Statement, row
from anondb.sqltree.build import Node
from anondb.sqltree.tables import Relation, Scratch, SourceColumn

_PLACEMENTS = """
select coalesce(md5(string_agg(concat_ws(' ', s.shardid, p.placementid, p.groupid), ',' order by p.placementid)), '')
from pg_catalog.pg_dist_shard as s join pg_catalog.pg_dist_placement as p on p.shardid = s.shardid
where s.logicalrelid::oid::bigint = any ($1::bigint[])
"""
_SPREAD = "workers write the rows and exchange them; none comes to the coordinator"
_BY_SHARD = "in each shard its own rows"


@dataclass
class Found:
    """What a run keeps between its passes."""

    placements: str | None = None
    persons: int | None = None


@dataclass(frozen=True)
class CitusEngine(PostgresEngine):
    """A cluster: the coordinator decides by counts, and the workers have the rows."""

    beside: Runner | None = None  # a connection that sees the present
    found: Found = field(default_factory=Found)

    @property
    def distribution(self) -> Distribution:
        assert self.plan.distribution is not None
        return self.plan.distribution

    def count_combinations(self, names: Scratch) -> None:
        if self.plan.against:
            refuse_pulling(
                self.plan,
                "against compares single records with other releases on the coordinator",
                "leave against out of [privacy]",
            )
        if self.plan.follows:
            refuse_pulling(
                self.plan,
                'changes = "hold" compares single records with the ledger on the coordinator',
                'set changes = "refuse" or changes = "free" in [privacy]',
            )
        self.found.placements = self._placements("shards")
        super().count_combinations(names)

    def copy_records(self, name: str, copy: Callable[[Relation], Node]) -> int:
        refuse_records(self.plan)
        return super().copy_records(name, copy)

    def create_release(self, fresh: Relation, *, kept: bool) -> None:
        if not self.plan.spread:
            super().create_release(fresh, kept=kept)
            return
        [place] = self.plan.places
        unlogged = kept and place.replaces
        self.db.run(Statement("create release", create_release(fresh, place.columns, unlogged=unlogged)))
        # beside the release that stands there, its rows need not travel when they take their place
        beside = place.relation if place.replaces else None
        self._distribute("distribute release", fresh, SHARD.name, beside)

    def insert_records(self, names: Scratch, fresh: Relation, chosen: Sequence[Chosen]) -> int:
        plan = self.plan
        if plan.spread or plan.unit is not None:
            written = self._by_stage(names, fresh, chosen)
        else:
            insert = insert_records(names, plan.source, fresh, plan.columns, chosen)
            written = self.db.run(Statement("insert release", insert, note="sorted where the release is"))
        if self._placements("shards again") != self.found.placements:
            raise DatabaseError(
                "shards of the source were moved while the run was reading it",
                hint="nothing was published; run again once the cluster is at rest",
            )
        return written

    def insert_rows(self, name: str, insert: Node, note: str = "") -> int:
        if not self.plan.spread:
            return super().insert_rows(name, insert, note)
        raise AssertionError("rows that were counted go to a spread release by insert_counted")

    def insert_counted(self, names: Scratch, fresh: Relation, insert: Node, chosen: Sequence[Chosen]) -> int:
        if not self.plan.spread:
            return super().insert_counted(names, fresh, insert, chosen)
        stage = stage_sql.stage_of(names)
        self._create_stage(stage, fresh, person=False, counted=True)
        counts = stage_sql.insert_counted(names, stage, self.plan.columns, chosen, insert)
        self.db.run(Statement("stage", counts, note="counts, in as many parts as their copies have places"))
        return self._from_stage(stage, fresh, counted=True)

    def count_persons(self, names: Scratch, chosen: Sequence[Chosen]) -> int:
        if self.found.persons is None:
            return super().count_persons(names, chosen)
        return self.found.persons

    def _by_stage(self, names: Scratch, fresh: Relation, chosen: Sequence[Chosen]) -> int:
        plan, stage = self.plan, stage_sql.stage_of(names)
        self._create_stage(stage, fresh, person=plan.unit is not None, counted=False)
        insert = stage_sql.insert_records(
            names,
            plan.source,
            stage,
            plan.columns,
            chosen,
            numbered_by=None if plan.single else self.distribution.column,
            unit=plan.unit,
        )
        self.db.run(Statement("stage", insert, note=_SPREAD))
        if plan.unit is not None:
            self.found.persons = self._count_persons(names, stage)
        return self._from_stage(stage, fresh, counted=False)

    def _create_stage(self, stage: Relation, fresh: Relation, *, person: bool, counted: bool) -> None:
        made = stage_sql.create(stage, self._released, person=person, counted=counted)
        self.db.run(Statement("create stage", made))
        self._distribute("distribute stage", stage, SHARD.name, fresh if self.plan.spread else None)

    def _from_stage(self, stage: Relation, fresh: Relation, *, counted: bool) -> int:
        insert = stage_sql.release(stage, fresh, self._released, spread=self.plan.spread, counted=counted)
        note = _BY_SHARD if self.plan.spread else ""
        written = self.db.run(Statement("insert release", insert, note=note))
        self.db.run(Statement("drop stage", stage_sql.drop(stage)))
        return written

    def _count_persons(self, names: Scratch, stage: Relation) -> int:
        """From what was written: the two passes may have read other rows, where sessions see their own snapshots."""
        persons = stage_sql.persons_of(names)
        self.db.run(Statement("create persons", stage_sql.create_persons(persons)))
        self._distribute("distribute persons", persons, stage_sql.PERSON, None)
        self.db.run(Statement("persons", stage_sql.insert_persons(stage, persons), note=_SPREAD))
        fewest = Statement("count persons", stage_sql.fewest_persons(persons), answers=row(persons=MANY))
        counted = self.db.rows(fewest)
        self.db.run(Statement("drop persons", stage_sql.drop(persons)))
        return int(counted[0][0]) if counted else 0

    @property
    def _released(self) -> list[SourceColumn]:
        [place] = self.plan.places
        return [column for column in place.columns if not (self.plan.spread and column == SHARD)]

    def _distribute(self, name: str, relation: Relation, column: str, beside: Relation | None) -> None:
        shards = self.distribution.shards
        spread = stage_sql.distribute(relation, column, beside=beside, shards=shards)
        self.db.run(Statement(name, spread))

    def _placements(self, name: str) -> str | None:
        if self.beside is None:  # a trial publishes nothing
            return None
        where = Statement(
            name,
            _PLACEMENTS,
            (list(self.distribution.oids),),
            answers=row(placements=""),
            note="on the second connection, which sees the present: a shard that moves in between has another snapshot",
        )
        [placements] = self.beside.one(where)
        return str(placements)
