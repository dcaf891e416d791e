"""National numbers and other numbers of a person with check digits: what they look like, and what must hold of them.

The weights are those of the authorities, digit by digit; the last entry is the modulus. `weighted`: the sum of all
digits is a multiple of it. `remainder`: the last digit is the remainder of the sum of the others, of a negative modulus
what is missing to it. A few valid numbers whose remainder is 10 may fail: a column is known by most of its values.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckedNumber:
    name: str
    expression: str
    scheme: str
    weights: tuple[int, ...] = ()


def _of(name: str, expression: str, scheme: str, *weights: int) -> CheckedNumber:
    return CheckedNumber(name, expression, scheme, weights)


_DAY = "[0-9]{2}[01][0-9][0-3][0-9]"  # year, month, day
_ONES = (1,) * 10
NUMBERS = (
    _of("a Spanish DNI or NIE", "^[0-9xyz][0-9]{7}-?[a-z]$", "letter23"),
    _of("a British NHS number", "^[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{4}$", "weighted", 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 11),
    _of("a Dutch BSN", "^[0-9]{9}$", "weighted", 9, 8, 7, 6, 5, 4, 3, 2, -1, 11),
    _of("a Polish PESEL", "^[0-9]{11}$", "weighted", 1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1, 10),
    _of("a Norwegian number", "^[0-3][0-9][01][0-9]{3} ?[0-9]{5}$", "weighted", 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1, 11),
    _of("a Swedish number", r"^([0-9]{2})?[0-9]{2}[01][0-9][0-3][0-9][-+][0-9]{4}$", "luhn"),
    _of("a Finnish HETU", "^[0-3][0-9][01][0-9]{3}[-+a-fu-y][0-9]{3}[0-9a-y]$", "letter31"),
    _of("a Canadian SIN", "^[0-9]{3}[ -][0-9]{3}[ -][0-9]{3}$", "luhn"),
    _of("an Israeli identity number", "^[0-9]{8}-?[0-9]$", "luhn"),
    _of("a South African identity number", f"^{_DAY}[0-9]{{7}}$", "luhn"),
    _of("a Greek AMKA", "^[0-3][0-9][01][0-9]{8}$", "luhn"),
    _of("a Greek tax number", "^[0-9]{9}$", "remainder", 256, 128, 64, 32, 16, 8, 4, 2, 11),
    _of(
        "a Swiss AHV number",
        r"^756[. ]?[0-9]{4}[. ]?[0-9]{4}[. ]?[0-9]{2}$",
        *("weighted", 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 10),
    ),
    _of("an Austrian insurance number", "^[1-9][0-9]{3} ?[0-3][0-9][01][0-9]{3}$",
        "weighted", 3, 7, 9, -1, 5, 8, 4, 2, 1, 6, 11),
    _of("a French NIR", "^[1-478] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}$", "key97"),
    _of("a Belgian number", r"^[0-9]{2}[. ]?[01][0-9][. ]?[0-3][0-9][- ]?[0-9]{3}[. ]?[0-9]{2}$", "key97"),
    _of("a German tax number", "^[1-9][0-9]{10}$", "mod11_10"),
    _of("a Croatian OIB", "^[0-9]{11}$", "mod11_10"),
    _of("an Italian codice fiscale", "^[a-z]{6}[0-9l-v]{2}[a-ehlmprst][0-9l-v]{2}[a-z][0-9l-v]{3}[a-z]$",
        "codice_fiscale"),
    _of("a Portuguese NIF", "^[1-35-9][0-9]{8}$", "weighted", 9, 8, 7, 6, 5, 4, 3, 2, 1, 11),
    _of("a Czech or Slovak number", r"^[0-9]{2}[0-8][0-9][0-3][0-9]/?[0-9]{4}$",
        "weighted", -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, 11),
    _of("a Hungarian TAJ number", r"^[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}$", "weighted", 3, 7, 3, 7, 3, 7, 3, 7, -1, 10),
    _of("a Romanian CNP", "^[1-9][0-9]{12}$", "remainder", 2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9, 11),
    _of("a Bulgarian EGN", "^[0-9]{2}[0-5][0-9][0-3][0-9]{5}$", "remainder", 2, 4, 8, 5, 10, 9, 7, 3, 6, 11),
    _of("a number of former Yugoslavia", "^[0-3][0-9][01][0-9]{10}$",
        "weighted", 7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1, 11),
    _of("an Estonian or Lithuanian number", f"^[1-8]{_DAY}[0-9]{{4}}$", "remainder", 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 11),
    _of("a Russian tax number", "^[0-9]{10}$", "remainder", 2, 4, 10, 3, 5, 9, 4, 6, 8, 11),
    _of("a Russian tax number of a person", "^[0-9]{12}$", "remainder", 3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8, 11),
    _of("a Ukrainian tax number", "^[0-9]{10}$", "remainder", -1, 5, 7, 9, 4, 6, 10, 5, 7, 11),
    _of("a Turkish number", "^[1-9][0-9]{10}$", "remainder", *_ONES, 10),
    _of("an Indian Aadhaar number", "^[2-9][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}$", "verhoeff"),
    _of("a Chinese identity number", "^[1-9][0-9]{16}[0-9x]$", "mod11_2"),
    _of("a Korean number", f"^{_DAY}-?[0-9]{{7}}$", "remainder", 2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5, -11),
    _of("a Japanese My Number", "^[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}$",
        "weighted", 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1, 11),
    _of("a Thai number", r"^[1-8]-?[0-9]{4}-?[0-9]{5}-?[0-9]{2}-?[0-9]$", "remainder", *range(13, 1, -1), -11),
    _of("an Australian tax number", "^[0-9]{3} ?[0-9]{3} ?[0-9]{3}$", "weighted", 1, 4, 3, 7, 5, 8, 6, 9, 10, 11),
    _of("a Brazilian CPF", r"^[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}$", "weighted", *range(11, 0, -1), 11),
    _of("an Argentine CUIT", "^(20|2[3-7]|30|33|34)-?[0-9]{8}-?[0-9]$",
        "weighted", 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1, 11),
    _of("a payment card", r"^[2-6][0-9]{3}([ -]?[0-9]{4}){2}[ -]?[0-9]{1,7}$", "luhn"),
    _of("an IMEI", "^[0-9]{15}$", "luhn"),
    _of("an IBAN", "^[a-z]{2}[0-9]{2}( ?[0-9a-z]{4}){2,7} ?[0-9a-z]{0,3}$", "iban"),
)  # fmt: skip
