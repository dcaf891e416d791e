"""Columns that are released as they are: which of them know records apart, counted on the rows that were written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from anondb.errors import PolicyError, Problem
from anondb.policy.check import written
from anondb.policy.model import Column, Policy, Role
from anondb.run.engine import Engine
from anondb.run.kept import Kept
from anondb.run.linked_sql import relation_text
from anondb.run.statement import no_rows
from anondb.sqltree.released import Pseudonym
from anondb.sqltree.tables import Relation, SourceColumn

IDENTIFYING = """
select i.of_column, i.kind, i.share, i.reasons
from anondb.identifying_columns($1::text::regclass, $2::name[], $3::name[]) as i
"""
_NATURAL = ("number", "date", "time")  # measurements and times of a sensitive column are mostly all different

KeptColumns = tuple[Relation, Sequence[SourceColumn]]
"""A table of a release, and the columns in it that are as they were."""


def judge(engine: Engine, policy: Policy, tables: Iterable[KeptColumns]) -> tuple[Kept, ...]:
    """The kept columns that matter, in the order of the policy."""
    by_name: dict[str, tuple[str, float | None, list[str]]] = {}
    for relation, columns in tables:
        columns = [column for column in columns if not isinstance(column.form, Pseudonym)]
        if columns:
            names, unique = [c.name for c in columns], [c.name for c in columns if c.unique]
            answers = no_rows("of_column", "kind", "share", "reasons")
            arguments = (relation_text(relation), names, unique)
            rows = engine.ask_release("kept columns", IDENTIFYING, answers, arguments)
            by_name |= {name: (kind, share, reasons) for name, kind, share, reasons in rows}
    judged = (_kept(column, *by_name[column.name]) for column in policy.columns if column.name in by_name)
    return tuple(kept for kept in judged if kept is not None)


def _kept(column: Column, kind: str, share: float | None, reasons: Sequence[str]) -> Kept | None:
    if column.keep is not None:
        verdict = "accepted"
    elif not reasons:
        return None
    else:
        natural = column.role is Role.SENSITIVE and kind in _NATURAL
        verdict = "distinct" if natural else "refused"
    return Kept(column.name, str(column.role), verdict, share, tuple(reasons))


JudgedColumns = tuple[Policy, Sequence[Kept]]
"""The kept columns of a table, and the policy that says what they may be."""


def refuse(judged: Iterable[JudgedColumns]) -> None:
    """Raises where a column would tell persons apart and the policy does not say that it may."""
    if problems := [problem for policy, kept in judged for problem in _problems(policy, kept)]:
        raise PolicyError(problems)


def _problems(policy: Policy, kept: Sequence[Kept]) -> Iterator[Problem]:
    for column in kept:
        if column.verdict == "refused":
            yield Problem(
                f"{policy.place} [columns.{written(column.column)}]",
                f'{column.role} column "{column.column}" would be released as it is, and its values {column.values}: '
                "records are known apart by it, whatever their class",
                'set role = "identifier" to leave it out, or role = "quasi" to generalize it; '
                'keep = "identifying" publishes it all the same',
            )
