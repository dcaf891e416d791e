"""What full-domain algorithms search: the lattice of levels, what a node gives, and when it is good enough."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from anondb.methods.full_domain.grid import Array, Grid, Node, Partial

State = Literal["anonymous", "not anonymous", "pruned"]
_STATES: tuple[State, ...] = ("pruned", "anonymous", "not anonymous")


@dataclass(frozen=True)
class NodeFigures:
    """What a node would give."""

    classes: int  # that satisfy every model of the policy, k among them
    outliers: int  # records in the others
    hopeless: int  # at most so many; no less general node has fewer outliers (see Demand)
    squares: int  # sum of the squared sizes of the classes that satisfy the policy
    outlier_cost: float = 0.0  # what the outliers would cost if they were released
    groups: int = 0  # all classes, the small ones too; 0 where nobody counted
    masked_passes: bool = True  # the outliers, as a class of their own, satisfy every model


@dataclass(frozen=True)
class Demand:
    """What a node must satisfy.

    `hopeless` never grows upwards, and is all that a search concludes downwards from. Where nothing may be
    suppressed every additive model is monotone, and hopeless is 0 exactly where there are no outliers.
    """

    budget: int  # how many records may be suppressed
    mask: bool = False  # suppressed records are kept at the roots, as a class of their own
    monotone: bool = False  # the models are: outliers are hopeless, everywhere (k, distinct l-diversity)
    additive: bool = True  # two classes that pass are one that passes; not where values are kept apart

    def accepts(self, figures: NodeFigures) -> bool:
        if figures.outliers > self.budget:
            return False
        return not self.mask or figures.outliers == 0 or figures.masked_passes

    def rejects_below(self, figures: NodeFigures) -> bool:
        """This node fails in a way that everything less general does too."""
        return figures.hopeless > self.budget

    @property
    def implied_above(self) -> bool:
        """Whatever is more general than an accepted node is accepted too.

        Not where a class can fail though its parts passed or were suppressed, and not where the suppressed
        records are masked: further up they are fewer, and may be too few for a class.
        """
        return (self.budget == 0 and self.additive) or (self.monotone and not self.mask)


@dataclass
class Lattice:
    """The nodes of a run, each checked in the database at most once."""

    grid: Grid
    nodes: tuple[tuple[int, ...], ...]  # of each column, at each level: how many of its labels occur
    ask: Callable[[Partial], NodeFigures]
    deadline: float = math.inf  # of time.monotonic()
    rows: int = 0  # that a check reads
    demand: Demand | None = None  # of the search that was made
    checked: dict[Partial, NodeFigures] = field(default_factory=dict)
    proven: bool = True  # the search saw, or could rule out, every node
    most_checks: int | None = None  # that a search may make
    seed: int = 0  # of what a search draws
    tell: Callable[[str], None] = lambda said: None  # of the best node so far, for whoever watches
    timed_out: bool = False  # the deadline has cut the search, which another run need not repeat
    begins: Node = ()  # the lowest levels that a policy allows, where the grid leaves out what cannot be released
    bound: float | None = None  # no node has less penalty, where the search could not prove the best
    _states: tuple[int, Array] | None = None

    def check(self, levels: Sequence[int | None]) -> NodeFigures:
        node = tuple(levels)
        if node not in self.checked:
            self.checked[node] = self.ask(node)
        return self.checked[node]

    @property
    def checks(self) -> int:
        return len(self.checked)

    @property
    def size(self) -> int:
        return self.grid.size

    @property
    def is_limited(self) -> bool:
        """A search may have to end before it is done."""
        return self.most_checks is not None or self.deadline < math.inf

    def out_of_time(self) -> bool:
        """Whether a search has to end with the best that it has; then nothing is proven."""
        if not self.timed_out and time.monotonic() > self.deadline:
            self.timed_out, self.proven = True, False
        return self.timed_out

    def is_spent(self) -> bool:
        """The same, also where the number of checks is limited."""
        if self.most_checks is not None and self.checks >= self.most_checks:
            self.proven = False
            return True
        return self.out_of_time()

    def state(self, node: Node) -> State:
        """What the checks say of a node: pruned is what nobody had to know."""
        if self._states is None or self._states[0] != self.checks:
            self._states = (self.checks, self._judge())
        return _STATES[int(self._states[1].item(self.grid.number(node)))]

    def states_by_height(self) -> dict[tuple[int, State], int]:
        """How many nodes of each total of levels are in each state, where there is one."""
        import numpy as np

        states, heights = self._judge().ravel(), self.grid.levels().ravel()
        found, counts = np.unique(heights * len(_STATES) + states, return_counts=True)
        pairs = (divmod(int(number), len(_STATES)) for number in found)
        return {(height, _STATES[s]): int(n) for (height, s), n in zip(pairs, counts, strict=True)}

    def checked_nodes(self) -> list[Node]:
        """The nodes of all columns that have been checked."""
        return [_full(node) for node in self.checked if None not in node]

    def closest(self, n: int) -> list[tuple[Node, NodeFigures]]:
        """Of the nodes that were checked, those that would leave out the fewest records, best first."""
        found = [(node, self.checked[node]) for node in self.checked_nodes()]
        return sorted(found, key=lambda found: (found[1].outliers, sum(found[0]), found[0]))[:n]

    def _judge(self) -> Array:
        states = self.grid.filled(_STATES.index("pruned"), "int8")
        if self.demand is None:
            return states
        for partial, figures in self.checked.items():
            if self.demand.rejects_below(figures):
                states[self.grid.below(partial)] = _STATES.index("not anonymous")
        for node in self.checked_nodes():
            accepted = self.demand.accepts(self.checked[node])
            if accepted and self.demand.implied_above:
                states[self.grid.above(node)] = _STATES.index("anonymous")
            states[self.grid.place(node)] = _STATES.index("anonymous" if accepted else "not anonymous")
        return states


def _full(node: Partial) -> Node:
    return tuple(level for level in node if level is not None)
