"""Noun phrases of texts, for their concepts to be looked up: sentences, tokens, parts of speech, chunks.

Two taggers are known. nltk's is the better one, and needs data that is downloaded; textblob's pattern
tagger carries its lexicon in the package. Both know English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from anondb.errors import UsageError
from anondb.ontology.model import normal_term

# most queries: there is nothing to tokenize, which takes as long as to tag them
_PLAIN = re.compile("[a-z0-9 ]+")
_CONTRACTED = frozenset({"cannot", "gimme", "gonna", "gotta", "lemme", "wanna"})

Tagged = Sequence[tuple[str, str]]  # tokens with their part of speech, as the Penn Treebank names it
Tag = Callable[[Sequence[str]], Tagged]

_CLASSIFIERS = frozenset(
    "type grade stage class level phase category degree group form kind no nr number version".split()
)
LONGEST = 200  # characters of a phrase; what is longer names nothing


STOP_WORDS = (
    "clip", "clips", "com", "coupon", "coupons", "deal", "deals", "download", "downloads", "forum", "forums",
    "homepage", "http", "image", "images", "info", "information", "link", "links", "online", "page", "pages", "photo",
    "photos", "pic", "pics", "picture", "pictures", "price", "prices", "review", "reviews", "sale", "sales", "site",
    "sites", "video", "videos", "web", "webpage", "website", "websites", "www",
)  # fmt: skip
"""What people type beside what they look for: it says how they want it, and not what."""


@dataclass(frozen=True)
class Tagger:
    name: str
    tag: Tag

    def phrases(self, text: str, stop_words: Collection[str] = ()) -> list[str]:
        """The noun phrases of a text in their order, each once, as terms are written."""
        phrases = (
            phrase for tokens in _sentences(text) for phrase in noun_phrases(self.tag(tokens), stop_words)
        )
        return list(dict.fromkeys(phrase for phrase in phrases if len(phrase) <= LONGEST))


@cache
def tagger() -> Tagger:
    """The best tagger that is there."""
    for find in (_nltk, _textblob):
        if (usable := find()) is not None:
            return usable
    raise UsageError(
        "there is no tagger for parts of speech, and sets of texts are compared by their nouns",
        hint="install one: pip install 'anondb[text]'",
    )


def phrases_of(text: str, stop_words: Collection[str] | None = None) -> list[str]:
    """What is looked up of a text in a set; without the usual stop words, unless others are said."""
    left_out = STOP_WORDS if stop_words is None else stop_words
    return tagger().phrases(text, frozenset(map(normal_term, left_out)))


def noun_phrases(tagged: Tagged, stop_words: Collection[str] = ()) -> Iterator[str]:
    """Nouns with the adjectives and nouns before them: cheap flights; of a lone word, the word itself.

    A word that stands alone is a name, whatever it may be in a sentence: swimming. Stop words are not there: of
    free pics nothing is left, as free is no noun.
    """
    words = [word for word, _ in tagged if any(map(str.isalnum, word))]
    # textblob knows few numbers
    tagged = [
        (word, "CD" if word.isdigit() else part) for word, part in tagged if word.lower() not in stop_words
    ]
    if len(words) == 1:
        yield from (_term(word) for word in words if word.lower() not in stop_words)
        return
    for inside, run in groupby(tagged, key=lambda token: _may_be_inside(*token)):
        chunk = list(run) if inside else []
        numbered = chunk and not chunk[-1][1].startswith(("NN", "VBG"))
        while chunk and not chunk[-1][1].startswith(("NN", "VBG")):
            chunk.pop()  # a phrase ends with its noun
        if numbered and len(chunk) > 1 and chunk[-1][0].lower() in _CLASSIFIERS:
            chunk.pop()  # diabetes mellitus type 2 is a diabetes, and no type
        if chunk:
            yield _term(" ".join(word for word, _ in chunk).replace(" 's", "'s"))


def _term(phrase: str) -> str:
    """As lexemes are written; a number after # would be taken for one of our senses."""
    return normal_term(phrase.replace("#", " "))


def _may_be_inside(word: str, part: str) -> bool:
    if not any(map(str.isalnum, word)) and part != "POS":
        return False
    return part.startswith(("NN", "JJ")) or part in {"VBG", "VBN", "POS", "CD"}


def _sentences(text: str) -> Iterator[list[str]]:
    from nltk.tokenize import NLTKWordTokenizer

    words, sentences = NLTKWordTokenizer(), _sentence_tokenizer()
    for line in text.splitlines():
        if _PLAIN.fullmatch(line) and _CONTRACTED.isdisjoint(tokens := line.split()):
            yield from [tokens] if tokens else []
        else:
            yield from map(words.tokenize, sentences(line))


@cache
def _sentence_tokenizer() -> Callable[[str], list[str]]:
    from nltk.tokenize import PunktSentenceTokenizer

    split: Callable[[str], list[str]] = PunktSentenceTokenizer().tokenize  # untrained, it needs no data
    return split


def _nltk() -> Tagger | None:
    from nltk.tag import pos_tag

    try:
        pos_tag(["word"])
    except LookupError:  # its data is not there
        return None
    return Tagger("nltk", pos_tag)


def _textblob() -> Tagger | None:
    try:
        from textblob.en import tag
    except ImportError:
        return None

    def tag_tokens(tokens: Sequence[str]) -> Tagged:
        # it splits a text again where it is asked to, and takes tokens between spaces where it is not
        tagged: Tagged = tag(" ".join(tokens), tokenize=False)
        return tagged

    return Tagger("textblob", tag_tokens)
