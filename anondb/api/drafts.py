"""Policies for tables that nobody has described, and what there is to say of policies before they are run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anondb.db import introspect as catalog
from anondb.db.connection import one_snapshot
from anondb.db.install import upgrade
from anondb.db.session import Session
from anondb.errors import PolicyError, Problem, UsageError
from anondb.policy.model import Name, Policy
from anondb.policy.names import parse_name

if TYPE_CHECKING:
    from anondb.policy.draft.draft import Draft
    from anondb.run.snapshot import Snapshot


@dataclass(frozen=True)
class Checked:
    """What was found in a policy: problems keep it from running, warnings do not."""

    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def draft(session: Session, table: str, k: int, target: str | None) -> Draft:
    """The draft of a policy; nothing of the database is changed, and no value leaves it."""
    from anondb.db.profile import Profiler
    from anondb.policy.draft import draft as drafting

    upgrade.require_current(session)
    name = parse_name(table)
    relation = catalog.resolve_source(session, name, "table")
    source = Name(relation.schema, relation.name) if name.schema is None else name
    with one_snapshot(session, "drafting a policy", undo=True):
        profiler = Profiler(session, relation)
        profile = profiler.profile(source)
        texts = {c.name for c in profile.columns if c.kind == "text" and 2 < c.distinct <= 300}
        profile = profiler.with_words(texts, profile)
        named = None if target is None else parse_name(target)
        return drafting.draft(profile, profiler.told_apart, k=k, target=named)


def check_file(policy: Policy) -> Checked:
    """What can be known without a database, of a policy that could be read: also its files are."""
    from anondb.hierarchies import csvfile
    from anondb.hierarchies.forms import CsvVgh
    from anondb.policy.check import written

    problems = []
    for column in policy.columns:
        if isinstance(column.hierarchy, CsvVgh):
            try:
                csvfile.read(column.hierarchy.path)
            except UsageError as error:
                place = f"{policy.place} [columns.{written(column.name)}]"
                problems.append(Problem(place, error.message, error.hint))
    return Checked(tuple(problems))


def check(session: Session, policy: Policy, *, drift: bool) -> Checked:
    """The same, and against the tables; of the database, only its catalogue is read."""
    from anondb.run import drift as drifting
    from anondb.run.compile import compile_plan

    upgrade.require_current(session)
    today = snapshot(session, policy)
    if drift:
        return Checked(tuple(drifting.drift(policy, today)))
    problems: tuple[Problem, ...] = ()
    try:
        compile_plan(policy, today)
    except PolicyError as error:
        problems = error.problems
    return Checked(problems, tuple(drifting.warnings(policy, today)))


def columns(session: Session, table: str) -> dict[str, str]:
    """The columns of a table with their types."""
    relation = catalog.resolve_source(session, parse_name(table), "table")
    return {column.name: column.type for column in catalog.columns(session, relation)}


def snapshot(session: Session, policy: Policy) -> Snapshot:
    """The catalogue, as far as compiling a policy needs it."""
    from anondb.methods.meanings import ontologies
    from anondb.methods.registry import method_of, other_shapes

    source = catalog.resolve_source(session, policy.source)
    target = catalog.resolve_target(session, policy.target)
    items = catalog.resolve_items(session, policy)
    needed = bool(ontologies(policy))
    found = catalog.snapshot(session, source, target, items, with_ontologies=needed)
    shapes = other_shapes(target)
    return catalog.with_other_shapes(session, found, shapes, has_them=bool(method_of(policy).suffixes()))
