"""Evaluates a release that anyone has made against its original, with the caller's rights, by the SQL functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

from anondb.db.connection import Door, one_snapshot
from anondb.db.execute import Executor, Step
from anondb.db.install.upgrade import require_current
from anondb.errors import UsageError
from anondb.evaluation import clusters
from anondb.evaluation.by_ontology import keep_meant, with_meaning
from anondb.evaluation.changed_numbers import both_numbers, changed_numbers
from anondb.evaluation.evaluation import Evaluation, ordered
from anondb.evaluation.metric_value import MetricValue, values_or_reasons
from anondb.evaluation.metrics import GROUPS, LINKED, LINKED_UTILITY
from anondb.evaluation.two_tables import EvaluationRequest, Tables, look_up
from anondb.models.model import ClassModel, Protected
from anondb.models.registry import CLASS_MODELS
from anondb.run import linked_sql as linked
from anondb.run.plan import Options
from anondb.run.statement import METRIC_ROWS, Statement, no_rows, row

if TYPE_CHECKING:
    from anondb.sqltree.build import Node

MEASURE = "wup"

# rows that a policy of a table hides would be missing in every figure: better an error
_SETTINGS = "select set_config('row_security', 'off', true), set_config('work_mem', $1::text, true)"
_SIZES = """
select coalesce(sum(c.n), 0)::bigint, coalesce(sum(c.n) filter (where not c.is_masked), 0)::bigint,
       count(*) filter (where not c.is_masked), coalesce(min(c.n) filter (where not c.is_masked), 0),
       coalesce(max(c.n) filter (where not c.is_masked), 0)
from anondb.class_sizes($1::text::regclass, $2::name[], $3::text[]) as c
"""
_KNOWN_VGH = "select anondb.find_vgh($1::text)"
_LINK = """
select anondb.keep_linked(
    anondb.linked_query($1::text::regclass, $2::text::regclass, $3::name, $4::name[], $5::text[]))
"""
_UTILITY = """
select u.name, u.of_column, u.value, u.note
from anondb.linked_utility($1::text, $2::name[], $3::text[], $4::text) as u
"""
_LINKAGE = "select anondb.linked_linkage($1::text, $2::name[], $3::text, $4::text[], $5::text)"
_DISCERNIBILITY = """
select anondb.discernibility($1::text::regclass, $2::name[], records => $3::bigint, roots => $4::text[])
"""
_AVERAGE = "select anondb.average_class_size($1::text::regclass, $2::name[], $3::bigint, $4::text[])"
_RISKS = """
select r.name, r.of_column, r.after, r.note, r.before
from anondb.risk_before_after($1::text::regclass, $2::text::regclass, $3::name[],
                              fraction => $4::double precision, roots => $5::text[]) as r
"""
_BEFORE_AFTER = no_rows("name", "of_column", "value", "note", "before")
_RISK = """
select r.name, r.of_column, r.value, r.note
from anondb.risk($1::text::regclass, $2::name[], population => $3::text::regclass, roots => $4::text[],
                 fraction => $5::double precision, unit => $6::name) as r
"""
_DISCLOSURE = """
select d.name, d.of_column, d.value, d.note
from anondb.attribute_disclosure($1::text::regclass, $2::name[], $3::name, roots => $4::text[]) as d
"""

_PERSONS = "anondb_persons"
_OF_POPULATION = ("journalist", "marketer", "population_uniques")
_ORDERED = "ND"  # categories of types whose order means something: numbers and dates


@dataclass(frozen=True)
class _Sizes:
    """Of a table's classes."""

    rows: int
    records: int  # those that are not masked
    classes: int
    smallest: int
    largest: int


def evaluate_tables(
    door: Door, request: EvaluationRequest, observe: Callable[[Step], None] = lambda step: None
) -> Evaluation:
    """All measures that apply, of one state of the tables; those that do not say why."""
    with door.open() as connection:
        require_current(connection)
        with one_snapshot(connection, "evaluating"):
            tables = look_up(connection, request)
            return _Evaluating(Executor(connection, observe), request, tables).evaluation()


