"""The one catalogue of metrics, in the order in which people read them.

A new metric is an entry here and the code that computes it: evaluation, terminal, JSON, report and comparison read it.
What is reached of a privacy model is a metric that the model itself declares.
"""

from __future__ import annotations

from dataclasses import replace

from anondb.evaluation.metric import Metric
from anondb.models.registry import SENSITIVE_MODELS

CATALOGUE = (
    # what the release keeps of the privacy models
    Metric("class_size_min", "k: smallest class", "models", "higher", "count", "release",
           "Records of the smallest class."),
    Metric("class_size_mean", "Mean class", "models", "none", "number", "release",
           "Records of a class, on average."),
    Metric("class_size_max", "Largest class", "models", "none", "count", "release",
           "Records of the largest class."),
    Metric("persons_min", "k: fewest persons in a class", "models", "higher", "count", "release",
           "The fewest different persons in a class."),
    Metric("star_matches_min", "Matches where * is anything", "models", "higher", "count", "release",
           "The fewest records that a released one agrees with where neither has a star, itself among them. This is "
           "not k-anonymity."),
    *[metric for model in SENSITIVE_MODELS for metric in model.metrics],
    # what it is worth
    Metric("texts", "Texts", "utility", "none", "count", "run",
           "Of the source's records, each once in a record."),
    Metric(
        "texts_unmapped", "Texts dropped", "utility", "lower", "count", "run",
        "Texts that mean no concept of the ontology, counted in each record that has them. They are never released.",
    ),
    Metric(
        "gen_iloss", "Generalization loss", "utility", "lower", "share", "column",
        "GenILoss: how much of each value's range the released value leaves open, on average over all cells. 0% is "
        "the original, 100% means that nothing is told.",
        linked=True,
    ),
    Metric(
        "precision", "Precision", "utility", "higher", "share", "column",
        "1 minus the mean of level / height over the cells: how low in their hierarchies the released values stand.",
        linked=True,
    ),
    Metric(
        "non_uniform_entropy", "Non-uniform entropy", "utility", "lower", "share", "column",
        "How uncertain the original value is once the released one is known, as a share of the most there could be. "
        "Hiding a rare value among frequent ones costs more than the other way round.",
        linked=True,
    ),
    Metric(
        "sem_iloss", "Semantic loss", "utility", "lower", "share", "column",
        "SemILoss: the mean semantic distance between original and released values, by an ontology. 0% means that "
        "no meaning is lost.",
        linked=True,
    ),
    Metric(
        "semantic_quality", "Semantic quality", "utility", "higher", "share", "column",
        "The mean semantic similarity of original and released values. 100% means that no meaning is lost.",
        linked=True,
    ),
    Metric(
        "semantic_sse", "Semantic squared error", "utility", "lower", "number", "release",
        "The sum over the records of the squared mean semantic distance between original and release.",
        linked=True,
    ),
    Metric(
        "discernibility", "Discernibility", "utility", "lower", "count", "release",
        "DM: each record counts the records that it cannot be told apart from; a suppressed record counts the whole "
        "table.",
    ),
    Metric("average_class_size", "Average class size", "utility", "lower", "number", "release",
           "C_AVG: how many times larger than k the classes are on average. 1 is the best there is."),
    Metric(
        "information_loss", "Information loss", "utility", "lower", "share", "release",
        "How unsure a reader is of a record's sensitive value: the mean of (its share of the class - 1)², and 100% "
        "for each record that was left out.",
    ),
    Metric(
        "information_loss_sum", "Information loss, sum", "utility", "lower", "number", "release",
        "The same summed over all records, as Wang, Han and Wang count it: 1 for each record that was left out.",
    ),
    Metric(
        "dot", "Diversity of classes", "utility", "higher", "number", "release",
        "DOT: the mean over the classes of the summed distances of their sensitive values in the hierarchy, by the "
        "size of the class.",
    ),
    Metric("dod_min", "Least diverse class", "utility", "higher", "number", "release",
           "DOD: the summed distances of a class's sensitive values, by its size, where they are least."),
    Metric("dod_max", "Most diverse class", "utility", "higher", "number", "release",
           "DOD where it is greatest."),
    Metric("suppressed_share", "Suppressed share", "utility", "lower", "share", "release",
           "The share of the records that were left out."),
    # what computing with its numbers gives: of columns that are released changed, or as numbers of their class
    Metric("value_mean", "Mean of", "values", "none", "number", "numbers",
           "The mean of a column of numbers that the release has changed, in the source and in the release."),
    Metric("value_deviation", "Standard deviation of", "values", "none", "number", "numbers",
           "How far the numbers of a column lie from their mean, in the source and in the release."),
    Metric("value_correlation", "Correlation of", "values", "none", "number", "numbers",
           "Pearson's correlation with another column of numbers: the one with which it has changed most."),
    Metric(
        "value_loss", "Values moved in", "values", "lower", "share", "numbers",
        "The mean square by which values moved, as a share of what it would be if all records had exchanged theirs: "
        "0% is the original, and 100% tells nothing of a record.",
    ),
    # whether its groups are those of the originals
    Metric("rand", "Rand index", "clusters", "higher", "share", "release",
           "The share of pairs of records on which a clustering of the originals and one of the release agree."),
    Metric("wallace_1", "Wallace I", "clusters", "higher", "share", "release",
           "Of the pairs that lie together among the originals, the share that still does in the release."),
    Metric("wallace_2", "Wallace II", "clusters", "higher", "share", "release",
           "Of the pairs that lie together in the release, the share that does among the originals."),
    Metric("nmi", "Normalized mutual information", "clusters", "higher", "share", "release",
           "How much the clustering of the release tells of the clustering of the originals."),
    Metric("partition_distance", "Partition distance", "clusters", "lower", "share", "release",
           "How far the clusterings of originals and release lie apart. 0% means that they are the same."),
    # who finds an original again
    Metric(
        "record_linkage_text", "Record linkage by text", "linkage", "lower", "percent", "release",
        "The share of released records that are linked to their original by equal values. Generalized values equal "
        "none, so read it together with linkage by coverage.",
        linked=True,
    ),
    Metric(
        "record_linkage_coverage", "Record linkage by coverage", "linkage", "lower", "percent", "release",
        "The share of released records that are linked to their original by values that contain it.",
        linked=True,
    ),
    Metric(
        "record_linkage_hierarchy", "Linkage by hierarchy", "linkage", "lower", "percent", "release",
        "The share of released records whose original is the nearest record by distance in the hierarchies.",
        linked=True,
    ),
    Metric(
        "record_linkage_semantic", "Linkage by meaning", "linkage", "lower", "percent", "release",
        "The share of released records whose original is the nearest record by semantic distance.",
        linked=True,
    ),
    # how surely a record is the right one
    Metric(
        "prosecutor_max", "Highest risk of a record", "risk", "lower", "share", "release",
        "Prosecutor risk: an attacker knows that a person is in the release, and the quasi-identifiers. This is the "
        "chance to pick the right record in the smallest class.",
    ),
    Metric("prosecutor_mean", "Average risk of a record", "risk", "lower", "share", "release",
           "Prosecutor risk, as the mean over all records."),
    Metric(
        "prosecutor_above", "Records at risk above", "risk", "lower", "share", "release",
        "Prosecutor risk: the share of records whose chance to be picked is above the threshold.",
        suffix="threshold",
    ),
    Metric("journalist_max", "Highest journalist risk", "risk", "lower", "share", "release",
           "As the prosecutor's, but the attacker does not know who of the population is in the release."),
    Metric("journalist_mean", "Average journalist risk", "risk", "lower", "share", "release",
           "Journalist risk, as the mean over all records."),
    Metric(
        "journalist_above", "Journalist risk above", "risk", "lower", "share", "release",
        "Journalist risk: the share of records whose chance to be picked is above the threshold.",
        suffix="threshold",
    ),
    Metric("marketer", "Marketer risk", "risk", "lower", "share", "release",
           "The share of all records that an attacker links rightly who links every one of them."),
    Metric("sample_uniques", "Unique records", "risk", "lower", "count", "release",
           "Records that look like no other record of the table."),
    Metric("population_uniques", "Unique in the population", "risk", "lower", "count", "release",
           "Records that look like no other person of the population, counted or estimated."),
    Metric("risk_contribution", "Share in the risk", "risk", "lower", "share", "column",
           "How much the average risk would fall if the column were not released."),
    # how surely a class gives away its sensitive value
    Metric("attribute_disclosure_mean", "Average sensitive guess", "disclosure", "lower", "share", "sensitive column",
           "How often the most frequent sensitive value of a record's class is its own."),
    Metric("attribute_disclosure_max", "Surest sensitive guess", "disclosure", "lower", "share", "sensitive column",
           "The share of the most frequent sensitive value in the class that gives away most."),
    Metric(
        "attribute_disclosure_certain", "Certain sensitive value", "disclosure", "lower", "share", "sensitive column",
        "The share of records in classes where all sensitive values are the same.",
    ),
    Metric(
        "attribute_disclosure_above", "Sensitive guess surer than", "disclosure", "lower", "share", "sensitive column",
        "The share of records in classes whose most frequent sensitive value has a share above the threshold.",
        suffix="threshold",
    ),
    # what a run did and took; a comparison shows it
    Metric(
        "seconds", "Seconds", "run", "lower", "number", "run",
        "From the first look at the source to the verified release; the evaluation is not counted.",
        suffix="stage",
    ),
    Metric("bytes", "Scratch", "run", "lower", "bytes", "run",
           "What the run's tables took on the server."),
    Metric("client_bytes", "Client memory", "run", "lower", "bytes", "run",
           "The most memory of the process that ran anondb, all of it counted."),
    Metric("records", "Records", "run", "none", "count", "run",
           "Of the source."),
    Metric("released", "Released", "run", "higher", "count", "run",
           "Records of the release."),
    Metric("k_reached", "k reached", "run", "none", "count", "run",
           "The size of the smallest class."),
    Metric("lattice", "Lattice", "run", "none", "count", "run",
           "All combinations of levels that there are."),
    Metric("classes", "Classes", "run", "higher", "count", "run",
           "Groups of records that look the same."),
    Metric("suppressed", "Suppressed", "run", "lower", "count", "run",
           "Records that were left out."),
    Metric("checks", "Nodes checked", "run", "lower", "count", "run",
           "Combinations of levels that were tried."),
    Metric("iterations", "Iterations", "run", "none", "count", "run",
           "Steps of the algorithm."),
    Metric("generalizations", "Generalizations", "run", "lower", "count", "run",
           "By how many levels the columns were raised, all together."),
    Metric("tuples", "Combinations", "run", "none", "count", "run",
           "Different combinations of values, by their meaning."),
    Metric("rare", "Rare combinations", "run", "none", "count", "run",
           "Those that fewer than k records had."),
    Metric("fusions", "Fusions", "run", "lower", "count", "run",
           "Combinations that took the values of another."),
    Metric("changed", "Changed records", "run", "lower", "count", "run",
           "Those that took the values of another."),
    Metric("partitions", "Partitions", "run", "higher", "count", "run",
           "Groups that no cut divides; those of the same labels are one class."),
    Metric("partitioned", "Columns cut", "run", "none", "count", "run",
           "Quasi-identifiers by which records were split."),
)  # fmt: skip

