"""anondb ontology: knowledge bases in the database, and what terms mean in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from anondb.api import connect
from anondb.cli.options import Dsn, Json, PolicyFile
from anondb.cli.output import echo_json, err, is_watched, out, plain, table
from anondb.errors import UsageError
from anondb.ontology.load import WORDNET
from anondb.ontology.model import Progress as Listener

app = typer.Typer(
    help="Ontologies: knowledge bases that tell what the labels of a hierarchy mean.", no_args_is_help=True
)

OntologyName = Annotated[str, typer.Option("--ontology", metavar="NAME", help="In which ontology.")]


@app.command()
def load(
    source: Annotated[
        str, typer.Argument(metavar="wordnet|FILE", help="The word wordnet, or an .obo or .csv file.")
    ],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="How to call it; else as the file.", show_default=False)
    ] = None,
    verbs: Annotated[bool, typer.Option("--verbs", help="WordNet's verbs too, not only its nouns.")] = False,
    skip_broken: Annotated[
        bool,
        typer.Option(
            "--skip-broken", help="Leave out orphans, and edges to concepts that the file does not have."
        ),
    ] = False,
    dsn: Dsn = None,
) -> None:
    """Load an ontology into the database, as a whole or not at all.

    The same once more changes nothing; another one of the same name is replaced. A CSV file has one is-a
    edge a row: child,parent.

    Examples:

      anondb ontology load wordnet

      anondb ontology load doid.obo --name disease
    """
    with connect(dsn) as db, _progress() as listener:
        loaded = db.ontologies.load(
            source, name=name, verbs=verbs, skip_broken=skip_broken, progress=listener
        )
    info = loaded.info
    if loaded.outcome == "unchanged":
        out.print(f"{plain(info.name)} is there already; nothing was changed")
        return
    version = f" (version {plain(info.version)})" if info.version else ""
    verb = "replaced by" if loaded.outcome == "replaced" else "loaded:"
    out.print(f"{plain(info.name)} is {verb} {info.concepts:,} concepts, {info.depth} levels deep{version}")
    if loaded.forgotten:
        out.print(
            f"{loaded.forgotten} mappings or chosen senses were of concepts that it has no more; they are gone"
        )


@app.command("list")
def list_(dsn: Dsn = None, as_json: Json = False) -> None:
    """List the loaded ontologies."""
    with connect(dsn) as db:
        infos = db.ontologies.list()
    if as_json:
        fields = ("name", "kind", "version", "concepts", "depth")
        listed = [{field: getattr(info, field) for field in fields} for info in infos]
        echo_json(listed)
        return
    listing = table("name", "kind", "version", ">concepts", ">depth", "loaded")
    for info in infos:
        row = (
            plain(info.name),
            info.kind,
            plain(info.version or ""),
            f"{info.concepts:,}",
            str(info.depth),
        )
        listing.add_row(*row, f"{info.loaded_at:%Y-%m-%d %H:%M}")
    out.print(listing if infos else "no ontologies are loaded\n  hint: anondb ontology load wordnet")


@app.command()
def show(
    term: Annotated[str, typer.Argument(metavar="TERM", help="A word or phrase, a key, or an id.")],
    ontology: OntologyName = WORDNET,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show what a term can mean, and how that was found.

    By mapping, key, id, lemma (a name), synonym, plural, stem, or head (the longest known part of a phrase).

    Examples:

      anondb ontology show dog

      anondb ontology show 'type 2 diabetes' --ontology doid --json
    """
    with connect(dsn) as db:
        senses = db.ontologies.show(term, ontology)
    if not senses:
        raise UsageError(
            f'ontology "{ontology}" has no concept for "{term}"',
            hint=f"say what it means: anondb ontology map '{term}' CONCEPT",
        )
    if as_json:
        echo_json([asdict(sense) for sense in senses])
        return
    out.print(f"[bold]{plain(term)}[/bold] in {plain(ontology)}, found by {senses[0].how}:")
    for sense in senses:
        out.print(f"\n{sense.sense:>3}  [bold]{plain(sense.label)}[/bold]  {plain(sense.key)}")
        for line in (sense.gloss, f"is a {', '.join(sense.parents)}" if sense.parents else "a root"):
            if line:
                out.print(f"     {plain(line)}", soft_wrap=True)


@app.command("map")
def map_(
    term: Annotated[str | None, typer.Argument(metavar="[TERM]", help="A word or phrase of yours.")] = None,
    concept: Annotated[
        str | None, typer.Argument(metavar="[CONCEPT]", help="What it means: a term, a key, or an id.")
    ] = None,
    ontology: OntologyName = WORDNET,
    remove: Annotated[bool, typer.Option("--remove", help="Forget what was said about the term.")] = False,
    dsn: Dsn = None,
) -> None:
    """Say what a term means, before all other ways to find it; without a term, list what was said.

    Examples:

      anondb ontology map GP doctor#1

      anondb ontology map GP --remove
    """
    if term is not None and (concept is None) is not remove:
        raise UsageError(
            "a mapping needs a term and a concept", hint="anondb ontology map TERM CONCEPT, or TERM --remove"
        )
    with connect(dsn) as db:
        if term is not None:
            db.ontologies.map(term, concept, ontology)
        mappings = db.ontologies.mappings(ontology)
    listing = table("term", "means", "concept")
    for mapping in mappings:
        listing.add_row(plain(mapping.term), plain(mapping.label), plain(mapping.key))
    out.print(listing if mappings else f"no terms are mapped in {plain(ontology)}")


@app.command()
def review(policy: PolicyFile, dsn: Dsn = None, as_json: Json = False) -> None:
    """List what the texts of a policy's columns would mean to a run: value, sense, gloss, and how it was found.

    Most frequent first; what no ontology knows has no sense. What is wrong is put right
    by a mapping, for this and all further runs.

    Examples:

      anondb ontology review visits.toml

      anondb ontology map fields 'field#1'
    """
    with connect(dsn) as db:
        found = db.ontologies.review(policy)
    if as_json:
        echo_json([asdict(value) for value in found])
        return
    if not found:
        out.print("no column of the policy is compared by an ontology")
        return
    listing = table("column", "value", ">records", "ontology", "sense", "how", "gloss")
    for value in found:
        said = value.value if value.phrase in (None, value.value) else f"{value.value}: {value.phrase}"
        chosen = f", of {value.senses}" if (value.senses or 0) > 1 else ""
        listing.add_row(
            plain(value.column),
            plain(said),
            f"{value.records:,}",
            plain(value.ontology or ""),
            plain(value.concept or "unknown"),
            f"{value.how or ''}{chosen}",
            plain(value.gloss or ""),
        )
    out.print(listing)
    unknown = sum(value.concept is None for value in found)
    out.print(f"{len(found):,} texts, of which {unknown:,} mean nothing to their ontology")
    out.print("  hint: say what a text means: anondb ontology map VALUE CONCEPT")


@app.command()
def drop(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The ontology's name.", show_default=False)],
    dsn: Dsn = None,
) -> None:
    """Forget an ontology, with the similarities and meanings that come from it."""
    with connect(dsn) as db:
        db.ontologies.drop(name)
    out.print(f"{plain(name)} is gone")


@contextmanager
def _progress() -> Iterator[Listener]:
    """A progress bar on a terminal, from reading to the generalizations."""
    bar = Progress(
        TextColumn("{task.description:<26}"),
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=not is_watched(),
    )
    with bar:
        task = bar.add_task("start", total=1.0)
        yield lambda doing, share: bar.update(task, description=doing, completed=share)
