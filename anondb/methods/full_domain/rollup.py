"""Which frequency sets to keep: a node is counted from the smallest kept set that is at most as general.

A set is worth keeping once it would have paid for itself several times over (ski rental: whoever buys after
the rent has reached the price never pays more than a fixed multiple of the best plan, whatever comes).
"""

from __future__ import annotations

from anondb.methods.full_domain.grid import Array, Partial

_SMALLER = 4  # a set must be so many times smaller than what it spares to be worth a table
_PATIENCE = 3  # and must have been missed for so many times the rows that it costs
_LEFT_OUT = 2**15 - 1  # as a level: a column that is left out is more general than its root


class Rollups:
    """The sets that are kept, in rows; the frequency set itself has the key None and is always there."""

    def __init__(self, rows: int, budget: int | None = None) -> None:
        self.rows = rows  # of the frequency set
        self.budget = rows if budget is None else budget  # of all that is kept besides
        self.made = 0  # how many sets have been kept so far
        self._kept: dict[Partial, int] = {}  # their rows; least recently used first
        self._candidates: _Candidates | None = None  # made with the first node
        self._rows_per_group = 1.0  # more than 1 where a set also counts sensitive values or persons

    def source(self, node: Partial) -> tuple[Partial | None, int]:
        """The smallest set that a node can be counted from, and its rows."""
        able = [(rows, key) for key, rows in self._kept.items() if at_most_as_general(key, node)]
        rows, key = min(able, key=lambda found: found[0], default=(self.rows, None))
        if key is None or rows >= self.rows:
            return None, self.rows
        self._kept[key] = self._kept.pop(key)
        return key, rows

    def note(self, node: Partial, groups: int, read_rows: int) -> Partial | None:
        """Takes down a check that found so many groups in so many rows; says which node to keep now, if any."""
        if self._candidates is None:
            self._candidates = _Candidates(len(node))
        most = min(read_rows / _SMALLER, self.budget) / self._rows_per_group
        self._candidates.miss(node, read_rows, most, self._rows_per_group)
        self._candidates.add(node, groups)
        wanted, missed = self._candidates.most_missed()
        if missed == 0 or wanted in self._kept:
            return None
        # what it costs is to read its source; writing it is little beside that, being so much smaller
        return wanted if missed >= _PATIENCE * self._rows_below(wanted) else None

    def keep(self, node: Partial, rows: int) -> list[Partial]:
        """A set has been made: returns the sets to drop, so that all that is kept stays within the budget."""
        if self._candidates is not None and (groups := self._candidates.take(node)):
            self._rows_per_group = max(1.0, rows / groups)
        self._kept[node] = rows
        self.made += 1
        dropped = []
        while sum(self._kept.values()) > self.budget:
            # the new one is the last to go
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            dropped.append(oldest)
        return dropped

    def _rows_below(self, node: Partial) -> int:
        able = (rows for key, rows in self._kept.items() if at_most_as_general(key, node))
        return min(able, default=self.rows)


def at_most_as_general(lower: Partial, upper: Partial) -> bool:
    """Whether the classes of the upper node are unions of classes of the lower one."""
    return all(
        above is None or (below is not None and below <= above)
        for below, above in zip(lower, upper, strict=True)
    )


class _Candidates:
    """Nodes that have been checked: their groups, and for how many rows each was missed."""

    def __init__(self, columns: int) -> None:
        import numpy as np

        self._numbers: dict[Partial, int] = {}
        self._nodes: list[Partial] = []
        # what is not yet used has too many groups to answer anything
        self._levels: Array = np.zeros((columns, 64), "int16")
        self._groups: Array = np.full(64, np.inf)
        self._missed: Array = np.zeros(64)

    def add(self, node: Partial, groups: int) -> None:
        if node in self._numbers:
            return
        number = self._numbers[node] = len(self._nodes)
        self._nodes.append(node)
        if len(self._nodes) > len(self._groups):
            self._make_room()
        self._levels[:, number] = _as_levels(node)
        self._groups[number] = groups

    def miss(self, node: Partial, read_rows: int, most_groups: float, rows_per_group: float) -> None:
        """Adds to each candidate that could have answered what a check would have spared with it."""
        able = self._groups <= most_groups
        for level, levels in zip(_as_levels(node), self._levels, strict=True):
            able &= levels <= level
        self._missed[able] += read_rows - rows_per_group * self._groups[able]

    def most_missed(self) -> tuple[Partial, float]:
        number = int(self._missed.argmax())
        return self._nodes[number], float(self._missed[number])

    def take(self, node: Partial) -> float:
        """The groups of a node that is kept from now on; all are missed anew, for less than before."""
        self._missed[:] = 0
        return float(self._groups[self._numbers[node]])

    def _make_room(self) -> None:
        import numpy as np

        self._levels = np.hstack([self._levels, np.zeros_like(self._levels)])
        self._groups = np.concatenate([self._groups, np.full_like(self._groups, np.inf)])
        self._missed = np.concatenate([self._missed, np.zeros_like(self._missed)])


def _as_levels(node: Partial) -> list[int]:
    return [_LEFT_OUT if level is None else level for level in node]
