"""Against: what a release tells together with others that are there, judged before it is published.

Persons of the source whom nothing tells apart, by their classes in this release and in all the others, are a joint
class. Each must have k persons and meet every model, as a class must.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from anondb.errors import UnsatisfiableError, UsageError
from anondb.methods.registry import method_of
from anondb.policy.names import parse_name
from anondb.releases import against_sql as sql
from anondb.run.linked_sql import relation_text
from anondb.run.plan import Plan, Rival
from anondb.run.statement import MANY, Runner, Statement, no_rows, row
from anondb.run.verify import figure_of
from anondb.sqltree.released import TEXT
from anondb.sqltree.tables import TEMPORARY, Relation, SourceColumn

if TYPE_CHECKING:
    from anondb.methods.method import Stages
    from anondb.run.counting import Counting

_TABLES = """
select b.schema, b.name, b.kind, b.columns, b.of_source from anondb.releases_beside($1, $2, $3) as b
"""
_OPEN = "select anondb.together_open()"
_TAKE = "select anondb.together_take($1, $2::text::regclass, $3::text[]::name[], $4::text[]::name[])"
_PAIRS = "select anondb.together_pairs($1, $2)"
_CLASSES = "select anondb.together_classes($1, $2)"
_DIFFERENCE = """
select coalesce(sum(d.value) filter (where d.name like '%below_k'), 0)::bigint
from anondb.together_difference('{}', $1, $2, 1) as d
"""
_JOINTS = """
select anondb.together_joints($1, $2::text::regclass, $3::text[]::name[], $4, $5::text[]::name[], $6)
"""
_FEWEST = "select f.persons, f.fewest, f.joints from anondb.together_fewest($1, $2, $3) as f"
_CLOSE = "select anondb.together_close()"
_KINDS = "rpm"


@dataclass(frozen=True)
class Together:
    """What was found of a release and those beside it."""

    releases: tuple[str, ...]
    joints: int
    fewest: int  # persons of a joint class

    def as_json(self) -> dict[str, Any]:
        return {"releases": list(self.releases), "joint_classes": self.joints, "fewest": self.fewest}


def with_rivals(db: Runner, plan: Plan) -> Plan:
    """The plan with the tables that its policy names; raises where one cannot be compared."""
    policy = plan.policy
    if not policy.privacy.against:
        return plan
    if not method_of(policy).labels_cover or any(column.release != (TEXT,) for column in policy.quasi):
        raise UsageError(
            f"{policy.place}: against compares classes by their labels, and those of this release do not say for which "
            "values they stand",
            hint="take a method that generalizes values, and release labels as texts; or leave against out",
        )
    own = {plan.target, *(place.relation for place in plan.places)}
    found: dict[Relation, Rival] = {}
    for pattern in policy.privacy.against:
        for rival in _found(db, plan, pattern):
            if rival.relation not in own:
                found[rival.relation] = rival
    return replace(plan, against=tuple(found[key] for key in sorted(found, key=str)))


def _found(db: Runner, plan: Plan, pattern: str) -> list[Rival]:
    policy, name = plan.policy, parse_name(pattern)
    values = (_like(name.schema or "%"), _like(name.table), str(policy.source))
    columns = ("schema", "name", "kind", "columns", "of_source")
    rows = db.rows(Statement("releases beside", _TABLES, values, no_rows(*columns)))
    if "*" not in pattern:
        if not rows:
            raise UsageError(
                f"{policy.place} [privacy]: against names {pattern}, and this role can read no such table",
                hint="check the name, or grant select on it; with a star it may name none: share.*",
            )
        if rows[0][2] not in _KINDS:
            raise UsageError(
                f"{policy.place} [privacy]: against names {pattern}, which is a view or a foreign table",
                hint="name the table that it shows: what a view shows may be another thing tomorrow",
            )
    names = {column.name for column in plan.columns}
    kept = {column.name for column in plan.kept}
    made = []
    for schema, table, kind, there, of_source in rows:
        relation = Relation(schema, table)
        is_source = policy.source.table == table and policy.source.schema in (None, schema)
        if kind not in _KINDS or is_source or relation == plan.target:
            continue
        if not any(q.name in there for q in plan.quasi):
            raise UsageError(
                f"{policy.place} [privacy]: {schema}.{table} has no quasi-identifier of this release, so that nobody "
                "can tell what the two give away together",
                hint="leave it out of against: name the tables one by one, instead of by a star",
            )
        alike = names <= set(there) and not plan.follows
        made.append(Rival(relation, judged=kept <= set(there) and (of_source or alike)))
    return made


def _like(part: str) -> str:
    """A name with stars as a pattern of LIKE."""
    for special in ("\\", "%", "_"):
        part = part.replace(special, f"\\{special}") if part != "%" else part
    return part.replace("*", "%")


def judge(stages: Stages, plan: Plan) -> Together | None:
    """Raises unless a release may be published beside the others."""
    from anondb.run.counting import Counting

    if not plan.against:
        return None
    assert isinstance(stages, Counting)  # as all are that release labels
    db = stages.db
    k, unit = max(plan.policy.privacy.k, 1), plan.unit
    quasi, kept = [q.name for q in plan.quasi], [column.name for column in plan.kept]
    sensitive = list(dict.fromkeys(judged.sensitive for judged in stages.models.judged))
    absent, joint = _new_name("anondb_absent", plan), _new_name("anondb_joint", plan)
    own: list[SourceColumn] = [*(q.column for q in plan.quasi), *(s.column for s in sensitive)]
    own += [unit] if unit is not None else []
    columns = list({column.name: column for column in own}.values())
    db.run(Statement("open comparison", _OPEN))
    stages.job.engine.show_source(stages.names, columns, absent)
    shown = relation_text(Relation(TEMPORARY, sql.SOURCE))
    stages.job.engine.ask_source("take source", _TAKE, (0, shown, quasi, []))
    db.run(Statement("labels of values", sql.ladder(stages.names, plan.quasi)))
    releases = [Rival(stages.fresh), *plan.against]
    for place, rival in enumerate(releases, 1):
        compared = kept if place == 1 or rival.judged else []
        db.run(
            Statement(f"take release {place}", _TAKE, (place, relation_text(rival.relation), quasi, compared))
        )
        db.run(Statement(f"labels of release {place}", _PAIRS, (0, place)))
        db.run(Statement(f"classes of release {place}", _CLASSES, (0, place)))
        if rival.judged:
            _refuse_difference(db, place, rival, k)
    kept_for_models = [s.name for s in sensitive] + ([unit.name] if unit is not None else [])
    values = (len(releases), shown, quasi, absent, kept_for_models, joint)
    stages.job.engine.ask_source("join classes", _JOINTS, values)
    question = Statement(
        "joint classes",
        _FEWEST,
        (joint, None if unit is None else unit.name, k),
        row(persons=0, fewest=MANY, joints=1),
    )
    persons, fewest, joints = map(int, db.one(question))
    told = ", ".join(str(rival) for rival in plan.against)
    if persons:
        raise UnsatisfiableError(
            f"whoever has this release and {told} can tell {persons} persons apart: fewer than k = {k} of them are "
            "in the same class of each",
            hint="give this release the levels of the other ones (--levels), or coarser ones; or release one table "
            "to all of them",
        )
    _refuse_models(stages, joint, told)
    db.run(Statement("close comparison", _CLOSE))
    return Together(tuple(str(rival) for rival in plan.against), joints, fewest)


def _refuse_difference(db: Runner, place: int, rival: Rival, k: int) -> None:
    """Of another release of the same source, rows that one of the two has are those of single persons."""
    db.run(Statement(f"labels of release {place} beside this", _PAIRS, (place, 1)))
    db.run(Statement(f"classes of release {place} beside this", _CLASSES, (place, 1)))
    question = Statement(f"difference to release {place}", _DIFFERENCE, (k, place), row(told=0))
    [told] = db.one(question)
    if told:
        raise UnsatisfiableError(
            f"{told} records are in one of this release and {rival} alone, fewer than k = {k} in their class: "
            "whoever has both knows whose they are",
            hint='let changes = "hold" decide who enters and leaves, in both; or release to all the same table',
        )


def _refuse_models(stages: Counting, joint: str, told: str) -> None:
    """Joint classes are held to the models as the classes of a release are."""
    place = Relation(TEMPORARY, sql.JOINT)
    for judged in stages.models.judged:
        figure = figure_of(stages.job, stages.names, stages.encoded, judged, [joint], place)
        failure = judged.model.failure(figure)
        if failure is not None:
            raise UnsatisfiableError(
                f"together with {told}, {failure}",
                hint="give this release the levels of the other ones (--levels), or coarser ones",
            )


def _new_name(wanted: str, plan: Plan) -> str:
    """A name that no column has."""
    there = {*(column.name for column in plan.columns), *(q.name for q in plan.quasi)}
    there |= {column.name for column in (plan.unit,) if column is not None}
    while wanted in there:
        wanted += "_"
    return wanted
