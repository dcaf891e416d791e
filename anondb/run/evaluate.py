"""Evaluate: what a release is worth and what it gives away, while the run still knows whose record is whose."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from anondb.evaluation.clusters import cluster_agreement
from anondb.evaluation.metric_value import MetricValue, values_or_reasons
from anondb.evaluation.metrics import GROUPS, LINKED, LINKED_UTILITY
from anondb.hierarchies.forms import StoredVgh, TableVgh
from anondb.methods.outcome import Classes, Levels
from anondb.run import covered_sql as covering
from anondb.run import encode_sql as encode
from anondb.run import linked_sql as linked
from anondb.run import verify_sql as audit
from anondb.run.changed_values import changed_values, has_changed_numbers
from anondb.run.encode import Encoded, chosen_levels
from anondb.run.engine import Engine
from anondb.run.link import Link, every_cell, put_down
from anondb.run.plan import Plan
from anondb.run.risen_sql import risen
from anondb.run.sampling import affordable, sampled_share
from anondb.run.statement import MANY, METRIC_ROWS, Runner, Statement, row
from anondb.run.verify import Published
from anondb.sqltree.tables import Relation, Scratch, released_names

MEASURE = "wup"
MOST_PAIRS = 250_000  # of different records, for linkage by distance

_UTILITY = """
select u.name, u.of_column, u.value, u.note
from anondb.linked_utility($1::text, $2::name[], $3::text[], $4::text, $5::text::regclass,
                           $6::text::regclass, $7::text::regclass) as u
"""
_LINKAGE = """
select anondb.linked_linkage($1::text, $2::name[], $3::text, $4::text[], $5::text, $6::text::regclass,
                             $7::text::regclass, $8::name[])
"""
RISK = """
select r.name, r.of_column, r.value, r.note
from anondb.risk($1::text::regclass, $2::name[], roots => $3::text[], counts => $4::name,
                 unit => $5::name) as r
"""
RISK_BY_SIZES = """
select r.name, r.of_column, r.value, r.note from anondb.sized_risk($1::text::regclass, $2::name[]) as r
"""
DISCLOSURE = """
select d.name, d.of_column, d.value, d.note
from anondb.attribute_disclosure($1::text::regclass, $2::name[], $3::name, roots => $4::text[],
                                 counts => $5::name) as d
