"""Ward's clusters, their best number, and the agreement of two clusterings: by hand, and from the definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from anondb.evaluation.clustering import (
    Agreement,
    Column,
    Numbers,
    calinski_harabasz,
    cluster,
    compare,
    number_of_clusters,
    tuple_distances,
)

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=8)
SEEDS = st.integers(0, 2**32 - 1)


def spread(distances: Numbers, counts: Sequence[int], members: Sequence[int]) -> float:
    """(1/2n) ΣΣ d² over the records of a cluster."""
    squares = sum(counts[i] * counts[j] * distances[i, j] ** 2 for i in members for j in members)
    return float(squares / (2 * sum(counts[i] for i in members)))


def greedy_ward(distances: Numbers, counts: Sequence[int]) -> list[list[list[int]]]:
    """The clusters of tuples before each merge and at last, always by the merge that adds least to their spread."""
    clusters = [[i] for i in range(len(counts))]
    found = [clusters]
    while len(clusters) > 1:
        a, b = min(
            combinations(clusters, 2),
            key=lambda pair: (
                spread(distances, counts, pair[0] + pair[1])
                - spread(distances, counts, pair[0])
                - spread(distances, counts, pair[1])
            ),
        )
        clusters = [c for c in clusters if c not in (a, b)] + [a + b]
        found.append(clusters)
    return found


def index(distances: Numbers, counts: Sequence[int], clusters: Sequence[Sequence[int]]) -> float:
    """Of Calinski and Harabasz, from every two records."""
    n, k = sum(counts), len(clusters)
    within = sum(spread(distances, counts, members) for members in clusters)
    between = spread(distances, counts, range(len(counts))) - within
    return (between / (k - 1)) / (within / (n - k)) if within > 1e-15 else math.inf


def partition(labels: Sequence[int]) -> set[frozenset[int]]:
    return {frozenset(i for i, label in enumerate(labels) if label == found) for found in labels}


def random_distances(seed: int, tuples: int) -> Numbers:
    """No metric at all, and no two alike."""
    return np.asarray(squareform(np.random.default_rng(seed).uniform(0.1, 1, tuples * (tuples - 1) // 2)))


@given(SEEDS, st.lists(st.integers(1, 4), min_size=2, max_size=9))
def test_tuples_with_counts_are_clustered_as_their_records_by_the_definition(
    seed: int, counts: list[int]
) -> None:
    distances = random_distances(seed, len(counts))
    labels = cluster(distances, counts)
    record = np.repeat(np.arange(len(counts)), counts)
    repeated = cluster(distances[np.ix_(record, record)], [1] * len(record))
    assert [labels[i] for i in record] == repeated
    most = min(max(2, math.isqrt(len(record))), len(counts), len(record) - 1)
    cuts = [c for c in greedy_ward(distances, counts) if 2 <= len(c) <= most]
    best = max(cuts, key=lambda c: index(distances, counts, c), default=[list(range(len(counts)))])
    assert partition(labels) == set(map(frozenset, best))


@given(SEEDS, st.integers(4, 40))
def test_the_index_is_that_of_points_around_their_means(seed: int, n: int) -> None:
    """As scikit-learn defines it: between and within sums of squares of Euclidean points."""
    points = np.random.default_rng(seed).normal(size=(n, 2))
    distances = np.linalg.norm(points[:, None] - points[None, :], axis=2)
    merges = linkage(points, "ward")
    found = calinski_harabasz(linkage(squareform(distances, checks=False), "ward")[:, 2])
    assert len(found) == max(2, math.isqrt(n)) - 1
    members = {i: [i] for i in range(n)}
    for made, (a, b) in enumerate(merges[:, :2].astype(int), n):
        members[made] = members.pop(a) + members.pop(b)
        k = len(members)
        if 2 <= k < len(found) + 2:
            means = [points[m].mean(axis=0) for m in members.values()]
            between = sum(
                len(m) * ((mean - points.mean(axis=0)) ** 2).sum()
                for mean, m in zip(means, members.values(), strict=True)
            )
            within = sum(
                ((points[m] - mean) ** 2).sum() for mean, m in zip(means, members.values(), strict=True)
            )
            assert found[k - 2] == pytest.approx((between / (k - 1)) / (within / (n - k)))


def test_the_index_by_hand() -> None:
    """Points 0, 1, 9, 10: two clusters leave W = 0.5 + 0.5 and B = 81, so 81 / (1 / 2)."""
    points = np.array([0.0, 1.0, 9.0, 10.0])
    distances = np.abs(points[:, None] - points[None, :])
    assert calinski_harabasz(linkage(squareform(distances), "ward")[:, 2]) == pytest.approx([162])
    assert cluster(distances, [1, 1, 1, 1]) == [0, 0, 1, 1]


def test_of_equal_indices_the_fewest_clusters_are_taken() -> None:
    """Ten records, every two equally far apart: the index is 1 for any number of clusters."""
    distances = 1 - np.eye(10)
    assert calinski_harabasz(linkage(squareform(distances), "ward")[:, 2]) == pytest.approx([1, 1])
    assert number_of_clusters(np.ones(9)) == 2
    assert max(cluster(distances, [1] * 10)) == 1


def test_equal_records_are_never_told_apart_and_all_kinds_apart_are_found() -> None:
    distances = np.array([[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]])
    assert cluster(distances, [10, 10, 10]) == [0, 1, 2]
    assert cluster(np.zeros((3, 3)), [10, 10, 10]) == [0, 0, 0]


@given(SEEDS, st.lists(st.integers(1, 4), min_size=2, max_size=9), st.integers(1, 12))
def test_as_many_clusters_as_are_asked_for_are_those_before_the_last_merges(
    seed: int, counts: list[int], clusters: int
) -> None:
    distances = random_distances(seed, len(counts))
    wanted = min(clusters, len(counts))
    [expected] = [found for found in greedy_ward(distances, counts) if len(found) == wanted]
    assert partition(cluster(distances, counts, clusters)) == set(map(frozenset, expected))


def test_equal_records_are_not_parted_whatever_is_asked_for() -> None:
    distances = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert cluster(distances, [2, 3, 4], 3) == [0, 0, 1]
    assert cluster(np.zeros((3, 3)), [1, 1, 1], 2) == [0, 0, 0]


def test_too_few_records_are_one_cluster() -> None:
    assert cluster(np.zeros((1, 1)), [1]) == [0]
    assert cluster(np.zeros((1, 1)), [5]) == [0]
    assert cluster(1 - np.eye(2), [1, 1]) == [0, 0]
    assert cluster(1 - np.eye(2), [2, 1]) == [0, 1]


@given(SEEDS, st.lists(st.integers(1, 4), min_size=2, max_size=9))
def test_the_order_of_the_tuples_does_not_matter(seed: int, counts: list[int]) -> None:
    distances = random_distances(seed, len(counts))
    order = np.random.default_rng(seed).permutation(len(counts))
    labels = cluster(distances, counts)
    shuffled = cluster(distances[np.ix_(order, order)], [counts[i] for i in order])
    assert partition(shuffled) == partition([labels[i] for i in order])


def test_tuples_are_as_far_apart_as_their_values_on_average() -> None:
    columns = [Column([0, 1, 2, 1], [0.2, 0.4, 0.6]), Column([0, 0, 1, 1], [1.0]), Column([0, 0, 0, 0], [])]
    assert tuple_distances(columns).tolist() == pytest.approx(
        np.array([[0, 0.2, 1.4, 1.2], [0.2, 0, 1.6, 1], [1.4, 1.6, 0, 0.6], [1.2, 1, 0.6, 0]]) / 3
    )


def test_agreement_by_hand() -> None:
    """{1, 2, 3}, {4, 5} and {1, 2}, {3}, {4, 5}: of 10 pairs 2 lie together in both, 2 in the first, 6 in neither."""
    found = compare([0, 0, 0, 1, 1], [0, 0, 1, 2, 2])
    bits_a = 0.6 * math.log2(5 / 3) + 0.4 * math.log2(5 / 2)
    bits_b = bits_both = 0.8 * math.log2(5 / 2) + 0.2 * math.log2(5)
    assert astuple(found) == pytest.approx(
        (0.8, 0.5, 1, 2 * bits_a / (bits_a + bits_b), (bits_both - bits_a) / bits_both)
    )
    assert found.nmi == pytest.approx(0.7790, abs=1e-4)
    assert found.partition_distance == pytest.approx(0.3620, abs=1e-4)


@given(LABELS)
def test_agreement_is_what_counting_pairs_and_records_gives(labels: list[tuple[int, int, int]]) -> None:
    records = [(a, b) for a, b, n in labels for _ in range(n)]
    pairs = [(x[0] == y[0], x[1] == y[1]) for x, y in combinations(records, 2)]
    both, only_a, only_b, neither = (
        pairs.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))
    )
    n = len(records)

    def probability(side: int, label: int) -> float:
        return sum(record[side] == label for record in records) / n

    joint = {kind: records.count(kind) / n for kind in set(records)}
    mutual = sum(p * math.log2(p / (probability(0, a) * probability(1, b))) for (a, b), p in joint.items())
    bits = [
        -sum(p * math.log2(p) for label in range(4) if (p := probability(side, label))) for side in (0, 1)
    ]
    bits_both = -sum(p * math.log2(p) for p in joint.values())
    wanted = Agreement(
        rand=(both + neither) / len(pairs) if pairs else 1,
        wallace_1=both / (both + only_a) if both + only_a else 1,
        wallace_2=both / (both + only_b) if both + only_b else 1,
        nmi=2 * mutual / sum(bits) if sum(bits) > 1e-12 else 1,
        partition_distance=(2 * bits_both - sum(bits)) / bits_both if bits_both > 1e-12 else 0,
    )
    agreement = compare([a for a, _, _ in labels], [b for _, b, _ in labels], [n for *_, n in labels])
    assert astuple(agreement) == pytest.approx(astuple(wanted), abs=1e-12)
    assert all(0 <= figure <= 1 for figure in astuple(agreement))


@given(LABELS)
def test_a_clustering_agrees_with_itself_whatever_its_clusters_are_called(
    labels: list[tuple[int, int, int]],
) -> None:
    a, counts = [label for label, *_ in labels], [n for *_, n in labels]
    assert astuple(compare(a, [7 - label for label in a], counts)) == (1, 1, 1, 1, 0)


@given(LABELS)
def test_agreement_is_mutual_but_for_wallace(labels: list[tuple[int, int, int]]) -> None:
    a, b, counts = zip(*labels, strict=True)
    one, other = compare(a, b, counts), compare(b, a, counts)
    assert astuple(one) == pytest.approx(
        (other.rand, other.wallace_2, other.wallace_1, other.nmi, other.partition_distance)
    )


def test_where_there_is_nothing_to_divide_by_nothing_is_at_fault() -> None:
    assert astuple(compare([0], [0])) == (1, 1, 1, 1, 0)
    assert astuple(compare([0, 0], [0, 0])) == (1, 1, 1, 1, 0)
    # each alone in A, together in B: nothing in common, and no pair of A was separated
    assert astuple(compare([0, 1], [0, 0])) == (0, 1, 0, 0, 1)
