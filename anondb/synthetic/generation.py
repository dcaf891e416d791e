"""Synthetic tables from domains, and the grid of them: what the library and the commands call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anondb.db import introspect as catalog
from anondb.db import synthetic as drawing
from anondb.db.connection import Connection
from anondb.db.learning import LearningTable
from anondb.errors import UsageError
from anondb.policy.names import parse_name
from anondb.sqltree.tables import Relation
from anondb.synthetic import cocoa, distributions
from anondb.synthetic.domain import Domain
from anondb.synthetic.domain_file import load

SIZES = (5000, 10000, 20000, 30000, 50000, 100000)
"""The sizes of the literature's benchmark."""

LONGEST_PREFIX = 40
"""Bytes of a name that leave room for `_logarithmic_1000000000` among the 63 that PostgreSQL keeps."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class GridSet:
    """One table of the grid, and where it lies on the two principal components."""

    table: str
    distribution: str
    rows: int
    x: float
    y: float


@dataclass(frozen=True)
class Grid:
    """All tables of a grid, and the share of their variance that each of the two components shows."""

    domain: str
    sets: tuple[GridSet, ...]
    explained: tuple[float, float]


def generate(
    connection: Connection,
    domain: Domain | Path | str,
    rows: int,
    table: str,
    *,
    distribution: str | None = None,
    sort: str | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> int:
    """Makes a table of synthetic rows; the domain, the seed and a row's number decide it."""
    made = cocoa.recipe(_domain(domain), distribution, sort)
    _check_numbers(rows, seed)
    return drawing.generate(connection, made, _target(connection, table), rows, seed, progress=progress)


def statement(
    connection: Connection,
    domain: Domain | Path | str,
    rows: int,
    table: str,
    *,
    distribution: str | None = None,
    sort: str | None = None,
    seed: int = 1,
) -> str:
    """The SQL that makes the table, from any client; touches nothing."""
    made = cocoa.recipe(_domain(domain), distribution, sort)
    _check_numbers(rows, seed)
    return drawing.printed(connection, made, _target(connection, table), rows, seed)


def grid(
    connection: Connection,
    domain: Domain | Path | str,
    table: str,
    *,
    sizes: Sequence[int] = SIZES,
    sort: str | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> Grid:
    """A table for every distribution and size, TABLE_distribution_rows, and how much they differ."""
    from anondb.synthetic.diversity import principal_components

    domain = _domain(domain)
    if not sizes or len(set(sizes)) < len(sizes):
        raise UsageError("the grid needs sizes, each of them once", hint="--sizes 5000,10000")
    for rows in sizes:
        _check_numbers(rows, seed)
    target = _target(connection, table)
    if len(target.name.encode()) > LONGEST_PREFIX:
        raise UsageError(
            f"the grid adds a distribution and a size to the table's name, which has more than {LONGEST_PREFIX} bytes",
            hint="take a shorter name",
        )
    wanted = [(name, rows) for name in distributions.DISTRIBUTIONS for rows in sizes]
    features, names = [], []
    with connection.transaction():
        for done, (name, rows) in enumerate(wanted):
            drawn = Relation(target.schema, f"{target.name}_{name}_{rows}")
            drawing.generate(connection, cocoa.recipe(domain, name, sort), drawn, rows, seed)
            made = LearningTable(connection, drawn)
            features.append([moment for column in domain.columns for moment in made.moments(column)])
            names.append(catalog.target_text(drawn))
            if progress is not None:
                progress(done + 1, len(wanted))
    components = principal_components(features)
    sets = tuple(
        GridSet(text, name, rows, *point)
        for text, (name, rows), point in zip(names, wanted, components.points, strict=True)
    )
    return Grid(domain.name, sets, components.explained)


def _domain(domain: Domain | Path | str) -> Domain:
    return domain if isinstance(domain, Domain) else load(domain)


def _target(connection: Connection, table: str) -> Relation:
    return catalog.resolve_target(connection, parse_name(table))


def _check_numbers(rows: int, seed: int) -> None:
    if rows < 1:
        raise UsageError("the number of rows is not above 0", hint="for example --rows 1000")
    if not -(2**63) <= seed < 2**63:
        raise UsageError("the seed is too large", hint="a seed is a whole number of at most 63 bits")
