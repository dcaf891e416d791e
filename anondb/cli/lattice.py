"""anondb lattice: every node of a policy's generalization lattice, its state and what it would release."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.api import connect
from anondb.cli.options import Checks, Dsn, Json, PolicyFile, TimeLimit
from anondb.cli.output import RunProgress, echo_json, out, plain, table
from anondb.policy.load import load
from anondb.run.plan import Options

if TYPE_CHECKING:
    from anondb.methods.lattice_listing import NodeState, OpenLattice


class Sort(StrEnum):
    LEVELS = "levels"
    SCORE = "score"
    SUPPRESSED = "suppressed"
    CLASSES = "classes"
    STATE = "state"


# what is not known comes last
_KEYS: dict[Sort, Callable[[NodeState], Any]] = {
    Sort.LEVELS: lambda node: (),
    Sort.SCORE: lambda node: (node.score is None, node.score),
    Sort.SUPPRESSED: lambda node: (node.suppressed is None, node.suppressed),
    Sort.CLASSES: lambda node: (node.classes is None, -(node.classes or 0)),
    Sort.STATE: lambda node: node.state,
}


def lattice(
    policy: PolicyFile,
    dsn: Dsn = None,
    as_json: Json = False,
    sort: Annotated[
        Sort, typer.Option(help="What to list first; classes: most first, all others: least first.")
    ] = Sort.LEVELS,
    state: Annotated[
        str | None, typer.Option(metavar="STATE", help="Only nodes that are anonymous, not, or pruned.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="At most N nodes.", min=1, show_default=False)
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Check every node, also those that the search need not look at.")
    ] = False,
    time_limit: TimeLimit = None,
    checks: Checks = None,
) -> None:
    """List every node of a policy's lattice: its levels, its state, and what it would release.

    A node is [bold]anonymous[/bold] or [bold]not[/bold], by a check or because a finer or coarser one
    implies it; [bold]pruned[/bold] means that the search did not have to know. Nothing is published.

    Examples:

      anondb lattice admissions.toml

      anondb lattice admissions.toml --full --sort score --state anonymous --limit 20

      anondb run admissions.toml --levels 1,0,2
    """
    loaded = load(policy)
    wanted = _state(state)
    with connect(dsn) as db, RunProgress() as progress:
        opened = db.lattice(
            loaded, full=full, options=Options(time_limit=time_limit, checks=checks), listener=progress
        )
    nodes = [node for node in opened.nodes if wanted is None or node.state == wanted]
    rank = _KEYS[sort]
    if sort is Sort.SCORE and opened.objective == "classes":
        rank = _highest_score_first
    shown = sorted(nodes, key=lambda node: (rank(node), sum(node.levels), node.levels))[:limit]
    if as_json:
        listed = opened.as_json() | {"nodes": [node.as_json() for node in shown]}
        echo_json(listed)
    else:
        _print(opened, shown)


def _highest_score_first(node: NodeState) -> Any:
    return (node.score is None, -(node.score or 0))


def _state(word: str | None) -> str | None:
    if word is None:
        return None
    words = {
        "anonymous": "anonymous",
        "not": "not anonymous",
        "not anonymous": "not anonymous",
        "pruned": "pruned",
    }
    if word not in words:
        raise typer.BadParameter("it is anonymous, not, or pruned", param_hint="--state")
    return words[word]


def _print(opened: OpenLattice, shown: list[NodeState]) -> None:
    columns = [f">{plain(name)}" for name in opened.heights]
    listing = table(*columns, "state", ">suppressed", ">classes", f">{opened.objective or 'score'}")
    for node in shown:
        best = node.levels == opened.best
        listing.add_row(
            *map(str, node.levels),
            f"{node.state} (chosen)" if best else node.state,
            *[_figure(value) for value in (node.suppressed, node.classes, node.score)],
            style="bold green" if best else ("" if node.state == "anonymous" else "dim"),
        )
    out.print(listing)
    proven = "" if opened.proven else "; the time was over before the best was proven"
    out.print(f"\n{len(shown):,} of {len(opened.nodes):,} nodes, {opened.checks:,} checked{proven}")


def _figure(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
