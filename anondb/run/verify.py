"""Verify: what was written, counted from its own rows, against what the policy promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, prod

from anondb.errors import UsageError, VerificationError
from anondb.methods.method import Job
from anondb.methods.outcome import Classes, Levels
from anondb.models.k_anonymity import KAnonymity
from anondb.models.sql import Judged, Models
from anondb.models.star_matches import StarMatches
from anondb.policy.model import Privacy
from anondb.run import frequency_sql as frequency
from anondb.run import stars_sql as stars
from anondb.run import verify_sql as audit
from anondb.run.encode import Encoded, chosen_levels
from anondb.run.encode_sql import analyze
from anondb.run.plan import Plan
from anondb.run.statement import MANY, Statement, row
from anondb.sqltree.tables import Relation, Scratch, released_names

MOST_COMPARED = 20_000_000
"""Classes times sets of stars, of which matches are counted."""
MOST_VALUES = 50  # of sensitive columns together, for rows to be counted by them


@dataclass(frozen=True)
class Published:
    """Figures of a release, counted from its own rows."""

    rows: int
    classes: int
    smallest: int
    largest: int
    squares: int  # sum of the squared class sizes
    models: tuple[float, ...] = ()  # what is reached of each model of the policy
    persons: int | None = None  # the fewest in a class, where persons are counted
    strange: int = 0  # classes that are not those which the persons were counted in
    by_values: bool = False  # its rows are put down by their classes and sensitive values
    matched: int | None = None  # the fewest records that one matches, where a star matches anything
    rare: int = 0  # values that only fewer than k records of the source could have said

    def class_sizes(self) -> dict[str, float]:
        """By name, as all runs keep them."""
        mean = self.rows / self.classes if self.classes else 0.0
        return {
            "class_size_min": float(self.smallest),
            "class_size_mean": mean,
            "class_size_max": float(self.largest),
        }

    def reached(self, privacy: Privacy) -> Mapping[str, float]:
        """The figures of the policy's models by name."""
        reached_by_name = {} if self.persons is None else {"persons_min": float(self.persons)}
        if self.matched is not None:
            reached_by_name["star_matches_min"] = float(self.matched)
        for model, reached in zip(privacy.models, self.models, strict=True):
            reached_by_name[f"{model.metric}:{model.column}"] = reached
        return reached_by_name


def measure_rows(
    job: Job, names: Scratch, encoded: Encoded, models: Models, fresh: Relation, *, again: bool = False
) -> Published:
    """The release's own figures, from its rows alone: whose they are, they do not say."""
    quasi = released_names(encoded.quasi)
    sensitive = [] if again else _few_values(job.plan)
    figures = (
        job.engine.count_written_by(names, fresh, quasi, sensitive)
        if sensitive
        else job.engine.count_written(fresh, quasi)
    )
    reached = tuple(figure_of(job, names, encoded, judged, quasi, fresh) for judged in models.judged)
    rows, classes, smallest, largest, squares = figures
    return Published(rows, classes, smallest, largest, squares, reached, by_values=bool(sensitive))


def measure(
    job: Job,
    names: Scratch,
    encoded: Encoded,
    models: Models,
    outcome: Levels | Classes,
    fresh: Relation,
    *,
    again: bool = False,
) -> Published:
    """The release's own figures, counted from its rows; `again`, where they have been copied to."""
    plan = job.plan
    published = measure_rows(job, names, encoded, models, fresh, again=again)
    if plan.policy.privacy.stars_match:
        return replace(published, matched=_matched(job, names, encoded, fresh))
    if plan.unit is None or isinstance(outcome, Classes):
        return published
    # the release need not say who is in it; so its classes are compared with those that were counted
    chosen = chosen_levels(encoded, outcome)
    persons = job.engine.count_persons(names, chosen)
    others = audit.other_classes(names, fresh, chosen)
    [[strange]] = job.engine.ask_release("compare classes", others, row(others=0))
    return replace(published, persons=persons, strange=strange)


