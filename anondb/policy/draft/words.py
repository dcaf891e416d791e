"""What names of columns mean, in several languages: words.toml has the words."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anondb.policy.model import Role

FILE = Path(__file__).with_name("words.toml")
LANGUAGES = Path(__file__).with_name("languages.toml")
"""More words of the same meanings, language by language."""


@dataclass(frozen=True)
class Meaning:
    """What a column is about, and so which role it has."""

    name: str
    role: Role
    says: str
    pattern: re.Pattern[str]
    kinds: frozenset[str]  # of columns that can mean it


KINDS = frozenset({"number", "date", "time", "address", "flag", "text"})

_PERSONS = re.compile(
    r"\b(patient\w*|pat|subject|subj|person|pers|pid\w*|participant|individual|respondent|member|customer\w*|cust|"
    r"client|kunde\w*|user|employee|emp|staff|student|passenger|citizen|resident|personalnummer|persnr|paciente|"
    r"cliente|empleado|paziente|utente|mitarbeiter\w*|salarie|personne|persona|pessoa|insured|insuree|beneficiary|bene)\b"
    r"|^(id|nr|i|uid|case|caseid|case id|seqn|ident)$"
)
# numbers of things, and flags about them, are no things: number_of_emails, has_phone, is_named
_COUNTED = re.compile(
    r"^(n|no of|num(?= \w)|number(?= \w)|nr of|count|counts|total|sum|avg|average|mean|max|min|has|is|anzahl|"
    r"nombre de|numero de|nb|pct|percent|share|rate|log|ln)\b"
)
_TRANSLIT = str.maketrans(
    {"ß": "ss", "ä": "ae", "ö": "oe", "ü": "ue", "ø": "o", "æ": "ae", "å": "a", "ł": "l", "đ": "d", "ı": "i"}
)


def tokens(name: str) -> str:
    """The words of a name, in lower case without accents, a blank between each two."""
    parted = re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return " ".join("".join(c if _is_letter(c) else " " for c in _plain(parted)).split())


def _plain(written: str) -> str:
    """In lower case, without accents: names of columns and words alike."""
    lowered = unicodedata.normalize("NFC", written).lower().translate(_TRANSLIT)
    kept = (c for c in unicodedata.normalize("NFKD", lowered) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", "".join(kept))


def _is_letter(c: str) -> bool:
    """Letters and digits, and the vowels that some scripts write as marks of a letter."""
    return c.isalnum() or unicodedata.category(c).startswith("M")


def meaning_of(name: str, kind: str) -> Meaning | None:
    """What a column of this name and kind is about; None for a name that says nothing."""
    return next(meanings_of(name, kind), None)


def meanings_of(name: str, kind: str) -> Iterator[Meaning]:
    """The same, and what else it may be about where its values speak against that."""
    words = tokens(name)
    counted = kind in ("number", "flag") and _COUNTED.match(words) is not None
    for meaning in meanings():
        if kind not in meaning.kinds:
            continue
        if counted and meaning.role is Role.IDENTIFIER and meaning.name != "technical":
            continue
        if meaning.pattern.search(words) or meaning.pattern.search(words.replace(" ", "")):
            yield meaning


def is_of_a_person(name: str) -> bool:
    """Whether a number is named after who a table is about, and not after a doctor or a product."""
    return _PERSONS.search(tokens(name)) is not None


@cache
def meanings() -> tuple[Meaning, ...]:
    """All of them, in the order in which they are tried."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["meaning"]
    last = {entry["name"]: entry for entry in entries}  # words of more languages join the broadest entry
    for language in tomllib.loads(LANGUAGES.read_text(encoding="utf-8")).values():
        for name, words in language.items():
            last[name]["words"] += f", {words}"
    return tuple(
        Meaning(
            entry["name"],
            Role(entry["role"]),
            entry["says"],
            _any(entry["words"]),
            frozenset(entry.get("kinds", KINDS)),
        )
        for entry in entries
    )


def _any(words: str) -> re.Pattern[str]:
    entries = dict.fromkeys(" ".join(_plain(word).split()) for word in words.split(","))
    return re.compile("|".join(_pattern(entry) for entry in entries if entry))


def _pattern(entry: str) -> str:
    if entry.startswith("="):
        return f"^{re.escape(entry[1:])}$"
    # words that are known may be written as one, but whatever comes before or after is a word of its own
    between = " " if "*" in entry and " " in entry else " ?"
    escaped = (
        re.escape(entry)
        .replace(r"\*", "[^ ]*")
        .replace(r"\?", ".")
        .replace(r"\#", r"\d+")
        .replace(r"\ ", between)
    )
    return rf"(?:^|(?<= )){escaped}(?= |$)"
