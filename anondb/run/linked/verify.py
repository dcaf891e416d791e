"""What was written, counted from the rows of all tables, against what the policy promises."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anondb.errors import VerificationError
from anondb.methods.method import Job
from anondb.models.model import ClassModel
from anondb.models.sql import Models
from anondb.policy.model import Privacy
from anondb.run import frequency_sql as frequency
from anondb.run.linked import verify_sql as sql
from anondb.run.linked.models_sql import LowerDiversity
from anondb.run.linked.plan import LinkedPlan, LinkedScratch, TablePlan
from anondb.run.linked_sql import relation_text
from anondb.run.statement import MANY, Statement, row
from anondb.sqltree.tables import Relation

_K = "select anondb.k_persons($1::text::jsonb, $2)"
_LOWER = """
select coalesce(max(g.share), 0)
from (select count(*) filter (where v.has_row)::float8 / max(c.persons) as share
      from anondb.known_values($1::text::jsonb, $2, $3, $4) as v
      join (select k.choice, count(distinct k.person) as persons
            from anondb.known_values($1::text::jsonb, $2, $3, $4) as k group by k.choice) as c
          on c.choice = v.choice
      group by v.choice, v.has_row, v.value) as g
"""


@dataclass(frozen=True)
class Reached:
    """What is reached of a model, by the column that it protects."""

    model: ClassModel
    column: str
    figure: float


@dataclass(frozen=True)
class PublishedTables:
    """Figures of a release of linked tables, counted from its own rows."""

    rows: tuple[int, ...]  # of each table
    classes: tuple[int, int, int]  # of own rows: how many, the smallest and the largest
    k: int  # the fewest who match what may be known of anybody
    models: tuple[Reached, ...] = ()

    @property
    def persons(self) -> int:
        return self.rows[0]


def description(linked: LinkedPlan, fresh: Relation | None) -> str:
    """The tables as anondb.k_persons takes them: where they are written, or where they stand."""
    tables: dict[str, Any] = {}
    named = [relation_text(_place(table, fresh)) for table in linked.tables]
    for table in linked.tables:
        described: dict[str, Any] = {"quasi": [q.name for q in table.plan.quasi]}
        if table.parent is None:
            if linked.unit.name in {c.name for c in table.plan.columns}:
                described["unit"] = linked.unit.name
        else:
            described["parent"] = named[table.parent]
            described["key"] = {mine.name: theirs.name for mine, theirs in table.key}
        tables[named[table.number]] = described
    return json.dumps(tables, ensure_ascii=False)


def measure(
    job: Job,
    linked: LinkedPlan,
    names: LinkedScratch,
    fresh: Relation | None,
    models: Models | None,
    lower: Sequence[LowerDiversity],
    nulls: Sequence[int],
) -> PublishedTables:
    """Counted from what was written alone: who is whose is had by the released keys."""
    engine, knows = job.engine, str(job.plan.policy.privacy.knows)
    described = description(linked, fresh)
    rows, classes = [], (0, 0, 0)
    for table in linked.tables:
        if table.parent is None:
            quasi = [q.name for q in table.plan.quasi]
            n, count, smallest, largest, _ = engine.count_written(_place(table, fresh), quasi)
            classes = (count, smallest, largest)
        else:
            question = sql.count(_place(table, fresh))
            [[n]] = engine.ask_release(f"count {table.label}", question, row(n=MANY))
        rows.append(int(n))
    for table in linked.tables if fresh is not None else ():
        place = _place(table, fresh)
        job.db.run(Statement(f"release statistics {table.label}", sql.analyze(place)))
    [[k]] = engine.ask_release("persons", _K, row(k=MANY), (described, knows))
    reached: list[Reached] = []
    for one in models.judged if models is not None else ():
        where = relation_text(_place(linked.root, fresh))
        null_code = nulls[one.sensitive.number - 1]
        known = sql.known(names, described, knows, where, one.sensitive, null_code)
        engine.copy_release(f"known values {one.sensitive.code}", known)
        asked = one.model.measured(Relation("pg_temp", names.known), [sql.CHOICE], sql.VALUE)
        answers = row(reached=one.model.demanded)
        step = f"{one.model.step} {one.sensitive.code}"
        [[figure]] = engine.ask_release(step, asked or sql.worst(names, one), answers)
        job.db.run(Statement("forget known values", frequency.drop(names.known)))
        reached.append(Reached(one.model, linked.root.column(one.sensitive.name), float(figure)))
    for demand in lower:
        parameters = (described, knows, relation_text(_place(demand.table, fresh)), demand.model.column)
        step = f"diversity {demand.table.label}"
        [[share]] = engine.ask_release(step, _LOWER, row(share=1 / demand.l), parameters)
        column = demand.table.column(demand.model.column)
        reached.append(Reached(demand.model, column, 1 / share if share else float(demand.l)))
    return PublishedTables(tuple(rows), classes, int(k), tuple(reached))


def verify(
    privacy: Privacy, published: PublishedTables, written: Sequence[int], expected: Sequence[int]
) -> None:
    """Raises unless every table has the rows that it should have, and every choice satisfies every model."""
    if not tuple(published.rows) == tuple(written) == tuple(expected):
        raise VerificationError(
            f"{list(expected)} rows were to be released, {list(written)} were written and {list(published.rows)} are "
            "there",
            hint="does a source change while it is read (a volatile view)? Nothing was published",
        )
    if published.persons == 0:
        return
    if published.k < privacy.k:
        _fail(f"what can be known of a person only {published.k} persons match, fewer than k = {privacy.k}")
    for one in published.models:
        if (failure := one.model.failure(one.figure)) is not None:
            _fail(failure)


def _place(table: TablePlan, fresh: Relation | None) -> Relation:
    return table.plan.target if fresh is None else table.fresh(fresh)


def _fail(message: str) -> None:
    raise VerificationError(message, hint="nothing was published; please report this")
