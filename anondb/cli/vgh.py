"""anondb vgh: value generalization hierarchies in the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anondb.api import connect
from anondb.cli import build, score, show
from anondb.cli.options import Dsn, Json, Public, VghName
from anondb.cli.output import echo, echo_json, out, plain, table, write

app = typer.Typer(help="Value generalization hierarchies (VGHs) in the catalogue.", no_args_is_help=True)


@app.command()
def load(
    name: VghName,
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="One row a leaf: leaf;level1;…;root")],
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the one of this name.")] = False,
    ontology: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The ontology that knows its terms: wordnet, or the one it had."),
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Store a hierarchy from a CSV file (also as ARX writes it).

    One row a leaf, its generalizations after it, the root last: Nurse;Health;Service;*

    Example: anondb vgh load occupation anondb-demo/occupation.csv
    """
    with connect(dsn) as db:
        info = db.hierarchies.load(name, file, replace=replace, ontology=ontology)
    echo(f"{info.name}: {info.leaves} leaves, {info.nodes} nodes, height {info.height}")


@app.command("list")
def list_(dsn: Dsn = None, as_json: Json = False) -> None:
    """List the stored hierarchies."""
    with connect(dsn) as db:
        infos = db.hierarchies.list()
    if as_json:
        fields = ("name", "height", "leaves", "nodes", "ontology")
        echo_json([{field: getattr(info, field) for field in fields} for info in infos])
        return
    listing = table("name", ">leaves", ">nodes", ">height", "ontology", "stored")
    for info in infos:
        stored = f"{info.created_at:%Y-%m-%d %H:%M}"
        figures = (str(info.leaves), str(info.nodes), str(info.height))
        listing.add_row(plain(info.name), *figures, plain(info.ontology), stored)
    out.print(listing if infos else "no hierarchies are stored\n  hint: anondb vgh load NAME FILE.csv")


app.command()(build.build)
app.command()(build.rank)
app.command()(score.score)
app.command()(score.senses)
app.command()(show.show)


@app.command()
def export(
    name: VghName,
    file: Annotated[Path | None, typer.Argument(metavar="FILE.csv", help="Else standard output.")] = None,
    public: Public = False,
    dsn: Dsn = None,
) -> None:
    """Write a hierarchy as CSV, in the form that `load` reads."""
    with connect(dsn) as db:
        text = db.hierarchies.export(name)
    write(text, file)


@app.command()
def drop(name: VghName, dsn: Dsn = None) -> None:
    """Forget a stored hierarchy."""
    with connect(dsn) as db:
        db.hierarchies.drop(name)
    echo(f"{name} is gone")
