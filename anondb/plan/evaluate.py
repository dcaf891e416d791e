"""Evaluate: what a release is worth and what it gives away, while the run still knows whose record is whose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from anondb.algorithms.lattice import Levels
from anondb.algorithms.outcome import Classes
from anondb.hierarchy.model import StoredVgh
from anondb.plan.clusters import cluster_agreement
from anondb.plan.model import Plan
from anondb.plan.stages import Encoded, chosen_levels
from anondb.plan.steps import Steps
from anondb.plan.verify import Published
from anondb.sqlgen import encode, linked
from anondb.sqlgen.shape import Relation, Scratch

MEASURE = "wup"
MOST_PAIRS = 250_000  # of different records, for linkage by distance

_UTILITY = """
select u.name, u.of_column, u.value, u.note
from anondb.linked_utility($1::text, $2::name[], $3::text[], $4::text, $5::text::regclass) as u
"""
_LINKAGE = (
    "select anondb.linked_linkage($1::text, $2::name[], $3::text, $4::text[], $5::text, $6::text::regclass)"
)
_RISK = """
select r.name, r.of_column, r.value, r.note
from anondb.risk($1::text::regclass, $2::name[], roots => $3::text[], counts => $4::name) as r
"""
_DISCLOSURE = """
select d.name, d.of_column, d.value, d.note
from anondb.attribute_disclosure($1::text::regclass, $2::name[], $3::name, roots => $4::text[]) as d
"""


@dataclass(frozen=True)
class Figure:
    """A measure of a release, by column or of the whole; of risk also what it was before."""

    name: str
    column: str | None = None
    value: float | None = None
    note: str | None = None  # why there is no value, or what it leaves out
    before: float | None = None


@dataclass(frozen=True)
class Evaluating:
    """What all measures of a run need to know."""

    db: Steps
    plan: Plan
    names: Scratch
    encoded: Encoded
    fresh: Relation

    @property
    def quasi(self) -> list[str]:
        return [q.name for q in self.encoded.quasi]

    @property
    def vghs(self) -> list[str | None]:
        return [q.hierarchy.name if isinstance(q.hierarchy, StoredVgh) else None for q in self.encoded.quasi]

    @property
    def roots(self) -> list[str] | None:
        """What masked records look like, who are no class."""
        masked = self.plan.policy.privacy.suppress == "mask"
        return [q.root for q in self.encoded.quasi] if masked else None


def evaluate(run: Evaluating, outcome: Levels | Classes, published: Published, *, full: bool) -> list[Figure]:
    """All figures of a release; `full` also those that compare every two records."""
    link = _link(run, outcome)
    figures = [*_utility(run, outcome, *link), *_sizes(run, outcome, published)]
    figures += _linkage(run, *link, full=full)
    figures += _risk(run)
    for column in run.plan.policy.sensitive:
        figures += _disclosure(run, column.name)
    if full:
        query, ladder = link
        agreement = cluster_agreement(run.db, query, run.quasi, run.vghs, MEASURE, ladder)
        figures += [Figure(*row) for row in agreement]
    return figures


def _link(run: Evaluating, outcome: Levels | Classes) -> tuple[str, str | None]:
    """Puts the linked records down; returns them as a query, and the name of their hierarchies' table."""
    quasi, names = run.encoded.quasi, run.names
    if isinstance(outcome, Classes):
        run.db.run("linked", linked.of_classes(names, quasi))
    else:
        run.db.run("linked", linked.of_levels(names, chosen_levels(run.encoded, outcome)))
    run.db.run("linked statistics", encode.analyze(names.linked))
    ladder = linked.ladder(names, quasi)
    if ladder is None:
        return linked.query_of(names), None
    run.db.run("ladder", ladder)
    return linked.query_of(names), linked.temporary(names.ladder)


def _utility(run: Evaluating, outcome: Levels | Classes, query: str, ladder: str | None) -> Iterable[Figure]:
    rows = run.db.rows("utility", _UTILITY, (query, run.quasi, run.vghs, MEASURE, ladder))
    figures = [Figure(*row) for row in rows if not (row[0] == "precision" and isinstance(outcome, Levels))]
    return [*figures, *_precision(run, outcome)] if isinstance(outcome, Levels) else figures


def _precision(run: Evaluating, outcome: Levels) -> Iterable[Figure]:
    """Sweeney 2002: with one level for a column no hierarchy has to be looked at; what is suppressed is at the root."""
    records = max(run.encoded.eligible, 1)
    kept = 1 - outcome.suppressed / records
    shares = [
        kept * (1 - level / q.height) for q, level in zip(run.encoded.quasi, outcome.levels, strict=True)
    ]
    yield Figure("precision", value=sum(shares) / len(shares))
    for q, share in zip(run.encoded.quasi, shares, strict=True):
        yield Figure("precision", q.name, share)


def _sizes(run: Evaluating, outcome: Levels | Classes, published: Published) -> Iterable[Figure]:
    """Bayardo and Agrawal 2005; LeFevre et al. 2006: by class sizes, of which masked records have none."""
    records, suppressed = run.encoded.records, outcome.suppressed + run.encoded.with_null
    squares, classes = published.squares, published.classes
    if run.roots is not None and outcome.suppressed:
        squares, classes = squares - outcome.suppressed**2, classes - 1
    yield Figure("discernibility", value=float(squares + records * suppressed))
    if classes:
        k = run.plan.policy.privacy.k
        yield Figure("average_class_size", value=records / (classes * k))


def _linkage(run: Evaluating, query: str, ladder: str | None, *, full: bool) -> Iterable[Figure]:
    def linkage(matching: str) -> Figure:
        arguments = (query, run.quasi, matching, run.vghs, MEASURE, ladder)
        [value] = run.db.one(f"linkage by {matching}", _LINKAGE, arguments)
        return Figure(f"record_linkage_{matching}", value=value)

    yield linkage("text")
    yield linkage("coverage")
    if full:
        [pairs] = run.db.one("pairs", linked.pairs(run.names, run.encoded.quasi))
        for matching in ("hierarchy", "semantic"):
            if pairs <= MOST_PAIRS:
                yield linkage(matching)
            else:
                yield Figure(
                    f"record_linkage_{matching}", note=f"{pairs:,} pairs of different records are too many"
                )


def _risk(run: Evaluating) -> Iterable[Figure]:
    """Of the release from its own rows, of the originals from the combinations that the run has counted."""
    raw = {q.raw: q.name for q in run.encoded.quasi}
    rows = run.db.rows("risk before", _RISK, (linked.temporary(run.names.raw), list(raw), None, "n"))
    before = {(name, raw.get(column, column)): value for name, column, value, _ in rows}
    release = linked.relation_text(run.fresh)
    for row in run.db.rows("risk", _RISK, (release, run.quasi, run.roots, None)):
        figure = Figure(*row)
        yield replace(figure, before=before.get((figure.name, figure.column)))


def _disclosure(run: Evaluating, sensitive: str) -> Sequence[Figure]:
    arguments = (linked.relation_text(run.fresh), run.quasi, sensitive, run.roots)
    return [Figure(*row) for row in run.db.rows(f"disclosure of {sensitive}", _DISCLOSURE, arguments)]
