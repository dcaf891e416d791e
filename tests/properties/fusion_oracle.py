"""Record fusion said naively: which fusions each variant allows, and what the released tuples are in the end."""

from __future__ import annotations

from collections.abc import Sequence

Likeness = Sequence[Sequence[int]]


def allowed(
    counts: Sequence[int],
    k: int,
    likeness: Likeness,
    variant: str,
    rare: Sequence[bool],
    failing: Sequence[bool] | None = None,
) -> set[tuple[int, int]]:
    """The pairs (tuple, partner) that a round may choose from; a tuple with 0 records is gone. From 0.

    Tuples that fail a model are fused as those below k are.
    A partner of rare texts is there for those alone that have no other; they come last by H2.
    """
    there = [i for i, n in enumerate(counts) if n]
    tuples = [i for i in there if counts[i] < k or (failing is not None and failing[i])]
    if not tuples or len(there) == 1:
        return set()
    partners = {i: [j for j in there if j != i] for i in tuples}
    partners = {i: [j for j in others if not rare[j]] or others for i, others in partners.items()}
    if variant not in ("none", "random"):  # H1
        fewest = min(counts[i] for i in tuples)
        tuples = [i for i in tuples if counts[i] == fewest]
    if variant == "distributional":
        partners = {
            i: [j for j in partners[i] if counts[j] == min(counts[o] for o in partners[i])] for i in tuples
        }
    elif variant not in ("random", "h1_random"):
        partners = {
            i: [j for j in partners[i] if likeness[i][j] == max(likeness[i][o] for o in partners[i])]
            for i in tuples
        }
    if variant in ("semantic", "h1_h2"):  # H2
        best = {i: (not rare[partners[i][0]], likeness[i][partners[i][0]]) for i in tuples}
        tuples = [i for i in tuples if best[i] == max(best.values())]
    pairs = {(i, j) for i in tuples for j in partners[i]}
    if variant == "semantic":  # H3
        union = {(i, j): counts[i] + counts[j] for i, j in pairs}
        pairs = {pair for pair in pairs if union[pair] == min(union.values())}
    return pairs


def released_as(tuples: int, fusions: Sequence[tuple[int, int]]) -> list[int]:
    """As which tuple the records of each are released, record by record."""
    now = list(range(tuples))
    for chosen, partner in fusions:
        now = [partner if tuple_ == chosen else tuple_ for tuple_ in now]
    return now
