"""The one place where SQL trees become text."""

from __future__ import annotations

from sqlglot import exp


def render(node: exp.Expr, *, pretty: bool = False) -> str:
    """PostgreSQL's text of a tree; function names stay as they were given."""
    return node.sql(dialect="postgres", pretty=pretty, normalize_functions=False, copy=False)
