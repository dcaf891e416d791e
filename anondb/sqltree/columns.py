"""Columns of the source, and what the types of their values say of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from anondb.sqltree.released import Form, Noise, Pseudonym, Rounded, Shift, Shuffled, Typed

# Types whose equal values have equal texts, so that the fast typed grouping and the text agree. Values of all
# others (numeric 1.0 = 1.00, float8 -0 = 0, interval '1 mon' = '30 days', …) can have several spellings.
_EQUAL_AS_TEXT = frozenset(
    "bool int2 int4 int8 oid text varchar bpchar name char date time timestamp timestamptz uuid".split()
)
_TEXT_TYPES = frozenset("text varchar bpchar".split())
# Types whose equal values get equal texts by what the frequency set groups a quasi-identifier by.
_EQUAL_ONCE_GROUPED = _EQUAL_AS_TEXT | frozenset("numeric inet float4 float8".split())
# Of a value of these types that is released as it is, another one that equals it is an exact copy.
_COPIES = _EQUAL_AS_TEXT - {"bpchar"}
WHOLE_TYPES = frozenset("int2 int4 int8".split())
NUMERIC_TYPES = WHOLE_TYPES | frozenset("numeric float4 float8".split())
DATE_TYPES = frozenset("date timestamp timestamptz".split())
TIMESTAMP_TYPES = DATE_TYPES - {"date"}
# Besides numbers and dates: of their texts, as 1** for 1, 10 to 19 and 100 to 199, no part says more than another.
_UNORDERED_TEXTS = frozenset("bool interval money oid point".split())


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source as the catalogue has it."""

    name: str
    type: str  # as format_type() spells it
    base: str  # pg_type.typname of its base type: int4, text, timestamptz, …
    collation: str | None = None  # qualified and quoted, where it is not the type's own
    distinct: float | None = None  # how many values it has, by the server's statistics
    unique: bool = False  # no two rows have the same value, and none has NULL
    compared_as: str | None = "text"  # its base type, which says what values are equal; None if it does not
    indistinct: str | None = None  # a collation that takes texts of different bytes for equal
    form: Form | None = None  # in which it is released, where not as it is

    @property
    def as_released(self) -> SourceColumn:
        """The column as the release has it, which knows nothing of persons."""
        match self.form:
            case Pseudonym(type_):
                return replace(self, type=type_, base=type_, collation=None, unique=False, form=None)
            case Shift() | Noise() | Rounded():
                return replace(self, type=self.compared_as or self.type, unique=False, form=None)
            case Shuffled():
                return replace(self, form=None)
        return self

    @property
    def shown(self) -> list[str]:
        """Its columns in the release."""
        return [shown.name for shown in self.form.shown] if isinstance(self.form, Typed) else [self.name]

    @property
    def equal_as_text(self) -> bool:
        return self.base in _EQUAL_AS_TEXT

    @property
    def has_spellings(self) -> bool:
        """Two of its values can be equal and differ in their texts."""
        return self.indistinct is not None or self.base not in _EQUAL_AS_TEXT

    @property
    def equals_are_copies(self) -> bool:
        own = self.form is None or isinstance(self.form, Shuffled)
        return not own or self.base in _COPIES

    @property
    def has_one_text(self) -> bool:
        """Equal values have one text by which a person can be known, as counting takes them."""
        return self.base in _EQUAL_ONCE_GROUPED and self.indistinct is None

    @property
    def is_text(self) -> bool:
        return self.base in _TEXT_TYPES

    @property
    def is_ranged(self) -> bool:
        return self.is_number or self.is_date

    @property
    def is_number(self) -> bool:
        return self.base in NUMERIC_TYPES

    @property
    def is_whole(self) -> bool:
        return self.base in WHOLE_TYPES

    @property
    def is_date(self) -> bool:
        """A day, with a time or without."""
        return self.base in DATE_TYPES

    @property
    def is_timed(self) -> bool:
        return self.base in TIMESTAMP_TYPES

    @property
    def is_code(self) -> bool:
        """Its texts can have characters that go from coarse to fine."""
        return not self.is_ranged and self.base not in _UNORDERED_TEXTS
