"""The library: databases, their rooms, policies, and the releases that come of them."""

from anondb.api.database import Database, connect
from anondb.api.frame import anonymize
from anondb.api.hierarchies import Hierarchies
from anondb.api.ontologies import Ontologies
from anondb.api.release import Release
from anondb.api.releases import Releases
from anondb.api.secret import Secret
from anondb.api.synthetic import Synthetic
from anondb.api.tables import Tables

__all__ = [
    "Database",
    "Hierarchies",
    "Ontologies",
    "Release",
    "Releases",
    "Secret",
    "Synthetic",
    "Tables",
    "anonymize",
    "connect",
]
