"""The dynamic study of GSL: each hierarchy on data drawn from its own worst and best branch, scored and anonymized."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from anondb.compare.trial import Setting, run_trial
from anondb.db import study as stored
from anondb.db import vgh
from anondb.db.connection import Connection, Door, one_snapshot
from anondb.db.introspect import resolve_source
from anondb.errors import UnsatisfiableError, UsageError
from anondb.hierarchies.build import build as build_vgh
from anondb.hierarchies.forms import StoredVgh, VghTable
from anondb.methods.registry import FIRST, METHODS
from anondb.policy.model import Column, Method, Name, Policy, Privacy, Role
from anondb.policy.names import parse_name
from anondb.run.linked_sql import relation_text
from anondb.run.pipeline import Silence
from anondb.run.plan import Options
from anondb.sqltree.tables import Relation
from anondb.study import synthetic_sets
from anondb.study.dynamic_data import (
    RECORDS,
    SCENARIOS,
    Branches,
    branches,
    drawn,
    ks_by_release,
    mean_by_level,
)
from anondb.study.dynamic_study import DynamicOutcome, DynamicStudy
from anondb.study.experiment import Progress
from anondb.study.gsl_study import UTILITY
from anondb.study.perturb import perturbed

COLUMN = "occupation"
OCCUPATIONS = 60
FEWEST = 3
MOST = 252
"""Hierarchies of the published study."""


@dataclass(frozen=True)
class DynamicRequest:
    hierarchies: int = 60
    measure: str = "wup"
    suppression: float = 0.05
    seed: int = 7
    heuristic: str | None = None


def dynamic_experiment(door: Door, request: DynamicRequest, progress: Progress | None = None) -> DynamicStudy:
    """Runs the study; what it has stored is removed also if it fails or is interrupted."""
    tell = progress or (lambda doing, share: None)
    if not FEWEST <= request.hierarchies <= MOST:
        raise UsageError(f"the dynamic study takes {FEWEST} to {MOST} hierarchies", hint="--hierarchies 60")
    with stored.scratch_names(door) as scratch, door.open() as connection:
        tell("building the hierarchies", 0.0)
        names = _hierarchies(connection, request, scratch)
        relation = resolve_source(connection, parse_name(synthetic_sets.TABLE))
        outcomes: list[DynamicOutcome] = []
        height = 0
        for place, name in enumerate(names):
            tell(f"hierarchy {place + 1} of {len(names)}", 0.1 + 0.9 * place / len(names))
            table = vgh.fetch(connection, name)
            height = max(height, table.height)
            parts = branches(table, stored.leaf_losses(connection, name, request.measure))
            if parts is not None:
                outcomes += _of_hierarchy(connection, request, relation, place, name, table, parts)
    if not outcomes:
        raise UnsatisfiableError(
            "no hierarchy has a level of three branches", hint="try another seed: --seed 8"
        )
    return DynamicStudy(len(names), height, RECORDS, request.measure, request.seed, tuple(outcomes))


def _hierarchies(connection: Connection, request: DynamicRequest, scratch: str) -> list[str]:
    """Hierarchies of 60 occupations: candidates with other ancestors, and ever more mixed ones of each of them."""
    words = synthetic_sets.occupations(connection, OCCUPATIONS, request.seed)
    synthetic_sets.fill(connection, words)
    building = build_vgh.build(
        connection, build_vgh.BuildRequest(scratch + COLUMN, synthetic_sets.TABLE, synthetic_sets.COLUMNS[0])
    )
    tables = {name: vgh.fetch(connection, name) for name in building.names}
    # the fewest levels: each of them can then be reached by some k, as in the source
    height = min(table.height for table in tables.values() if table.height >= FEWEST)
    bases = [name for name, table in tables.items() if table.height == height]
    # the same bases for each degree of mixing, so that ancestors and leaves vary independently
    random.Random(request.seed).shuffle(bases)
    bases = bases[: max(1, request.hierarchies // 6)]
    names: list[str] = list(bases)
    degrees = -(-request.hierarchies // len(bases))
    for degree in range(1, degrees):
        for base in bases:
            if len(names) == request.hierarchies:
                break
            share = (degree / degrees) ** 2
            mixed = perturbed(tables[base], share, height - 1, request.seed + len(names))
            name = f"{scratch}mixed {len(names)}"
            stored.store(connection, base, {name: mixed}, "wordnet")
            names.append(name)
    return names[: request.hierarchies]


def _of_hierarchy(
    connection: Connection,
    request: DynamicRequest,
    relation: Relation,
    place: int,
    name: str,
    table: VghTable,
    parts: Branches,
) -> list[DynamicOutcome]:
    outcomes = []
    static = stored.set_gsl(connection, [name], request.measure, "avg")
    of = (relation_text(relation), [synthetic_sets.COLUMNS[0]])
    for number, scenario in enumerate(SCENARIOS):
        values = drawn(parts, scenario, request.seed * 1_000_003 + place * len(SCENARIOS) + number)
        synthetic_sets.fill(connection, values)
        dynamic = stored.set_gsl(connection, [name], request.measure, "avg", of)
        ks = ks_by_release(table, values, int(request.suppression * RECORDS))
        with one_snapshot(connection, "experimenting", undo=True):
            utilities = {
                release: _utility(connection, request, relation, name, of_release[0])
                for release, of_release in ks.items()
            }
        utility = {
            metric: mean_by_level({release: one[metric] for release, one in utilities.items()}, ks)
            for metric in UTILITY
        }
        levels: dict[int, int] = {}
        for (level, _), of_release in ks.items():
            levels[level] = levels.get(level, 0) + len(of_release)
        outcomes.append(DynamicOutcome(place, scenario.name, dynamic, static, utility, levels))
    return outcomes


def _utility(
    connection: Connection, request: DynamicRequest, relation: Relation, name: str, k: int
) -> Mapping[str, float]:
    column, other = synthetic_sets.COLUMNS
    columns = (Column(column, Role.QUASI, StoredVgh(name)), Column(other, Role.IDENTIFIER))
    words: dict[str, str] = {key: first for key, (first, *_) in METHODS[FIRST].options.items()}
    if request.heuristic is not None:
        words["heuristic"] = request.heuristic
    place = Name(relation.schema, relation.name)
    policy = Policy(
        place,
        place,
        Privacy(k, request.suppression),
        Method(FIRST, **words),  # type: ignore[arg-type]
        columns,
        "",
        "experiment",
        "",
    )
    trial = run_trial(connection, policy, Setting(FIRST, k, (column,)), Options(), Silence())
    if trial.result is None:
        raise trial.error or UnsatisfiableError("a trial has no release", hint="try another seed")
    metrics = trial.result.all_metrics()
    return {metric: metrics[metric] for metric in UTILITY}
