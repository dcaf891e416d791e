"""A trial: what a run would do, up to a release that is evaluated and then undone; nothing is published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anondb.compare import memory
from anondb.db.connection import Connection
from anondb.errors import AnondbError, DatabaseError, PolicyError
from anondb.evaluation.metric_value import notes
from anondb.policy.model import Policy
from anondb.run.pipeline import Listener, Pipeline
from anondb.run.plan import Options
from anondb.run.prepare import prepare_trial
from anondb.run.result import Result
from anondb.run.statement import Statement, row
from anondb.sqltree.tables import Relation

TEMPORARY = Relation("pg_temp", "anondb_trial")

_SCRATCH_BYTES = """
select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class as c
where c.relnamespace = pg_my_temp_schema() and c.relkind = 'r'
"""


# counts of single methods; the others have none of them
_COUNTED_BY_SOME = (
    "generalizations", "checks", "lattice", "iterations", "partitioned", "tuples", "rare", "fusions", "changed",
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """What one trial of a comparison runs with."""

    algorithm: str
    k: int
    columns: tuple[str, ...]  # the quasi-identifiers
    variant: str | None = None  # of the algorithm; None: as the policy has it
    way: str | None = None  # of the algorithm; None: the plain one
    size: int | None = None  # so many rows of the source, drawn; None: all
    seed: int = 0  # of the draw, and added to that of the policy

    @property
    def name(self) -> str:
        """Who is compared: an algorithm, or a variant of it."""
        return " ".join(part for part in (self.algorithm, self.variant, self.way) if part is not None)


@dataclass(frozen=True)
class Trial:
    """One setting that was run: its result, or the error that says why there is none."""

    setting: Setting
    result: Result | None = None
    error: AnondbError | None = None
    ignored: tuple[str, ...] = ()  # what of the policy means nothing to this algorithm
    scratch_bytes: int | None = None  # of its tables on the server, at the end
    client_bytes: int | None = None  # the most that the client's process took

    @property
    def failure(self) -> str:
        """Why there is no release, on one line."""
        if isinstance(self.error, PolicyError):
            return "; ".join(problem.message for problem in self.error.problems)
        return "" if self.error is None else self.error.message

    @property
    def selected(self) -> str:
        """The generalization in words."""
        return "" if self.result is None else self.result.finding.selected

    @property
    def metrics(self) -> dict[str, float | None]:
        """Everything that was counted or measured; measures of a column as `name:column`."""
        result = self.result
        if result is None:
            return {}
        return {
            # what measuring costs says nothing of the algorithm that made what is measured
            "seconds": round(sum(s for stage, s in result.seconds.items() if stage != "evaluate"), 4),
            **{f"seconds_{stage}": round(spent, 4) for stage, spent in result.seconds.items()},
            "bytes": self.scratch_bytes,
            "client_bytes": self.client_bytes,
            "records": result.records,
            "released": result.released,
            "suppressed": result.suppressed,
            "classes": result.classes,
            "k_reached": result.k,
            **dict.fromkeys(_COUNTED_BY_SOME),
            **result.finding.counts(),
            **result.all_metrics(),
        }

    def as_json(self) -> dict[str, Any]:
        setting, result = self.setting, self.result
        return {
            "algorithm": setting.algorithm,
            "variant": setting.variant,
            "way": setting.way,
            "k": setting.k,
            "quasi": list(setting.columns),
            "size": setting.size,
            "seed": setting.seed,
            "selected": self.selected or None,
            "failure": self.failure or None,
            "ignored": list(self.ignored),
            "levels": {} if result is None else dict(result.levels),
            "partitioned": [] if result is None else result.finding.as_json().get("partitioned", []),
            "figures": self.metrics,
            "notes": {} if result is None else notes(result.metric_values),
        }


def run_trial(
    connection: Connection, policy: Policy, setting: Setting, options: Options, listener: Listener
) -> Trial:
    """Runs a setting inside the caller's transaction and undoes all of it; raises errors that would hit every trial."""
    memory.forget_peak()
    try:
        with connection.transaction(force_rollback=True):
            pipeline = Pipeline(connection, options, 0, listener)
            with pipeline.stage("prepare"):
                plan = prepare_trial(pipeline.db, connection, policy, options, TEMPORARY)
            result = pipeline.release(plan, TEMPORARY)
            [scratch] = pipeline.db.one(Statement("scratch", _SCRATCH_BYTES, answers=row(bytes=0)))
    except DatabaseError:
        raise
    except AnondbError as error:
        return Trial(setting, error=error)
    return Trial(setting, result, scratch_bytes=scratch, client_bytes=memory.peak_bytes())
