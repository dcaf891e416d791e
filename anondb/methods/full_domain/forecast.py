"""What a check will say, guessed from those before, so that a search asks where an answer settles most.

A guess is a sum of effects, one for the level of each column (ridge regression): counts of records and classes
are close to products over the columns, so their logarithms are close to sums. A wrong guess costs checks,
never the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from anondb.methods.full_domain.grid import Array, Grid, Node

_PRIOR = 0.1  # effects are pulled to 0 as if by so many checks
_LATEST = 60  # checks by which the guesses are judged: those near to what is asked next
_LEAST_ERROR = 0.05
_STEEPNESS = 1.7  # makes the logistic curve close to the normal distribution


class Forecast:
    """Guesses of several figures, all learned from the same checks."""

    def __init__(self, grid: Grid, figures: int) -> None:
        self._grid = grid
        self._starts = np.cumsum([0, *grid.shape])
        effects = int(self._starts[-1]) + 1  # the last one is common to all nodes
        self._squares = np.eye(effects) * _PRIOR
        self._products = np.zeros((effects, figures))
        self._effects: Array = np.zeros((effects, figures))
        self._errors: Array = np.ones(figures)
        self._checks = 0
        self._latest_places = np.zeros((_LATEST, len(grid.shape) + 1), "int64")
        self._latest_figures = np.zeros((_LATEST, figures))

    def learn(self, node: Node, figures: Sequence[float]) -> None:
        places = np.array([*(self._starts[:-1] + self._grid.place(node)), len(self._squares) - 1])
        self._squares[places[:, None], places] += 1
        self._products[places] += figures
        self._effects = np.linalg.solve(self._squares, self._products)
        self._latest_places[self._checks % _LATEST] = places
        self._latest_figures[self._checks % _LATEST] = figures
        self._checks += 1
        known = slice(min(self._checks, _LATEST))
        errors = self._latest_figures[known] - self._effects[self._latest_places[known]].sum(axis=1)
        self._errors = np.sqrt((errors**2).mean(axis=0)).clip(min=_LEAST_ERROR)

    def guesses(self, figure: int, numbers: Array) -> Array:
        """For each of these nodes, what its figure is likely to be."""
        effects = self._effects[:, figure]
        columns = [effects[start:end] for start, end in pairwise(self._starts.tolist())]
        columns[-1] = columns[-1] + effects[-1]
        guessed: Array = self._grid.spread(np.add, columns).ravel()[numbers]
        return guessed

    def chance_above(self, figure: int, limit: float, numbers: Array) -> Array:
        """For each of these nodes, how likely its figure is above the limit."""
        distances = (self.guesses(figure, numbers) - limit) * (_STEEPNESS / self._errors[figure])
        chances: Array = 1 / (1 + np.exp(-distances.clip(-30, 30)))
        return chances
