"""The frame of a procedure that refreshes a release: transactions, locks, the history, and the statements inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from anondb.policy.model import Name
from anondb.releases.procedure.marks import dollar_quoted
from anondb.releases.procedure.steps import Step
from anondb.run.plan import Plan
from anondb.run.swap_sql import name_of
from anondb.sqltree.build import string
from anondb.sqltree.render import render
from anondb.sqltree.tables import Relation

FORM = 1  # of the text of a procedure
TITLE = "-- anondb procedure"
_PINNED = "pg_catalog, pg_temp"
_LEDGER = (
    "key", "here", "dealt", "part", "cell", "code", "held", "out", "turn", "leaving", "left", "delta",
)  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """All that is in a procedure."""

    plan: Plan
    functions: str
    settings: tuple[str, ...]
    source_columns: tuple[Sequence[str], Sequence[str], Sequence[str | None]]
    heights: tuple[int, ...]
    steps: tuple[Step, ...]
    variables: Mapping[str, str]
    result: str
    metrics: str
    followed: Mapping[str, str]
    scratch: tuple[str, ...]


def framed(frame: Frame, name: Relation) -> str:
    """The whole statement."""
    body = "\n".join(_body(frame))
    quoted = dollar_quoted(f"\n{body}\n", "procedure")
    return f"create or replace procedure {name_of(name)}()\nlanguage plpgsql as {quoted}"


def _body(frame: Frame) -> Iterator[str]:
    plan = frame.plan
    yield f"{TITLE} {FORM}, functions {frame.functions}, policy {plan.policy.sha256}"
    yield "-- Written by anondb procedure; whoever changes it, changes what was proven of its statements."
    yield "#variable_conflict use_variable"
    yield "declare"
    yield from (f"    {line}" for line in _declared(frame))
    yield "begin"
    yield from (f"    {line}" for line in _begun(frame))
    yield "    begin"
    yield from (f"        {line}" for line in _held(frame))
    for step in frame.steps:
        yield from (f"        {line}" for line in _step(step))
    yield from (f"        {line}" for line in _done(frame))
    yield "    exception when query_canceled or others then"
    yield from (f"        {line}" for line in _caught())
    yield "    end;"
    yield from (f"    {line}" for line in _ended(frame))
    yield "end"


def _declared(frame: Frame) -> Iterator[str]:
    plan = frame.plan
    yield f"v_target text := {_text(_target(plan))};"
    yield "v_inside boolean := false; -- a transaction of the caller"
    yield "v_saved jsonb;"
    yield "v_run bigint;"
    yield "v_series int;"
    yield "v_release int;"
    yield "v_levels int[];"
    yield "v_batch int;"
    yield "v_shares bigint := 0;"
    yield f"v_heights int[] := '{{{','.join(map(str, frame.heights))}}}';"
    roots = ", ".join(_text(render(string(q.root))) for q in plan.quasi)
    yield f"v_roots text[] := array[{roots}]::text[];"
    yield "v_fresh text;"
    yield "v_sql text;"
    yield "v_since timestamptz;"
    yield "v_rows bigint;"
    yield "v_written bigint := 0;"
    yield "v_steps jsonb := '[]';"
    yield "v_state text;"
    yield "v_message text;"
    yield "v_hint text;"
    yield "v_commented boolean;"
    yield "v_nulls boolean := false;"
    yield "v_has_null boolean;"
    for variable in ("v_a", "v_b", "v_outside", "v_records", "v_with_null", "v_suppressed", "v_there"):
        yield f"{variable} bigint;"
    for variable in ("v_class_count", "v_smallest", "v_largest", "v_strange", "v_strays"):
        yield f"{variable} bigint;"
    yield "v_squares numeric;"
    yield "v_mean double precision;"
    yield "v_outcome text;"
    yield "v_result jsonb;"
    yield "v_metrics jsonb;"
    for variable in frame.followed.values():
        yield f"{variable} bigint;"
    for variable, kind in sorted(frame.variables.items()):
        yield f"{variable} {kind};"


def _begun(frame: Frame) -> Iterator[str]:
    """In a transaction of its own, unless the caller has one that will do; nothing is found by the caller's path."""
    plan = frame.plan
    yield "if pg_catalog.current_setting('transaction_isolation') operator(pg_catalog.=) 'repeatable read'"
    yield "   and (pg_catalog.pg_trigger_depth() operator(pg_catalog.>) 0"
    yield "        or pg_catalog.now() operator(pg_catalog.<>) pg_catalog.statement_timestamp()) then"
    yield "    v_inside := true;"
    yield "    if pg_catalog.pg_trigger_depth() operator(pg_catalog.>) 0 then"
    told, hint = (
        "a trigger cannot refresh a release",
        "call the procedure outside of a transaction, or from pg_cron",
    )
    yield f"        perform anondb.refresh_refuse('fit', {_text(told)}, {_text(hint)});"
    yield "    end if;"
    yield "    v_saved := anondb.refresh_settings();"
    yield "elsif pg_catalog.pg_trigger_depth() operator(pg_catalog.>) 0"
    yield "      or pg_catalog.now() operator(pg_catalog.<>) pg_catalog.statement_timestamp() then"
    told = "inside a transaction that is not REPEATABLE READ a refresh could not see one state of its source"
    hint = "call it outside of a transaction, or: begin isolation level repeatable read"
    yield f"    perform anondb.refresh_refuse('fit', {_text(told)}, {_text(hint)});"
    yield "else"
    yield "    commit;"
    yield "end if;"
    yield f"set local search_path = {_PINNED};"
    yield "begin"
    yield "    perform anondb.refresh_lock(v_target);"
    names = (plan.policy.sha256, str(plan.policy.source), _target(plan), plan.policy.method.algorithm)
    policy, read, written, algorithm, functions = (_text(value) for value in (*names, frame.functions))
    yield f"    v_run := anondb.refresh_begin({policy}, {read}, {written}, {algorithm}, {functions});"
    yield "exception when query_canceled or others then"
    yield "    get stacked diagnostics v_state = returned_sqlstate, v_message = message_text,"
    yield "        v_hint = pg_exception_hint;"
    yield "    if v_state <> 'SA503' then"
    yield "        perform anondb.refresh_unlock(v_target, null);"
    yield "    end if;"
    yield "    raise exception '%', anondb.refresh_error(v_state, v_message)"
    yield "        using errcode = v_state, hint = coalesce(nullif(v_hint, ''), anondb.refresh_hint(v_state));"
    yield "end;"
    yield "if not v_inside then"
    yield "    commit;"
    yield "    set transaction isolation level repeatable read;"
    yield f"    set local search_path = {_PINNED};"
    yield "end if;"