"""


class ByMeaning(Protocol):
    """How utility is told where values were compared by their concepts."""

    @property
    def measure(self) -> str:
        """Of the similarity of concepts."""
        ...

    def utility(self, measured: Sequence[MetricValue]) -> list[MetricValue]:
        """The same figures, with those of concepts."""
        ...

    def meanings(self) -> str | None:
        """The table of what each text means, where there is any."""
        ...


@dataclass(frozen=True)
class Evaluating:
    """What all measures of a run need to know."""

    db: Runner
    plan: Plan
    names: Scratch
    encoded: Encoded
    outcome: Levels | Classes
    fresh: Relation
    by_meaning: ByMeaning | None = None  # of methods that replace values by similar ones
    engine: Engine | None = None  # what has to ask the source once more is left out without it

    @property
    def quasi(self) -> list[str]:
        return [q.name for q in self.encoded.quasi]

    @property
    def vghs(self) -> list[str | None]:
        return [q.hierarchy.name if isinstance(q.hierarchy, StoredVgh) else None for q in self.encoded.quasi]

    @property
    def roots(self) -> list[str] | None:
        """What masked records look like, who are no class; where there are none, it may be one."""
        masked = self.plan.policy.privacy.suppress == "mask" and self.outcome.suppressed > 0
        return [root for q in self.encoded.quasi for root in q.roots] if masked else None

    @property
    def leaves_nulls_out(self) -> bool:
        return self.plan.policy.privacy.nulls == "suppress"


def evaluate(run: Evaluating, published: Published, *, full: bool) -> list[MetricValue]:
    """All figures of a release; `full` also those that compare every two records."""
    names = (*LINKED, *GROUPS["clusters"]) if full else LINKED
    figures = [
        *values_or_reasons(run.db, names, lambda: _linked(run, full=full)),
        *_sizes(run, published),
        *values_or_reasons(run.db, GROUPS["risk"], lambda: _risk(run)),
    ]
    if run.engine is not None and has_changed_numbers(run):
        figures += values_or_reasons(run.db, GROUPS["values"], lambda: changed_values(run))
    for column in run.plan.policy.sensitive:
        found = values_or_reasons(
            run.db, GROUPS["disclosure"], partial(_disclosure, run, published, column.name)
        )
        figures += [replace(figure, column=column.name) for figure in found]
    return figures


def _linked(run: Evaluating, *, full: bool) -> Iterable[MetricValue]:
    """What needs to know whose record is whose."""
    link = put_down(run, full=full)
    yield from values_or_reasons(run.db, LINKED_UTILITY, lambda: _utility(run, link))
    yield from _linkage(run, link, full=full)
    if full:
        yield from values_or_reasons(run.db, GROUPS["clusters"], lambda: _clusters(run, link.ladder))


def _utility(run: Evaluating, link: Link) -> list[MetricValue]:
    coded, cells = linked.query_of(run.names.link), linked.temporary(run.names.pairs)
    counted = linked.temporary(run.names.covered) if link.covered else None
    rows = run.db.rows(
        Statement(
            "utility",
            _UTILITY,
            (coded, run.quasi, run.vghs, MEASURE, link.ladder, cells, counted),
            answers=METRIC_ROWS,
        )
    )
    figures = [MetricValue(*row) for row in rows]
    if run.by_meaning is not None:
        return run.by_meaning.utility(figures)
    if isinstance(run.outcome, Classes):
        return figures
    kept = [figure for figure in figures if figure.name != "precision"]
    by_leaves = [figure for figure in figures if figure.name == "precision"]
    return kept + _precision(run, run.outcome, by_leaves, {c.quasi.number for c in link.covered})


def _clusters(run: Evaluating, ladder: str | None) -> Iterable[MetricValue]:
    """Values that were compared by their concepts are clustered by them too."""
    measure, meanings = MEASURE, None
    if run.by_meaning is not None and (table := run.by_meaning.meanings()) is not None:
        measure, meanings = run.by_meaning.measure, table
    texts = linked.query_of(run.names.linked)
    agreement = cluster_agreement(run.db, texts, run.quasi, run.vghs, measure, ladder, meanings=meanings)
    return [MetricValue(*row) for row in agreement]


def _precision(
    run: Evaluating, outcome: Levels, by_leaves: Sequence[MetricValue], told: Collection[int]
) -> list[MetricValue]:
    """Sweeney 2002: the levels of computed hierarchies are known, those of leaves were looked up, and some counted."""
    computed = [
        chosen
        for chosen in chosen_levels(run.encoded, outcome)
        if not isinstance(chosen.quasi.hierarchy, StoredVgh | TableVgh) and chosen.quasi.number not in told
    ]
    if not computed and not told:
        return list(by_leaves)
    answers = row(**{chosen.quasi.code: 0.0 for chosen in computed})
    question = Statement("precision", risen(run.names, computed), answers=answers) if computed else None
    shares_risen = run.db.one(question) if question else ()
    shares = {figure.column: figure.value or 0.0 for figure in by_leaves}
    shares |= {chosen.quasi.name: 1 - share for chosen, share in zip(computed, shares_risen, strict=True)}
    found = [MetricValue("precision", name, shares.get(name, 0.0)) for name in run.quasi]
    return [MetricValue("precision", value=sum(f.value or 0.0 for f in found) / len(found)), *found]


def _sizes(run: Evaluating, published: Published) -> Iterable[MetricValue]:
    """Bayardo and Agrawal 2005; LeFevre et al. 2006: by class sizes, of which masked records have none."""
    records, suppressed = run.encoded.records, run.outcome.suppressed + run.encoded.with_null
    squares, classes = published.squares, published.classes
    if run.roots is not None:
        squares, classes = squares - run.outcome.suppressed**2, classes - 1
    yield MetricValue("discernibility", value=float(squares + records * suppressed))
    if classes:
        k = run.plan.policy.privacy.k
        yield MetricValue("average_class_size", value=(records - suppressed) / (classes * k))


def _linkage(run: Evaluating, link: Link, *, full: bool) -> Iterable[MetricValue]:
    names, quasi = run.names, run.encoded.quasi
    coded = covering.query_of(names, link.covered) if link.covered else linked.query_of(names.link)
    cells = linked.temporary(names.pairs)

    def linkage(
        matching: str, of: str = coded, texts: str | None = cells, note: str | None = None
    ) -> Iterable[MetricValue]:
        name = f"record_linkage_{matching}"

        def linked_by(texts: str | None, known: list[str | None] | None) -> float | None:
            arguments = (of, run.quasi, matching, run.vghs, MEASURE, link.ladder, texts, known)
            statement = Statement(f"linkage by {matching}", _LINKAGE, arguments, answers=row(linked=0.0))
            value: float | None = run.db.one(statement)[0]
            return value

        def measure() -> Iterable[MetricValue]:
            value = linked_by(texts, covering.known(quasi, link.covered, matching))
            if value is None:  # another column has labels that overlap
                run.db.run(Statement("cells of all columns", every_cell(run)))
                value = linked_by(linked.temporary(names.every_pair), None)
            yield MetricValue(name, value=value, note=note)

        return values_or_reasons(run.db, [name], measure)

    yield from linkage("text")
    if not full and not isinstance(run.outcome, Classes):
        yield from linkage("coverage")
        return
    originals, released = run.db.one(
        Statement(
            "different records",
            linked.different(names, quasi),
            answers=row(originals=MANY, released=1),
        )
    )
    pairs = originals * released
    if isinstance(run.outcome, Classes) and pairs > affordable(len(quasi)):
        # classes of a partition overlap in every column, so that each has to be held against all originals
        share = sampled_share(pairs, released, len(quasi))
        run.db.run(Statement("cells of the sample", linked.cells_of_sample(names)))
        some, texts = linked.sampled(names, quasi, share), linked.temporary(names.sampled)
        yield from linkage("coverage", some, texts, f"estimated from {share:.1%} of the classes")
    else:
        yield from linkage("coverage")
    if full:
        for matching in ("hierarchy", "semantic"):
            if pairs <= MOST_PAIRS:
                yield from linkage(matching, linked.query_of(names.linked), None)
            else:
                yield MetricValue(
                    f"record_linkage_{matching}", note=f"{pairs:,} pairs of different records are too many"
                )


def _risk(run: Evaluating) -> Iterable[MetricValue]:
    """Before and after, by the codes of what was counted; where persons are counted, by them."""
    if any(q.is_coarse for q in run.encoded.quasi):
        assert run.engine is not None
        after = _asked(run, "risk", run.names.released, "r")
        run.engine.count_originals(run.names, run.encoded.quasi)
        before = _before(run)
    elif run.plan.unit is None:
        after, before = (
            _asked(run, "risk", run.names.released, "r"),
            _asked(run, "risk before", run.names.link, "o"),
        )
    else:
        after, before = _risk_of_persons(run)
    for key, figure in before.items():
        # without a value where all records are masked
        yield replace(after.get(key, MetricValue(figure.name, figure.column)), before=figure.value)


def _before(run: Evaluating) -> dict[str, MetricValue]:
    """Of originals of which the sizes of their classes are known, and nothing else."""
    arguments = (linked.temporary(run.names.profile), run.quasi)
    rows = run.db.rows(Statement("risk before", RISK_BY_SIZES, arguments, answers=METRIC_ROWS))
    return {figure.key: figure for figure in (MetricValue(*row) for row in rows)}


def _asked(
    run: Evaluating, step: str, table: str, side: str, unit: str | None = None
) -> dict[str, MetricValue]:
    columns = {f"{side}{q.number}": q.name for q in run.encoded.quasi}
    return _figures(run, step, linked.temporary(table), columns, "n", unit)


def _risk_of_persons(
    run: Evaluating,
) -> tuple[dict[str, MetricValue], dict[str, MetricValue]]:
    """The release does not say who is in it, so persons are found by the classes that they were counted in."""
    if isinstance(run.outcome, Classes):
        columns = {name: name for name in released_names(run.encoded.quasi)}
        after = _figures(run, "risk", linked.relation_text(run.fresh), columns, None, None)
    else:
        chosen = chosen_levels(run.encoded, run.outcome)
        run.db.run(Statement("persons", audit.persons(run.names, chosen)))
        run.db.run(Statement("person statistics", encode.analyze(run.names.persons)))
        columns = {c.label: c.quasi.name for c in chosen}
        after = _figures(run, "risk", linked.temporary(run.names.persons), columns, None, "u")
    if run.leaves_nulls_out:
        run.db.run(Statement("nulls among originals", linked.take_nulls_back(run.names)))
    raw = {q.raw: q.name for q in run.encoded.quasi}
    return after, _figures(run, "risk before", linked.temporary(run.names.raw), raw, "n", "u")


def _figures(
    run: Evaluating, step: str, relation: str, columns: dict[str, str], counts: str | None, unit: str | None
) -> dict[str, MetricValue]:
    roots = (
        run.roots if step == "risk" and counts is None else None
    )  # what is masked is no released combination
    arguments = (relation, list(columns), roots, counts, unit)
    rows = run.db.rows(Statement(step, RISK, arguments, answers=METRIC_ROWS))
    found = (
        MetricValue(name, columns.get(column, column), value, note) for name, column, value, note in rows
    )
    return {figure.key: figure for figure in found}


def _disclosure(run: Evaluating, published: Published, sensitive: str) -> Sequence[MetricValue]:
    quasi = released_names(run.encoded.quasi)
    if published.by_values:
        place = [column.name for column in run.plan.policy.sensitive].index(sensitive) + 1
        keys = [f"g{i}" for i, _ in enumerate(quasi, 1)]
        counted = linked.temporary(run.names.written)
        arguments: tuple[object, ...] = (counted, keys, f"s{place}", run.roots, "n")
    else:
        arguments = (linked.relation_text(run.fresh), quasi, sensitive, run.roots, None)
    return [
        MetricValue(*row)
        for row in run.db.rows(
            Statement(
                f"disclosure of {sensitive}",
                DISCLOSURE,
                arguments,
                answers=METRIC_ROWS,
            )
        )
    ]
