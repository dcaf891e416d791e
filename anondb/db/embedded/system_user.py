"""Who runs the embedded server: the caller, or, as PostgreSQL refuses root, a system user of its own."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from anondb.db.embedded.files import exclusive
from anondb.errors import DatabaseError

if sys.platform != "win32":
    import pwd

SYSTEM_USER = "anondb"
ROOT_HOME = Path("/var/lib/anondb")


@dataclass(frozen=True)
class User:
    """The system user that owns the cluster and runs the server: the caller, or another one for root."""

    uid: int
    gid: int
    is_other: bool

    def run(
        self, *argv: str | Path, output: int = subprocess.PIPE, keep: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as this user, out of reach of the terminal's Ctrl-C; it inherits the file `keep`."""
        inherited = {name: os.environ[name] for name in ("PATH", "TZ") if name in os.environ}
        return subprocess.run(
            argv,
            cwd="/",
            # no PG* variable may bend the server, and no secret of root's environment reach its processes
            env={**inherited, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            text=True,
            errors="replace",
            umask=0o077,
            start_new_session=True,
            pass_fds=() if keep is None else (keep,),
            user=self.uid if self.is_other else None,
            group=self.gid if self.is_other else None,
            extra_groups=[] if self.is_other else None,
        )

    def can_enter(self, directory: Path) -> bool:
        return not self.is_other or self.run("/bin/sh", "-c", 'cd "$1"', "sh", directory).returncode == 0

    def make_private(self, directory: Path) -> None:
        """Make a directory that only this user can enter; an existing one must already be so."""
        with suppress(FileExistsError):
            directory.mkdir(mode=0o700)
        if self.is_other and directory.lstat().st_uid == os.geteuid():
            os.chown(directory, self.uid, self.gid, follow_symlinks=False)
        self.require_private(directory)

    def require_private(self, directory: Path) -> None:
        status = directory.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != self.uid or status.st_mode & 0o077:
            raise DatabaseError(
                f"{directory} is not a directory that belongs to the server's user alone (mode 0700)",
                hint="move it away, or set ANONDB_DATA to another directory",
            )


def server_user() -> User:
    """Who runs the server: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return User(os.geteuid(), os.getegid(), is_other=False)
    with suppress(KeyError):
        return _system_user()
    with exclusive(root_home() / "install.lock"):
        if useradd := shutil.which("useradd"):
            command = [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER]
        else:
            command = ["adduser", "-S", "-D", "-H", "-s", "/sbin/nologin", SYSTEM_USER]
        try:
            reason = complaint(subprocess.run(command, capture_output=True, text=True).stderr)
        except FileNotFoundError:
            reason = "there is no useradd or adduser"
        # whatever was said: a process that waited for the lock finds the user made
        with suppress(KeyError):
            return _system_user()
    raise DatabaseError(
        f'PostgreSQL refuses to run as root, and the user "{SYSTEM_USER}" cannot be made: {reason}',
        hint="make that system user, run anondb as an ordinary user, or give a database with --dsn",
    )


def _system_user() -> User:
    entry = pwd.getpwnam(SYSTEM_USER)
    return User(entry.pw_uid, entry.pw_gid, is_other=True)


def root_home() -> Path:
    """Root's place for what the server's user has to reach; made if need be."""
    with suppress(FileExistsError):
        ROOT_HOME.mkdir()
        ROOT_HOME.chmod(0o711)
    status = ROOT_HOME.stat()
    if status.st_uid != 0 or status.st_mode & 0o022:
        raise DatabaseError(f"{ROOT_HOME} can be written by others than root", hint="chown it to root")
    return ROOT_HOME


def complaint(text: str) -> str:
    """The line of a program's output that says what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["it said nothing"]
    return next((line for line in lines if "error:" in line or "FATAL:" in line), lines[-1])