def _held(frame: Frame) -> Iterator[str]:
    """The tables are held before there is a snapshot: what is under way is waited for, and seen whole."""
    plan = frame.plan
    place, source = plan.places[0], plan.source
    yield "set local lock_timeout = '10s';"
    yield "set local client_min_messages = warning;"
    yield f"lock table {name_of(source)} in access share mode;"
    yield f"lock table only {name_of(place.relation)} in share row exclusive mode;"
    yield "if v_inside then"
    yield "    perform anondb.refresh_in_time();"
    yield "end if;"
    for setting in frame.settings:
        yield from _step(Step("prepare", "settings", dollar_quoted(setting)))
    key = [c.name for c in plan.followed.key]
    quasi = plan.quasi
    lowest = [q.min_level for q in quasi]
    highest = [
        height if q.max_level is None else min(q.max_level, height)
        for q, height in zip(quasi, frame.heights, strict=True)
    ]
    yield "select s.series, s.release, s.levels, s.batch into v_series, v_release, v_levels, v_batch"
    yield (
        f"from anondb.refresh_series(v_target, {_text(str(plan.policy.source))}, {_texts(key, 'text')},"
        f" {_text(plan.policy.classes_sha256)}, {_numbers(lowest)}, {_numbers(highest)}) as s;"
    )
    names, types, collations = frame.source_columns
    unique = _texts(key, "name") if plan.followed.key_is_unique else "null"
    yield (
        f"perform anondb.refresh_source({_text(source.schema)}, {_text(source.name)}, {_texts(names, 'name')},"
        f" {_texts(types, 'text')}, {_texts(collations, 'text')}, {unique});"
    )
    names, types, collations = place.signature
    yield (
        f"v_commented := anondb.refresh_place({_text(place.relation.schema)}, {_text(place.relation.name)}, v_target,"
        f" {_texts(names, 'name')}, {_texts(types, 'text')}, {_texts(collations, 'text')});"
    )
    yield "v_fresh := 'anondb_run_' || v_run || '_' || left(replace(gen_random_uuid()::text, '-', ''), 8);"


