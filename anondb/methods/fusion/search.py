"""The search of record fusion, and what its release is worth by meaning."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from anondb.errors import UnsatisfiableError, UsageError
from anondb.evaluation.metric_value import MetricValue
from anondb.hierarchies.forms import Meaning
from anondb.methods.fusion import judge_sql as judging
from anondb.methods.fusion import likeness_sql as likeness
from anondb.methods.fusion import sql as fusion
from anondb.methods.fusion.fusion import (
    MOST_COMPARED,
    MOST_TUPLES,
    MOST_VALUES,
    VARIANTS,
    WHOLE,
    WITHOUT_MEANING,
    pairs_in_words,
)
from anondb.methods.fusion.sql import Fusion
from anondb.methods.fusion.words import FusionsFound
from anondb.methods.outcome import Classes
from anondb.models.sql import Models
from anondb.run.encode_sql import analyze
from anondb.run.linked_sql import temporary
from anondb.run.plan import Plan
from anondb.run.statement import Runner, Statement, row
from anondb.sqltree.tables import Quasi, Scratch

MEASURE = "wup"
_SEMANTIC = ("sem_iloss", "semantic_quality")
_REPLACED = "values are replaced, not generalized: sem_iloss tells by how much"


def of(plan: Plan, names: Scratch, quasi: Sequence[Quasi]) -> Fusion:
    """What the policy asks of a fusion."""
    method, k = plan.policy.method, plan.policy.privacy.k
    return Fusion(
        names, quasi, k, method.variant or VARIANTS[0], method.measure or MEASURE, method.seed, WHOLE
    )


def search(
    db: Runner, f: Fusion, models: Models, values: Sequence[int], accepted: Collection[str] = ()
) -> tuple[Fusion, Classes, FusionsFound]:
    """Fuses until no tuple is below k, and every class satisfies the models.

    The outcome is a table of combinations and the tuples they are released as. `values` are the numbers of different
    values of each column, `accepted` those that may mean nothing.
    """
    unknown: dict[str, tuple[int, int]] = {}
    for q, different in zip(f.quasi, values, strict=True):
        if isinstance(q.hierarchy, Meaning) and different > MOST_VALUES:
            raise UsageError(
                f'column "{q.name}" has {different:,} different texts, too many to look up in an ontology',
                hint="fusion is for columns of words; make them fewer in a view of the source",
            )
        db.run(Statement(f"values {q.code}", fusion.values(f, q)))
        db.run(Statement(f"value statistics {q.code}", analyze(f.values(q))))
        if isinstance(q.hierarchy, Meaning):
            texts, records, whole = map(
                int,
                db.one(
                    Statement(
                        f"unknown {q.code}", fusion.unknown(f, q), answers=row(texts=0, records=0, whole=0)
                    )
                ),
            )
            if 10 * records > whole and q.name not in accepted:
                raise UsageError(
                    f'{records:,} of {whole:,} records have a text in column "{q.name}" that the ontology '
                    f"{', '.join(q.hierarchy.ontologies)} does not know, more than a tenth",
                    hint="say what texts mean: select anondb.map_term('text', 'concept', 'ontology'); "
                    'or add unknown = "accept" to the column',
                )
            unknown[q.name] = texts, records
    db.run(Statement("tuples", fusion.tuples(f)))
    db.run(Statement("tuple statistics", analyze(f.tuples)))
    tuples, rare = db.one(Statement("tuples below k", fusion.figures(f), answers=row(tuples=1, rare=1)))
    _refuse_too_many(f, tuples, values)
    for number, statement in enumerate(likeness.alike(f), 1):
        db.run(Statement(f"similar values {number}", statement))
    db.run(Statement("similar value statistics", analyze(f.alike)))
    by_likeness = f.variant not in WITHOUT_MEANING
    if by_likeness:
        db.run(Statement("codes", likeness.places_of_codes(f)))
        db.run(Statement("code statistics", analyze(f.codes)))
        db.run(Statement("likeness of codes", likeness.likeness(f)))
        db.run(Statement("index of likeness", likeness.index_likeness(f)))
    fusions = db.run(Statement("fuse", fusion.fuse(f, by_likeness=by_likeness)))
    f, fusions = _until_models_hold(db, f, models, fusions, by_likeness=by_likeness)
    db.run(Statement("fused combinations", fusion.partitioned(f)))
    [changed] = db.one(Statement("tuples changed", fusion.changed(f), answers=row(changed=0)))
    outcome = Classes(f.names.partitioned, fusions, ())
    return (
        f,
        outcome,
        FusionsFound(tuples=tuples, rare=rare, fusions=fusions, changed=changed, unknown=unknown),
    )


def _until_models_hold(
    db: Runner, f: Fusion, models: Models, fusions: int, *, by_likeness: bool
) -> tuple[Fusion, int]:
    """Judges the classes, and fuses those that fail as if they had too few records, until none fails.

    Each turn leaves fewer classes; at last all records are one, which is what all are compared with.
    """
    while models.judged:
        db.run(Statement(f"judge classes {f.turn + 1}", judging.judge(f, models)))
        failing, classes = db.one(
            Statement(f"failing classes {f.turn + 1}", judging.failing(f), answers=row(failing=0, classes=1))
        )
        if not failing:
            break
        if classes == 1:
            raise UnsatisfiableError(
                "the table as a whole does not satisfy the policy, so that no part of it is released",
                hint="lower the demands on the sensitive columns",
            )
        fusions += db.run(
            Statement(f"fuse again {f.turn + 1}", fusion.fuse_again(f, by_likeness=by_likeness))
        )
        db.run(Statement(f"all rounds {f.turn + 1}", fusion.joined_rounds(f)))
        f = replace(f, turn=f.turn + 1)
    return f, fusions


def _refuse_too_many(f: Fusion, tuples: int, values: Sequence[int]) -> None:
    if tuples > MOST_TUPLES:
        raise UsageError(
            pairs_in_words(tuples, "different combinations of values"),
            hint=f"fusion compares up to {MOST_TUPLES:,}: take fewer quasi-identifiers, or coarser values",
        )
    for q, different in zip(f.quasi, values, strict=True):
        if different > MOST_COMPARED and likeness.has_pairs(f, q):
            raise UsageError(
                pairs_in_words(different, f'values of column "{q.name}"'),
                hint=f"fusion compares every two of up to {MOST_COMPARED:,}: make them coarser in a view of the source",
            )


def figures(db: Runner, f: Fusion) -> list[MetricValue]:
    """By the ontologies of the columns: what is left of the meaning, and how many values have none."""
    columns = [q for q in f.quasi if isinstance(q.hierarchy, Meaning)]
    *found, sse = db.one(
        Statement(
            "meaning left",
            likeness.distances(f, columns),
            answers=row(
                **{
                    f"{name}{n}": 0.0 if name == "mean" else 1
                    for n in range(len(columns))
                    for name in ("mean", "cells")
                },
                sse=0.0,
            ),
        )
    )
    of_column = dict(zip((q.name for q in columns), zip(found[::2], found[1::2], strict=True), strict=True))
    cells = sum(n for _, n in of_column.values())
    total = sum(mean * n for mean, n in of_column.values() if mean is not None)
    means: dict[str | None, float | None] = {None: total / cells if cells else None}
    means |= {name: mean for name, (mean, _) in of_column.items()}
    unknown = {
        q.name: db.one(
            Statement(f"unknown {q.code}", fusion.unknown(f, q), answers=row(texts=0, records=0, whole=0))
        )[0]
        for q in columns
    }
    notes: dict[str | None, str | None] = {
        name: f"{n:,} values are unknown to the ontology, and left out" if n else None
        for name, n in unknown.items()
    }
    notes[None] = None if cells else "no value is known to its ontology"
    made = [
        MetricValue(
            name, column, None if mean is None else mean if name == "sem_iloss" else 1 - mean, notes[column]
        )
        for name in _SEMANTIC
        for column, mean in means.items()
    ]
    return [*made, MetricValue("semantic_sse", value=sse, note=notes[None])]


def meanings(db: Runner, f: Fusion) -> str:
    """Puts down what each text means, for measures that compare them all; returns the name of the table."""
    db.run(
        Statement("meanings", likeness.meanings(f, [q for q in f.quasi if isinstance(q.hierarchy, Meaning)]))
    )
    return temporary(f.meanings)


def with_meaning(measured: Sequence[MetricValue], own: Sequence[MetricValue]) -> list[MetricValue]:
    """The figures of all columns, with their own for those that an ontology tells something of."""
    of_hierarchies = any(
        figure.value is not None and figure.column is None for figure in measured if figure.name in _SEMANTIC
    )
    kept = {(figure.name, figure.column): figure for figure in own}
    if of_hierarchies:  # two ways to measure have no common mean
        kept = {key: figure for key, figure in kept.items() if key[1] is not None}
    return [kept.get((figure.name, figure.column), figure) for figure in measured]


def without_generalization(measured: Sequence[MetricValue]) -> list[MetricValue]:
    """Of values that are other values of the data it would say that nothing is lost."""
    return [
        replace(figure, value=None, note=_REPLACED) if figure.name == "gen_iloss" else figure
        for figure in measured
    ]


@dataclass(frozen=True)
class ByMeaning:
    """How the metrics of a fusion are taken: by the concepts of its values."""

    db: Runner
    fusion: Fusion

    @property
    def measure(self) -> str:
        return self.fusion.measure

    @property
    def has_concepts(self) -> bool:
        return any(isinstance(q.hierarchy, Meaning) for q in self.fusion.quasi)

    def utility(self, measured: Sequence[MetricValue]) -> list[MetricValue]:
        """The semantic figures of columns that were compared by their concepts."""
        measured = without_generalization(measured)
        return with_meaning(measured, figures(self.db, self.fusion)) if self.has_concepts else measured

    def meanings(self) -> str | None:
        """The table of what each text means, where there is any."""
        return meanings(self.db, self.fusion) if self.has_concepts else None
