"""The stages of linked tables: one level for each column of each table, and persons or rows that are left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from anondb.errors import UnsatisfiableError
from anondb.evaluation.metric_value import MetricValue
from anondb.methods.full_domain import linked_search as searching
from anondb.methods.full_domain.linked_search import LinkedSearch
from anondb.methods.full_domain.linked_words import TablesFound
from anondb.methods.full_domain.method import FullDomain
from anondb.methods.method import Job
from anondb.methods.outcome import Levels
from anondb.models import sql as models_of
from anondb.models.k_anonymity import KAnonymity
from anondb.models.model import ClassModel
from anondb.models.sql import Judged, Models
from anondb.policy.model import Role
from anondb.run import encode as single
from anondb.run import shared_sql
from anondb.run.account import binned, in_words
from anondb.run.encode_sql import analyze
from anondb.run.engines import engine_of
from anondb.run.frequency_sql import Counted
from anondb.run.kept_columns import KeptColumns
from anondb.run.linked import choices_sql, encode, models_sql, places, places_sql, publish_sql
from anondb.run.linked.choices import Choices
from anondb.run.linked.encode import EncodedTables
from anondb.run.linked.left_out import LeftOut
from anondb.run.linked.models_sql import LowerDiversity
from anondb.run.linked.plan import LinkedPlan, LinkedScratch, TablePlan
from anondb.run.linked.verify import PublishedTables, measure, verify
from anondb.run.plan import Options
from anondb.run.result import Result
from anondb.run.statement import SIZES, Statement
from anondb.sqltree.tables import Relation, Sensitive


class LinkedTables:
    """What the stages find, each keeps for the next."""

    encoded: EncodedTables
    looked_in: LinkedSearch
    outcome: Levels
    out: LeftOut
    written: tuple[int, ...]
    published: PublishedTables
    report: dict[str, Any]
    metric_values: tuple[MetricValue, ...] = ()
    models: Models | None = None
    nulls: tuple[int, ...] = ()  # the codes of NULL of the sensitive columns

    def __init__(self, job: Job, method: FullDomain, linked: LinkedPlan) -> None:
        self.job, self.method, self.linked = job, method, linked
        self.db, self.plan, self.privacy = job.db, job.plan, job.plan.policy.privacy
        self.names = LinkedScratch(job.run)
        self.fresh: Relation = job.fresh
        self.standing = False  # the rows were copied to where the release stands
        self.lower = tuple(
            LowerDiversity(table, model)
            for table in linked.lower
            for model in table.plan.policy.privacy.models
            if isinstance(model, ClassModel)
        )

    def encode(self) -> None:
        self.encoded = encode.encode(self.job, self.linked, self.names)
        if self.linked.root.plan.sensitive:
            self._encode_sensitive()
        for one in self.lower:
            values = models_sql.lower_values(self.names, one)
            self.db.run(Statement(f"values of {one.table.label}", values))
            self.db.run(Statement("value statistics", analyze(self.names.values_of(one.table))))

    def _encode_sensitive(self) -> None:
        """The sensitive columns of the persons' own rows, which models are demanded of."""
        db, names = self.db, self.names.sensitive
        plan = replace(self.linked.root.plan, quasi=(), unit=None)
        engine_of(db, plan).count_combinations(names)
        found: list[Sensitive] = []
        nulls: list[int] = []
        for declared in plan.sensitive:
            sensitive = single.prepare_hierarchy(db, plan, names, declared)
            labels, has_null = single.dictionary(db, names, sensitive, self.job.options)
            found.append(sensitive)
            nulls.append(labels[0] - has_null + 1)
        self.nulls = tuple(nulls)
        db.run(Statement("own values", models_sql.own_values(self.names, self.linked.root, found, nulls)))
        db.run(Statement("own value statistics", analyze(self.names.values)))
        by_name = {s.name: s for s in found}
        judged = tuple(
            Judged(model, by_name[model.column])
            for model in plan.policy.privacy.models
            if isinstance(model, ClassModel)
        )
        self.models = Models(Counted((), tuple(found), counts="bigint"), self.privacy.k, judged)
        db.run(Statement("nobody is left out yet", choices_sql.nobody(self.names)))
        for s in {one.sensitive: None for one in self.models.relative}:
            db.run(Statement(f"totals {s.code}", models_sql.totals(self.names, s)))
        for s in {one.sensitive: None for one in judged if one.model.by_tree}:
            ancestors = models_of.ancestors(names, s, nulls[s.number - 1])
            db.run(Statement(f"ancestors {s.code}", ancestors))
        db.run(Statement("forget nobody", places_sql.drop(self.names, [self.names.gone])))

    def search(self) -> None:
        if 0 < self.encoded.persons < self.privacy.k:
            raise UnsatisfiableError(
                f"k = {self.privacy.k} is larger than the table: {self.encoded.persons} persons to release",
                hint="lower k, or take a larger table",
            )
        self._set_up(self.job.options)
        options = self.job.options
        self.outcome = searching.find(self.method, self.plan, self.linked, self.looked_in, options)
        self._settle()

    def show_search(self) -> None:
        self._set_up(Options())
        self.outcome = Levels(self.looked_in.lattice.grid.lowest, 0)
        self._settle()

    def _set_up(self, options: Options) -> None:
        choices = Choices(
            self.db, self.linked, self.names, self.encoded, self.privacy, self.models, self.lower
        )
        self.looked_in = searching.prepare(
            self.db, self.plan, self.linked, self.names, self.encoded, choices, options
        )

    def _settle(self) -> None:
        """Afterwards the scratch tables tell who is left out at the node that was chosen."""
        self.out = self.looked_in.asking.choices.settled(self.outcome.levels)

    def publish(self) -> None:
        written = []
        for table in self.linked.tables:
            for declared in table.plan.quasi:
                q, level = self.encoded.quasi(declared.number), self.outcome.levels[declared.number - 1]
                if level < q.height:
                    labels = publish_sql.labels(self.names, q, self.names.column(q), level)
                    self.db.run(Statement(f"labels of {table.label} {q.code}", labels))
                    self.db.run(
                        Statement("label statistics", places_sql.analyze(self.names, self.names.labels(q)))
                    )
            written.append(self._write(table))
        self.written = tuple(written)

    def _write(self, table: TablePlan) -> int:
        engine, fresh, step = self.job.engine, table.fresh(self.fresh), f"insert release {table.label}"
        several = bool(self.names.several_processes) and shared_sql.can_make(table.plan.places[0].columns)
        rows = publish_sql.released_rows(
            self.names,
            self.linked,
            self.encoded.words,
            self.outcome.levels,
            table,
            by_rows=self.privacy.suppress == "rows",
            typed=several,
        )
        if several:
            return engine.make_rows(step, fresh, rows)
        return engine.insert_rows(step, publish_sql.insert(table, fresh, rows))

    def measure(self) -> None:
        fresh = None if self.fresh == self.plan.target else self.fresh
        if self.models is not None and self.fresh != self.plan.target:
            models_sql.refresh(self.db, self.names, self.models)
        self.published = measure(
            self.job, self.linked, self.names, fresh, self.models, self.lower, self.nulls
        )

    def verify(self) -> None:
        expected = [
            table.rows - gone for table, gone in zip(self.encoded.tables, self.out.tables, strict=True)
        ]
        verify(self.privacy, self.published, self.written, expected)
        if self.published.persons == 0 and not self.job.options.allow_empty:
            raise UnsatisfiableError(
                "every person would be left out",
                hint="lower suppression or k; --allow-empty publishes an empty release",
            )

    def kept(self) -> list[KeptColumns]:
        return [(table.fresh(self.fresh), table.plan.kept) for table in self.linked.tables]

    @property
    def class_columns(self) -> list[str]:
        return []

    def evaluate(self) -> None:
        self.rows_of_persons = {table.label: self._profile(table) for table in self.linked.lower}
        if self.job.options.evaluate != "none":
            self.metric_values = tuple(self._metrics())
        self.report = self._account()
        places.forget(self.db, self.names)

    def _profile(self, table: TablePlan) -> list[tuple[int, int]]:
        """How many released persons have how many rows in a table."""
        by_rows = self.privacy.suppress == "rows"
        step = f"rows of persons in {table.label}"
        if table.parent == self.linked.root.number:
            question = publish_sql.rows_of_keys(table, table.fresh(self.fresh))
            sizes = self.job.engine.ask_release(step, question, SIZES)
        else:
            question = publish_sql.rows_of_persons(self.names, table, by_rows=by_rows)
            sizes = self.db.rows(Statement(step, question, answers=SIZES))
        none = self.published.persons - sum(persons for _, persons in sizes)
        return [(0, none)] * (none > 0) + binned(sizes, 1)

    def _metrics(self) -> list[MetricValue]:
        levels, k = self.outcome.levels, self.published.k
        means, _ = searching.costs_of(self.db, self.names, self.linked, self.encoded)
        found = [
            MetricValue("gen_iloss", table.column(q.name), means[q.number - 1][levels[q.number - 1]])
            for table, q in self.linked.quasi()
        ]
        for table, q in self.linked.quasi():
            height = self.encoded.quasi(q.number).height
            found.append(
                MetricValue("precision", table.column(q.name), 1 - levels[q.number - 1] / max(height, 1))
            )
        persons = self.encoded.persons
        found.append(MetricValue("suppressed_share", value=self.out.persons / persons if persons else 0.0))
        note = "of a person, by all that may be known"
        found.append(MetricValue("prosecutor_max", value=1 / k if k else None, note=note))
        return found

    def _account(self) -> dict[str, Any]:
        reasons = {"whom, or whose rows, fewer than k persons match": self.out.persons}
        k = KAnonymity(self.privacy.k, "persons")
        return {
            "columns": [entry for table in self.linked.tables for entry in self._columns(table)],
            "models": [k.account(self.published.k)]
            + [one.model.account(one.figure) | {"column": one.column} for one in self.published.models],
            "suppression": {
                "allowed": self.privacy.suppression,
                "how": "remove",
                "reasons": {why: n for why, n in reasons.items() if n},
            },
            "lattice": None,
        }

    def _columns(self, table: TablePlan) -> list[dict[str, Any]]:
        levels = {q.name: self.outcome.levels[q.number - 1] for q in table.plan.quasi}
        heights = {q.name: self.encoded.quasi(q.number).height for q in table.plan.quasi}
        entries = []
        for column in table.plan.policy.columns:
            entry: dict[str, Any] = {"name": table.column(column.name), "role": str(column.role)}
            if column.role is Role.QUASI:
                entry |= {
                    "hierarchy": in_words(column.hierarchy),
                    "height": heights[column.name],
                    "level": levels[column.name],
                }
            entries.append(entry)
        return entries

    @property
    def promise(self) -> str:
        return f"k = {self.privacy.k}, knows = {self.privacy.knows}"

    def result(self, seconds: dict[str, float]) -> Result:
        published, encoded = self.published, self.encoded
        finding = TablesFound.of(
            self.linked,
            self.looked_in,
            self.outcome,
            encoded,
            self.out,
            published,
            self.rows_of_persons,
            self.privacy,
        )
        count, smallest, largest = published.classes
        return Result.of(
            self.job,
            finding,
            seconds,
            quasi=tuple(q.name for q in self.linked.root.plan.quasi),
            records=encoded.persons,
            released=published.persons,
            suppressed=self.out.persons,
            classes=count,
            k=published.k,
            metrics={
                "class_size_min": float(smallest),
                "class_size_mean": published.persons / count if count else 0.0,
                "class_size_max": float(largest),
                "persons_min": float(published.k),
                **{f"{one.model.metric}:{one.column}": one.figure for one in published.models},
            },
            metric_values=self.metric_values,
            report=self.report,
        )
