"""What names of columns mean, and what values say against them: the decisions of a draft, without a database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from anondb.policy.draft.draft import draft
from anondb.policy.draft.profile import ColumnProfile, ColumnSet, TableProfile
from anondb.policy.draft.roles import propose
from anondb.policy.draft.words import is_of_a_person, meaning_of, tokens
from anondb.policy.load import parse
from anondb.policy.model import Name, Role

IDENTIFIER = """
patient_id PatientName Nachname prénom Apellidos cognome achternaam e_mail phoneNumber
Telefonnummer Straße dirección ssn
Steuer-ID codice_fiscale numero_securite_sociale iban mrn passport_number ip_address username
姓名 Фамилия 電話番号 comments
имя_пациента ИНН табельный_номер 住所 メールアドレス 주민등록번호 전화번호 이름 الاسم الهاتف
ΑΦΜ επώνυμο soyadı tc_kimlik_no henkilötunnus sähköposti rodné_číslo příjmení keresztnév नाम
फ़ोन שם_משפחה respondentnummer nr_telefonu họ_tên
""".split()
QUASI = """
age Alter edad dateOfBirth geburtsdatum date_naissance sex Geschlecht sexe género race ethnicity
zip_code PLZ code_postal city
Wohnort ville país marital_status Familienstand estado_civil education Beruf profession job_title
native-country 性别 возраст
район должность стаж 都道府県 郵便番号 年齢 성별 우편번호 나이 العمر المدينة πόλη φύλο doğum_tarihi cinsiyet meslek
syntymäaika ikä kön płeć miejscowość kod_pocztowy pohlaví PSČ irányítószám आयु शहर जन्मतिथि
गाँव גיל дата_народження місто nơi_ở_tỉnh
""".split()
SENSITIVE = """
diagnosis Diagnose diagnóstico disease blood_pressure hiv_status salary Gehalt monthlyIncome
religion political_party vote
survived readmitted churn job_satisfaction 诊断 зарплата
оклад давление 血圧 月収 연봉 진단명 الراتب التشخيص μισθός διάγνωση maaş tanı palkka mzda rozpoznanie zarobki रोग אבחנה
Hauptdiagnose inadimplente farmaco esito discapacidad lön revenu_annuel
""".split()


def column(name: str, **known: Any) -> ColumnProfile:
    """A column of texts that 1,000 records have, with 40 values."""
    usual = {
        "type": "text",
        "kind": "text",
        "filled": 1000,
        "distinct": 40,
        "most_frequent": 60,
        "longest": 9,
    }
    merged: dict[str, Any] = usual | known
    return ColumnProfile(name=name, **merged)


def number(name: str, **known: Any) -> ColumnProfile:
    usual: dict[str, Any] = {"type": "integer", "kind": "number", "whole": 1000, "spread": 50.0}
    merged: dict[str, Any] = usual | known
    return column(name, **merged)


def alone(name: str, **known: Any) -> ColumnProfile:
    return column(
        name, **({"distinct": 1000, "alone": 1000, "identifying": ("unique",), "most_frequent": 1} | known)
    )


def table(*columns: ColumnProfile) -> TableProfile:
    return TableProfile(Name("a", "people"), 1000, 1000, columns)


def role(one: ColumnProfile, *others: ColumnProfile) -> Role:
    return propose(table(one, *others))[0].role


@pytest.mark.parametrize(
    ("names", "wanted"),
    [(IDENTIFIER, Role.IDENTIFIER), (QUASI, Role.QUASI), (SENSITIVE, Role.SENSITIVE)],
    ids=["identifier", "quasi", "sensitive"],
)
def test_names_in_many_languages_are_understood(names: list[str], wanted: Role) -> None:
    found = {name: meaning_of(name, "text") for name in names}
    assert {name: None if one is None else str(one.role) for name, one in found.items()} == dict.fromkeys(
        names, str(wanted)
    )


@pytest.mark.parametrize("name", ["wage", "logwage", "percentage", "storage", "package", "usage"])
def test_a_word_inside_another_is_not_that_word(name: str) -> None:
    found = meaning_of(name, "number")
    assert found is None or found.name != "age"


def test_names_are_taken_apart() -> None:
    assert tokens("dateOfBirth") == "date of birth"
    assert tokens("HIVStatus") == "hiv status"
    assert tokens("Straße_Nr.") == "strasse nr"
    assert tokens("prénom") == "prenom"


def test_letters_of_scripts_that_write_vowels_as_marks_stay_together() -> None:
    assert tokens("जन्मतिथि_2") == tokens("जन्मतिथि 2") != tokens("जनमतथ 2")
    assert len(tokens("फ़ोन_नंबर").split()) == 2
    assert (
        tokens("Район") == tokens("район") == tokens("раион")
    )  # й is и with a mark, and accents do not count


def test_numbers_of_persons_are_told_from_those_of_things() -> None:
    assert all(map(is_of_a_person, ["patient_id", "customerId", "id", "subject", "emp_no"]))
    assert not any(map(is_of_a_person, ["product_id", "doctor_id", "order_no", "hospital"]))


@pytest.mark.parametrize(
    "one",
    [
        column("x", looks={"e-mail": 0.2}),
        column("diagnosis", looks={"e-mail": 0.2}),
        column("x", looks={"an IBAN": 0.9}),
        column("x", names=0.9),
        column("x", identifying=("phone",)),
        column("x", identifying=("free text",)),
        column("city", kind="address", type="uuid"),
        column("x", references="customers"),
        alone("x"),
        alone("diagnosis"),
        alone("vote"),
        number("platelets", distinct=1000, alone=1000, spread=900.0),
        number("pid", distinct=1000, alone=1000, identifying=("unique",)),
        number("party", distinct=1000, alone=1000, identifying=("unique",)),
        number("x", distinct=1000, alone=1000, identifying=("unique",)),
        column("x", filled=0, distinct=0),
        column("x", distinct=400, alone=100),
    ],
)
def test_what_could_be_a_person_is_left_out(one: ColumnProfile) -> None:
    assert role(one) is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("one", "wanted"),
    [
        (column("phone", kind="flag", type="boolean", distinct=2), Role.OTHER),
        (column("phone_service", distinct=3), Role.OTHER),
        (number("admission_type_id", distinct=8), Role.OTHER),
        (number("number_of_emails", distinct=9), Role.OTHER),
        (number("weight", spread=90000.0, distinct=900), Role.OTHER),
        (column("x", distinct=4), Role.OTHER),
        (number("lon", distinct=900, spread=30000.0), Role.SENSITIVE),  # a Swedish salary, and no longitude
        (number("doctor", distinct=9), Role.OTHER),
        (alone("city"), Role.QUASI),
        (alone("company_name"), Role.IDENTIFIER),
        (alone("plz", looks={"postal code": 1.0}, identifying=("phone",)), Role.QUASI),
        (
            number("income", distinct=1000, alone=1000, spread=60000.0, identifying=("unique",)),
            Role.SENSITIVE,
        ),
        (number("x", whole=3, distinct=700), Role.SENSITIVE),
        (column("x", looks={"icd": 1.0, "dotted icd": 0.8}, distinct=90), Role.SENSITIVE),
        (column("x", kind="date", type="date", distinct=300, spread=400.0), Role.QUASI),
    ],
)
def test_values_speak_against_names(one: ColumnProfile, wanted: Role) -> None:
    assert role(one) is wanted


def test_beside_diagnoses_what_is_left_is_a_finding() -> None:
    medical = [column("diagnosis"), column("treatment")]
    assert role(column("x", distinct=4)) is Role.OTHER
    assert role(column("x", distinct=4), *medical) is Role.SENSITIVE


def test_ranges_fit_how_numbers_are_spread_and_every_form_is_one_that_policies_have() -> None:
    columns = [
        number("age", spread=60.0),
        number("tenure", spread=0.7, whole=0),
        number("height", spread=3000.0),
        number("zip", longest=5, spread=90000.0, distinct=500),
        number("children", spread=0.0, distinct=4),
        column("postcode", looks={"code": 1.0}),
        column("born", kind="date", type="date", spread=20000.0),
        column("sex", distinct=2),
        column("job"),
        column("salary", distinct=9),
        number("patient_id", distinct=300, filled=1000),
    ]
    for unit in (True, False):
        told = draft(
            table(*columns[: len(columns) if unit else -1]), lambda names: ColumnSet(tuple(names), 0.5, 0.9)
        )
        policy = parse(told.text)
        assert policy.privacy.unit == ("patient_id" if unit else None)
        forms = {one.name: one.hierarchy for one in told.proposals}
        assert forms["age"] == {"widths": [5, 10, 20, 40]}
        assert forms["zip"] == {"widths": [10, 100, 1000, 10000]}
        assert forms["postcode"] == {"mask": "right"}


def test_words_are_built_where_an_ontology_knows_them() -> None:
    known = [
        replace(column("job"), known="wordnet"),
        replace(column("city"), known="places"),
        column("x", distinct=3),
    ]
    told = draft(table(*known), lambda names: ColumnSet(tuple(names), 0.5, 0.9))
    assert [one.hierarchy for one in told.proposals[:2]] == [
        {"build": True},
        {"build": True, "ontology": "places"},
    ]
    parse(told.text)
