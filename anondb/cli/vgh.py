"""anondb vgh: value generalization hierarchies in the catalogue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from anondb.api import connect
from anondb.cli.options import Dsn, Json
from anondb.cli.output import out, table
from anondb.errors import UsageError
from anondb.hierarchy import csvfile, tree

app = typer.Typer(help="Value generalization hierarchies (VGHs) in the catalogue.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The hierarchy's name.", show_default=False)]


@app.command()
def load(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="One row a leaf: leaf;level1;…;root")],
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the one of this name.")] = False,
    dsn: Dsn = None,
) -> None:
    """Store a hierarchy from a CSV file (also as ARX writes it).

    One row a leaf, its generalizations after it, the root last: Nurse;Health;Service;*

    Example: anondb vgh load occupation anondb-demo/occupation.csv
    """
    with connect(dsn) as db:
        info = db.load_vgh(name, file, replace=replace)
    typer.echo(f"{info.name}: {info.leaves} leaves, {info.nodes} nodes, height {info.height}")


@app.command("list")
def list_(dsn: Dsn = None, as_json: Json = False) -> None:
    """List the stored hierarchies."""
    with connect(dsn) as db:
        found = db.vghs()
    if as_json:
        fields = ("name", "height", "leaves", "nodes")
        typer.echo(json.dumps([{field: getattr(info, field) for field in fields} for info in found]))
        return
    listing = table("name", ">leaves", ">nodes", ">height", "stored")
    for info in found:
        stored = f"{info.created_at:%Y-%m-%d %H:%M}"
        listing.add_row(escape(info.name), str(info.leaves), str(info.nodes), str(info.height), stored)
    out.print(listing if found else "no hierarchies are stored\n  hint: anondb vgh load NAME FILE.csv")


@app.command()
def show(
    name: Name,
    leaves: Annotated[int, typer.Option(metavar="N", help="Show at most N children of a node.", min=1)] = 50,
    dsn: Dsn = None,
) -> None:
    """Show a hierarchy as a tree."""
    with connect(dsn) as db:
        found = db.vgh(name)
    for line in tree.lines(found, max_leaves=leaves):
        typer.echo(line)


@app.command()
def export(
    name: Name,
    file: Annotated[Path | None, typer.Argument(metavar="FILE.csv", help="Else standard output.")] = None,
    dsn: Dsn = None,
) -> None:
    """Write a hierarchy as CSV, in the form that `load` reads."""
    with connect(dsn) as db:
        text = csvfile.write(db.vgh(name))
    if file is None:
        typer.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be written: {error.strerror}", hint="choose another file, or leave it out"
        ) from None


@app.command()
def drop(name: Name, dsn: Dsn = None) -> None:
    """Forget a stored hierarchy."""
    with connect(dsn) as db:
        db.drop_vgh(name)
    typer.echo(f"{name} is gone")
