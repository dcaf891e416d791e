"""Search: what every method that counts has to know before it decides, and what no release could satisfy."""

from __future__ import annotations

from anondb.errors import UnsatisfiableError
from anondb.models import sql as models
from anondb.models.sql import Closeness, Diversity, Models
from anondb.run.encode import Encoded
from anondb.run.plan import Plan
from anondb.run.statement import Runner, Statement
from anondb.sqltree.tables import Scratch


def judged_models(plan: Plan, encoded: Encoded) -> Models:
    """The policy's models on the columns as the run has coded them."""
    by_name = {s.name: s for s in encoded.counted.sensitive}
    privacy = plan.policy.privacy
    return Models(
        encoded.counted,
        privacy.k,
        tuple(Diversity(by_name[m.column], m.l, m.kind, m.c) for m in privacy.l_diversity),
        tuple(Closeness(by_name[m.column], m.t, m.distance) for m in privacy.t_closeness),
    )


def refuse_impossible(plan: Plan, encoded: Encoded) -> None:
    """What not even a release of a single class could satisfy, told before anything is searched."""
    privacy = plan.policy.privacy
    if encoded.eligible == 0:
        return
    if encoded.eligible < privacy.k:
        raise UnsatisfiableError(
            f"k = {privacy.k} is larger than the table: {encoded.eligible} records to release",
            hint="lower k, or take a larger table",
        )
    for model in privacy.l_diversity:
        [number] = [s.number for s in encoded.counted.sensitive if s.name == model.column]
        values = encoded.values[number - 1] + encoded.sensitive_null[number - 1]
        if values < model.l:
            raise UnsatisfiableError(
                f'l = {model.l:g} is larger than the number of values of "{model.column}", which is {values}',
                hint="lower l",
            )


def put_reference_down(db: Runner, names: Scratch, encoded: Encoded, judged: Models) -> None:
    """What t-closeness compares with, and the trees by which it measures."""
    for s in {model.sensitive: None for model in judged.closeness}:
        db.run(Statement(f"totals {s.code}", models.totals(names, s)))
    for s in {m.sensitive: None for m in judged.closeness if m.distance == "hierarchical"}:
        db.run(Statement(f"ancestors {s.code}", models.ancestors(names, s, encoded.null_code(s))))
