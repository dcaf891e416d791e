"""Microaggregation of sets of texts: records with their concepts, classes around centroids, synthetic records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anondb.errors import UnsatisfiableError, UsageError
from anondb.evaluation.metric_value import MetricValue
from anondb.methods.mdav import beside_sql, mdav
from anondb.methods.mdav import sql as sets
from anondb.methods.mdav.diversity import Diversity
from anondb.methods.mdav.figures import SetFigures
from anondb.methods.mdav.words import SetsFound
from anondb.methods.method import Job
from anondb.models.k_anonymity import MEANING, KAnonymity
from anondb.ontology.model import normal_term
from anondb.ontology.phrases import STOP_WORDS
from anondb.ontology.phrases import tagger as find_tagger
from anondb.policy.model import Column, Policy
from anondb.run.encode import take_keys
from anondb.run.encode_sql import analyze
from anondb.run.kept_columns import KeptColumns
from anondb.run.result import Result
from anondb.run.statement import CLASS_COUNTS, MANY, Statement, no_rows, row
from anondb.run.verify import Published, verify
from anondb.sqltree.build import fill_scratch
from anondb.sqltree.tables import Quasi

_UNKNOWN_TEXTS = "select t from anondb.mdav_unknown_texts(variadic $1) as t"
_ITEMS = "select i.mapped, i.unmapped, i.unmapped_distinct from anondb.mdav_items(variadic $1) as i"
_COUNTS = "select count(distinct i.record), count(distinct i.concept) from mdav_item as i"
_DISTANCES = "select anondb.mdav_distances($1, $2)"
_PARTITION = "select anondb.mdav_partition($1)"
_CENTROIDS = "select anondb.mdav_centroids($1, $2)"
_MIX = "select anondb.mdav_mix($1, $2)"
_TELL = "select anondb.mdav_tell($1)"
_SYNTHETIC = "select anondb.mdav_synthetic($1, $2)"


@dataclass(frozen=True)
class Sets:
    """The sets of a source, as far as Python needs to know them."""

    records: int
    with_concepts: int  # records
    concepts: int  # different ones
    texts: int  # of records, each once
    unmapped: int  # those of them that mean nothing to the ontology
    tagger: str | None  # that found nouns in texts, where there was need


class Microaggregation:
    """The process of mdav, whose one quasi-identifier is a set of texts."""

    found: Sets
    share: mdav.Share
    written: int
    published: Published
    metric_values: tuple[MetricValue, ...] = ()
    report: dict[str, object]

    def __init__(self, job: Job) -> None:
        self.job, self.db, self.plan, self.fresh = job, job.db, job.plan, job.fresh
        self.names = job.plan.scratch(job.run)
        self.diversity = Diversity(job, self.names)

    @property
    def policy(self) -> Policy:
        return self.plan.policy

    @property
    def column(self) -> Quasi:
        """The set."""
        return next(quasi for quasi in self.plan.quasi if quasi.name == self._set.name)

    @property
    def _set(self) -> Column:
        return next(column for column in self.policy.quasi if column.is_set)

    @property
    def beside(self) -> list[Quasi]:
        """Quasi-identifiers beside the set."""
        return [quasi for quasi in self.plan.quasi if quasi.name != self._set.name]

    @property
    def quasi(self) -> list[str]:
        return [quasi.name for quasi in self.plan.quasi]

    @property
    def ontologies(self) -> list[str]:
        """In order of preference."""
        return list(self._set.ontology) or [mdav.ONTOLOGY]

    @property
    def draw(self) -> str:
        return self.policy.method.draw or mdav.DRAWS[0]

    @property
    def by_text(self) -> bool:
        """Whether records of a class are released with the same texts, and not only with the same meaning."""
        return self.draw == "class"

    @property
    def stop_words(self) -> Sequence[str]:
        said = self._set.stop_words
        return STOP_WORDS if said is None else said

    def encode(self) -> None:
        """The one pass over the source, and the concepts of its texts."""
        db, plan, names = self.db, self.plan, self.names
        take_keys(db, self.job.engine, plan, names)
        kept = [*plan.kept, *(quasi.column for quasi in self.beside)]
        self.job.engine.copy_records(
            "records", lambda source: sets.records(names, source, kept, self.column, plan.items)
        )
        [records, *_] = db.one(Statement("count records", sets.counts(names), answers=row(records=MANY)))
        db.run(Statement("texts", sets.texts(names, plan.items)))
        db.run(Statement("text statistics", analyze(sets.TEXTS)))
        # the only values that come out of the database: each once, and without a record
        unknown = [
            str(text)
            for (text, *_) in db.rows(
                Statement("unknown texts", _UNKNOWN_TEXTS, (self.ontologies,), answers=no_rows("text"))
            )
        ]
        tagger, phrases = tagged(unknown, self.stop_words)
        db.copy(Statement("phrases", fill_scratch(sets.PHRASES)), phrases)
        db.run(Statement("phrase statistics", analyze(sets.PHRASES)))
        mapped, unmapped, *_ = db.one(
            Statement(
                "items", _ITEMS, (self.ontologies,), answers=row(mapped=MANY, unmapped=1, unmapped_distinct=1)
            )
        )
        with_concepts, concepts, *_ = db.one(
            Statement("count items", _COUNTS, answers=row(records=MANY, concepts=1))
        )
        self.found = Sets(records, with_concepts, concepts, mapped + unmapped, unmapped, tagger)
        self.share = mdav.share(records, with_concepts, self.policy.privacy.k)

    def search(self) -> None:
        """Distances of records, the classes that they make, and what of their centroids k records have."""
        self._refuse_impossible()
        self.diversity.prepare()
        method, k = self.policy.method, self.policy.privacy.k
        measure = mdav.MEASURES[method.variant or mdav.VARIANTS[0]]
        self.db.run(Statement("distances", _DISTANCES, (method.distance or mdav.DISTANCES[0], measure)))
        if self.beside:
            self.db.run(Statement("values", beside_sql.values(self.names, self.beside, len(self.plan.kept))))
            weights = [method.weight(quasi.name) for quasi in self.beside]
            self.db.run(Statement("mix", _MIX, (method.weight(self.column.name), weights)))
        self.db.run(Statement("partition", _PARTITION, (k,)))
        self.share = self.diversity.see_to(self.share)
        self._refuse_suppression()
        self.db.run(Statement("centroids", _CENTROIDS, (k, self.ontologies)))

    def publish(self) -> None:
        """Writes the synthetic records."""
        share, fresh, method, columns = self.share, self.fresh, self.policy.method, self.plan.columns
        self.db.run(Statement("synthetic records", _SYNTHETIC, (method.seed, self.draw)))
        if self.beside:
            self.db.run(Statement("values of classes", _TELL, (self.policy.privacy.k,)))
        insert = sets.insert_release(
            self.names,
            fresh,
            columns,
            self.column,
            self.beside,
            with_concepts=share.with_concepts > 0,
            without=share.without > 0,
        )
        self.written = self.job.engine.insert_rows("insert release", insert)

    def measure(self) -> None:
        """Classes are counted as anybody can; terms of which each record has its own are looked up again for that.

        What single terms mean is looked up again in any case.
        """
        k = self.policy.privacy.k
        rows, classes, smallest, largest, squares = self._count_classes()
        rare_terms = sets.rare_terms(self.fresh, self.column, k, self.ontologies)
        [[rare]] = self.job.engine.ask_release("rare terms", rare_terms, row(terms=0))
        for quasi in self.beside:
            question = beside_sql.rare_values(self.fresh, quasi, k)
            [more] = self.db.one(Statement(f"rare values {quasi.code}", question, answers=row(values=0)))
            rare += more
        reached = self.diversity.reached(self.fresh, self.quasi) if rows else ()
        self.published = Published(rows, classes, smallest, largest, squares, reached, rare=int(rare))

    def _count_classes(self) -> tuple[int, ...]:
        if self.by_text:
            return self.job.engine.count_written(self.fresh, self.quasi)
        count = sets.class_figures(self.fresh, self.column, self.ontologies)
        [sizes] = self.job.engine.ask_release("count classes", count, CLASS_COUNTS)
        return tuple(map(int, sizes))

    def verify(self) -> None:
        expected = self.found.records - self.share.suppressed
        verify(self.policy.privacy, self.published, self.written, expected)
        if self.published.rows == 0 and not self.job.options.allow_empty:
            raise UnsatisfiableError(
                "every record would be suppressed", hint="lower suppression or k; --allow-empty publishes it"
            )

    def kept(self) -> list[KeptColumns]:
        return [(self.fresh, self.plan.kept)]

    @property
    def class_columns(self) -> list[str]:
        return [quasi.name for quasi in self.plan.quasi]

    def evaluate(self) -> None:
        self.report = self._account()
        if self.job.options.evaluate != "none" and self.published.rows:
            linked = SetFigures(
                self.db, self.plan, self.names, self.share, self.column, self.beside, self.by_text
            )
            linked.link()
            self.metric_values = tuple(linked.all(self.published))
            self.report |= linked.sizes()

    @property
    def promise(self) -> str:
        return f"k = {self.policy.privacy.k}"

    def result(self, seconds: dict[str, float]) -> Result:
        found, published = self.found, self.published
        by_concept = None if self.by_text else (self.column.name, self.ontologies)
        merged = self.diversity.merged
        finding = SetsFound(found.concepts, found.texts, found.unmapped, by_concept, merged)
        texts = {"texts": float(found.texts), "texts_unmapped": float(found.unmapped)}
        return Result.of(
            self.job,
            finding,
            seconds,
            quasi=tuple(self.quasi),
            records=found.records,
            released=published.rows,
            suppressed=self.share.suppressed,
            classes=published.classes,
            k=published.smallest,
            metrics={**published.class_sizes(), **self._reached(), **texts},
            metric_values=self.metric_values,
            report=self.report,
        )

    def _reached(self) -> Mapping[str, float]:
        return self.published.reached(self.policy.privacy) if self.published.rows else {}

    def _models(self) -> Iterable[dict[str, Any]]:
        pairs = zip(self.diversity.judged, self.published.models, strict=True)
        return (one.model.account(reached) for one, reached in pairs)

    def show_search(self) -> None:
        self.search()

    def _refuse_impossible(self) -> None:
        """Raises where the source is empty, or no release could have classes of k."""
        policy, found, k = self.policy, self.found, self.policy.privacy.k
        if found.records == 0 and not self.job.options.allow_empty:
            raise UsageError(
                f"source {policy.source} is empty",
                hint="is it the right table? --allow-empty publishes an empty release",
            )
        if 0 < found.records < k:
            raise UnsatisfiableError(
                f"k = {k} is larger than the source, which has {found.records} records",
                hint="lower k, or add records",
            )
        self._refuse_suppression()

    def _refuse_suppression(self) -> None:
        """Raises where more records would be left out than the policy allows."""
        policy, found, share, k = self.policy, self.found, self.share, self.policy.privacy.k
        if share.suppressed > policy.privacy.may_suppress(found.records):
            without = found.records - found.with_concepts
            raise UnsatisfiableError(
                f"{found.with_concepts} records have texts that the ontology knows and {without} have none; "
                f"{share.suppressed} would have to be suppressed, as they are fewer than k = {k}",
                hint="allow it with suppression, or say what texts mean: select anondb.map_term('text', 'concept')",
            )

    def _account(self) -> dict[str, object]:
        """What a report shows that only the run knows."""
        policy, published, ontologies = self.policy, self.published, ", then ".join(self.ontologies)
        found, share = self.found, self.share
        by = "" if found.tagger is None else f", whose nouns {found.tagger} found"
        meaning = {"hierarchy": f"no hierarchy: concepts of {ontologies} for {found.texts:,} texts{by}"}
        counts = {
            "without a text that has a concept": found.records - found.with_concepts - share.without,
            "with concepts, but fewer than k": found.with_concepts - share.with_concepts,
        }
        reasons = {reason: records for reason, records in counts.items() if records}
        reached = KAnonymity(policy.privacy.k).account(published.smallest)
        if not self.by_text:
            reached |= {"variant": MEANING}
        return {
            "columns": [
                {"name": column.name, "role": str(column.role)} | (meaning if column.is_set else {})
                for column in policy.columns
            ],
            "models": [reached, *self._models()] if published.rows else [],
            "suppression": {
                "allowed": policy.privacy.suppression,
                "how": policy.privacy.suppress,
                "reasons": reasons,
            },
            "lattice": None,
        }


def tagged(
    texts: Sequence[str], stop_words: Iterable[str] = STOP_WORDS
) -> tuple[str | None, Iterable[tuple[str, str]]]:
    """The phrases of texts, and who found them; nobody, where there is no text."""
    if not texts:
        return None, ()
    tagger, left_out = find_tagger(), frozenset(map(normal_term, stop_words))
    return tagger.name, ((text, phrase) for text in texts for phrase in tagger.phrases(text, left_out))
