"""Refreshes inside the database: a policy's release, kept up to date by a procedure and without Python."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anondb.api import drafts
from anondb.db import introspect, procedures
from anondb.db.execute import Executor
from anondb.db.install import upgrade
from anondb.db.session import Session
from anondb.errors import UsageError
from anondb.policy.accept import PolicyInput, policy_from
from anondb.policy.model import Policy
from anondb.policy.names import parse_name
from anondb.releases.procedure.marks import dollar_quoted
from anondb.run.plan import Options
from anondb.sqltree.tables import Relation

if TYPE_CHECKING:
    from anondb.run.plan import Plan
    from anondb.run.snapshot import Snapshot


@dataclass(frozen=True)
class Procedure:
    """A procedure that refreshes a release."""

    name: Relation
    statement: str  # that creates it

    @property
    def call(self) -> str:
        """What has the release refreshed."""
        from anondb.run.swap_sql import name_of

        return f"call {name_of(self.name)}()"

    @property
    def job(self) -> str:
        """By what name pg_cron knows it."""
        return f"anondb {self.name.schema}.{self.name.name}"

    def scheduled(self, when: str, database: str | None = None) -> str:
        """The call that has pg_cron refresh the release, here or in another database of the server."""
        job, at, command = (dollar_quoted(text, "t") for text in (self.job, when, self.call))
        if database is None:
            return f"select cron.schedule({job}, {at}, {command});"
        return f"select cron.schedule_in_database({job}, {at}, {command}, {dollar_quoted(database, 't')});"


class Procedures:
    """Procedures that refresh releases, of one database."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def write(self, policy: PolicyInput, name: str) -> Procedure:
        """The procedure `name` (schema.name) that would refresh the policy's release; creates nothing."""
        return _written(self._session, policy_from(policy), name)

    def create(self, procedure: Procedure) -> bool:
        """Writes it into the database; returns whether there was one before."""
        before = procedures.there(self._session, procedure.name)
        procedures.create(self._session, procedure.name, procedure.statement)
        return before is not None

    def is_current(self, procedure: Procedure) -> bool:
        """Whether the procedure that stands there is what would be written today."""
        before = procedures.there(self._session, procedure.name)
        if before is None:
            raise UsageError(
                f"there is no procedure {procedure.name.schema}.{procedure.name.name}",
                hint="write it: anondb procedure POLICY --name SCHEMA.NAME",
            )
        return before.source in procedure.statement

    def scheduled(self, procedure: Procedure, when: str) -> str:
        """The call that has pg_cron call it; to be sent in the database that has pg_cron."""
        elsewhere = procedures.cron_elsewhere(self._session)
        return procedure.scheduled(when, None if elsewhere is None else elsewhere[1])

    def schedule(self, procedure: Procedure, when: str) -> int:
        """Has pg_cron call it; returns the number of the job."""
        return procedures.schedule(self._session, procedure.job, when, procedure.call)

    def outdated(self) -> list[str]:
        """Those that were written for another version: they refuse, and must be written anew."""
        return procedures.outdated(self._session, upgrade.status(self._session).functions_sha256)


def _written(session: Session, policy: Policy, name: str) -> Procedure:
    """The procedure of a policy, which is not created yet; reads the catalogue, the ledger and the history."""
    from anondb.releases.procedure.refresh import Known, procedure_text, refuse_unfit
    from anondb.run.prepare import settings

    upgrade.require_current(session)
    if policy.tables:
        raise UsageError(
            "linked tables are released together, and need Python",
            hint="release them from cron: anondb run POLICY",
        )
    parsed = parse_name(name)
    if parsed.schema is None:
        raise UsageError("the name of a procedure needs its schema", hint="--name SCHEMA.NAME")
    place = Relation(parsed.schema, parsed.table)
    plan, run = _planned(session, policy)
    refuse_unfit(plan)
    procedures.require_readable(session, plan.source)
    source = introspect.columns(session, plan.source)
    known = Known(
        procedures.heights(session, run, [q.name for q in plan.quasi]),
        upgrade.status(session).functions_sha256,
        settings(Options()),
        ([c.name for c in source], [c.type for c in source], [c.collation for c in source]),
    )
    return Procedure(place, procedure_text(plan, known, place))


def _planned(session: Session, policy: Policy) -> tuple[Plan, int | None]:
    """The plan of the next run of a policy, and the number of the last one."""
    from anondb.methods.registry import method_of
    from anondb.releases.follow import follow, read_series
    from anondb.run.compile import compile_plan

    catalogue = _without_statistics(drafts.snapshot(session, policy))
    target = introspect.resolve_target(session, policy.target)
    series = read_series(Executor(session, lambda step: None), introspect.target_text(target))
    following = follow(policy, catalogue, series, Options(), can_hold=method_of(policy).holds(policy))
    following = dataclasses.replace(following, series=following.series or 0)
    plan = compile_plan(policy, catalogue, replace=True, following=following)
    return plan, None if series is None else series.run


def _without_statistics(catalogue: Snapshot) -> Snapshot:
    """What is written must not be another thing tomorrow because the source was analyzed."""
    columns = tuple(dataclasses.replace(column, distinct=None) for column in catalogue.source.columns)
    source = dataclasses.replace(catalogue.source, columns=columns, rows=0.0)
    return dataclasses.replace(catalogue, source=source)