_BY_NAME = {metric.name: metric for metric in CATALOGUE}
_PLACES = {metric.name: place for place, metric in enumerate(CATALOGUE)}
GROUPS = {
    group: tuple(metric.name for metric in CATALOGUE if metric.group == group)
    for group in dict.fromkeys(metric.group for metric in CATALOGUE)
}
LINKED = tuple(metric.name for metric in CATALOGUE if metric.linked)
LINKED_UTILITY = tuple(name for name in LINKED if name in GROUPS["utility"])


def find(name: str) -> Metric | None:
    """The metric of that name, which may end in a threshold or a stage."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((m for m in CATALOGUE if m.suffix and name.startswith(f"{m.name}_")), None)


def describe(name: str) -> Metric:
    """The metric with what follows its name in its label; an unknown one says its name alone."""
    metric = find(name)
    if metric is None:
        return Metric(name, name.replace("_", " "), "utility", "none", "number", "release", "")
    suffix = name[len(metric.name) + 1 :]
    return replace(metric, label=f"{metric.label} {_in_words(suffix)}") if suffix else metric


def place(name: str) -> int:
    """Where a metric stands among all; an unknown one comes last."""
    metric = find(name)
    return len(CATALOGUE) if metric is None else _PLACES[metric.name]


def _in_words(suffix: str) -> str:
    try:
        return f"{float(suffix) * 100:.4g}%"
    except ValueError:
        return suffix.replace("_", " ")