class _Evaluating:
    def __init__(self, db: Executor, request: EvaluationRequest, tables: Tables) -> None:
        self.db, self.request = db, request
        self.original, self.release = tables.original.text, tables.release.text
        self.tables, self.quasi = tables, list(request.quasi)
        self.roots = None if request.roots is None else list(request.roots)
        self._named = False  # whether the persons have been put down
        db.stage = "evaluate"

    def evaluation(self) -> Evaluation:
        self.db.one(Statement("settings", _SETTINGS, (Options.work_mem,)))
        for name in self.request.vghs.values():
            self.db.one(Statement("hierarchy", _KNOWN_VGH, (name,)))
        before, after = self._sizes(self.original, None), self._sizes(self.release, self.roots)
        if after.rows > before.rows:
            raise UsageError(
                f"the release {self.request.release} has {after.rows:,} rows, and its original "
                f"{self.request.original} only {before.rows:,}",
                hint="is it a release of this table, and are the two in the right order?",
            )
        figures = [*self._linked(), *self._numbers(), *self._classes(before, after), *self._risk()]
        for column in self.request.sensitive:
            figures += [*self._models(column), *self._disclosure(column)]
        return Evaluation(
            original=self.request.original,
            release=self.request.release,
            records=before.rows,
            released=after.records,
            suppressed=before.rows - after.records,
            classes=after.classes,
            k=after.smallest,
            metric_values=ordered(figures),
        )

    def _sizes(self, table: str, roots: Sequence[str] | None) -> _Sizes:
        return _Sizes(
            *map(
                int,
                self.db.one(
                    Statement(
                        "class sizes",
                        _SIZES,
                        (table, self.quasi, roots),
                        answers=row(rows=0, records=0, classes=0, smallest=0, largest=0),
                    )
                ),
            )
        )

    def _single(
        self, metric: MetricValue, statement: str | Node, parameters: Sequence[object] = ()
    ) -> list[MetricValue]:
        def compute() -> Iterable[MetricValue]:
            [value] = self.db.one(Statement(metric.key, statement, parameters))
            yield replace(metric, value=value)

        return [
            replace(computed, column=metric.column)
            for computed in values_or_reasons(self.db, [metric.name], compute)
        ]

    def _linked(self) -> list[MetricValue]:
        """What needs to know whose record is whose."""
        if self.request.key is None:
            return [
                MetricValue(name, note="needs a key that names a record in both tables")
                for name in (*LINKED, *GROUPS["clusters"])
            ]
        link = (self.original, self.release, self.request.key, self.quasi, self.roots)
        [query] = self.db.one(Statement("link", _LINK, link))
        vghs, ontologies = self.request.quasi_vghs, self.request.quasi_ontologies
        meant = keep_meant(self.db, self.original, self.release, self.quasi, ontologies)

        def utility() -> Iterable[MetricValue]:
            rows = self.db.rows(
                Statement(
                    "utility",
                    _UTILITY,
                    (query, self.quasi, vghs, MEASURE),
                    answers=METRIC_ROWS,
                )
            )
            found = [MetricValue(*row) for row in rows]
            return with_meaning(self.db, query, self.quasi, meant, found)

        def agreement() -> Iterable[MetricValue]:
            sample, seed = self.request.sampled, self.request.seed
            rows = clusters.cluster_agreement(
                self.db,
                query,
                self.quasi,
                vghs,
                MEASURE,
                meanings=meant,
                sample=sample,
                seed=seed,
                wanted=self.request.clusters,
            )
            return [MetricValue(*row) for row in rows]

        return [
            *values_or_reasons(self.db, LINKED_UTILITY, utility),
            *self._linkage(query, vghs),
            *values_or_reasons(self.db, GROUPS["clusters"], agreement),
        ]

    def _numbers(self) -> list[MetricValue]:
        key, tables = self.request.key, self.tables
        columns = both_numbers(tables.original.categories, tables.release.categories, self.quasi, key)
        found = partial(changed_numbers, self.db, self.original, self.release, columns, key)
        return values_or_reasons(self.db, GROUPS["values"], found) if columns else []

    def _linkage(self, query: str, vghs: Sequence[str | None]) -> Iterable[MetricValue]:
        for matching in ("text", "coverage", "hierarchy", "semantic"):
            name = f"record_linkage_{matching}"
            if matching == "semantic" and not any(vghs):
                yield MetricValue(name, note="no stored hierarchy")
                continue
            arguments = (query, self.quasi, matching, vghs, MEASURE)
            yield from self._single(MetricValue(name), _LINKAGE, arguments)

    def _classes(self, before: _Sizes, after: _Sizes) -> Iterable[MetricValue]:
        yield MetricValue("class_size_min", value=float(after.smallest), before=float(before.smallest))
        yield MetricValue("class_size_max", value=float(after.largest), before=float(before.largest))
        yield MetricValue("class_size_mean", value=_mean(after), before=_mean(before))
        arguments = (self.release, self.quasi, before.rows, self.roots)
        yield from self._single(MetricValue("discernibility"), _DISCERNIBILITY, arguments)
        if after.smallest:
            multiple = f"as a multiple of the {after.smallest:,} records of the smallest class"
            arguments = (self.release, self.quasi, after.smallest, self.roots)
            yield from self._single(MetricValue("average_class_size", note=multiple), _AVERAGE, arguments)

    def _risk(self) -> Iterable[MetricValue]:
        def risks() -> Iterable[MetricValue]:
            fraction = self.request.fraction
            if self.request.unit is not None:
                return self._risk_of_persons(self.request.unit)
            arguments = (self.original, self.release, self.quasi, fraction, self.roots)
            return [
                MetricValue(*row)
                for row in self.db.rows(Statement("risk", _RISKS, arguments, answers=_BEFORE_AFTER))
            ]

        computed = values_or_reasons(self.db, GROUPS["risk"][:-1], risks)
        population = self.tables.population
        if population is None:
            return computed
        release = self.release if self.request.unit is None else self._persons(self.request.unit)
        arguments = (release, self.quasi, population.text, self.roots, None, self.request.unit)

        def journalist() -> Iterable[MetricValue]:
            rows = self.db.rows(
                Statement(
                    "risk in the population",
                    _RISK,
                    arguments,
                    answers=METRIC_ROWS,
                )
            )
            return [MetricValue(*row) for row in rows if row[0].startswith(_OF_POPULATION)]

        names = [name for name in GROUPS["risk"] if name.startswith(_OF_POPULATION)]
        # the population is generalized as the release is, so of the original there is nothing to compare with
        others = [metric for metric in computed if not metric.name.startswith(_OF_POPULATION)]
        return [*others, *values_or_reasons(self.db, names, journalist)]

    def _risk_of_persons(self, unit: str) -> Iterable[MetricValue]:
        given = (self.quasi, None), (self.request.fraction, unit)
        rows = self.db.rows(
            Statement(
                "risk before",
                _RISK,
                (self.original, *given[0], None, *given[1]),
                answers=METRIC_ROWS,
            )
        )
        before = {(name, column): value for name, column, value, _ in rows}
        rows = self.db.rows(
            Statement(
                "risk",
                _RISK,
                (self._persons(unit), *given[0], self.roots, *given[1]),
                answers=METRIC_ROWS,
            )
        )
        for name, column, value, note in rows:
            yield MetricValue(name, column, value, note, before.get((name, column)))
            if name == "prosecutor_max":
                least = before[name, column]
                yield MetricValue(
                    "persons_min", value=round(1 / value), before=round(1 / least) if least else None
                )

    def _persons(self, unit: str) -> str:
        """The release with the persons of its records; where it does not name them itself, by the key."""
        if unit in self.tables.release.categories:
            return self.release
        if not self._named:
            assert self.request.key is not None
            both = self.tables.original.relation, self.tables.release.relation
            self.db.run(
                Statement("persons", linked.persons(_PERSONS, *both, self.request.key, unit, self.quasi))
            )
            self._named = True
        return linked.temporary(_PERSONS)

    def _models(self, column: str) -> Iterable[MetricValue]:
        """What the tables reach, which a policy could have demanded; masked records are looked at too."""
        release, original = self.tables.release, self.tables.original
        in_order = release.categories[column] in _ORDERED
        after = Protected(release.relation, self.quasi, column, in_order, self.request.vghs.get(column))
        before = replace(after, table=original.relation)
        for model in CLASS_MODELS:
            originally = dict(model.reached_by(before)) if column in original.categories else {}
            for name, question in model.reached_by(after):
                yield self._reached(model, MetricValue(name, column), question, originally.get(name))

    def _reached(
        self, model: type[ClassModel], metric: MetricValue, question: Node, originally: Node | None
    ) -> MetricValue:
        [after] = self._single(metric, question)
        if after.value is not None and not isfinite(after.value):
            after = replace(after, value=None, note=model.infinite)
        if originally is None:
            return after
        [before] = self._single(metric, originally)
        is_finite = before.value is not None and isfinite(before.value)
        return replace(after, before=before.value if is_finite else None)

    def _disclosure(self, column: str) -> Iterable[MetricValue]:
        def rows(table: str, roots: Sequence[str] | None) -> list[tuple[Any, ...]]:
            return self.db.rows(
                Statement(
                    "disclosure",
                    _DISCLOSURE,
                    (table, self.quasi, column, roots),
                    answers=METRIC_ROWS,
                )
            )

        def disclosure() -> Iterable[MetricValue]:
            in_both = column in self.tables.original.categories
            before = {name: value for name, _, value, _ in (rows(self.original, None) if in_both else ())}
            for name, of_column, value, note in rows(self.release, self.roots):
                yield MetricValue(name, of_column, value, note, before.get(name))

        computed = values_or_reasons(self.db, GROUPS["disclosure"][:3], disclosure)
        return [replace(metric, column=column) for metric in computed]


def _mean(sizes: _Sizes) -> float | None:
    return sizes.records / sizes.classes if sizes.classes else None
