"""Verify: what was written, counted from its own rows, against what the policy promises."""

from __future__ import annotations

from dataclasses import dataclass

from anondb.errors import VerificationError
from anondb.policy.model import Privacy


@dataclass(frozen=True)
class Published:
    """Figures of a release, counted from its own rows."""

    rows: int
    classes: int
    smallest: int
    largest: int
    squares: int  # sum of the squared class sizes


def verify(privacy: Privacy, found: Published, written: int, expected: int) -> None:
    """Raises unless the release has the rows it should have and no class below k."""
    if not found.rows == written == expected:
        raise VerificationError(
            f"{expected} records were to be released, {written} were written and {found.rows} are there",
            hint="does the source change while it is read (a volatile view)? Nothing was published",
        )
    if found.rows and found.smallest < privacy.k:
        raise VerificationError(
            f"the smallest class has {found.smallest} records, fewer than k = {privacy.k}",
            hint="nothing was published; please report this",
        )
