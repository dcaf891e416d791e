"""Verify: what was written, counted from its own rows, against what the policy promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from anondb.errors import VerificationError
from anondb.methods.full_domain.lattice import Levels
from anondb.methods.method import Job
from anondb.methods.outcome import Classes
from anondb.models.sql import Models
from anondb.policy.model import Privacy
from anondb.run import frequency_sql as frequency
from anondb.run import verify_sql as audit
from anondb.run.encode import Encoded, chosen_levels
from anondb.run.statement import MANY, Statement, row
from anondb.sqltree.tables import Relation, Scratch

_TOLERANCE = 1e-6  # of entropies and distances, which are sums of rounded shares


@dataclass(frozen=True)
class Published:
    """Figures of a release, counted from its own rows."""

    rows: int
    classes: int
    smallest: int
    largest: int
    squares: int  # sum of the squared class sizes
    diversity: tuple[float, ...] = ()  # the l that is reached, of each model of the policy
    closeness: tuple[float, ...] = ()  # the t that is reached, of each model of the policy
    persons: int | None = None  # the fewest in a class, where persons are counted
    strange: int = 0  # classes that are not those which the persons were counted in
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
        found = {} if self.persons is None else {"persons_min": float(self.persons)}
        for diverse, reached in zip(privacy.l_diversity, self.diversity, strict=True):
            found[f"l_diversity_{diverse.kind}:{diverse.column}"] = reached
        for close, reached in zip(privacy.t_closeness, self.closeness, strict=True):
            found[f"t_closeness_{close.distance}:{close.column}"] = reached
        return found


def measure(
    job: Job,
    names: Scratch,
    encoded: Encoded,
    models: Models,
    outcome: Levels | Classes,
    fresh: Relation,
) -> Published:
    """The release's own figures, counted from its rows."""
    db, plan = job.db, job.plan
    quasi = [q.name for q in encoded.quasi]
    figures = job.engine.count_written(fresh, quasi)
    diversity, closeness = [], []
    for diverse in models.diversity:
        [reached] = db.one(
            Statement(
                f"diversity {diverse.sensitive.code}",
                audit.diversity(fresh, quasi, diverse),
                answers=row(reached=0.0),
            )
        )
        diversity.append(float(reached))
    for close in models.closeness:
        null_code = encoded.null_code(close.sensitive)
        db.run(Statement("code release", audit.coded_release(names, fresh, quasi, close, null_code)))
        [reached] = db.one(
            Statement(
                f"closeness {close.sensitive.code}",
                audit.closeness(names, quasi, close),
                answers=row(reached=0.0),
            )
        )
        closeness.append(float(reached))
        db.run(Statement("forget coded release", frequency.drop(names.audit)))
    rows, classes, smallest, largest, squares = figures
    published = Published(rows, classes, smallest, largest, squares, tuple(diversity), tuple(closeness))
    if plan.unit is None or isinstance(outcome, Classes):
        return published
    # the release need not say who is in it; so its classes are compared with those that were counted
    chosen = chosen_levels(encoded, outcome)
    [persons] = db.one(
        Statement("count persons", audit.fewest_persons(names, chosen), answers=row(persons=MANY))
    )
    [strange] = db.one(
        Statement("compare classes", audit.other_classes(names, fresh, chosen), answers=row(others=0))
    )
    return replace(published, persons=persons, strange=strange)


def verify(privacy: Privacy, found: Published, written: int, expected: int) -> None:
    """Raises unless the release has the rows it should have, and every class satisfies every model."""
    if not found.rows == written == expected:
        raise VerificationError(
            f"{expected} records were to be released, {written} were written and {found.rows} are there",
            hint="does the source change while it is read (a volatile view)? Nothing was published",
        )
    if found.rows == 0:
        return
    smallest, whom = (found.smallest, "records") if found.persons is None else (found.persons, "persons")
    if smallest < privacy.k:
        _fail(f"the smallest class has {smallest} {whom}, fewer than k = {privacy.k}")
    if found.strange:
        _fail(f"{found.strange} classes are not as their persons were counted")
    if found.rare:
        _fail(f"{found.rare} values are those of fewer than k = {privacy.k} records")
    for diverse, reached in zip(privacy.l_diversity, found.diversity, strict=True):
        if reached < diverse.l - _TOLERANCE:
            _fail(
                f'a class has {diverse.kind} diversity {reached:g} in "{diverse.column}", below l = {diverse.l:g}'
            )
    for close, reached in zip(privacy.t_closeness, found.closeness, strict=True):
        if reached > close.t + _TOLERANCE:
            _fail(f'a class is {reached:g} from the release in "{close.column}", more than t = {close.t:g}')


def _fail(message: str) -> None:
    raise VerificationError(message, hint="nothing was published; please report this")
