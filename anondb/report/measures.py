"""What the measures are called, what they mean in plain words, and which direction is good."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from anondb.report.model import Measure
from anondb.report.words import percent


class Definition(NamedTuple):
    label: str
    family: str
    better: str
    unit: str
    text: str


_U, _R = "utility", "risk"
_OF_SENSITIVE = "attribute_disclosure"  # their column is no part of a whole, but what they are about

DEFINITIONS = {
    # what the release is worth
    "gen_iloss": Definition(
        "Generalization loss", _U, "lower", "share",
        "GenILoss: how much of each value's range the released value leaves open, on average over all cells. "
        "0% is the original, 100% means that nothing is told.",
    ),
    "sem_iloss": Definition(
        "Semantic loss", _U, "lower", "share",
        "SemILoss: the mean semantic distance between original and released values, by an ontology. 0% means "
        "that no meaning is lost.",
    ),
    "semantic_sse": Definition(
        "Semantic squared error", _U, "lower", "number",
        "The sum over the records of the squared mean semantic distance between original and release.",
    ),
    "texts": Definition("Texts", "", "", "count", "Of the source's records, each once in a record."),
    "texts_unmapped": Definition(
        "Texts dropped", _U, "lower", "count",
        "Texts that mean no concept of the ontology, counted in each record that has them. They are never released.",
    ),
    "semantic_quality": Definition(
        "Semantic quality", _U, "higher", "share",
        "The mean semantic similarity of original and released values. 100% means that no meaning is lost.",
    ),
    "discernibility": Definition(
        "Discernibility", _U, "lower", "count",
        "DM: each record counts the records that it cannot be told apart from; a suppressed record counts "
        "the whole table.",
    ),
    "average_class_size": Definition(
        "Average class size", _U, "lower", "number",
        "C_AVG: how many times larger than k the classes are on average. 1 is the best there is.",
    ),
    "information_loss": Definition(
        "Information loss", _U, "lower", "share",
        "How unsure a reader is of a record's sensitive value: the mean of (its share of the class - 1)², and 100% "
        "for each record that was left out.",
    ),
    "dot": Definition(
        "Diversity of classes", _U, "higher", "number",
        "DOT: the mean over the classes of the summed distances of their sensitive values in the hierarchy, by "
        "the size of the class.",
    ),
    "dod_min": Definition(
        "Least diverse class", _U, "higher", "number",
        "DOD: the summed distances of a class's sensitive values, by its size, where they are least.",
    ),
    "dod_max": Definition("Most diverse class", _U, "higher", "number", "DOD where it is greatest."),
    "suppressed_share": Definition(
        "Suppressed share", _U, "lower", "share", "The share of the records that were left out."
    ),
    "precision": Definition(
        "Precision", _U, "higher", "share",
        "1 minus the mean of level / height over the cells: how low in their hierarchies the released "
        "values stand.",
    ),
    "non_uniform_entropy": Definition(
        "Non-uniform entropy", _U, "lower", "share",
        "How uncertain the original value is once the released one is known, as a share of the most there "
        "could be. Hiding a rare value among frequent ones costs more than the other way round.",
    ),
    "rand": Definition(
        "Rand index", _U, "higher", "share",
        "The share of pairs of records on which a clustering of the originals and one of the release agree.",
    ),
    "wallace_1": Definition(
        "Wallace I", _U, "higher", "share",
        "Of the pairs that lie together among the originals, the share that still does in the release.",
    ),
    "wallace_2": Definition(
        "Wallace II", _U, "higher", "share",
        "Of the pairs that lie together in the release, the share that does among the originals.",
    ),
    "nmi": Definition(
        "Normalized mutual information", _U, "higher", "share",
        "How much the clustering of the release tells of the clustering of the originals.",
    ),
    "partition_distance": Definition(
        "Partition distance", _U, "lower", "share",
        "How far the clusterings of originals and release lie apart. 0% means that they are the same.",
    ),
    # what it gives away
    "prosecutor_max": Definition(
        "Highest risk of a record", _R, "lower", "share",
        "Prosecutor risk: an attacker knows that a person is in the release, and the quasi-identifiers. This "
        "is the chance to pick the right record in the smallest class.",
    ),
    "prosecutor_mean": Definition(
        "Average risk of a record", _R, "lower", "share",
        "Prosecutor risk, as the mean over all records.",
    ),
    "prosecutor_above": Definition(
        "Records at risk above", _R, "lower", "share",
        "Prosecutor risk: the share of records whose chance to be picked is above the threshold.",
    ),
    "journalist_max": Definition(
        "Highest journalist risk", _R, "lower", "share",
        "As the prosecutor's, but the attacker does not know who of the population is in the release.",
    ),
    "journalist_mean": Definition(
        "Average journalist risk", _R, "lower", "share",
        "Journalist risk, as the mean over all records.",
    ),
    "journalist_above": Definition(
        "Journalist risk above", _R, "lower", "share",
        "Journalist risk: the share of records whose chance to be picked is above the threshold.",
    ),
    "marketer": Definition(
        "Marketer risk", _R, "lower", "share",
        "The share of all records that an attacker links rightly who links every one of them.",
    ),
    "sample_uniques": Definition(
        "Unique records", _R, "lower", "count",
        "Records that look like no other record of the table.",
    ),
    "population_uniques": Definition(
        "Unique in the population", _R, "lower", "count",
        "Records that look like no other person of the population, counted or estimated.",
    ),
    "record_linkage_text": Definition(
        "Record linkage by text", _R, "lower", "percent",
        "The share of released records that are linked to their original by equal values. Generalized "
        "values equal none, so read it together with linkage by coverage.",
    ),
    "record_linkage_coverage": Definition(
        "Record linkage by coverage", _R, "lower", "percent",
        "The share of released records that are linked to their original by values that contain it.",
    ),
    "record_linkage_semantic": Definition(
        "Linkage by meaning", _R, "lower", "percent",
        "The share of released records whose original is the nearest record by semantic distance.",
    ),
    "record_linkage_hierarchy": Definition(
        "Linkage by hierarchy", _R, "lower", "percent",
        "The share of released records whose original is the nearest record by distance in the hierarchies.",
    ),
    "risk_contribution": Definition(
        "Share in the risk", _R, "lower", "share",
        "How much the average risk would fall if the column were not released.",
    ),
    "attribute_disclosure_max": Definition(
        "Surest sensitive guess", _R, "lower", "share",
        "The share of the most frequent sensitive value in the class that gives away most.",
    ),
    "attribute_disclosure_mean": Definition(
        "Average sensitive guess", _R, "lower", "share",
        "How often the most frequent sensitive value of a record's class is its own.",
    ),
    "attribute_disclosure_certain": Definition(
        "Certain sensitive value", _R, "lower", "share",
        "The share of records in classes where all sensitive values are the same.",
    ),
    "attribute_disclosure_above": Definition(
        "Sensitive guess surer than", _R, "lower", "share",
        "The share of records in classes whose most frequent sensitive value has a share above the threshold.",
    ),
    # of the runs of a comparison
    "seconds": Definition(
        "Seconds", "", "lower", "number",
        "From the first look at the source to the verified release; the evaluation is not counted.",
    ),
    "bytes": Definition("Scratch", "", "lower", "bytes", "What the run's tables took on the server."),
    "client_bytes": Definition(
        "Client memory", "", "lower", "bytes", "The most memory of the process that ran anondb, all of it counted."
    ),
    "records": Definition("Records", "", "", "count", "Of the source."),
    "released": Definition("Released", "", "higher", "count", "Records of the release."),
    "k_reached": Definition("k reached", "", "", "count", "The size of the smallest class."),
    "lattice": Definition("Lattice", "", "", "count", "All combinations of levels that there are."),
    "class_size": Definition("Class size", "", "", "number", "Records in a class."),
    "classes": Definition("Classes", "", "higher", "count", "Groups of records that look the same."),
    "suppressed": Definition("Suppressed", "", "lower", "count", "Records that were left out."),
    "checks": Definition("Nodes checked", "", "lower", "count", "Combinations of levels that were tried."),
    "iterations": Definition("Iterations", "", "", "count", "Steps of the algorithm."),
    "generalizations": Definition(
        "Generalizations", "", "lower", "count", "By how many levels the columns were raised, all together."
    ),
    "tuples": Definition("Combinations", "", "", "count", "Different combinations of values, by their meaning."),
    "rare": Definition("Rare combinations", "", "", "count", "Those that fewer than k records had."),
    "fusions": Definition("Fusions", "", "lower", "count", "Combinations that took the values of another."),
    "changed": Definition("Changed records", "", "lower", "count", "Those that took the values of another."),
    "partitions": Definition(
        "Partitions", "", "higher", "count", "Groups that no cut divides; those of the same labels are one class."
    ),
    "partitioned": Definition("Columns cut", "", "", "count", "Quasi-identifiers by which records were split."),
}  # fmt: skip


def definition(name: str) -> Definition:
    """Of a measure, also one with a threshold in its name; an unknown one says its name alone."""
    known = _known(name)
    if known is None:
        return Definition(name.replace("_", " "), "", "", "number", "")
    found, threshold = DEFINITIONS[known], name[len(known) + 1 :]
    return found._replace(label=f"{found.label} {_threshold(threshold)}") if threshold else found


def place(name: str) -> int | None:
    """Where a measure of utility or risk stands among them all; None for any other figure."""
    known = _known(name)
    if known is None or not DEFINITIONS[known].family:
        return None
    return list(DEFINITIONS).index(known)


def _known(name: str) -> str | None:
    if name in DEFINITIONS:
        return name
    return max((known for known in DEFINITIONS if name.startswith(f"{known}_")), key=len, default=None)


def _threshold(text: str) -> str:
    try:
        return percent(float(text))
    except ValueError:
        return text.replace("_", " ")


def measure(
    name: str,
    after: float | None = None,
    *,
    before: float | None = None,
    column: str | None = None,
    note: str = "",
    family: str = "",
) -> Measure:
    """A figure with its definition; `family` is for measures that are not known here."""
    found = definition(name)
    if column is not None and name.startswith(_OF_SENSITIVE):
        return replace(
            measure(name, after, before=before, note=note), label=f"{found.label}: {column}", about=column
        )
    return Measure(
        name=name,
        label=found.label,
        definition=found.text,
        family=family or found.family or _U,
        better=found.better,
        unit=found.unit,
        before=before,
        after=after,
        column=column,
        note=note,
    )
