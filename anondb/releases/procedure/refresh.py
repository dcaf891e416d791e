"""A refresh as a procedure: the stages of a run write their statements down, and a frame of PL/pgSQL is put around."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from anondb.errors import UsageError
from anondb.methods.method import Job
from anondb.methods.registry import method_of
from anondb.releases import changes
from anondb.releases.following import FREE, Followed
from anondb.releases.procedure.answers import FOLLOWED, Answering
from anondb.releases.procedure.frame import Frame, framed
from anondb.releases.procedure.marks import MarkBook
from anondb.releases.procedure.steps import Step, Writing, writing_of
from anondb.run.engine import PostgresEngine
from anondb.run.later_sql import Marks
from anondb.run.persons import claim_scope
from anondb.run.pipeline import judged_columns
from anondb.run.plan import Options, Plan
from anondb.run.result import with_series
from anondb.run.statement import Statement
from anondb.run.swap import Replacement
from anondb.run.verify import Published
from anondb.sqltree.tables import Quasi, Relation


@dataclass(frozen=True)
class Known:
    """What is known when a procedure is written, besides the plan."""

    heights: tuple[int, ...]  # of the quasi-identifiers in the last release
    functions: str  # fingerprint of what is installed
    settings: Sequence[Statement]  # those that all runs make
    source_columns: tuple[Sequence[str], Sequence[str], Sequence[str | None]]  # names, types, collations


def procedure_text(plan: Plan, known: Known, name: Relation) -> str:
    """The statement that creates the procedure."""
    refuse_unfit(plan)
    frames = [_written(plan, known, name) for _ in range(2)]
    if frames[0] != frames[1]:
        raise AssertionError("a mark stands in a text of the policy by accident; write the procedure again")
    return frames[0]


def refuse_unfit(plan: Plan) -> None:
    """Raises where a refresh would need Python, or has nothing to follow."""
    policy, following = plan.policy, plan.followed
    method = method_of(policy)
    if not method.holds(policy) or plan.linked is not None:
        raise UsageError(
            f"{method.name} makes other classes in every release, and needs Python to find them: it has no procedure",
            hint="release it from cron: anondb run POLICY; a procedure keeps levels, and there is none of a "
            "method that has none, masks, recodes locally or suppresses cells",
        )
    if following.changes == FREE or not following.judged:
        raise UsageError(
            "a procedure refreshes a release as the ledger says, and this policy keeps none",
            hint='set changes = "hold", and name the person: unit under [privacy], a primary key, or key = "…"',
        )
    if following.first or not following.stays or following.levels is None:
        raise UsageError(
            f"the ledger knows no release of {policy.target} by this policy",
            hint="make it: anondb run POLICY; then write the procedure",
        )
    if policy.privacy.against:
        raise UsageError(
            "a release that is judged together with others (against, in [privacy]) has no procedure: which there are, "
            "is looked up by each run",
            hint="release it from cron: anondb run POLICY",
        )
    if plan.distribution is not None:
        raise UsageError(
            "a source that is distributed over servers is released by a run, and has no procedure",
            hint="release it from cron: anondb run POLICY",
        )
    if plan.built or plan.files:
        raise UsageError(
            "hierarchies of files, and those that are built for a run, would stand in the text of the procedure, which "
            "every role of the database can read",
            hint='store them: anondb vgh load NAME FILE.csv, and name them in the policy: hierarchy = "NAME"',
        )


def _written(plan: Plan, known: Known, name: Relation) -> str:
    parts = [_caught(plan, known, with_nulls=with_nulls) for with_nulls in (False, True)]
    steps = [_of_both(*both) for both in zip(parts[0].steps, parts[1].steps, strict=True)]
    return framed(replace(parts[0], steps=tuple(steps)), name)


def _of_both(without: Step, with_nulls: Step) -> Step:
    """Where NULLs are among the quasi-identifiers, some statements compare otherwise, and slower."""
    if without.text == with_nulls.text:
        return without
    return replace(without, text=f"case when v_nulls then {with_nulls.text}\n        else {without.text} end")


def _caught(plan: Plan, known: Known, *, with_nulls: bool) -> Frame:
    """The statements of one writing."""
    marks = MarkBook()
    series, number, run = (marks.number(v) for v in ("v_series", "v_release", "v_run"))
    levels = tuple(marks.number(f"v_levels[{q.number}]") for q in plan.quasi)
    batch = marks.number("v_batch")
    following = replace(plan.followed, series=series, number=number, levels=levels, batch=batch)
    plan = replace(plan, following=following, at_any_level=True)
    answering = Answering(plan, marks, known.heights, with_nulls)
    writing = Writing(marks, answering.answer)
    fresh = Relation(plan.target.schema, marks.name("v_fresh"))
    engine, options = PostgresEngine(writing, plan), Options(evaluate="none")
    job = Job(writing, engine, plan, options, 0, fresh)
    stages = method_of(plan.policy).refreshing(job, levels, [_marks(marks, q) for q in plan.quasi])
    if stages is None:
        raise UsageError(f"{plan.policy.method.algorithm} has no procedure", hint="run it from cron")
    writing.stage = "encode"
    claim_scope(writing, plan)
    stages.encode()
    writing.stage = "search"
    stages.search()
    writing.stage = "publish"
    engine.create_release(fresh, kept=True)
    stages.publish()
    followed = stages.followed
    assert isinstance(followed, Followed)
    writing.stage = "verify"
    stages.measure()
    judged_columns(engine, plan, stages)
    writing.stage = "swap"
    swap_in = Replacement(engine, writing, writing, plan, fresh, options)
    swap_in.swap(run, stages.promise)
    stages.fresh = plan.target
    stages.measure()
    changes.close(writing, plan, run, 0, 0, followed, levels)
    reached = {key: float(marks.number(f"to_jsonb({v})")) for key, v in answering.reached.items()}
    there, classes, smallest, largest = (
        marks.number(v) for v in ("v_there", "v_class_count", "v_smallest", "v_largest")
    )
    models = tuple(reached[f"{m.metric}:{m.column}"] for m in plan.policy.privacy.models)
    persons = marks.number("v_fewest") if plan.unit is not None else None
    published = Published(there, classes, smallest, largest, 1, models, persons)
    suppressed = marks.number("(v_waiting + v_withheld)")
    stages.refreshed(published, followed, suppressed)
    stages.evaluate()
    result = replace(stages.result({}), run=run, suppressed=marks.number("v_suppressed"))
    result = with_series(result, plan, followed, ())
    metrics = dict(result.metrics) | {"class_size_mean": float(marks.number("v_mean"))}
    result = replace(result, metrics=metrics)
    figures = [[name, column, value] for (name, column), value in result.by_column().items()]
    return Frame(
        plan=plan,
        functions=known.functions,
        settings=tuple(writing_of(statement) for statement in known.settings),
        source_columns=known.source_columns,
        heights=known.heights,
        steps=tuple(writing.steps),
        variables=dict(answering.variables),
        result=marks.written(_integers(json.dumps(result.as_kept()))),
        metrics=marks.written(_integers(json.dumps(figures))),
        followed=FOLLOWED,
        scratch=_scratch(writing.steps),
    )


def _integers(text: str) -> str:
    """A mark that has become a float is the whole figure all the same."""
    return re.sub(r"\b(1\d{9}|2000000\d{3})\.0\b", r"\1", text)


def _marks(marks: MarkBook, q: Quasi) -> Marks:
    level = f"v_levels[{q.number}]"
    return Marks(
        key=marks.name(f"(case when {level} = 0 then '{q.code}' else '{q.code}_' || {level} end)"),
        code=marks.name(f"(case when {level} = 0 then 'leaf' else 'l' || {level} end)"),
        label=marks.name(f"('g' || {level})"),
        missing=marks.name(f"(case when {level} = v_heights[{q.number}] then '1' else '0' end)"),
        root=marks.name(
            f"(case when {level} = v_heights[{q.number}] then v_roots[{q.number}] else 'null' end)"
        ),
    )


def _scratch(steps: Sequence[Step]) -> tuple[str, ...]:
    """The temporary tables that the statements make, and do not drop themselves."""
    made = re.findall(r'CREATE TEMPORARY TABLE "(r0_\w+)"', "".join(step.text for step in steps))
    return tuple(dict.fromkeys(made))
