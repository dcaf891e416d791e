"""How different synthetic tables are: principal components of the moments of their attributes' frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Components(NamedTuple):
    """Two coordinates for each table, and the share of the variance that each of the two axes shows."""

    points: list[tuple[float, float]]
    explained: tuple[float, float]


def principal_components(features: Sequence[Sequence[float]]) -> Components:
    """The two axes along which the tables, a row of features each, differ most.

    All features are shares, so that none is scaled: one that differs by the chance of a draw alone says little.
    """
    table = np.asarray(features, dtype=float)
    left, singular, axes = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    # the sign of an axis is free; fixed here so that the same tables give the same picture
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    points = np.zeros((len(table), 2))
    shown = min(2, len(singular))
    points[:, :shown] = (left * singular * np.where(signs == 0, 1, signs))[:, :shown]
    variance = singular**2
    shares = [*(variance / variance.sum() if variance.sum() > 0 else variance), 0.0, 0.0]
    return Components([(float(x), float(y)) for x, y in points], (float(shares[0]), float(shares[1])))
