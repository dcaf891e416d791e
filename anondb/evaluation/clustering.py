"""Ward's clusters of records by their distances (Ward 1963), and how far two clusterings of them agree.

The spread within clusters, W = Σ_c (1/2n_c) ΣΣ d², needs no points. A merge of height h adds h²/2 to it, by the
formula of Lance and Williams for any distances. So the heights tell the index of Calinski and Harabasz of every cut.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

Numbers = NDArray[np.float64]

# An index has to be greater by this share to count as greater: rounding decides nothing.
_CLEARLY = 1e-9


@dataclass(frozen=True)
class Column:
    """A column of coded tuples."""

    codes: Sequence[int]  # of each tuple
    apart: Sequence[float]  # the distances of codes 0 and 1, 0 and 2, …, 1 and 2, …


@dataclass(frozen=True)
class Agreement:
    """Of two clusterings A and B; each in [0, 1]. Only the partition distance is 0 where they are the same."""

    rand: float
    wallace_1: float
    wallace_2: float
    nmi: float
    partition_distance: float


def tuple_distances(columns: Sequence[Column]) -> Numbers:
    """Every two tuples: the mean over the columns."""
    tuples = len(columns[0].codes)
    total = np.zeros((tuples, tuples))
    for column in columns:
        total += squareform(np.asarray(column.apart, dtype=float))[np.ix_(column.codes, column.codes)]
    return total / len(columns)


def cluster(distances: Numbers, counts: Sequence[int], clusters: int | None = None) -> list[int]:
    """The cluster of each tuple, numbered from 0 in their order; a tuple stands for so many records.

    As many clusters as the index of Calinski and Harabasz is greatest for, unless told; a single one if nothing is
    apart, or there are fewer than three records. Records that are not apart are never parted.
    """
    first = np.cumsum(counts) - np.asarray(counts)  # each tuple's first record
    if sum(counts) < 2:
        return [0] * len(counts)
    record = np.repeat(np.arange(len(counts)), counts)
    merges = linkage(squareform(distances[np.ix_(record, record)], checks=False), "ward")
    apart = int(np.count_nonzero(merges[:, 2])) + 1
    of_record = _cut(merges, number_of_clusters(merges[:, 2]) if clusters is None else min(clusters, apart))
    numbers: dict[int, int] = {}
    return [numbers.setdefault(int(cluster), len(numbers)) for cluster in of_record[first]]


def number_of_clusters(heights: Numbers) -> int:
    """The one of greatest index; of equal ones the smallest."""
    best, most = 1, 0.0
    for clusters, index in enumerate(calinski_harabasz(heights), 2):
        if index > most * (1 + _CLEARLY):
            best, most = clusters, index
    return best


def calinski_harabasz(heights: Numbers) -> list[float]:
    """The index of 2, 3, … clusters: B/(k − 1) to W/(n − k), infinite where W = 0.

    Up to the root of the number of records, and never so many that equal records were told apart.
    """
    records = len(heights) + 1
    within = np.cumsum(heights**2 / 2)  # after each merge
    most = min(max(2, math.isqrt(records)), int(np.count_nonzero(heights)) + 1, records - 1)
    indices = []
    for clusters in range(2, most + 1):
        inside = within[records - clusters - 1]
        between = (within[-1] - inside) / (clusters - 1)
        indices.append(float(between / (inside / (records - clusters))) if inside > 0 else math.inf)
    return indices


def compare(
    labels_a: Sequence[int], labels_b: Sequence[int], counts: Sequence[int] | None = None
) -> Agreement:
    """How far two clusterings of the same tuples agree; `counts` are the records of each, 1 by default.

    Where there is nothing to divide by, nothing is at fault: without pairs of records rand is 1; without pairs that
    lie together in A (B), wallace_1 (wallace_2) is 1; two clusterings of one cluster each have nmi 1, distance 0.
    """
    records = [1] * len(labels_a) if counts is None else counts
    of_a = _sizes(labels_a, records)
    of_b = _sizes(labels_b, records)
    of_both = _sizes(zip(labels_a, labels_b, strict=True), records)
    all_pairs = math.comb(sum(records), 2)
    in_a, in_b, in_both = _pairs(of_a), _pairs(of_b), _pairs(of_both)
    bits_a, bits_b, bits_both = _entropy(of_a), _entropy(of_b), _entropy(of_both)
    return Agreement(
        rand=_share(all_pairs - in_a - in_b + 2 * in_both, all_pairs, 1),
        wallace_1=_share(in_both, in_a, 1),
        wallace_2=_share(in_both, in_b, 1),
        nmi=_share(2 * (bits_a + bits_b - bits_both), bits_a + bits_b, 1),
        partition_distance=_share(2 * bits_both - bits_a - bits_b, bits_both, 0),
    )


def _cut(merges: Numbers, clusters: int) -> NDArray[np.intp]:
    """A number for the cluster of each record, without the last merges."""
    records = len(merges) + 1
    above = np.arange(2 * records - clusters)
    for made, (a, b) in enumerate(merges[: records - clusters, :2].astype(int), records):
        above[[a, b]] = made
    for node in reversed(range(len(above))):  # what is above has a greater number, and has been seen
        above[node] = above[above[node]]
    return above[:records]


def _sizes(labels: Iterable[object], counts: Sequence[int]) -> list[int]:
    """Of the clusters, in an order that is the same for the same clusters: sums are then equal to the last bit."""
    sizes: Counter[object] = Counter()
    for label, count in zip(labels, counts, strict=True):
        sizes[label] += count
    return sorted(sizes.values())


def _pairs(sizes: Iterable[int]) -> int:
    return sum(math.comb(size, 2) for size in sizes)


def _entropy(sizes: Sequence[int]) -> float:
    """In bits."""
    total = sum(sizes)
    return -math.fsum(size / total * math.log2(size / total) for size in sizes if size)


def _share(part: float, whole: float, otherwise: float) -> float:
    """Within [0, 1] also after rounding."""
    return min(1.0, max(0.0, part / whole)) if whole > 0 else float(otherwise)
