"""The study of GSL on any data: hierarchies of many qualities, scored beforehand, and each used to anonymize.

Nothing is published. The hierarchies are stored while the experiment lasts, and gone afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from anondb.compare.trial import Setting, Trial, run_trial
from anondb.db import study as stored
from anondb.db import vgh
from anondb.db.connection import Connection, Door, one_snapshot
from anondb.db.execute import Step
from anondb.db.introspect import column_categories, resolve_source
from anondb.errors import UnsatisfiableError, UsageError, did_you_mean
from anondb.hierarchies.build import build as build_vgh
from anondb.hierarchies.forms import StoredVgh
from anondb.methods.registry import METHODS, STUDIED, levelled
from anondb.policy.model import Column, Method, Name, Policy, Privacy, Role
from anondb.policy.names import parse_name
from anondb.run.linked_sql import relation_text
from anondb.run.pipeline import Silence
from anondb.run.plan import Options
from anondb.sqltree.tables import Relation
from anondb.study import synthetic_sets
from anondb.study.gsl_study import CLUSTERED, UTILITY, Judged, Outcome, Study
from anondb.study.perturb import worse_and_worse

MOST_TRIALS = 5_000

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class ExperimentRequest:
    """What to try: columns of a table, or without one a synthetic set."""

    table: str | None = None
    columns: tuple[str, ...] = ()
    set: str = "visits"
    hierarchies: int = 20
    k: tuple[int, ...] = (2, 5, 10, 20, 50, 100)
    algorithms: tuple[str, ...] = STUDIED
    measure: str = "wup"  # of the scores; the utility is measured as that of all releases
    ontology: str = "wordnet"
    suppression: float = 0.05  # without any, a single rare value takes all hierarchies to their common root
    seed: int = 7
    heuristic: str | None = None  # of algorithms that have several, instead of their first
    objective: str | None = None
    clusterings: bool = False  # what becomes of clusters is a utility too; that compares every two records


@dataclass(frozen=True)
class _Source:
    """The data, and the names of the hierarchies of each column, as many for each: the worse ones, then the built."""

    relation: Relation
    text: str  # for reports
    all_columns: tuple[str, ...]
    vghs: Mapping[str, Sequence[str]]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.vghs)

    @property
    def number(self) -> int:
        return min(map(len, self.vghs.values()))

    def of_place(self, place: int) -> list[str]:
        """One hierarchy for each column."""
        return [names[place] for names in self.vghs.values()]


class _Timer(Silence):
    """Counts the seconds of measuring the semantic utility: a trial also measures much else."""

    def __init__(self) -> None:
        self.utility = 0.0
        self._counts = True

    def step(self, step: Step) -> None:
        if step.stage == "evaluate" and self._counts:
            self.utility += step.ms / 1000
            self._counts = step.name != "utility"


@dataclass(frozen=True)
class _PlacedTrial:
    """A trial, and the place of its hierarchies among all that are judged."""

    place: int
    trial: Trial
    utility_seconds: float


def experiment(door: Door, request: ExperimentRequest, progress: Progress | None = None) -> Study:
    """Runs the study; what it has stored is removed also if it fails or is interrupted."""
    tell = progress or (lambda doing, share: None)
    _check(request)
    with stored.scratch_names(door) as scratch, door.open() as connection:
        source = _hierarchies(connection, request, scratch, tell)
        tell("judging the hierarchies", 0.06)
        started = time.perf_counter()
        aspects = {request.k[0]: _aspects(connection, request, source, request.k[0])}
        score_seconds = (
            time.perf_counter() - started
        )  # but for similarities that others have asked for before
        aspects |= {k: _aspects(connection, request, source, k) for k in request.k[1:]}
        judged = tuple(_judged(connection, request, source, place) for place in range(source.number))
        trials = _trials(connection, request, source, tell)
    outcomes, failures, records = _outcomes(trials, CLUSTERED if request.clusterings else {})
    return Study(
        source.text, source.columns, records, request.measure, request.seed, judged, tuple(outcomes), failures,
        aspects, score_seconds,
    )  # fmt: skip


def _check(request: ExperimentRequest) -> None:
    for name in request.algorithms:
        usable = [method.name for method in levelled()]
        if name not in usable:
            hint = did_you_mean(name, usable) or f"choose from {', '.join(usable)}"
            raise UsageError(f'no algorithm "{name}" generalizes by hierarchies', hint=hint)
    for key, word in (("heuristic", request.heuristic), ("objective", request.objective)):
        possible = sorted({one for name in request.algorithms for one in METHODS[name].options.get(key, ())})
        if word is not None and word not in possible:
            choices = f"choose from {', '.join(possible)}" if possible else f"no algorithm here has a {key}"
            raise UsageError(f'there is no {key} "{word[:80]}"', hint=did_you_mean(word, possible) or choices)
    if not request.algorithms or not request.k or min(request.k) < 1:
        raise UsageError("there is nothing to try", hint="give an algorithm, and k from 1 on")
    if request.hierarchies < 3:
        raise UsageError("fewer than three hierarchies have no correlation", hint="--hierarchies 20")
    if not 0 <= request.suppression < 1:
        raise UsageError(
            "suppression is the share of the records that may be left out", hint="0.02, for example"
        )
    if (request.table is None) != (not request.columns):
        raise UsageError(
            "a table needs a column, and a column a table", hint="give both --table and --column"
        )
    if len(set(request.columns)) < len(request.columns):
        raise UsageError("a column is named twice", hint="name each once")
    number = request.hierarchies * len(request.k) * len(request.algorithms)
    if number > MOST_TRIALS:
        raise UsageError(f"these are {number:,} trials", hint=f"try at most {MOST_TRIALS:,} at once")


def _hierarchies(connection: Connection, request: ExperimentRequest, scratch: str, tell: Progress) -> _Source:
    """Builds a hierarchy for each column, and stores it with ever worse ones."""
    table, columns, text = request.table, request.columns, request.table
    if table is None:
        tell("making the data", 0.0)
        made = synthetic_sets.make(connection, request.set, request.seed)
        table, columns, text = made.table, made.columns, f"the synthetic set {request.set}"
    relation = resolve_source(connection, parse_name(table))
    worse: dict[str, list[str]] = {}
    built: dict[str, list[str]] = {}
    for place, column in enumerate(columns):
        tell(f"building hierarchies of {column}", 0.01 + 0.05 * place / len(columns))
        to_build = build_vgh.BuildRequest(scratch + column, table, column, ontology=request.ontology)
        building = build_vgh.build(connection, to_build)
        if not building.meanings:
            raise UsageError(
                f'column "{column}" holds numbers, which have no meaning that could be lost',
                hint="name a column of words",
            )
        base = building.names[0]
        tables = worse_and_worse(vgh.fetch(connection, base), request.hierarchies, request.seed)
        if all(table == tables[0] for table in tables):
            raise UsageError(
                f'the hierarchy of "{column}" has no classes between which anything could be moved',
                hint="name a column of more, and more different, words",
            )
        named = {f"{base} {number}": table for number, table in enumerate(tables) if number}
        stored.store(connection, base, named, request.ontology)
        worse[column], built[column] = [base, *named], building.names
    # for the evaluator, as perturbed hierarchies have the same intervals and variance; columns with fewer repeat them
    others = range(1, min(request.hierarchies // 2 + 1, max(map(len, built.values()))))
    vghs = {
        column: [*names, *(built[column][place % len(built[column])] for place in others)]
        for column, names in worse.items()
    }
    every_column = tuple(column_categories(connection, relation))
    return _Source(relation, text or table, every_column, vghs)


def _aspects(
    connection: Connection, request: ExperimentRequest, source: _Source, k: int
) -> list[dict[str, float]]:
    """The aspects of each set of hierarchies: the mean over its columns, as the score of a set is."""
    table = relation_text(source.relation)
    of_columns = [
        stored.aspects(connection, names, k, request.measure, table, column)
        for column, names in source.vghs.items()
    ]
    return [
        {name: sum(trial[name] or 0.0 for trial in of_set) / len(of_set) for name in of_set[0]}
        for of_set in zip(*of_columns, strict=True)
    ]


def _judged(connection: Connection, request: ExperimentRequest, source: _Source, place: int) -> Judged:
    names, data = source.of_place(place), (relation_text(source.relation), source.columns)
    gsl = {
        "static max": stored.set_gsl(connection, names, request.measure, "max"),
        "static avg": stored.set_gsl(connection, names, request.measure, "avg"),
        "dynamic avg": stored.set_gsl(connection, names, request.measure, "avg", data),
    }
    is_built = place >= request.hierarchies
    name = f"built {place - request.hierarchies + 1}" if is_built else f"worse {place}" if place else "base"
    kind = "built" if is_built else "worse"
    return Judged(name, kind, gsl, stored.rating(connection, gsl["static max"]))


def _trials(
    connection: Connection, request: ExperimentRequest, source: _Source, tell: Progress
) -> list[_PlacedTrial]:
    """Every hierarchy with every algorithm and k, on the data of one moment."""
    trials = []
    settings = list(product(request.algorithms, request.k, range(source.number)))
    options = Options(evaluate="full" if request.clusterings else "basic")
    with one_snapshot(connection, "experimenting", undo=True):
        for number, (algorithm, k, place) in enumerate(settings):
            tell(f"{algorithm}, k = {k}, hierarchy {place + 1}", 0.1 + 0.9 * number / len(settings))
            policy = _policy(request, source, algorithm, k, place)
            timer = _Timer()
            trial = run_trial(connection, policy, Setting(algorithm, k, source.columns), options, timer)
            trials.append(_PlacedTrial(place, trial, timer.utility))
    return trials


def _policy(request: ExperimentRequest, source: _Source, algorithm: str, k: int, place: int) -> Policy:
    """Columns that the request does not name are left out."""
    vghs = dict(zip(source.columns, source.of_place(place), strict=True))
    columns = tuple(
        Column(name, Role.QUASI, StoredVgh(vghs[name])) if name in vghs else Column(name, Role.IDENTIFIER)
        for name in source.all_columns
    )
    known = METHODS[algorithm]
    chosen = {"heuristic": request.heuristic, "objective": request.objective}
    words: dict[str, Any] = {key: chosen.get(key) or possible[0] for key, possible in known.options.items()}
    method = Method(algorithm, **words)
    privacy = Privacy(k, request.suppression, nulls="suppress")
    relation = Name(source.relation.schema, source.relation.name)
    return Policy(relation, relation, privacy, method, columns, "", "experiment", "")


def _outcomes(
    trials: Sequence[_PlacedTrial], clustered: Mapping[str, str]
) -> tuple[list[Outcome], dict[str, str], int]:
    outcomes, failures, records = [], {}, 0
    for placed in trials:
        setting, result = placed.trial.setting, placed.trial.result
        figures = {} if result is None else result.all_metrics()
        if isinstance(placed.trial.error, UsageError):
            raise placed.trial.error
        if result is None or not figures.keys() >= {*UTILITY, *clustered.values()}:
            why = placed.trial.failure or "its utility could not be measured"
            failures[f"{setting.algorithm}, k = {setting.k}, hierarchy {placed.place + 1}"] = why
            continue
        records, seconds = result.records, result.seconds
        utility = {name: figures[name] for name in UTILITY}
        utility |= {loss: 1 - figures[metric] for loss, metric in clustered.items()}
        read = seconds["prepare"] + seconds["encode"]
        rest = seconds["search"] + seconds["publish"] + seconds["verify"] + placed.utility_seconds
        of = (placed.place, setting.algorithm, setting.k, result.levels, result.suppressed)
        outcomes.append(Outcome(*of, utility, read, rest))
    if not outcomes:
        raise UnsatisfiableError(
            f"no trial has a release: {next(iter(failures.values()))}", hint="ask for a smaller k"
        )
    return outcomes, failures, records
