"""Builds the hierarchies of a column: from the meaning of its values, or from the distribution of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from anondb.db.connection import Connection
from anondb.db.execute import Executor
from anondb.errors import UsageError
from anondb.hierarchies.build import aika, number_ranges, queries
from anondb.hierarchies.build.concept_table import leaf_label, understood
from anondb.policy.names import parse_name

LEAST_KNOWN = 0.5
"""The share of the distinct values that must be known: a hierarchy of the others would be a list below its root."""

NEARLY_ALL = 0.9
"""If one class holds this share of the values, the others were perhaps misread: "Crow" among birds may be a people."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class SenseChoice:
    """A meaning that a value could have: the key of its concept, and what that is."""

    concept: str
    meaning: str


Ask = Callable[[Mapping[str, Sequence[SenseChoice]]], Mapping[str, str]]
"""Is given the values whose senses nothing tells apart; returns what some of them mean (value → term, key or id)."""


@dataclass(frozen=True)
class BuildRequest:
    """What to build: `senses` says what values mean (value → term, key or id), before anything is looked up."""

    name: str
    table: str
    column: str
    options: aika.Options = field(default_factory=aika.Options)
    ontology: str = "wordnet"
    bound: float = 0.8
    senses: Mapping[str, str] = field(default_factory=dict)
    replace: bool = False
    ask: Ask | None = None


@dataclass(frozen=True)
class BuiltCandidate:
    """A candidate as it was stored, and how it was made of the base."""

    name: str
    made_by: tuple[str, ...]


@dataclass(frozen=True)
class ValueMeaning:
    """A value and what it was taken for; concept is none where the ontology does not know it."""

    value: str
    concept: str | None
    how: str
    confidence: float
    senses: int

    is_ambiguous: bool = False
    is_apart: bool = False  # nearly all others are in a class that it is not in, and it has other senses


@dataclass(frozen=True)
class Building:
    """The candidates that were built, and what the values were taken for; nothing for numbers."""

    name: str
    candidates: tuple[BuiltCandidate, ...]
    values: int
    meanings: tuple[ValueMeaning, ...] = ()
    meets_at_root: bool = False  # no class below the root holds all values that are known

    @property
    def names(self) -> list[str]:
        return [candidate.name for candidate in self.candidates]

    @property
    def unknown(self) -> list[str]:
        return [meaning.value for meaning in self.meanings if meaning.concept is None]

    @property
    def ambiguous(self) -> list[ValueMeaning]:
        return [meaning for meaning in self.meanings if meaning.is_ambiguous]

    @property
    def apart(self) -> list[ValueMeaning]:
        return [meaning for meaning in self.meanings if meaning.is_apart and not meaning.is_ambiguous]


def build(connection: Connection, request: BuildRequest, progress: Progress | None = None) -> Building:
    """Builds and stores the base hierarchy of a column and its candidates, all or none."""
    return build_watched(Executor(connection, lambda step: None), request, progress)


def build_watched(db: Executor, request: BuildRequest, progress: Progress | None = None) -> Building:
    """The same for a run, which keeps every statement."""
    tell = progress or (lambda doing, share: None)
    _check(request)
    source = queries.find_column(db, parse_name(request.table), request.column)
    old = queries.candidates(db, request.name)
    if old and not request.replace:
        raise UsageError(f'hierarchy "{old[0]}" exists', hint="give --replace to build it anew")
    if source.category == "D":
        raise UsageError(
            f"column {request.table}.{request.column} holds dates, which need no hierarchy to be built",
            hint="write hierarchy = { dates = true } in the policy",
        )
    tell("reading the values", 0.0)
    values = queries.values(db, source)
    if len(values) < 2:
        number = "one distinct value" if values else "no values"
        raise UsageError(
            f"column {request.table}.{request.column} has {number}, and nothing to generalize",
            hint='write hierarchy = { mask = "all" } in the policy',
        )
    if source.category == "N":
        return _of_numbers(db, request, values, old)
    return _of_meanings(db, request, values, old, tell)


def _of_numbers(
    db: Executor, request: BuildRequest, values: Mapping[str, int], old: Sequence[str]
) -> Building:
    tables = number_ranges.hierarchies(values, request.options.k)
    distinct = {table: way for way, table in reversed(tables.items())}  # the first of equal ones
    names = _names(request.name, len(distinct))
    ordered = [(way, table) for way, table in tables.items() if distinct[table] == way]
    built = {name: queries.Built(table, None) for name, (_, table) in zip(names, ordered, strict=True)}
    queries.store(db, built, request.ontology, replace=old)
    made = (BuiltCandidate(name, (way,)) for name, (way, _) in zip(names, ordered, strict=True))
    return Building(request.name, tuple(made), len(values))


