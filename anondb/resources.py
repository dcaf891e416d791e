"""Where the files that the package carries lie: the repository's top in a checkout, _data in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CARRIED = _PACKAGE / "_data"


def path(name: str) -> Path:
    """The folder `sql`, `migrations` or `examples`."""
    return _CARRIED / name if _CARRIED.is_dir() else _PACKAGE.parent / name
