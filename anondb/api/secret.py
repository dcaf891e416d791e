"""`db.secret`: the secret of an installation, from which class ids, orders of rows and draws come."""

from __future__ import annotations

from pathlib import Path

from anondb import files
from anondb.db import secret
from anondb.db.session import Session
from anondb.errors import UsageError

_LONGEST = 1000  # bytes of a file that may be one of ours


class Secret:
    """What the owner of anondb does with its secret. From the next run on, another one gives other releases.

    ```python
    with anondb.connect() as db:
        db.secret.export("anondb.secret")
    ```
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def renew(self) -> None:
        """Makes a new secret: after the database was cloned, or the secret became known."""
        secret.renew(self._session)

    def export(self, file: Path | str, *, force: bool = False) -> Path:
        """Writes the secret into a file that only the user can read; returns where it is."""
        path = Path(file)
        if path.exists() and not force:
            raise UsageError(f"{path} exists", hint="choose another name, or write over it with --force")
        text = secret.read(self._session) + "\n"
        try:
            files.write(path, text, private=True, replace=force)
        except FileExistsError:
            raise UsageError(f"{path} exists", hint="choose another name, or use --force") from None
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}", hint="check the path") from None
        return path

    def take_over(self, file: Path | str) -> None:
        """Takes over the secret that another installation has exported."""
        try:
            with Path(file).open("rb") as opened:
                text = opened.read(_LONGEST).decode("ascii", errors="replace").strip()
        except OSError as error:
            raise UsageError(f"cannot read {file}: {error.strerror}", hint="check the path") from None
        if not secret.is_secret(text):
            raise UsageError(
                f"{file} has no secret of anondb in it",
                hint="give a file that anondb secret export has written",
            )
        secret.replace(self._session, text)
