"""Semantic anonymization inside PostgreSQL.

with anondb.connect() as db:
    release = db.run("admissions.toml")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from anondb.errors import (
    AnondbError,
    BusyError,
    DatabaseError,
    PolicyError,
    UnsatisfiableError,
    UsageError,
    VerificationError,
)

if TYPE_CHECKING:
    from anondb.api import Database, Release, anonymize, connect
    from anondb.policy.model import Policy
    from anondb.run.plan import Options

__all__ = [
    "AnondbError",
    "BusyError",
    "Database",
    "DatabaseError",
    "Options",
    "Policy",
    "PolicyError",
    "Release",
    "UnsatisfiableError",
    "UsageError",
    "VerificationError",
    "anonymize",
    "connect",
]

# What takes long to load is loaded when it is used, so that a command hears a signal before.
_LATER = {
    "Database": "anondb.api",
    "Release": "anondb.api",
    "anonymize": "anondb.api",
    "connect": "anondb.api",
    "Options": "anondb.run.plan",
    "Policy": "anondb.policy.model",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'anondb' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