def _step(step: Step) -> Iterator[str]:
    yield from step.before
    lines = list(_sent(step))
    if step.only_if is not None:
        yield f"if {step.only_if} then"
        yield from (f"    {line}" for line in lines)
        yield "end if;"
    else:
        yield from lines
    yield from step.at_last


def _sent(step: Step) -> Iterator[str]:
    looped = any(line.startswith("for v_kept") for line in step.after)
    yield f"v_sql := {step.text};"
    yield "v_since := clock_timestamp();"
    into = f" into {', '.join(step.into)}" if step.into else ""
    if looped:
        yield from step.after
        yield "v_rows := 0;"
    else:
        yield f"execute v_sql{into};"
        yield "get diagnostics v_rows = row_count;"
    if step.name == "insert release":
        yield "v_written := v_rows;"
    stage, name = _text(step.stage), _text(step.name)
    yield f"v_steps := v_steps || jsonb_build_array(anondb.refresh_step({stage}, {name}, v_sql, v_rows, v_since));"
    if not looped:
        yield from step.after


def _done(frame: Frame) -> Iterator[str]:
    yield "v_mean := case when v_class_count > 0 then v_there::double precision / v_class_count else 0 end;"
    yield f"v_result := ({frame.result})::jsonb;"
    yield f"v_metrics := ({frame.metrics})::jsonb;"
    yield "perform anondb.refresh_end(v_run, 'done', null, v_result, v_steps, v_metrics);"
    tables = [*frame.scratch, *(f"ledger_{name}" for name in _LEDGER)]
    for table in dict.fromkeys(tables):
        yield f'drop table if exists pg_temp."{table}";'


def _caught() -> Iterator[str]:
    yield "get stacked diagnostics v_state = returned_sqlstate, v_message = message_text, v_hint = pg_exception_hint;"


def _ended(frame: Frame) -> Iterator[str]:
    yield f"set local search_path = {_PINNED};"
    yield "if v_state is not null then"
    yield "    v_message := anondb.refresh_error(v_state, v_message);"
    yield "    if v_state not like 'SA%' then"
    yield "        v_hint := anondb.refresh_hint(v_state); -- a hint of somebody's own may quote data"
    yield "    end if;"
    yield "    if not v_inside then"
    yield "        commit; -- the snapshot of what has failed"
    yield f"        set local search_path = {_PINNED};"
    yield "        v_outcome := case when v_state = '57014' then 'interrupted' else 'failed' end;"
    yield "        perform anondb.refresh_end(v_run, v_outcome, v_message, null, v_steps, '[]');"
    yield "        commit;"
    yield f"        set local search_path = {_PINNED};"
    yield "    end if;"
    yield "else"
    yield "    if not v_inside then"
    yield "        commit;"
    yield f"        set local search_path = {_PINNED};"
    yield "    end if;"
    yield "end if;"
    yield "perform anondb.refresh_unlock(v_target, v_run);"
    yield "if v_inside then"
    yield "    perform pg_catalog.set_config(s.key, s.value, true) from pg_catalog.jsonb_each_text(v_saved) as s;"
    yield "end if;"
    yield "if v_state is not null then"
    yield "    raise exception '%', v_message using errcode = v_state, hint = v_hint;"
    yield "end if;"


def _target(plan: Plan) -> str:
    return str(Name(plan.target.schema, plan.target.name))


def _text(value: str) -> str:
    return dollar_quoted(value, "t")


def _texts(values: Sequence[str | None], kind: str) -> str:
    listed = ", ".join("null" if value is None else _text(value) for value in values)
    return f"array[{listed}]::{kind}[]"


def _numbers(values: Sequence[int]) -> str:
    return f"array[{', '.join(map(str, values))}]::int[]"
