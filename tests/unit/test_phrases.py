"""Noun phrases of texts, and which tagger finds them."""

from __future__ import annotations

import re

import pytest

from anondb.errors import UsageError
from anondb.ontology import phrases
from anondb.ontology.phrases import STOP_WORDS, noun_phrases, tagger


@pytest.fixture(autouse=True)
def _forget_tagger() -> None:
    phrases.tagger.cache_clear()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Swimming", ["swimming"]),
        ("cheap flights to Rome", ["cheap flights", "rome"]),
        ("windsurfing lessons near the sea", ["windsurfing lessons", "sea"]),
        ("He likes swimming. She likes jazz!", ["swimming", "jazz"]),
        ("dogs, cats and dogs", ["dogs", "cats"]),
        ("Café", ["cafe"]),
        ("", []),
        (" \n ", []),
        ("... !", []),
    ],
)
def test_texts_have_their_noun_phrases_in_order_and_once(text: str, found: list[str]) -> None:
    assert tagger().phrases(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Persian cat pics", ["persian cat"]),
        ("pics of sphinxes", ["sphinxes"]),
        ("free pictures", []),
        ("Pics", []),
        ("camera reviews online", ["camera"]),
        ("picturesque villages", ["picturesque villages"]),
    ],
)
def test_stop_words_of_searches_are_left_out_of_phrases(text: str, found: list[str]) -> None:
    assert tagger().phrases(text, STOP_WORDS) == found


def test_plain_texts_have_the_tokens_of_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        "cheap flights to rome 2006",
        "i cannot see",
        "gonna buy a cat",
        "cats",
        "two  spaces here ",
        "7",
        " ",
        "a b",
    ]
    plain = [list(phrases._sentences(text)) for text in texts]
    monkeypatch.setattr(phrases, "_PLAIN", re.compile("(?!)"))
    assert plain == [list(phrases._sentences(text)) for text in texts]


def test_a_phrase_ends_with_its_noun_and_starts_with_what_describes_it() -> None:
    tagged = [
        ("the", "DT"),
        ("big", "JJ"),
        ("red", "JJ"),
        ("bus", "NN"),
        ("late", "JJ"),
        (",", ","),
        ("it", "PRP"),
    ]
    assert list(noun_phrases(tagged)) == ["big red bus"]


def test_what_only_numbers_a_thing_is_not_what_a_phrase_is_about() -> None:
    tagged = [("chronic", "JJ"), ("diabetes", "NN"), ("type", "NN"), ("2", "CD")]
    assert list(noun_phrases(tagged)) == ["chronic diabetes"]
    assert list(noun_phrases([*tagged[:3], ("pain", "NN")])) == ["chronic diabetes type pain"]
    assert tagger().phrases("diabetes mellitus type 2") == ["diabetes mellitus"]
    assert list(noun_phrases([("a", "DT"), ("type", "NN"), ("2", "CD")])) == ["type"]


def test_a_sense_in_a_text_is_no_sense_of_ours() -> None:
    """Somebody's `dog#9` must not be looked up as the ninth sense, which there is not."""
    assert all("#" not in phrase for phrase in tagger().phrases("dog#9 and cat#77"))


def test_a_text_without_end_is_no_phrase() -> None:
    assert tagger().phrases("x" * 1000) == []


def test_the_tagger_that_carries_its_data_is_used_where_nltk_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(phrases, "_nltk", lambda: None)
    assert tagger().name == "textblob"


def test_without_any_tagger_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_nltk", "_textblob"):
        monkeypatch.setattr(phrases, name, lambda: None)
    with pytest.raises(UsageError, match=r"anondb\[text\]"):
        tagger()