def _few_values(plan: Plan) -> list[str]:
    """The sensitive columns, if they have so few values that rows counted by them are far fewer."""
    columns = {column.name: column for column in plan.columns}
    names = [column.name for column in plan.policy.sensitive if column.name in columns]
    values = prod(columns[name].distinct or inf for name in names)
    return names if values <= MOST_VALUES else []


def verify(privacy: Privacy, published: Published, written: int, expected: int) -> None:
    """Raises unless the release has the rows it should have, and every class satisfies every model."""
    if not published.rows == written == expected:
        raise VerificationError(
            f"{expected} records were to be released, {written} were written and {published.rows} are there",
            hint="does the source change while it is read (a volatile view)? Nothing was published",
        )
    if published.rows == 0:
        return
    persons = published.persons is not None
    smallest = published.persons if published.persons is not None else published.smallest
    if published.matched is not None:
        if (failure := StarMatches(privacy.k).failure(published.matched)) is not None:
            _fail(failure)
        return
    if (failure := KAnonymity(privacy.k, privacy.unit if persons else None).failure(smallest)) is not None:
        _fail(failure)
    if published.strange:
        _fail(f"{published.strange} classes are not as their persons were counted")
    if published.rare:
        _fail(f"{published.rare} values are those of fewer than k = {privacy.k} records")
    for model, reached in zip(privacy.models, published.models, strict=True):
        if (failure := model.failure(reached)) is not None:
            _fail(failure)


def _matched(job: Job, names: Scratch, encoded: Encoded, fresh: Relation) -> int:
    """The fewest records that a written one matches where a star is anything; a root's label is a star."""
    roots = dict(zip(released_names(encoded.quasi), (q.root for q in encoded.quasi), strict=True))
    if len(roots) > stars.MOST_COLUMNS:
        raise UsageError(
            f"stars match in at most {stars.MOST_COLUMNS} columns, and there are {len(roots)}",
            hint="leave stars out: a star is a value of its own then",
        )
    job.engine.copy_release("code stars", stars.coded(names, fresh, roots))
    job.db.run(Statement("statistics of stars", analyze(names.audit)))
    classes, sets = job.db.one(Statement("sets of stars", stars.size(names), answers=row(classes=1, sets=1)))
    if classes * sets > MOST_COMPARED:
        raise UsageError(
            f"matches of stars would be counted of {classes:,} classes with {sets:,} sets of stars, and "
            f"{MOST_COMPARED:,} of both together are the most",
            hint="leave stars out: a star is a value of its own then, which takes far less",
        )
    question = stars.fewest(names, len(roots))
    [matched] = job.db.one(Statement("matches of stars", question, answers=row(matched=MANY)))
    job.db.run(Statement("forget stars", frequency.drop(names.audit)))
    return int(matched)


def figure_of(
    job: Job, names: Scratch, encoded: Encoded, judged: Judged, quasi: Sequence[str], fresh: Relation
) -> float:
    """What the release reaches of a model: by its public function, or by the codes of the run."""
    step, answers = f"{judged.model.step} {judged.sensitive.code}", row(reached=judged.model.demanded)
    question = judged.model.measured(fresh, quasi, judged.sensitive.name)
    if question is None:
        question = judged.model.audited(names, fresh, quasi, judged.sensitive)
    if question is not None:
        [[reached]] = job.engine.ask_release(step, question, answers)
        return float(reached)
    null_code = encoded.null_code(judged.sensitive)
    coded = audit.coded_release(names, fresh, quasi, judged.sensitive, null_code)
    job.engine.copy_release("code release", coded)
    [reached] = job.db.one(Statement(step, audit.farthest(names, quasi, judged), answers=answers))
    job.db.run(Statement("forget coded release", frequency.drop(names.audit)))
    return float(reached)


def _fail(message: str) -> None:
    raise VerificationError(message, hint="nothing was published; please report this")
