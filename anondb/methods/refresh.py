"""A refresh whose statements are written down, and sent by somebody else."""

from __future__ import annotations

from typing import Protocol

from anondb.methods.method import Stages
from anondb.releases.following import Followed
from anondb.run.verify import Published


class Refresh(Stages, Protocol):
    """Stages whose statements are written down: what they find is known when these are sent."""

    followed: Followed | None

    def refreshed(self, published: Published, followed: Followed, suppressed: int) -> None:
        """Takes what was counted, for the record of the run."""
