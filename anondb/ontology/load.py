"""An ontology from the word `wordnet` or from a file, by the file's kind."""

from __future__ import annotations

from pathlib import Path

from anondb.errors import UsageError
from anondb.ontology import csvfile, graph, obo, wordnet
from anondb.ontology.model import Ontology, Progress

WORDNET = "wordnet"
_CSV = (".csv", ".tsv", ".txt")


def read(
    source: Path | str,
    *,
    verbs: bool = False,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> Ontology:
    """WordNet, or the ontology in an OBO or CSV file; what is broken in the file can be left out."""
    if str(source) == WORDNET:
        return wordnet.read(verbs=verbs, progress=progress)
    path = Path(source)
    if verbs:
        raise UsageError("verbs are WordNet's alone", hint="leave --verbs out")
    if path.suffix.lower() == ".obo":
        ontology = obo.read(path, progress=progress)
    elif path.suffix.lower() in _CSV:
        ontology = csvfile.read(path)
    else:
        raise UsageError(
            f"{path}: is neither wordnet nor an .obo or .csv file",
            hint="a file's kind is told by how its name ends",
        )
    return graph.without_broken(ontology) if skip_broken else ontology


def name_of(source: Path | str, name: str | None = None) -> str:
    """The name that an ontology is stored under: as asked for, else the file's, without its ending."""
    if str(source) == WORDNET:
        if name not in (None, WORDNET):
            raise UsageError(f'WordNet is stored as "{WORDNET}", not as "{name}"', hint="leave --name out")
        return WORDNET
    chosen = Path(source).stem if name is None else name
    if chosen == WORDNET:
        raise UsageError(f'the name "{WORDNET}" is for WordNet', hint="give the file another with --name")
    return chosen
