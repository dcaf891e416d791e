"""Semantic anonymization inside PostgreSQL.

with anondb.connect() as db:
    release = db.run("admissions.toml")
"""

from anondb.api import Database, Release, connect
from anondb.errors import (
    AnondbError,
    BusyError,
    DatabaseError,
    PolicyError,
    UnsatisfiableError,
    UsageError,
    VerificationError,
)
from anondb.plan.model import Options

__all__ = [
    "AnondbError",
    "BusyError",
    "Database",
    "DatabaseError",
    "Options",
    "PolicyError",
    "Release",
    "UnsatisfiableError",
    "UsageError",
    "VerificationError",
    "connect",
]
