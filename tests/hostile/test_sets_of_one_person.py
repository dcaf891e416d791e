"""A recipient who looks for somebody's own set, or own words, in a release of sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from anondb.api import Database
from anondb.errors import PolicyError
from tests.acceptance.search_logs import GRAPH, a_policy, log, released
from tests.properties.mdav_oracle import generalizations

Log = Sequence[Sequence[str]]


def meant(text: str) -> str | None:
    """The concept of a text of these tests: its longest known right-hand part."""
    words = text.lower().split()
    heads = (" ".join(words[start:]) for start in range(len(words)))
    return next((head for head in heads if head in GRAPH), None)


def leaks(source: Log, release: Sequence[Sequence[str]], k: int) -> Iterator[str]:
    """What is released and fewer than k records of the source have: concepts, itself or below; and texts."""
    above = [
        {name for text in texts if (c := meant(text)) for name in generalizations(GRAPH, c)}
        for texts in source
    ]
    said = [{text.lower() for text in texts} for texts in source]
    for term in sorted({term for terms in release for term in terms}):
        if sum(meant(term) in concepts for concepts in above) < k:
            yield f"the concept of {term}"
        if 0 < sum(term.lower() in texts for texts in said) < k:
            yield f"the text {term}"


def release_of(db: Database, source: Log, **said: Any) -> list[list[str]]:
    log(db, source)
    db.run(a_policy(**said))
    return [terms for _, terms in released(db)]


# the person of the first record is the most central one of the class, by alphabet
UNUSUAL = ["windsurfing", "jazz", "atlantic", "opera"]
CROWD = [[*UNUSUAL, "football"], ["swimming", "jazz"], ["swimming", "opera"], ["football", "jazz"]]


def test_no_set_of_one_person_is_released(db: Database) -> None:
    rows = release_of(db, [UNUSUAL, *CROWD], k=5)
    assert sorted(UNUSUAL) not in [sorted(terms) for terms in rows]
    assert list(leaks([UNUSUAL, *CROWD], rows, 5)) == []


def test_what_few_have_becomes_what_k_have_above_it(db: Database) -> None:
    rows = release_of(db, [["windsurfing", "atlantic"], ["swimming"], ["swimming", "jazz"]], k=3)
    # three have a water sport, one has a sea, and one music
    assert {tuple(terms) for terms in rows} == {("water sport",)}


def test_a_text_of_few_is_not_drawn_where_it_is_the_label_of_its_concept(db: Database) -> None:
    rows = release_of(db, [["football"], ["red football"], ["old football"]], k=3)
    assert {tuple(terms) for terms in rows} == {("sport",)}


def test_a_set_of_which_nobody_else_has_anything_is_released_empty(db: Database) -> None:
    rows = release_of(db, [["jazz"], ["atlantic"], ["football"]], k=3)
    assert rows == [[]] * 3


def test_no_policy_can_ask_for_texts_of_few(db: Database) -> None:
    with pytest.raises(PolicyError, match="terms"):
        a_policy(method='terms = "all"')
