"""What two releases tell together, by its definition: no index, no codes, one person after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

Labels = tuple[str | None, ...]
Release = Sequence[tuple[Labels, str | None]]  # labels, and the value that is kept
Fits = Callable[[Labels, Labels], bool]


def classes(release: Release) -> dict[Labels, Counter[str | None]]:
    found: dict[Labels, Counter[str | None]] = {}
    for labels, value in release:
        found.setdefault(labels, Counter())[value] += 1
    return found


def changes(before: Release, after: Release) -> dict[str, int]:
    a, b = classes(before), classes(after)
    both = a.keys() & b.keys()
    return {
        "records_before": len(before),
        "records_after": len(after),
        "classes_before": len(a),
        "classes_after": len(b),
        "classes_appeared": len(b.keys() - a.keys()),
        "classes_vanished": len(a.keys() - b.keys()),
        "classes_grown": sum(b[c].total() > a[c].total() for c in both),
        "classes_shrunk": sum(b[c].total() < a[c].total() for c in both),
        "classes_exchanged": sum(b[c].total() == a[c].total() and b[c] != a[c] for c in both),
    }


def difference(here: Release, there: Release, fits: Fits, k: int) -> tuple[int, int, int]:
    """Rows that `there` cannot account for: all, those in groups below k, those of one value."""
    others = classes(there)
    every = below = certain = 0
    for labels, values in classes(here).items():
        held: Counter[str | None] = Counter()
        for other, theirs in others.items():
            if fits(labels, other):
                held += theirs
        new = values - held
        every += new.total()
        below += new.total() if new.total() < min(k, values.total()) else 0
        certain += new.total() if len(new) == 1 < len(values) else 0
    return every, below, certain


def share(values: Counter[str | None]) -> float:
    return max(values.values()) / values.total()


def cells(before: Release, after: Release, fits: Fits, k: int) -> dict[str, int]:
    found = Counter({"both_cells": 0, "both_below_k": 0, "both_certain": 0, "both_surer": 0})
    for a, of_a in classes(before).items():
        for b, of_b in classes(after).items():
            common = of_a & of_b
            if not fits(a, b) or not common:
                continue
            n = common.total()
            found["both_cells"] += 1
            found["both_below_k"] += n if n < min(k, of_a.total(), of_b.total()) else 0
            found["both_certain"] += n if len(common) == 1 < min(len(of_a), len(of_b)) else 0
            found["both_surer"] += n if share(common) > max(share(of_a), share(of_b)) + 1e-9 else 0
    return dict(found)


def persons(
    source: Iterable[tuple[Labels, str | None]], before: Release, after: Release, covers: Fits, k: int
) -> dict[str, int]:
    """`covers(label, value)`; each record of the source is a person."""
    of_a, of_b = classes(before), classes(after)
    own = [
        (
            frozenset(labels for labels in of_a if covers(labels, values)),
            frozenset(labels for labels in of_b if covers(labels, values)),
            value,
        )
        for values, value in source
    ]
    own = [one for one in own if one[0] or one[1]]
    found = Counter(
        {
            "persons": 0,
            "persons_below_k": 0,
            "persons_certain": 0,
            "persons_certain_right": 0,
            "persons_surer": 0,
        }
    )
    for a, b, value in own:
        found["persons"] += 1
        alike = [one for one in own if one[:2] == (a, b)]
        in_a, in_b = [one for one in own if one[0] == a], [one for one in own if one[1] == b]
        fewer = len(alike) < k
        fewer = fewer and (not a or len(alike) < len(in_a)) and (not b or len(alike) < len(in_b))
        found["persons_below_k"] += fewer
        values_a: Counter[str | None] = sum((of_a[c] for c in a), Counter())
        values_b: Counter[str | None] = sum((of_b[c] for c in b), Counter())
        common = values_a & values_b
        if not common:
            continue
        if len(common) == 1 < min(len(values_a), len(values_b)):
            found["persons_certain"] += 1
            found["persons_certain_right"] += value in common
        if share(common) > max(share(values_a), share(values_b)) + 1e-9:
            found["persons_surer"] += 1
    return dict(found)
