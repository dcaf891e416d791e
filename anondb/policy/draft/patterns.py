"""What values can look like: regular expressions and check digits that the server counts, names of persons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from anondb.policy.draft import codes
from anondb.policy.draft.numbers import NUMBERS


@dataclass(frozen=True)
class Pattern:
    """A form of values: an expression that PostgreSQL reads, and the scheme of its check digits."""

    name: str
    says: str
    expression: str
    scheme: str | None = None
    weights: tuple[int, ...] = ()
    least: float | None = None  # the share of values of this form that makes a column identify persons

    def as_test(self) -> dict[str, Any]:
        test: dict[str, Any] = {"pattern": self.expression}
        if self.scheme is not None:
            test |= {"scheme": self.scheme, "weights": list(self.weights)}
        return test


NATIONAL = tuple(
    Pattern(
        one.name, f"numbers with the check digits of {one.name}", one.expression, one.scheme, one.weights, 0.6
    )
    for one in NUMBERS
)
PATTERNS = (
    *NATIONAL,
    Pattern(
        "e-mail", "e-mail addresses", r"[^\s@]@[[:alnum:]-]+(\.[[:alnum:]-]+)*\.[[:alpha:]]{2,}", least=0.1
    ),
    Pattern("ssn", "American social security numbers", "^[0-9]{3}-[0-9]{2}-[0-9]{4}$", least=0.6),
    Pattern(
        "nino",
        "British insurance numbers",
        r"^[a-ceghj-prtw-z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[a-d]$",
        least=0.6,
    ),
    Pattern("cpf", "Brazilian tax numbers", r"^[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}$", least=0.6),
    Pattern("curp", "Mexican numbers", "^[a-z]{4}[0-9]{6}[hmx][a-z]{5}[0-9a-z][0-9]$", least=0.6),
    Pattern("rut", "Chilean numbers", r"^[0-9]{1,2}\.?[0-9]{3}\.?[0-9]{3}-[0-9k]$", least=0.6),
    Pattern("pan", "Indian tax numbers", "^[a-z]{3}[abcfghljpt][a-z][0-9]{4}[a-z]$", least=0.6),
    Pattern("nric", "numbers of Singapore", "^[stfgm][0-9]{7}[a-z]$", least=0.6),
    Pattern("cpr", "Danish or Finnish numbers", "^[0-3][0-9][01][0-9]{3}[-+a-f][0-9]{3}[0-9a-y]$", least=0.6),
    Pattern(
        "ip",
        "network addresses",
        r"^([0-9]{1,3}\.){3}[0-9]{1,3}$|^[0-9a-f]{0,4}(:[0-9a-f]{0,4}){3,7}$",
        least=0.5,
    ),
    Pattern("mac", "addresses of devices", "^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$", least=0.5),
    Pattern("uuid", "UUIDs", "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", least=0.5),
    Pattern("url", "addresses of pages", r"^(https?://|www\.)", least=0.5),
    Pattern(
        "street",
        "addresses of houses",
        r"^[0-9]+[a-z]? .*\m(street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|court|ct|way)\M"
        r"|^[0-9]+[a-z]?,? (rue|chemin|allee|place|quai)\M"
        r"|(stra(ss|ß)e|str\.|weg|gasse|platz|straat|laan|gatan|gade|vej) [0-9]+ ?[a-z]?$"
        r"|^(calle|via|rua|avenida|av\.|rue|ul\.|ulica|plaza|piazza)\M.* [0-9]+",
        least=0.5,
    ),
    Pattern("icd", "ICD-10 codes", r"^[a-tv-z][0-9][0-9ab](\.[0-9a-kxz]{1,4})?$"),
    Pattern("dotted icd", "ICD-10 codes", r"^[a-tv-z][0-9][0-9ab]\.[0-9a-kxz]{1,4}$"),
    Pattern(
        "postal code",
        "postal codes",
        "^[0-9]{5}(-[0-9]{4})?$|^[a-z]{1,2}[0-9][0-9a-z]? ?[0-9][a-z]{2}$|^[a-z][0-9][a-z] ?[0-9][a-z][0-9]$"
        "|^[0-9]{4} ?[a-z]{2}$|^[0-9]{2}-[0-9]{3}$|^[0-9]{4}-[0-9]{3}$|^[0-9]{3} [0-9]{2}$"
        "|^[0-9]{5}-[0-9]{3}$|^[0-9]{3}-[0-9]{4}$",
    ),
    Pattern("coordinates", "coordinates", r"^\(?-?[0-9]{1,3}\.[0-9]{3,}[,;] ?-?[0-9]{1,3}\.[0-9]{3,}\)?$"),
    Pattern(
        "day", "days", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}|^[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2})(\s|$)"
    ),
    Pattern("number", "numbers", r"^[+-]?[0-9]+([.,][0-9]+)?$"),
    Pattern("code", "codes", r"^\S*[0-9]\S*$"),
)


def patterns() -> Sequence[Pattern]:
    """All that values are tried against; phone numbers of every country where `phonenumbers` is installed."""
    coded = (Pattern(codes.looks(name), "codes", look) for name, look in codes.patterns().items())
    phone = [] if (calling := _calling_codes()) is None else [_phone(calling)]
    return (*PATTERNS, *coded, *phone)


def _phone(codes: Sequence[int]) -> Pattern:
    listed = "|".join(str(code) for code in codes)
    return Pattern("phone", "phone numbers", rf"^\s*(\+|00) ?({listed})[0-9 ()/.-]{{5,}}$", least=0.5)


@cache
def _calling_codes() -> tuple[int, ...] | None:
    try:
        from phonenumbers import COUNTRY_CODE_TO_REGION_CODE
    except ImportError:
        return None
    return tuple(sorted(COUNTRY_CODE_TO_REGION_CODE))


@cache
def names_of_persons() -> tuple[str, ...]:
    """First and last names of many countries in lower case, of the package Faker; none where it is not installed."""
    try:
        from faker.providers import person
    except ImportError:
        return ()
    names: set[str] = set()
    for module in iter_modules(person.__path__):
        if module.ispkg:
            provider = import_module(f"faker.providers.person.{module.name}").Provider
            for listed in dir(provider):
                if listed.startswith(("first_names", "last_names")):
                    names.update(_written(getattr(provider, listed)))
    return tuple(sorted(names))


def _written(listed: object) -> set[str]:
    entries = listed if isinstance(listed, list | tuple | dict | set) else ()
    return {
        entry.lower() for entry in entries if isinstance(entry, str) and len(entry) > 2 and " " not in entry
    }
