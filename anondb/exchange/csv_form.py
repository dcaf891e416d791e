"""How a CSV file is written: its encoding, and what separates its cells."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from anondb.errors import UsageError

_DELIMITERS = (",", ";", "\t", "|")
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_CHUNK = 1 << 20
_SAMPLE = 1 << 16  # bytes from which delimiters are told
_SAMPLE_ROWS = 200

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before the shorter mark that it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OLDER = "windows-1252"
_UNDEFINED = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))  # bytes that stand for nothing in it


@dataclass(frozen=True)
class Form:
    """The encoding of a file, what separates its cells, and whether a blank follows each separator."""

    encoding: str
    delimiter: str = ","
    spaced: bool = False
    is_guessed: bool = False  # the encoding: neither a mark nor the file itself proves it

    def __str__(self) -> str:
        named = {sign: name for name, sign in _NAMED.items() if len(name) > 2}
        encoding = self.encoding.removesuffix("-sig").upper().replace("WINDOWS", "Windows")
        return f"{encoding}, separated by {named.get(self.delimiter, self.delimiter)}s"


def recognize(path: Path, *, encoding: str | None = None, delimiter: str | None = None) -> Form:
    """The form of a file; what the caller knows of it is not looked for."""
    form = Form(_known(encoding)) if encoding else _encoding(path)
    if delimiter is not None:
        return replace(form, delimiter=_sign(delimiter))
    return _with_delimiter(form, _sample(path, form.encoding))


def _known(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some codecs are not of texts
    except LookupError:
        raise UsageError(
            f"no encoding is called {encoding[:40]!r}",
            hint="for example utf-8, windows-1252, iso8859-15, utf-16",
        ) from None
    return "utf-8-sig" if name == "utf-8" else name


def _sign(delimiter: str) -> str:
    sign = _NAMED.get(delimiter, delimiter)
    if len(sign) != 1 or sign in '"\r\n\0':
        raise UsageError(
            "a delimiter is one character, and no quote",
            hint="for example --delimiter ';' or --delimiter tab",
        )
    return sign


def _encoding(path: Path) -> Form:
    with path.open("rb") as file:
        start = file.read(_SAMPLE)
        for mark, name in _MARKS:
            if start.startswith(mark):
                return Form(name)
        # every other byte of plain text in UTF-16 is 0, and none is in other encodings
        evens, odds = start[::2].count(0), start[1::2].count(0)
        if evens + odds > len(start) // 4:
            return Form("utf-16-be" if evens > odds else "utf-16-le", is_guessed=True)
        decoder, has_undefined = codecs.getincrementaldecoder("utf-8")(), False
        is_utf8, chunk = True, start
        while chunk:
            has_undefined = has_undefined or any(byte in chunk for byte in _UNDEFINED)
            if is_utf8:
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    is_utf8 = False
            if not is_utf8 and has_undefined:
                return Form("iso8859-1", is_guessed=True)
            chunk = file.read(_CHUNK)
    if is_utf8 and not decoder.getstate()[0]:
        return Form("utf-8-sig")
    return Form("iso8859-1" if has_undefined else _OLDER, is_guessed=True)


def _sample(path: Path, encoding: str) -> list[str]:
    """The first lines of a file that are whole."""
    with path.open("rb") as file:
        start = file.read(_SAMPLE)
        is_whole = not file.read(1)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(start)
    lines = text.splitlines(keepends=True)
    return lines if is_whole or len(lines) < 2 else lines[:-1]


def _with_delimiter(form: Form, lines: list[str]) -> Form:
    """With the separator by which most rows have as many cells as the first; of equal ones, the one with most."""
    best, found = (0.0, 1), form
    for sign in _DELIMITERS:
        counts = _counts(lines, sign)
        if not counts or counts[0] < 2:
            continue
        score = (Counter(counts)[counts[0]] / len(counts), counts[0])
        if score > best:
            best, found = score, replace(form, delimiter=sign, spaced=_is_spaced(lines, sign))
    return found


def _counts(lines: Iterable[str], sign: str) -> list[int]:
    """The cells of each row."""
    counts = []
    try:
        for row in csv.reader(lines, delimiter=sign):
            if row:
                counts.append(len(row))
            if len(counts) == _SAMPLE_ROWS:
                break
    except csv.Error:  # a cell beyond the limit; the rows before it tell enough
        pass
    return counts


def _is_spaced(lines: list[str], sign: str) -> bool:
    """Whether a blank follows every separator, as in `39, State-gov, 77516`."""
    start = "".join(lines[:_SAMPLE_ROWS])
    return start.count(sign) == start.count(f"{sign} ") > 0
