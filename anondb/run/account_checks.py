"""Whether the numbers of an account fit together, so that a report can draw them."""

from __future__ import annotations

from collections.abc import Iterator

from anondb.run.run_account import BranchAccount, LatticeAccount, RunAccount, SizesAccount

MOST_LEAVES = 10_000_000  # of a hierarchy: a report makes each of them
MOST_LEVELS = 1_000
STATES = ("anonymous", "not anonymous", "pruned")  # of a lattice's nodes
VERDICTS = ("accepted", "distinct", "refused")  # on a column that is released as it is


def misfits(account: RunAccount) -> Iterator[str]:
    """What does not fit, each as a sentence; nothing, of an account that a run has written."""
    quasi = [column for column in account.columns if column.role == "quasi"]
    heights = {column.name: column.height for column in account.columns}
    if len(heights) != len(account.columns):
        yield "columns have the same name"
    if any((column.height or 0) > MOST_LEVELS for column in account.columns):
        yield "a column has too many levels"
    if any(None not in (c.level, c.height) and (c.level or 0) > (c.height or 0) for c in account.columns):
        yield "a column has a level above its height"
    if any(kept.verdict not in VERDICTS for kept in account.kept):
        yield "a kept column has no known verdict"
    if account.suppression is not None and not 0 <= account.suppression.allowed <= 1:
        yield "suppression.allowed is not a share"
    if account.sizes is not None and not _drawable(account.sizes):
        yield "sizes of classes are not positive, or come twice"
    if account.lattice is not None and not _of_columns(account.lattice, len(quasi)):
        yield "lattice does not fit the quasi-identifiers"
    for name, tree in (account.trees or {}).items():
        if name not in heights or not _fits(tree, heights[name] or 0):
            yield "a tree does not fit its column"


def _drawable(sizes: SizesAccount) -> bool:
    for pairs in (sizes.before, sizes.after):
        if len(dict(pairs)) != len(pairs) or any(size < 1 or classes < 1 for size, classes in pairs):
            return False
    return True


def _of_columns(lattice: LatticeAccount, columns: int) -> bool:
    nodes = lattice.nodes or ()
    states = {*(node.state for node in nodes), *(state for _, state, _ in lattice.heights or ())}
    levels = [lattice.chosen, *(node.levels for node in nodes)]
    return states <= set(STATES) and all(len(node) == columns for node in levels)


def _fits(tree: tuple[BranchAccount, ...], height: int) -> bool:
    """Each path ends at one root, a name has one parent, and no path is longer than the hierarchy is high."""
    if sum(branch.leaves for branch in tree) > MOST_LEAVES:
        return False
    if any(not 0 < len(branch.path) <= height or branch.leaves < 1 for branch in tree):
        return False
    return len({branch.path[-1] for branch in tree}) <= 1
