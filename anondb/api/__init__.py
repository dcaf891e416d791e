"""The library: databases, what they do, and the releases that come of it."""

from anondb.api.database import Database, connect
from anondb.api.release import Release

__all__ = ["Database", "Release", "connect"]
