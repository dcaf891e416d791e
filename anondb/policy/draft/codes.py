"""Classifications that the values of a column can be codes of: by what they look like and what the column is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from anondb.policy.draft.profile import ColumnProfile
from anondb.policy.draft.words import tokens

LOOKS: Mapping[str, str] = {
    "icd10": r"^[a-z][0-9]{2}\.?[0-9]{0,2}[+*!]?$",
    "icd10cm": r"^[a-z][0-9][0-9a-z]\.?[0-9a-z]{0,4}$",
    "atc": r"^[a-dghjl-npr-sv][0-9]{2} ?[a-z] ?[a-z] ?[0-9]{2}$",
    "nuts": "^(at|be|bg|cy|cz|de|dk|ee|el|es|fi|fr|hr|hu|ie|it|lt|lu|lv|mt|nl|pl|pt|ro|se|si|sk|uk"
    "|al|ch|is|li|me|mk|no|rs|tr)[0-9a-z]{1,3}$",
    "isco08": "^(0[1-3]|1[1-4]|2[1-6]|3[1-5]|4[1-4]|5[1-4]|6[1-3]|7[1-5]|8[1-3]|9[1-6])[0-9]{1,2}$",
    "nace": r"^[a-v]?[0-9]{2}(\.?[0-9]{1,2}|\.[0-9]\.?[0-9]?)$",
    "iso3166": "^[a-z]{2,3}$",
}
"""What most values of a column of codes look like; whether all of them are in the hierarchy is counted."""
ALIKE = {"nace": ("nace", "nace21"), "icd10": ("icd10", "icd10cm")}
"""Editions of one classification, in the order in which they are tried."""
_NAMED = {
    "icd10": r"\b(\w*icd\w*|\w*diag\w*|cause of death|mkb|мкб)",
    "atc": r"\b(\w*atc\w*|drug\w*|medic\w*|farmac\w*|medik\w*)",
    "nuts": r"\b(nuts\w*|region\w*)",
    "isco08": r"\bisco\w*",
    "nace": r"\bnace\w*",
    "iso3166": r"\b(iso ?3166\w*|country\w*|countries|nation\w*|citizen\w*|land|herkunft\w*|pays|pais|paese|kraj|ulke"
    r"|origin)\b",
}
_STATES = frozenset(
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA "
    "RI SC SD TN TX UT VT VA WA WV WI WY DC PR".split()
)
PREFIXES: Mapping[str, tuple[int, ...]] = {
    r"\bnaics\w*": (2, 3, 4),
    r"\bsoc\b": (2, 4, 5),
    r"\bisic\w*": (2, 3),
    r"\bkldb\w*": (1, 2, 3, 4),
    r"\b(fips|geoid|tract|census tract)\b": (2, 5),
    r"\b(ags|gemeindeschluessel|lau)\b": (2, 3, 5),
    r"\b(hs|cn) code\b": (2, 4, 6),
    r"\bicd ?9\w*": (3, 4),
}
"""Codes that a name tells, and how long their ancestors are."""


def patterns() -> Mapping[str, str]:
    """Expressions that the server counts: those above, and states that look like countries."""
    return {**LOOKS, "state": f"^({'|'.join(sorted(_STATES))})$"}


def candidates(column: ColumnProfile) -> Iterator[str]:
    """The hierarchies of the package that the values of a column may be in, the likeliest first."""
    words = tokens(column.name)
    for name in ("atc", "icd10", "nuts", "isco08", "nace", "iso3166"):
        share = column.looks_like(looks(name))
        named = re.search(_NAMED[name], words) is not None
        if share >= 0.9 and column.distinct > 2 and (named or _is_plain(column, name)):
            yield from ALIKE.get(name, (name,))
        elif name == "icd10" and named and column.looks_like(looks("icd10cm")) >= 0.9 and column.distinct > 2:
            yield "icd10cm"


def looks(name: str) -> str:
    """What the pattern of a classification is called among those that values are tried against."""
    return f"code: {name}"


def _is_plain(column: ColumnProfile, name: str) -> bool:
    """Whether the values alone tell, of a column whose name does not."""
    match name:
        case "atc":
            return True
        case "icd10":
            return column.looks_like("dotted icd") > 0.3
        case "nuts":
            return column.longest == 5 and column.distinct > 4
        case "iso3166":
            return column.distinct > 4 and column.looks_like(looks("state")) < 0.9 and column.longest <= 3
    return False
