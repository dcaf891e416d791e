"""A CSV file as a table: the names and types of its columns, and its rows as PostgreSQL takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anondb.errors import UsageError, did_you_mean
from anondb.exchange.csv_form import Form, recognize
from anondb.exchange.csv_rows import Progress, Rows
from anondb.exchange.csv_types import ColumnType, Kind, named
from anondb.policy.names import check_part

MOST_COLUMNS = 1600
"""Columns that a table of PostgreSQL can have."""

_NAME_THEM = "give every column a name of its own in the first line, or name them: --columns a,b,c"


@dataclass(frozen=True)
class Wishes:
    """What a caller says of a file; all else is recognized."""

    types: Mapping[str, str] = field(default_factory=dict)
    nulls: Sequence[str] = ("",)
    columns: Sequence[str] = ()
    """Names of the columns, in the place of those that the first line has."""
    header: bool | None = None
    """Whether the first line has names; None: yes, unless `columns` are given."""
    encoding: str | None = None
    delimiter: str | None = None


@dataclass(frozen=True)
class FileColumn:
    name: str
    kind: Kind
    doubt: str | None = None


@dataclass(frozen=True)
class TableFile:
    """A file that was read once from its beginning to its end, and has nothing wrong."""

    path: Path
    form: Form
    columns: tuple[FileColumn, ...]
    records: int
    has_header: bool
    nulls: frozenset[str]

    def rows(self, progress: Progress | None = None) -> Iterator[list[str | None]]:
        """The rows, as texts that PostgreSQL reads as the columns' types."""
        rewrites = [column.kind.rewrite for column in self.columns]
        is_plain = not any(rewrites)
        rows = iter(Rows(self.path, self.form, len(self.columns), progress))
        if self.has_header:
            next(rows)
        for row in rows:
            cells = [None if cell in self.nulls else cell for cell in row]
            if not is_plain:
                cells = [
                    cell if cell is None or rewrite is None else rewrite(cell)
                    for cell, rewrite in zip(cells, rewrites, strict=True)
                ]
            yield cells


def inspect(path: Path, wishes: Wishes | None = None, progress: Progress | None = None) -> TableFile:
    """Reads a file once; everything that could not be loaded is an error now."""
    wishes = wishes or Wishes()
    try:
        if not path.is_file():
            raise UsageError(
                f"{path}: {'is no file' if path.exists() else 'there is none'}", hint="check its name"
            )
        form = recognize(path, encoding=wishes.encoding, delimiter=wishes.delimiter)
        return _inspected(path, form, wishes, progress)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", hint="check the file's name") from None


def _inspected(path: Path, form: Form, wishes: Wishes, progress: Progress | None) -> TableFile:
    first = next(iter(Rows(path, form)), None)
    if first is None:
        raise UsageError(
            f"{path}: is empty", hint="the first line has the names of the columns, then a line a row"
        )
    if len(first) > MOST_COLUMNS:
        raise UsageError(
            f"{path}: has {len(first):,} columns, and a table of PostgreSQL has at most {MOST_COLUMNS:,}",
            hint="split it, or leave columns out",
        )
    has_header = not wishes.columns if wishes.header is None else wishes.header
    names = _names(path, first, has_header, wishes)
    kinds = _wished(names, wishes.types)
    rows = Rows(path, form, len(first), progress)
    nulls = frozenset(wishes.nulls)
    looked = [ColumnType() for _ in names]
    unsure = [(i, column.look) for i, column in enumerate(looked) if names[i] not in kinds]
    demanded = [(i, kinds[name].fits) for i, name in enumerate(names) if name in kinds]
    records = 0
    cells = iter(rows)
    if has_header:
        next(cells)
    for row in cells:
        records += 1
        for i, look in unsure:
            if (cell := row[i]) not in nulls:
                look(cell)
        for i, fits in demanded:
            if row[i] not in nulls and not fits(row[i]):
                raise _unfit(path, rows.line, names[i], kinds[names[i]])
    if wishes.header is None and has_header:
        _require_names(path, first, looked)
    columns = tuple(
        FileColumn(name, kinds.get(name, column.kind), None if name in kinds else column.doubt)
        for name, column in zip(names, looked, strict=True)
    )
    return TableFile(path, form, columns, records, has_header, nulls)


def _names(path: Path, first: Sequence[str], has_header: bool, wishes: Wishes) -> list[str]:
    """The names of the columns. What the first line says is shown by number: it may be a person's row."""
    if wishes.columns and len(wishes.columns) != len(first):
        raise UsageError(
            f"{path}: has {len(first)} columns, and {len(wishes.columns)} names were given",
            hint="--columns a,b,c",
        )
    if not wishes.columns and not has_header:
        return [f"column{i}" for i in range(1, len(first) + 1)]
    names = [name.strip() for name in wishes.columns or first]
    _require(path, [i for i, name in enumerate(names, 1) if not name], "has no name", "have no name")
    seen: dict[str, int] = {}
    for i, name in enumerate(names, 1):
        if name in seen:
            raise UsageError(f"{path}: columns {seen[name]} and {i} have the same name", hint=_NAME_THEM)
        seen[name] = i
        try:
            check_part(name)
        except UsageError:
            raise UsageError(
                f"{path}: the name of column {i} is longer than PostgreSQL's 63 bytes", hint=_NAME_THEM
            ) from None
    return names


def _require(path: Path, places: Sequence[int], one: str, several: str) -> None:
    if places:
        shown = ", ".join(map(str, places[:10])) + (", …" if len(places) > 10 else "")
        what = f"column {shown} {one}" if len(places) == 1 else f"columns {shown} {several}"
        raise UsageError(f"{path}: {what}", hint=_NAME_THEM)


def _wished(names: Sequence[str], types: Mapping[str, str]) -> dict[str, Kind]:
    for name in types:
        if name not in names:
            raise UsageError(
                f"the file has no column {name[:80]!r}, for which a type was given",
                hint=did_you_mean(name, names) or "names are taken as the first line spells them",
            )
    return {name: named(type_) for name, type_ in types.items()}


def _unfit(path: Path, line: int, name: str, kind: Kind) -> UsageError:
    return UsageError(
        f'{path} line {line}: the value of "{name}" is not {kind.name}',
        hint=f"--types {name}=text takes every value; --null says which texts stand for no value",
    )


def _require_names(path: Path, first: Sequence[str], looked: Sequence[ColumnType]) -> None:
    """A first line that is a row as all others would make names of a person's values."""
    alike = [
        i for i, (cell, column) in enumerate(zip(first, looked, strict=True), 1) if column.looks_like(cell)
    ]
    if alike:
        raise UsageError(
            f"{path}: the first line looks like a row: column {alike[0]} has a value there as in all other lines",
            hint="name the columns: --columns a,b,c, or --no-header; if the line has names indeed: --header",
        )
