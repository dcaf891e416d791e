"""Hierarchies that a run builds for its columns: the best candidate of each; the catalogue keeps nothing of them."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from anondb.db import vgh
from anondb.db.execute import Executor
from anondb.errors import UsageError
from anondb.hierarchies.build import aika, queries
from anondb.hierarchies.build import build as build_vgh
from anondb.hierarchies.build.ranking import RankingMethod
from anondb.hierarchies.forms import BuiltVgh
from anondb.policy.model import Name, Policy
from anondb.run.plan import Plan
from anondb.run.result import Result
from anondb.run.snapshot import BuiltInfo, Snapshot
from anondb.run.statement import Runner, Statement, row


def with_built(db: Executor, policy: Policy, snapshot: Snapshot) -> Snapshot:
    """The snapshot with the hierarchies that the policy wants to be built, or with why they cannot be."""
    there = {column.name for column in snapshot.source.columns}
    built: dict[str, BuiltInfo | UsageError] = {}
    for column in policy.columns:
        if isinstance(column.hierarchy, BuiltVgh) and column.name in there:
            try:
                built[column.name] = _built(db, policy, snapshot, column.name, column.hierarchy)
            except UsageError as error:
                built[column.name] = error
    return replace(snapshot, built=built) if built else snapshot


def _built(db: Executor, policy: Policy, snapshot: Snapshot, column: str, how: BuiltVgh) -> BuiltInfo:
    name = Name(snapshot.source.relation.schema, snapshot.source.relation.name)
    source = queries.find_column(db, name, column)
    k = policy.privacy.k
    request = build_vgh.BuildRequest(
        name=uuid.uuid4().hex,  # of no hierarchy that somebody has stored
        table=str(name),
        column=column,
        options=aika.Options(k=k, seed=policy.method.seed),
        ontology=how.ontology,
    )
    # Candidates are ranked where they are stored; the run takes the best along, and leaves none behind.
    with db.connection.transaction(force_rollback=True):
        made = build_vgh.build_watched(db, request)
        best = queries.rank(db, made.names, RankingMethod(k=k), source).ranked[0]
        table = vgh.fetch(db.connection, best.vgh)
    made_by = next(candidate.made_by for candidate in made.candidates if candidate.name == best.vgh)
    number = best.vgh.removeprefix(f"{request.name}.")
    return BuiltInfo(table, number, len(made.candidates), made_by, best.aspects["semq"].score)


def noted(plan: Plan, result: Result) -> Result:
    """The result with what was built for the run."""
    return replace(result, built={name: _account(built) for name, built in plan.built.items()})


def _account(built: BuiltInfo) -> dict[str, Any]:
    return {
        "candidate": built.candidate,
        "candidates": built.candidates,
        "made_by": list(built.made_by),
        "gsl": built.gsl,
    }


def plan_values(db: Runner, plan: Plan) -> None:
    """Shows the statement that reads the values of such a column; what is built from them is not known before a run."""
    db.stage = "prepare"
    for coded in (*plan.quasi, *plan.sensitive):
        if isinstance(coded.hierarchy, BuiltVgh):
            db.rows(
                Statement(
                    f"values {coded.code}",
                    queries.VALUES,
                    answers=row(value="", n=1),
                    note="the run builds a hierarchy from them and an ontology; its levels are made up here",
                )
            )
