"""The command `anondb`, and `python -m anondb`: signals are heard before what takes long is loaded."""

from __future__ import annotations

import sys
from typing import NoReturn

from anondb import signals


def main() -> NoReturn:
    """Runs a command and exits with the code that stands for how it ended."""
    signals.leave_at_once()
    if sys.argv[1:] == ["--version"]:
        from importlib.metadata import version

        sys.stdout.write(f"anondb {version('anondb')}\n")
        sys.exit(0)
    from anondb.cli import main as run

    run()


if __name__ == "__main__":
    main()
