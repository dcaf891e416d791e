"""Tables that the package carries, so that there is something real to begin with: `builtin:adult`.

Becker, Kohavi: Adult. UCI Machine Learning Repository 1996, doi:10.24432/C5XW20, licence CC BY 4.0. Of its 32,561
records for training there are the 30,162 without missing values, and of their columns the nine that comparisons of
anonymization algorithms take; the order of its rows is that in which they take least room.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from anondb.errors import UsageError, did_you_mean
from anondb.files import opened

PREFIX = "builtin:"
_DATA = Path(__file__).parent / "data"
_END = ".csv.xz"


def names() -> list[str]:
    """The tables that there are."""
    return sorted(file.name.removesuffix(_END) for file in _DATA.glob(f"*{_END}"))


def content(name: str) -> bytes:
    """A table as CSV, with a line for the names of its columns."""
    if name not in names():
        raise UsageError(
            f"no built-in table is called {name[:40]!r}",
            hint=did_you_mean(name, names()) or f"there are {', '.join(names())}",
        )
    return lzma.decompress((_DATA / f"{name}{_END}").read_bytes())


@contextmanager
def on_disk(file: Path | str) -> Iterator[Path]:
    """The file that is meant: a built-in table lies in a folder of its own for as long as it is needed."""
    if not str(file).startswith(PREFIX):
        yield Path(file)
        return
    name = str(file).removeprefix(PREFIX)
    table = content(name)
    with TemporaryDirectory(prefix="anondb-") as folder:
        path = Path(folder) / f"{name}.csv"
        with opened(path) as place:
            place.write(table)
        yield path