def _of_meanings(
    db: Executor, request: BuildRequest, values: Mapping[str, int], old: Sequence[str], tell: Progress
) -> Building:
    tell("understanding the values", 0.05)
    senses = _senses(db, request, list(values))
    if len(senses) < LEAST_KNOWN * len(values):
        share = len(senses) / len(values)
        raise UsageError(
            f'ontology "{request.ontology}" knows {share:.0%} of the {len(values)} distinct values of '
            f"{request.table}.{request.column}: too few for a hierarchy of their meanings",
            hint='codes mean nothing: mask them (hierarchy = { mask = "right" }); for words, '
            "name another ontology, or say what they mean (--senses FILE, anondb ontology map)",
        )
    tell("reading hypernyms", 0.3)
    above = queries.hypernyms(db, sorted({sense.concept for sense in senses.values()}))
    _check_one_kind(above)
    hypernyms = {
        hypernym.concept: aika.Concept(hypernym.key, hypernym.depth, tuple(hypernym.parents))
        for hypernym in above
    }
    names = {hypernym.concept: [hypernym.label, *hypernym.names] for hypernym in above}
    labels = list(values)
    concepts = tuple(senses[label].concept if label in senses else None for label in labels)
    column = aika.Values(concepts, tuple(values.values()))
    root = aika.base(column, hypernyms)
    alternatives: dict[int, list[int]] = {}
    if request.options.perspectives:
        tell("looking for perspectives", 0.4)
        used = sorted({node.concept for node in aika.inner(root) if node.concept is not None})
        for concept, other, label in queries.perspectives(db, used, request.bound):
            alternatives.setdefault(concept, []).append(other)
            names.setdefault(other, [label])
    tell("building candidates", 0.5)
    trees = aika.candidates(root, column, hypernyms, alternatives, request.options)
    stems = _names(request.name, len(trees))
    built = {}
    for name, candidate in zip(stems, trees, strict=True):
        made = understood(candidate.tree, labels, concepts, names)
        built[name] = queries.Built(made.table, made.concepts)
    tell("storing candidates", 0.6)
    queries.store(db, built, request.ontology, replace=old)
    tell("done", 1.0)
    candidates = (BuiltCandidate(name, made.made_by) for name, made in zip(stems, trees, strict=True))
    keys = {concept: hypernym.key for concept, hypernym in hypernyms.items()}
    apart = values_apart(root)
    meanings = (
        _meaning(label, senses.get(label), keys, is_apart=leaf in apart) for leaf, label in enumerate(labels)
    )
    known = [child for child in root.children if not isinstance(child, int) or concepts[child] is not None]
    return Building(request.name, tuple(candidates), len(values), tuple(meanings), len(known) > 1)


def _senses(db: Executor, request: BuildRequest, labels: Sequence[str]) -> dict[str, queries.ValueSense]:
    """What each known value means; what the user says goes first."""
    strangers = request.senses.keys() - set(labels)
    if strangers:
        raise UsageError(
            f"{len(strangers)} of the senses are of values that the column does not have",
            hint="write values as the column has them",
        )
    given = {label: _given(db, request, label, term) for label, term in request.senses.items()}
    # a value that looks as if it named a sense, as a code may, does not
    terms = [label for label in labels if label not in given and leaf_label(label) == label]
    senses = given | queries.senses(db, terms, request.ontology)
    unsure = [label for label, sense in senses.items() if sense.is_ambiguous]
    if request.ask is None or not unsure:
        return senses
    choices: dict[str, list[SenseChoice]] = {label: [] for label in unsure}
    for label, concept, meaning in queries.sense_choices(db, unsure, request.ontology):
        choices[label].append(SenseChoice(concept, meaning))
    return senses | {label: _given(db, request, label, term) for label, term in request.ask(choices).items()}


def _given(db: Executor, request: BuildRequest, label: str, term: str) -> queries.ValueSense:
    return queries.ValueSense(label, queries.find_concept(db, term, request.ontology), "given", 1.0, 1)


def _meaning(
    value: str, sense: queries.ValueSense | None, keys: Mapping[int, str], *, is_apart: bool
) -> ValueMeaning:
    if sense is None:
        return ValueMeaning(value, None, "unknown", 0.0, 0)
    doubtful = is_apart and sense.senses > 1
    how = (keys[sense.concept], sense.how, sense.confidence, sense.senses)
    return ValueMeaning(value, *how, sense.is_ambiguous, doubtful)


def values_apart(root: aika.Branch) -> set[int]:
    """The values outside the lowest class that holds nearly all of them."""
    everything = set(aika.leaves(root))
    held = [set(aika.leaves(node)) for node in aika.inner(root)]
    return everything - min((some for some in held if len(some) >= NEARLY_ALL * len(everything)), key=len)


def _check(request: BuildRequest) -> None:
    options = request.options
    if not request.name.strip():
        raise UsageError("a hierarchy needs a name", hint="anondb vgh build NAME --table T --column C")
    if options.k < 1:
        raise UsageError(f"k is {options.k}", hint="k counts records: 1 or more")
    if not 0 < options.levels <= 1:
        raise UsageError("the share of levels to keep is above 0 % and at most 100 %", hint="--levels 75%")
    if options.perspectives < 0:
        raise UsageError("the number of perspectives is negative", hint="--perspectives 0 makes none")
    if not 0 <= request.bound <= 1:
        raise UsageError("the similarity bound of perspectives lies between 0 and 1", hint="--bound 0.8")


def _check_one_kind(above: Sequence[queries.Hypernym]) -> None:
    if len({hypernym.pos for hypernym in above}) > 1:
        raise UsageError(
            "the values are nouns and verbs, which share no generalization",
            hint="say what the verbs mean as things: --senses FILE",
        )


def _names(name: str, number: int) -> list[str]:
    return [f"{name}.base", *(f"{name}.{place}" for place in range(1, number))]
