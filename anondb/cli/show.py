"""anondb vgh show: a hierarchy as a tree of text, as DOT for Graphviz, or as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from anondb.api import Database, connect
from anondb.cli.options import Dsn, Public, VghName
from anondb.cli.output import out, write
from anondb.errors import AnondbError, UsageError
from anondb.hierarchies import draw as picture
from anondb.hierarchies import score_text, tree
from anondb.hierarchies.forms import VghTable
from anondb.hierarchies.tree import Node

_CHILDREN = 50  # of one node in a tree of text


class Format(StrEnum):
    TREE = "tree"
    DOT = "dot"
    SVG = "svg"


def show(
    name: VghName,
    form: Annotated[
        Format, typer.Option("--format", help="Text, Graphviz's language, or a picture.")
    ] = Format.TREE,
    measure: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The similarity of the losses; wup, if it can be told."),
    ] = None,
    aggregate: Annotated[
        str, typer.Option(metavar="avg|max", help="Of the leaves' losses below a node.")
    ] = "avg",
    exhaustive: Annotated[
        bool, typer.Option("--exhaustive", help="Every loss on its edge, in a picture (dot, svg).")
    ] = False,
    leaves: Annotated[
        int | None, typer.Option(metavar="N", help="Show at most N children of a node; 50 as text.", min=1)
    ] = None,
    file: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Else standard output.")] = None,
    public: Public = False,
    dsn: Dsn = None,
) -> None:
    """Show a hierarchy as a tree, with the semantic loss of each node where its ontology is loaded.

    Examples:

      anondb vgh show occupation

      anondb vgh show occupation --format svg --out occupation.svg

      anondb vgh show occupation --format svg --exhaustive --out occupation.svg

      anondb vgh show occupation --format dot | dot -Tpdf -o occupation.pdf
    """
    if exhaustive and form is Format.TREE:
        raise UsageError("a tree of text has no edges to write on", hint="give --format svg or --format dot")
    with connect(dsn) as db:
        table = db.hierarchies.show(name)
        losses = _losses(db, name, table, measure, aggregate)
        edges = None
        if exhaustive and losses:
            edges = db.hierarchies.edge_losses(name, measure=measure or "wup", aggregate=aggregate)
    used = measure or "wup"
    if form is Format.DOT:
        write(picture.dot(name, table, losses, edges=edges, max_leaves=leaves), file)
    elif form is Format.SVG:
        caption = f"semantic loss by {used}, {aggregate} over the leaves below" if losses else ""
        write(picture.svg(name, caption, table, losses, edges=edges, max_leaves=leaves), file)
    elif file is not None:
        write("".join(f"{line.plain}\n" for line in _tree(table, losses, leaves)), file)
    else:
        for line in _tree(table, losses, leaves):
            out.print(line, soft_wrap=True)


def _losses(
    db: Database, name: str, table: VghTable, measure: str | None, aggregate: str
) -> Mapping[Node, float]:
    """The losses of the inner nodes; empty if no measure was named and the default cannot be computed."""
    try:
        losses = db.hierarchies.node_losses(name, measure=measure or "wup", aggregate=aggregate)
    except AnondbError:
        if measure is not None:
            raise
        return {}
    below = tree.children(table)
    return {node: loss for node, loss in losses.items() if loss is not None and tree.shown(node, below)}


def _tree(table: VghTable, losses: Mapping[Node, float], leaves: int | None) -> Iterator[Text]:
    for line in tree.drawn(table, max_leaves=leaves or _CHILDREN):
        loss = None if line.node is None else losses.get(line.node)
        figure = ("", "") if loss is None else (f"  {loss:.4f}", score_text.style(loss))
        yield Text.assemble((line.branch, "dim"), line.text, figure)
