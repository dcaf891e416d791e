"""Two tables that are to be compared, and whether they can be: an original, and a release that anyone has made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from anondb.db.connection import Connection
from anondb.db.introspect import column_categories, resolve_source
from anondb.errors import UsageError, did_you_mean
from anondb.evaluation.clusters import LARGEST_SAMPLE, SAMPLE
from anondb.policy.names import check_part, parse_name
from anondb.run.linked_sql import relation_text
from anondb.sqltree.tables import Relation


@dataclass(frozen=True)
class EvaluationRequest:
    """What a caller asks; tables as policies write them."""

    original: str
    release: str
    quasi: Sequence[str]
    key: str | None = None  # names a record in both tables
    vghs: Mapping[str, str] = field(default_factory=dict)  # column → stored hierarchy
    sensitive: Sequence[str] = ()
    population: str | None = None  # a table, generalized as the release
    fraction: float | None = None  # the share of the population that is in the tables
    sample: int | None = None  # records that are clustered
    clusters: int | None = None  # into which both are cut; else as many as suit the original best
    seed: int = 0
    roots: Sequence[str] | None = None  # the labels of a record that is suppressed by masking
    unit: str | None = None  # names the person, in the original and perhaps in the release
    ontologies: Mapping[str, str] = field(default_factory=dict)  # column → the one that knows its texts

    @property
    def sampled(self) -> int:
        return SAMPLE if self.sample is None else self.sample

    @property
    def quasi_ontologies(self) -> list[str | None]:
        return [self.ontologies.get(column) for column in self.quasi]

    @property
    def quasi_vghs(self) -> list[str | None]:
        return [self.vghs.get(column) for column in self.quasi]


@dataclass(frozen=True)
class Table:
    """A table that was found, for statements that take a regclass."""

    relation: Relation
    categories: Mapping[str, str]  # of the columns' types

    @property
    def text(self) -> str:
        return relation_text(self.relation)


@dataclass(frozen=True)
class Tables:
    original: Table
    release: Table
    population: Table | None = None


def look_up(connection: Connection, request: EvaluationRequest) -> Tables:
    """The tables, if what is asked of them makes sense."""
    for problem, hint in _contradictions(request):
        raise UsageError(problem, hint=hint)
    tables = Tables(
        _table(connection, request.original, "original"),
        _table(connection, request.release, "release"),
        None if request.population is None else _table(connection, request.population, "population"),
    )
    for problem, hint in _missing(request, tables):
        raise UsageError(problem, hint=hint)
    return tables


def _table(connection: Connection, name: str, role: str) -> Table:
    relation = resolve_source(connection, parse_name(name), role)
    return Table(relation, column_categories(connection, relation))


def _contradictions(request: EvaluationRequest) -> Iterator[tuple[str, str]]:
    """What is wrong whatever the tables are."""
    quasi, named = list(request.quasi), [*request.quasi, *request.sensitive]
    if not quasi:
        yield (
            "no quasi-identifier is named",
            "name the columns that people could be found by: --quasi age,zip",
        )
    for column in named + [column for column in (request.key, request.unit) if column is not None]:
        check_part(column)
    for column in dict.fromkeys(named):
        if named.count(column) > 1:
            yield f'"{column}" is named twice', "a column is a quasi-identifier or sensitive, once"
    for column in request.vghs:
        if column not in named:
            hint = did_you_mean(column, named) or "--vgh COLUMN=NAME is for columns that are evaluated"
            yield f'a hierarchy is given for "{column}", which is no quasi-identifier and not sensitive', hint
    for column in request.ontologies:
        if column not in quasi:
            hint = did_you_mean(column, quasi) or "--ontology COLUMN=NAME is for quasi-identifiers"
            yield f'an ontology is given for "{column}", which is no quasi-identifier', hint
        if column in request.vghs:
            yield (
                f'"{column}" has a hierarchy and an ontology',
                "give the one that its values are compared by",
            )
    if request.population is not None and request.fraction is not None:
        yield "a population table and a sampling fraction are given", "give the one that is known better"
    if request.fraction is not None and not 0 < request.fraction <= 1:
        yield (
            f"the sampling fraction is {request.fraction:g}",
            "it is a share of the population: above 0, up to 1",
        )
    if not 2 <= request.sampled <= LARGEST_SAMPLE:
        yield (
            f"a sample of {request.sampled} records cannot be clustered",
            f"take 2 to {LARGEST_SAMPLE:,} records",
        )
    if request.clusters is not None and not 1 <= request.clusters <= request.sampled:
        yield (
            f"{request.clusters} clusters of {request.sampled:,} records",
            "take 1 to as many as are clustered",
        )
    if not -(2**63) <= request.seed < 2**63:
        yield "the seed is too large", "take a whole number of up to 18 digits"
    if request.roots is not None and len(request.roots) != len(quasi):
        yield (
            f"{len(request.roots)} root labels are given, and {len(quasi)} quasi-identifiers",
            "give one for each quasi-identifier, in the same order",
        )


def _missing(request: EvaluationRequest, tables: Tables) -> Iterator[tuple[str, str]]:
    """Columns that the tables do not have."""
    both = (("original", request.original, tables.original), ("release", request.release, tables.release))
    for column in request.quasi:
        for role, name, table in both:
            if column not in table.categories:
                hint = did_you_mean(column, table.categories) or "quasi-identifiers have to be in both tables"
                yield f'quasi-identifier "{column}" is not in the {role} {name}', hint
        if tables.population is not None and column not in tables.population.categories:
            yield (
                f'quasi-identifier "{column}" is not in the population {request.population}',
                "it has the quasi-identifiers of the release, generalized as they are there",
            )
    for column in request.sensitive:
        if column not in tables.release.categories:
            hint = (
                did_you_mean(column, tables.release.categories)
                or "sensitive columns are those of the release"
            )
            yield f'sensitive column "{column}" is not in the release {request.release}', hint
    if request.unit is not None:
        if request.unit not in tables.original.categories:
            hint = did_you_mean(request.unit, tables.original.categories) or "it names the person of a record"
            yield f'the unit "{request.unit}" is not in the original {request.original}', hint
        if request.unit not in tables.release.categories and request.key is None:
            yield (
                f'the unit "{request.unit}" is not in the release {request.release}, so nobody knows whose '
                "its records are",
                "name a column that both tables have and that tells records apart: --key id",
            )
    if request.key is not None:
        for role, name, table in both:
            if request.key not in table.categories:
                yield (
                    f'the tables have no common key: "{request.key}" is not in the {role} {name}',
                    did_you_mean(request.key, table.categories)
                    or "without --key there are still the measures that need no link between the records",
                )
