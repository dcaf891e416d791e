"""The rows of a CSV file, checked one after the other: memory is bounded, and no error quotes a cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from anondb.errors import UsageError
from anondb.exchange.csv_form import Form

LONGEST = 1 << 24
"""Characters of a cell or a line: beyond, a quote was never closed, or the file is none of lines."""

_LISTED = 10  # ragged rows that are told

Progress = Callable[[int, int], None]


class Rows:
    """The rows of a file, and the line in which the present one begins."""

    def __init__(
        self, path: Path, form: Form, width: int | None = None, progress: Progress | None = None
    ) -> None:
        """With `width`, a row of another number of cells is refused."""
        self.path, self.form, self.width, self.progress = path, form, width, progress
        self.line = 1  # in which the present row begins
        self._next = 1

    def __iter__(self) -> Iterator[list[str]]:
        with self.path.open("rb") as raw, _long_cells():
            self._raw, self._size = raw, max(self.path.stat().st_size, 1)
            text = io.TextIOWrapper(raw, encoding=self.form.encoding, newline="")
            reader = csv.reader(
                self._lines(text),
                delimiter=self.form.delimiter,
                skipinitialspace=self.form.spaced,
                strict=True,
            )
            try:
                yield from self._checked(reader)
            except csv.Error as error:
                raise self._fault(str(error)) from None
            except UnicodeError:
                raise UsageError(
                    f"{self.path}: not {self.form.encoding.removesuffix('-sig')}, in line {self._next} or soon after",
                    hint="name its encoding: --encoding windows-1252, for example",
                ) from None

    def _checked(self, reader: Iterator[list[str]]) -> Iterator[list[str]]:
        ragged: list[str] = []
        for row in reader:
            self.line, self._next = self._next, reader.line_num + 1  # type: ignore[attr-defined]
            if not row:
                continue  # an empty line
            if self.width is None or len(row) == self.width:
                if not ragged:
                    yield row
                continue
            ragged.append(
                f"{self.path} line {self.line}: {_cells(len(row))}, and the header has {self.width}"
            )
            if len(ragged) == _LISTED:
                break
        if ragged:
            raise UsageError(
                "\n".join(ragged),
                hint="every row has a cell for each column; a cell with the separator in it stands in quotes",
            )

    def _lines(self, text: io.TextIOWrapper) -> Iterator[str]:
        number = 0
        while line := text.readline(LONGEST):
            number += 1
            if len(line) == LONGEST and not line.endswith(("\n", "\r")):
                raise UsageError(
                    f"{self.path} line {number}: more than {LONGEST:,} characters",
                    hint="is this a file of lines, and of this encoding?",
                )
            if "\0" in line:
                raise UsageError(
                    f"{self.path} line {number}: holds a NUL character",
                    hint="no text in PostgreSQL has one: take it out, or name the file's encoding with --encoding",
                )
            if self.progress is not None and number % 1000 == 0:
                self.progress(self._raw.tell(), self._size)
            yield line
        if self.progress is not None:
            self.progress(self._size, self._size)

    def _fault(self, message: str) -> UsageError:
        """What the reader found, without the cell in which it did."""
        if "field limit" in message:
            return UsageError(
                f"{self.path} line {self._next}: a cell has more than {LONGEST:,} characters",
                hint="is a quote there never closed?",
            )
        if "end of data" in message:
            return UsageError(
                f"{self.path} line {self._next}: a quote that opens here is never closed",
                hint='a cell that starts with a quote ends with one; a quote in it is doubled: "the ""old"" one"',
            )
        return UsageError(
            f"{self.path} line {self._next}: something follows the quote that closes a cell",
            hint='a quote inside a quoted cell is doubled: "the ""old"" one"',
        )


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


@contextmanager
def _long_cells() -> Iterator[None]:
    """The limit is the whole process's: it is put back."""
    before = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)
