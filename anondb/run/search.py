"""Search: what every method that counts has to know before it decides, and what no release could satisfy."""

from __future__ import annotations

from anondb.errors import UnsatisfiableError
from anondb.models import le_diversity_sql as relatives
from anondb.models import sql as models
from anondb.models.model import ClassModel
from anondb.models.sql import Judged, Models
from anondb.run.encode import Encoded
from anondb.run.plan import Plan
from anondb.run.statement import Runner, Statement
from anondb.sqltree.tables import Scratch


def judged_models(plan: Plan, encoded: Encoded) -> Models:
    """The policy's models on the columns as the run has coded them."""
    by_name = {s.name: s for s in encoded.counted.sensitive}
    privacy = plan.policy.privacy
    judged = (Judged(m, by_name[m.column]) for m in privacy.models if isinstance(m, ClassModel))
    return Models(encoded.counted, privacy.k, tuple(judged))


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
    for model in privacy.models:
        if not isinstance(model, ClassModel):
            continue
        [number] = [s.number for s in encoded.counted.sensitive if s.name == model.column]
        values = encoded.values[number - 1] + encoded.sensitive_null[number - 1]
        if (reason := model.impossible(values)) is not None:
            raise UnsatisfiableError(reason[0], hint=reason[1])


def put_reference_down(db: Runner, names: Scratch, encoded: Encoded, judged: Models) -> None:
    """What classes are compared with, and the trees by which models measure."""
    for s in {judged_model.sensitive: None for judged_model in judged.relative}:
        db.run(Statement(f"totals {s.code}", models.totals(names, s)))
    for s in {judged_model.sensitive: None for judged_model in judged.judged if judged_model.model.by_tree}:
        db.run(Statement(f"ancestors {s.code}", models.ancestors(names, s, encoded.null_code(s))))
    for s in {one.sensitive: None for one in judged.judged if one.model.by_path}:
        db.run(Statement(f"paths {s.code}", relatives.paths(names, s, encoded.null_code(s))))
