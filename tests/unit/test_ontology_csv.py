"""CSV files of is-a edges: with or without a header, by comma, semicolon or tab; mistakes have their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from anondb.errors import UsageError
from anondb.ontology import csvfile, graph
from anondb.ontology.csvfile import parse
from anondb.ontology.load import name_of, read
from anondb.ontology.model import Edge, Lexeme

ANIMALS = "dog,mammal\ncat,mammal\nmammal,animal\n"


def edges(text: str) -> set[tuple[str, str]]:
    return {(edge.child, edge.parent) for edge in parse(text, place="animals.csv").edges}


SAME = {("dog", "mammal"), ("cat", "mammal"), ("mammal", "animal")}


@pytest.mark.parametrize(
    "text",
    [
        ANIMALS,
        "child,parent\n" + ANIMALS,
        "Concept,Parent\n" + ANIMALS,
        ANIMALS + "animal,\n",
        "animal\n" + ANIMALS,
        ANIMALS.replace(",", ";"),
        ANIMALS.replace(",", "\t"),
        "animal\n" + ANIMALS.replace(",", ";"),
        ANIMALS.replace("\n", "\r\n"),
        ANIMALS.replace("\n", "\n\n"),
        ANIMALS.replace(",", " , "),
        ANIMALS + ANIMALS,
        "\n\nchild,parent\n" + ANIMALS,
        '"dog","mammal"\n' + ANIMALS,
        ANIMALS.replace("\n", ",\n"),
    ],
)
def test_the_same_edges_are_read_however_they_are_written(text: str) -> None:
    assert edges(text) == SAME


def test_a_concept_is_its_own_name_and_word() -> None:
    found = parse('Cat,Big cats\n"Paris, France";x\n'.replace(";x", ",Big cats"), place="x.csv")
    assert [concept.key for concept in found.concepts] == ["Cat", "Paris, France", "Big cats"]
    assert found.lexemes[0] == Lexeme("cat", 1, "n", "Cat", "lemma")
    assert found.root_depth == 0


def test_names_that_differ_in_case_alone_are_senses_of_one_word() -> None:
    found = parse("Turkey,country\nturkey,bird\n", place="x.csv")
    assert [(word.sense, word.concept) for word in found.lexemes if word.lemma == "turkey"] == [
        (1, "Turkey"),
        (2, "turkey"),
    ]


def test_a_comma_in_a_name_is_no_separator_where_semicolons_are() -> None:
    assert edges('"Paris, France";city\n"Cork, Ireland";city\n') == {
        ("Paris, France", "city"),
        ("Cork, Ireland", "city"),
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\nc,d,e\n", "line 2: has 3 cells"),
        ("a,b\n,d\n", "line 2: has no child"),
        ('a,b\n"c,d\n', "line 2: is not CSV"),
        ('a,b\n"c"x,d\n', "line 2: is not CSV"),
        ("", "has no edges"),
        ("child,parent\n", "has no edges"),
        ("animal,\ndog,mamal\nmammal,animal\ncat,mamal\n", 'line 2: unknown parent "mamal"\n'),
        ("animal,\na,x\nb,y\nc,x\n", 'line 2: unknown parent "x", and 1 more'),
        ("a,b\0\n", "has a NUL character"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"animals.csv:? ?{told}"):
        parse(text, place="animals.csv")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\nb,c\nc,a\n", "a cycle: . → . → . → ."),
        ("a,a\n", "a cycle: a → a"),
        ("animal,\ndog,animal\nstone,\n", "orphans.*: stone"),
        ("x" * 3000 + ",y\n", "a concept's key has more than 2600 bytes"),
    ],
)
def test_a_broken_graph_is_told_with_the_file_and_the_concepts(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"animals.csv: {told}"):
        graph.depths(parse(text, place="animals.csv"))


def test_one_concept_alone_is_an_ontology() -> None:
    assert graph.depths(parse("everything,\n", place="x.csv")) == {"everything": (0, 0)}


def test_the_same_content_has_the_same_fingerprint_and_other_content_another() -> None:
    fingerprint = parse(ANIMALS, place="a.csv").sha256
    assert parse("child;parent\n" + ANIMALS.replace(",", ";"), place="b.csv").sha256 == fingerprint
    assert parse(ANIMALS + "wolf,dog\n", place="a.csv").sha256 != fingerprint


def test_a_file_is_read_by_the_ending_of_its_name(tmp_path: Path) -> None:
    for ending in ("csv", "CSV", "tsv", "txt"):
        file = tmp_path / f"animals.{ending}"
        file.write_text(ANIMALS.replace(",", "\t") if ending == "tsv" else ANIMALS)
        assert {Edge(*edge, "isa") for edge in SAME} == set(read(file).edges)
    with pytest.raises(UsageError, match=r"neither wordnet nor an \.obo or \.csv file"):
        read(tmp_path / "animals.owl")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        csvfile.read(tmp_path / "none.csv")
    latin = tmp_path / "latin.csv"
    latin.write_bytes("M\xe9ni\xe8re,x\n".encode("latin-1"))
    with pytest.raises(UsageError, match="not UTF-8"):
        csvfile.read(latin)


def test_an_ontology_is_called_as_its_file_unless_told_otherwise(tmp_path: Path) -> None:
    assert name_of(tmp_path / "doid.obo") == "doid"
    assert name_of("doid.obo", "disease") == "disease"
    assert name_of("wordnet") == "wordnet"
    assert name_of("wordnet", "wordnet") == "wordnet"


@pytest.mark.parametrize(
    ("source", "name"), [("x.csv", "wordnet"), ("wordnet.obo", None), ("wordnet", "nouns")]
)
def test_the_name_wordnet_is_for_wordnet(source: str, name: str | None) -> None:
    with pytest.raises(UsageError, match=r"[wW]ord[nN]et"):
        name_of(source, name)


def test_verbs_are_wordnets_alone() -> None:
    with pytest.raises(UsageError, match="verbs are WordNet's alone"):
        read("animals.csv", verbs=True)
