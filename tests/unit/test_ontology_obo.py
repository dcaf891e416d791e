"""OBO files: terms, names, is-a and part-of are read; what is obsolete is not; mistakes are named."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from anondb.errors import UsageError
from anondb.ontology import graph, obo
from anondb.ontology.model import Concept, Edge, Lexeme, Ontology

DISEASES = """\
format-version: 1.2
data-version: releases/2024-01-01
ontology: small

[Term]
id: D:1
name: disease

[Term]
id: D:2
name: lung disease
def: "A disease of the \\"lung\\"." [url:http\\://example.org]
synonym: "pulmonary disease" EXACT []
synonym: "chest trouble" RELATED []
alt_id: D:77
is_a: D:1 ! disease

[Term]
id: D:3
name: asthma {source="x"}
synonym: "disease" BROAD []
is_a: D:2 {source="x"} ! lung disease
relationship: part_of D:4 ! syndrome
relationship: has_symptom D:1

[Term]
id: D:4
name: syndrome
is_a: D:1
is_a: D:2
relationship: BFO:0000050 D:2

[Term]
id: D:9
name: phlogiston fever
is_a: D:404
is_obsolete: true

[Typedef]
id: part_of
name: part of

[Instance]
id: D:10
instance_of: D:3
"""


def read(folder: Path, text: str) -> Ontology:
    file = folder / "small.obo"
    file.write_text(text, encoding="utf-8")
    return obo.read(file)


def terms(*frames: str) -> str:
    return "format-version: 1.2\n" + "".join(f"\n[Term]\n{frame}\n" for frame in frames)


def test_terms_are_concepts_with_their_names_and_definitions(tmp_path: Path) -> None:
    found = read(tmp_path, DISEASES)
    assert (found.kind, found.version, found.root_depth) == ("obo", "releases/2024-01-01", 0)
    assert found.concepts == [
        Concept("D:1", "n", "disease", ""),
        Concept("D:2", "n", "lung disease", 'A disease of the "lung".'),
        Concept("D:3", "n", "asthma", ""),
        Concept("D:4", "n", "syndrome", ""),
    ]


def test_is_a_and_part_of_are_edges_and_other_relations_are_not(tmp_path: Path) -> None:
    assert set(read(tmp_path, DISEASES).edges) == {
        Edge("D:2", "D:1", "isa"),
        Edge("D:3", "D:2", "isa"),
        Edge("D:4", "D:1", "isa"),
        Edge("D:4", "D:2", "isa"),
        Edge("D:3", "D:4", "part"),
        Edge("D:4", "D:2", "part"),
    }


def test_what_a_term_is_called_goes_before_what_others_are_called_too(tmp_path: Path) -> None:
    found = read(tmp_path, terms('id: A:1\nname: b\nsynonym: "a" EXACT []', "id: A:2\nname: a\nis_a: A:1"))
    assert [word for word in found.lexemes if word.lemma == "a"] == [
        Lexeme("a", 1, "n", "A:2", "lemma"),
        Lexeme("a", 2, "n", "A:1", "synonym"),
    ]


def test_synonyms_and_former_keys_are_words_for_a_term(tmp_path: Path) -> None:
    words = {(word.lemma, word.concept): word.kind for word in read(tmp_path, DISEASES).lexemes}
    assert words == {
        ("disease", "D:1"): "lemma",
        ("disease", "D:3"): "synonym",
        ("lung disease", "D:2"): "lemma",
        ("pulmonary disease", "D:2"): "synonym",
        ("chest trouble", "D:2"): "synonym",
        ("d:77", "D:2"): "synonym",
        ("asthma", "D:3"): "lemma",
        ("syndrome", "D:4"): "lemma",
    }


def test_depths_are_links_to_the_root_on_the_shortest_and_the_longest_way(tmp_path: Path) -> None:
    assert graph.depths(read(tmp_path, DISEASES)) == {
        "D:1": (0, 0),
        "D:2": (1, 1),
        "D:3": (2, 2),
        "D:4": (1, 2),
    }


def test_several_roots_and_namespaces_are_fine(tmp_path: Path) -> None:
    text = terms(
        "id: A:1\nname: process\nnamespace: processes",
        "id: A:2\nname: growth\nnamespace: processes\nis_a: A:1",
        "id: A:3\nname: place\nnamespace: places",
        "id: A:4\nname: cell\nnamespace: places\nis_a: A:3",
    )
    depths = graph.depths(read(tmp_path, text))
    assert [key for key, depth in depths.items() if depth == (0, 0)] == ["A:1", "A:3"]


def test_a_part_of_something_is_no_orphan(tmp_path: Path) -> None:
    text = terms("id: A:1", "id: A:2\nis_a: A:1", "id: A:3\nrelationship: part_of A:1")
    assert graph.depths(read(tmp_path, text))["A:3"] == (0, 0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (terms("id: A:1\nname: a", "id: A:2\nis_a: A:404"), r"unknown parents.*: A:404 \(of A:2\)"),
        (
            terms("id: A:1\nname: a\nis_a: A:2", "id: A:2\nis_obsolete: true"),
            r"unknown parents, missing or obsolete: A:2 \(of A:1\)",
        ),
        (
            terms("id: A:1", "id: A:2\nis_a: A:1\nrelationship: part_of A:9"),
            r"unknown parents.*: A:9 \(of A:2\)",
        ),
        (
            terms("id: A:1\nis_a: A:2", "id: A:2\nis_a: A:3", "id: A:3\nis_a: A:1"),
            "a cycle: A:. → A:. → A:. → A:.",
        ),
        (terms("id: A:1\nis_a: A:1"), "a cycle: A:1 → A:1"),
        (terms("id: A:1", "id: A:2\nis_a: A:1", "id: A:3", "id: A:4"), "orphans.*: A:3, A:4"),
        (terms("id: A:1\nname: a", "id: A:1\nname: b"), "concepts that are defined twice: A:1"),
    ],
)
def test_a_broken_graph_is_told_with_the_file_and_the_concepts(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"small.obo: {told}"):
        graph.depths(read(tmp_path, text))


def test_a_cycle_is_told_from_child_to_parent(tmp_path: Path) -> None:
    text = terms("id: A:1\nis_a: A:2", "id: A:2\nis_a: A:3", "id: A:3\nis_a: A:1")
    with pytest.raises(UsageError) as caught:
        graph.depths(read(tmp_path, text))
    steps = caught.value.message.split(": a cycle: ")[1].split(" → ")
    assert all((a, b) in {("A:1", "A:2"), ("A:2", "A:3"), ("A:3", "A:1")} for a, b in pairwise(steps))


def test_only_ten_of_many_are_named(tmp_path: Path) -> None:
    orphans = [f"id: B:{number:02d}" for number in range(1, 31)]
    with pytest.raises(UsageError, match=r"B:01, .*B:10, and 20 more"):
        graph.depths(read(tmp_path, terms("id: A:1", "id: A:2\nis_a: A:1", *orphans)))


def test_what_is_broken_can_be_left_out(tmp_path: Path) -> None:
    text = terms(
        "id: A:0\nname: same",
        "id: A:1\nname: root",
        "id: A:2\nname: same\nis_a: A:1\nis_a: A:404",
    )
    kept = graph.without_broken(read(tmp_path, text))
    assert [concept.key for concept in kept.concepts] == ["A:1", "A:2"]
    assert kept.edges == [Edge("A:2", "A:1", "isa")]
    assert Lexeme("same", 1, "n", "A:2", "lemma") in kept.lexemes  # its only sense now
    assert graph.depths(kept) == {"A:1": (0, 0), "A:2": (1, 1)}


def test_leaving_out_changes_nothing_that_is_whole(tmp_path: Path) -> None:
    whole = read(tmp_path, DISEASES)
    assert graph.without_broken(whole).sha256 == whole.sha256


def test_nothing_but_orphans_is_no_ontology(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing in it is connected"):
        graph.without_broken(read(tmp_path, terms("id: A:1", "id: A:2")))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (terms("id: A:1\nis_a"), "line 5: is not OBO"),
        (terms('id: A:1\nsynonym: "open EXACT'), "line 5: is not OBO"),
        (terms("name: no id"), "line 4: is not OBO"),
        ("child,parent\ndog,animal\n", "line 1: is not OBO"),
        ("", "has no terms"),
        ("format-version: 1.2\n", "has no terms"),
        (terms("id: A:1\nis_obsolete: true"), "has no terms"),
    ],
)
def test_what_is_not_obo_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"small.obo:? ?{told}"):
        read(tmp_path, text)


def test_a_file_that_is_not_there_or_not_utf8_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        obo.read(tmp_path / "none.obo")
    with pytest.raises(UsageError, match="cannot be read"):
        obo.read(tmp_path)
    latin = tmp_path / "latin.obo"
    latin.write_bytes(terms("id: A:1\nname: M\xe9ni\xe8re").encode("latin-1"))
    with pytest.raises(UsageError, match="UTF-8"):
        obo.read(latin)


def test_windows_line_ends_and_a_byte_order_mark_are_fine(tmp_path: Path) -> None:
    file = tmp_path / "windows.obo"
    file.write_bytes(b"\xef\xbb\xbf" + DISEASES.replace("\n", "\r\n").encode())
    assert obo.read(file).sha256 == read(tmp_path, DISEASES).sha256
