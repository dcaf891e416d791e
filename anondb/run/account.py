"""What a report shows that only the run knows: plain values, which the history keeps with the run's result.

Small whatever the size of the data, and without a value of the source: sizes in bins, labels of hierarchies
above their leaves, a large lattice by its heights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from anondb.hierarchies.forms import Hierarchy
from anondb.models.k_anonymity import KAnonymity
from anondb.models.star_matches import StarMatches
from anondb.policy.model import Column, Privacy, Role
from anondb.run import account_sql as figures
from anondb.run.evaluate import Evaluating
from anondb.run.run_account import STARRED
from anondb.run.snapshot import BuiltInfo
from anondb.run.statement import SIZES, Statement, no_rows
from anondb.run.verify import Published
from anondb.sqltree.released import TEXT
from anondb.sqltree.tables import Quasi

MOST_BRANCHES = 300  # of a hierarchy
_STEPS = (1, 2, 5)  # of sizes in a bin: 1, 2, 5, 10, 20 …

Account = dict[str, Any]


def account(run: Evaluating, published: Published, lattice: Account | None, *, evaluated: bool) -> Account:
    """What is kept of a run for its report; without an evaluation, what is known anyway."""
    policy, levels = run.plan.policy, run.outcome.levels
    replaced = run.by_meaning is not None
    kept: Account = {
        "columns": [
            _column(
                c, next((q for q in run.encoded.quasi if q.name == c.name), None), levels, replaced=replaced
            )
            | ({"hierarchy": _built(run.plan.built[c.name])} if c.name in run.plan.built else {})
            for c in policy.columns
        ],
        "models": list(_models(policy.privacy, published)),
        "suppression": {
            "allowed": policy.privacy.suppression,
            "how": policy.privacy.suppress,
            "reasons": _reasons(run),
        },
        "lattice": lattice,
    }
    return kept | (looked_up(run) if evaluated else {})


def looked_up(run: Evaluating) -> Account:
    """What the database is asked for: the sizes of classes, and the hierarchies."""
    before = run.db.rows(
        Statement(
            "class sizes before",
            figures.original_sizes(run.names.link, run.encoded.quasi),
            answers=SIZES,
        )
    )
    after = run.db.rows(
        Statement(
            "class sizes",
            figures.released_sizes(run.names.link, run.encoded.quasi),
            answers=SIZES,
        )
    )
    trees = {}
    for q in filter(figures.has_leaves, run.encoded.quasi):
        level = 0 if run.outcome.levels is None else run.outcome.levels[q.number - 1]
        rows = run.db.rows(
            Statement(
                f"hierarchy {q.code}",
                figures.hierarchy(run.names, q),
                answers=no_rows(*[f"g{level}" for level in range(q.height + 1)]),
            )
        )
        if tree := branches(rows, max(1, level)):
            trees[q.name] = tree
    k = run.plan.policy.privacy.k
    return {"sizes": {"before": binned(before, k), "after": binned(after, k)}, "trees": trees}


def _column(
    column: Column, quasi: Quasi | None, levels: Sequence[int] | None, *, replaced: bool = False
) -> Account:
    entry: Account = {"name": column.name, "role": str(column.role)}
    if quasi is not None and column.role is Role.QUASI:
        entry["hierarchy"] = in_words(column.hierarchy)
        if column.ontology:
            entry["hierarchy"] = f"no hierarchy: concepts of {', '.join(column.ontology)}"
        elif replaced and column.hierarchy is None:
            entry["hierarchy"] = "no hierarchy: values of the data"
        if column.release != (TEXT,):
            entry["release"] = ", ".join(column.release)
        entry["height"] = quasi.height
        entry["level"] = None if levels is None else levels[quasi.number - 1]
    return entry


def in_words(hierarchy: Hierarchy | None) -> str:
    """What the policy says of a column's hierarchy, as people say it."""
    return "no hierarchy: ranges or sets of values" if hierarchy is None else hierarchy.words()


def _built(built: BuiltInfo) -> str:
    how = f"built: {', '.join(built.made_by) or 'the base'}, the best of {built.candidates}"
    return how if built.gsl is None else f"{how}, GSL {built.gsl:.4f}"


def _models(privacy: Privacy, published: Published) -> Iterator[Account]:
    if published.rows == 0:
        return
    if published.matched is not None:
        yield StarMatches(privacy.k).account(published.matched)
    elif privacy.k > 1:
        k = published.smallest if published.persons is None else published.persons
        yield KAnonymity(privacy.k, privacy.unit).account(k)
    for model, reached in zip(privacy.models, published.models, strict=True):
        yield model.account(reached)


def _reasons(run: Evaluating) -> dict[str, int]:
    privacy = run.plan.policy.privacy
    judged = bool(privacy.models)
    why = "in classes that fail a demand" if judged else "in classes that are too small"
    reasons = {why: run.outcome.suppressed, "with a NULL in a quasi-identifier": run.encoded.with_null}
    return {
        reason: records for reason, records in (reasons | {STARRED: run.outcome.starred}).items() if records
    }


def binned(sizes: Iterable[Sequence[int]], k: int) -> list[tuple[int, int]]:
    """How many classes there are of each size, in few sizes; the smallest and the largest stay themselves.

    Each bin keeps its classes and its records. It ends where a report's may end: at 1, 2, 5, 10, 20 … and at k.
    """
    by_size: Counter[int] = Counter()
    for size, classes in sizes:
        by_size[size] += classes
    if not by_size:
        return []
    smallest, most = min(by_size), max(by_size)
    edges = {step * 10**power for power in range(len(str(most))) for step in _STEPS}
    starts = sorted(edges | {k, smallest, smallest + 1, most})
    kept: list[tuple[int, int]] = []
    for _, group in groupby(
        sorted(by_size.items()), lambda entry: sum(start <= entry[0] for start in starts)
    ):
        sizes_of_bin = list(group)
        classes = sum(count for _, count in sizes_of_bin)
        size, larger = divmod(sum(size * count for size, count in sizes_of_bin), classes)
        kept += [pair for pair in ((size, classes - larger), (size + 1, larger)) if pair[1]]
    return kept


def branches(rows: Sequence[Sequence[str]], level: int) -> list[list[Any]] | None:
    """A hierarchy without its leaves: how many lie below each path from this level to the root.

    A leaf that stands in for its own generalization is a leaf there too. Where there are too many paths they
    begin further up; None if nothing is left but the root.
    """
    leaves = {row[0] for row in rows}
    for lowest in range(level, len(rows[0]) - 1 if rows else 0):
        paths = Counter(tuple(_generalized(row, lowest, leaves)) for row in rows)
        if len(paths) <= MOST_BRANCHES:
            return [[count, *path] for path, count in paths.items()]
    return None


def _generalized(row: Sequence[str], lowest: int, leaves: set[str]) -> Sequence[str]:
    root = len(row) - 1
    return row[next((level for level in range(lowest, root) if row[level] not in leaves), root) :]
