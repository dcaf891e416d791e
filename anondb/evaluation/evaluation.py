"""What is known of a release: the figures that its run kept, or those of two tables, in one form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from anondb.db.kept_runs import KeptRun
from anondb.errors import UsageError
from anondb.evaluation.figure import Figure, by_column, by_key, notes

# of utility, these need to know whose record is whose
LINKED_UTILITY = (
    "gen_iloss", "precision", "non_uniform_entropy", "sem_iloss", "semantic_quality", "semantic_sse",
)  # fmt: skip
# Measures as people read them, by family and in order; a threshold or a column may follow the name.
FAMILIES = {
    "models": (
        "class_size_min", "class_size_mean", "class_size_max", "persons_min", "l_diversity", "t_closeness",
        "le_diversity",
    ),
    "utility": (
        "texts", "texts_unmapped", *LINKED_UTILITY, "discernibility", "average_class_size", "information_loss",
        "dot", "dod_min", "dod_max", "suppressed_share",
    ),
    "clusters": ("rand", "wallace_1", "wallace_2", "nmi", "partition_distance"),
    "linkage": (
        "record_linkage_text", "record_linkage_coverage", "record_linkage_hierarchy", "record_linkage_semantic",
    ),
    "risk": (
        "prosecutor_max", "prosecutor_mean", "prosecutor_above", "journalist_max", "journalist_mean",
        "journalist_above", "marketer", "sample_uniques", "population_uniques", "risk_contribution",
    ),
    "disclosure": (
        "attribute_disclosure_mean", "attribute_disclosure_max", "attribute_disclosure_certain",
        "attribute_disclosure_above",
    ),
}  # fmt: skip
OF_LINK = (*LINKED_UTILITY, *FAMILIES["linkage"])
_PLACES = {
    stem: (place, family)
    for place, (family, stem) in enumerate((f, stem) for f, stems in FAMILIES.items() for stem in stems)
}
_OF_EVERY_RUN = (
    "class_size",
    "persons_min",
    "l_diversity",
    "t_closeness",
    "le_diversity",
    "texts",
)  # also of one that is not evaluated


@dataclass(frozen=True)
class Evaluation:
    """The figures of a release, in the order of FAMILIES."""

    original: str
    release: str
    records: int
    released: int
    suppressed: int
    classes: int
    k: int  # reached
    figures: tuple[Figure, ...]
    run: int | None = None  # of ours, that made it
    algorithm: str | None = None
    finished: str | None = None  # when, as ISO 8601 has it

    def as_json(self) -> dict[str, Any]:
        """The object that `anondb evaluate --json` prints; metrics and notes as `anondb run --json` has them."""
        facts = {name: value for name, value in vars(self).items() if name != "figures" and value is not None}
        return {
            **facts,
            "metrics": by_key(by_column(self.figures)),
            "notes": notes(self.figures),
            "figures": [{"family": family_of(figure.name), **asdict(figure)} for figure in self.figures],
        }

    def figure(self, name: str) -> Figure | None:
        """The figure of the whole release."""
        return next((f for f in self.figures if f.name == name and f.column is None), None)


def family_of(name: str) -> str:
    """Where a measure belongs; one that is not known here is of utility."""
    return _place(name)[1]


def ordered(figures: Iterable[Figure]) -> tuple[Figure, ...]:
    """As people read them; those of one measure keep their order."""
    return tuple(sorted(figures, key=lambda figure: (_place(figure.name)[0], figure.name)))


def _place(name: str) -> tuple[int, str]:
    known = (stem for stem in _PLACES if name == stem or name.startswith(f"{stem}_"))
    stem = max(known, key=len, default=None)
    return (len(_PLACES), "utility") if stem is None else _PLACES[stem]


def of_run(kept: KeptRun) -> Evaluation:
    """What a run kept of its release."""
    if all(name.startswith(_OF_EVERY_RUN) for name, _ in kept.metrics):
        raise _not_evaluated(kept)
    facts = {name: kept.result[name] for name in ("records", "released", "suppressed", "classes", "k")}
    return Evaluation(
        kept.source,
        kept.target,
        **facts,
        figures=ordered(_kept_figures(kept)),
        run=kept.run,
        algorithm=kept.algorithm,
        finished=None if kept.finished_at is None else kept.finished_at.isoformat(timespec="seconds"),
    )


def _not_evaluated(kept: KeptRun) -> UsageError:
    if not kept.result.get("released", 1):
        return UsageError(
            f"run {kept.run} released no records, so there is nothing to evaluate",
            hint="raise suppression or lower k in the policy, and run it again",
        )
    return UsageError(
        f"run {kept.run} was not evaluated",
        hint="run its policy again with --evaluate basic or full, while the link to the originals is known; "
        "or compare two tables: anondb evaluate --original … --release … --quasi …",
    )


def _kept_figures(kept: KeptRun) -> Iterable[Figure]:
    """Puts values, what they were before, and notes together again."""
    metrics = {_named(name, column): value for (name, column), value in kept.metrics.items()}
    said = {_named(key, ""): note for key, note in kept.result.get("notes", {}).items()}
    before = {key: _without_before(key) for key in metrics if key[0].endswith("_before")}
    keys = {*said, *(key for key in metrics if key not in before), *before.values()}
    befores = {of: metrics[key] for key, of in before.items()}
    columns = [column["name"] for column in kept.result.get("report", {}).get("columns", ())]
    places = {column: place for place, column in enumerate(columns)}
    for key in sorted(keys, key=lambda key: (places.get(key[1], -1), key)):
        name, column = key
        yield Figure(name, column or None, metrics.get(key), said.get(key), befores.get(key))


def _named(name: str, column: str) -> tuple[str, str]:
    """Name and column of a figure; some are kept with the column in their name, as JSON has it."""
    if column:
        return name, column
    measure, _, of_column = name.partition(":")
    return measure, of_column


def _without_before(key: tuple[str, str]) -> tuple[str, str]:
    return key[0].removesuffix("_before"), key[1]
