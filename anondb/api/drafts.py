"""Policies for tables that nobody has described, and what there is to say of policies before they are run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.db import introspect as catalog
from anondb.db.connection import one_snapshot
from anondb.db.install import upgrade
from anondb.db.profile import Profiler
from anondb.db.session import Session
from anondb.policy.draft import draft as drafting
from anondb.policy.model import Name
from anondb.policy.names import parse_name

if TYPE_CHECKING:
    from anondb.policy.draft.draft import Draft


def draft(session: Session, table: str, k: int, target: str | None) -> Draft:
    """The draft of a policy; nothing of the database is changed, and no value leaves it."""
    upgrade.require_current(session)
    name = parse_name(table)
    relation = catalog.resolve_source(session, name, "table")
    source = Name(relation.schema, relation.name) if name.schema is None else name
    with one_snapshot(session, "drafting a policy", undo=True):
        profiler = Profiler(session, relation)
        profile = profiler.profile(source)
        quasi = {c.name for c in profile.columns if c.kind == "text" and 2 < c.distinct <= 300}
        profile = profiler.with_words(quasi, profile)
        return drafting.draft(
            profile, profiler.told_apart, k=k, target=None if target is None else parse_name(target)
        )
