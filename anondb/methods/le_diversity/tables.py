"""The two tables of a release that publishes sensitive values apart from their records."""

from __future__ import annotations

from anondb.sqltree.tables import Relation, SourceColumn

QUASI, SENSITIVE = "_quasi", "_sensitive"
CLASS_ID = SourceColumn("class_id", "bigint", "int8")
"""By which a record of the one is known to be of a class of the other."""


def part(relation: Relation, suffix: str) -> Relation:
    """One of the two."""
    return Relation(relation.schema, relation.name + suffix)


def parts(relation: Relation) -> tuple[Relation, Relation]:
    return part(relation, QUASI), part(relation, SENSITIVE)
