"""Record fusion: its variants side by side on answers of the published shape, and 2,000 different pairs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from anondb.api import Database
from anondb.compare.trial import Setting, Trial
from anondb.db import ontology
from anondb.db.connection import Door
from anondb.db.execute import Step
from anondb.methods.fusion.fusion import VARIANTS
from anondb.ontology import wordnet
from anondb.policy.load import parse
from anondb.run.pipeline import Silence
from anondb.run.plan import Options as RunOptions
from benchmarks import machine, visits
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say
from benchmarks.visits import LARGE, PUBLISHED, Shape

CASES = (
    (PUBLISHED, VARIANTS, (2, 5, 10, 15), "full"),
    (LARGE, VARIANTS[:1], (2, 5), "basic"),
)

POLICY = """
source = "visits"
target = "visits_fused"
[privacy]
k = 2
[method]
algorithm = "fusion"
seed = 7
[columns]
reason = { role = "quasi", ontology = "wordnet" }
sight = { role = "quasi", ontology = "wordnet" }
"""

# what the authors compare their method by, and what it takes
FIGURES = (
    "semantic_quality",
    "discernibility",
    "record_linkage_text",
    "partition_distance",
    "tuples",
    "rare",
    "fusions",
    "changed",
    "classes",
    "seconds",
    "seconds_search",
    "seconds_evaluate",
)


class Rounds(Silence):
    """Listens to trials, and keeps what the rounds of each took, without what is computed before them."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def trial(self, setting: Setting, number: int, of: int) -> None:
        say(f"{number} of {of}: {setting.name}, k = {setting.k}")

    def step(self, step: Step) -> None:
        if step.name == "fuse":
            self.seconds.append(round(step.ms / 1000, 3))


def run(options: Options) -> dict[str, Any]:
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Database(Door(conninfo)) as db:
        say("loading WordNet")
        ontology.store(db.connection, "wordnet", wordnet.read())
        return {
            "benchmark": "fusion",
            "machine": machine.facts(db.connection),
            "cases": [_case(db, *case) for case in CASES],
        }


def _case(
    db: Database, shape: Shape, variants: tuple[str, ...], k: tuple[int, ...], evaluate: str
) -> dict[str, Any]:
    db.connection.execute("drop table if exists visits")
    visits.fill(db.connection, shape)
    rounds = Rounds()
    found = db.releases.compare(
        parse(POLICY), k=k, variants=variants, options=RunOptions(evaluate=evaluate), listener=rounds
    )
    trials = [
        _figures(trial) | {"seconds_rounds": seconds}
        for trial, seconds in zip(found.trials, rounds.seconds, strict=True)
    ]
    return {"shape": asdict(shape), "trials": trials}


def _figures(trial: Trial) -> dict[str, Any]:
    known = trial.metrics
    return {
        "variant": trial.setting.variant,
        "k": trial.setting.k,
        **{name: known[name] for name in FIGURES if known.get(name) is not None},
    }
