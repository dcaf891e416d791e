"""Whether a path is safe: no other user can change a part of it, or what a link in it points to."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection
from pathlib import Path

if sys.platform != "win32":
    import grp
    import pwd

_MOST_LINKS = 40  # as the kernel has it
_ACCESS_LIST = "system.posix_acl_access"


def changeable(path: Path, owners: Collection[int] = ()) -> Path | None:
    """The first part of a path that another user than root, this one and these owners can change, if there is one.

    What does not exist yet is no such part: it is made below parts that are looked at. A directory that all may
    write to is one unless it is sticky, where nobody moves what belongs to others; it never holds the
    files itself.
    """
    trusted = {0, os.geteuid(), *owners}
    here, links = Path("/"), 0
    left = list(reversed(Path.cwd().joinpath(path).parts[1:]))
    if _others_write(here.lstat(), here):
        return here
    while left:
        part = left.pop()
        if part == os.pardir:
            here = here.parent  # no link is on the way to here
            continue
        place = here / part
        try:
            status = place.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        if status.st_uid not in trusted:
            return place
        if stat.S_ISLNK(status.st_mode):
            links += 1
            target = place.readlink()
            if links > _MOST_LINKS:
                return place
            if target.is_absolute():
                here = Path("/")
            left += reversed(target.parts[1:] if target.is_absolute() else target.parts)
            continue
        is_shared = left and status.st_mode & stat.S_ISVTX
        if not is_shared and _others_write(status, place):
            return place
        here = place
    return None


def _others_write(status: os.stat_result, place: Path) -> bool:
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_own_group(status.st_gid, place)


def _is_own_group(gid: int, place: Path) -> bool:
    """Many systems give each user a group of the same name, to which directories are then open; others are not in
    it, and, where there is no list of others' rights, nobody else is meant."""
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    if sys.platform == "linux" and _ACCESS_LIST in os.listxattr(place, follow_symlinks=False):
        return False
    return group.gr_name == user.pw_name and gid == user.pw_gid and set(group.gr_mem) <= {user.pw_name}
