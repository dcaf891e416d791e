"""From a term to its concepts: what is found, how, and what is said when nothing is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anondb.db import ontology
from anondb.db.connection import Connection
from anondb.db.errors import translate
from anondb.errors import UsageError
from anondb.ontology import csvfile, obo
from anondb.ontology.model import normal_term

Lookup = Callable[..., tuple[str, str]]


@pytest.fixture
def lookup(wordnet_connection: Connection) -> Lookup:
    """The first concept of a term in WordNet, and how it was found."""

    def look(term: str) -> tuple[str, str]:
        found = ontology.senses(wordnet_connection, term, "wordnet")
        return (found[0].key, found[0].how) if found else ("", "")

    return look


def one(connection: Connection, query: str, *parameters: object) -> object:
    [(value,)] = connection.execute(query.encode(), parameters).fetchall()
    return value


FOUND = {
    "lemma": {
        "dog": "dog.n.01",
        "DOG": "dog.n.01",
        " Dog ": "dog.n.01",
        "dog_house": "kennel.n.01",
        "dog  house": "kennel.n.01",
        "software engineer": "programmer.n.01",
        "Alzheimer’s disease": "alzheimer's_disease.n.01",
        "São Paulo": "sao_paulo.n.01",
        "Zürich": "zurich.n.01",
        "United-States": "united_states.n.01",
        "Vice-President": "vice_president.n.01",
        "X-ray": "x_ray.n.01",
        "tooth brush": "toothbrush.n.01",
        "fire-fighter": "fireman.n.04",
        "GP": "general_practitioner.n.01",
        "teeth": "dentition.n.02",
    },
    "plural": {
        "dogs": "dog.n.01",
        "sports": "sport.n.01",
        "mice": "mouse.n.01",
        "children": "child.n.01",
        "wolves": "wolf.n.01",
        "firemen": "fireman.n.01",
        "policemen": "policeman.n.01",
        "cities": "city.n.01",
        "buses": "bus.n.01",
        "houses": "house.n.01",
        "heroes": "hero.n.01",
        "churches": "church.n.01",
        "diagnoses": "diagnosis.n.01",
        "software engineers": "programmer.n.01",
        "timber wolves": "timber_wolf.n.01",
        "field mice": "vole.n.01",
    },
    "stem": {
        "Divorced": "divorce.n.01",
        "Widowed": "widow.n.01",
        "Alzheimers disease": "alzheimer's_disease.n.01",
    },
    "head": {
        "senior software engineer": "programmer.n.01",
        "Senior Software Engineers": "programmer.n.01",
        "primary school teacher": "schoolteacher.n.01",
        "Some-college": "college.n.01",
        "bacterial pneumonia": "pneumonia.n.01",
        "type 2 diabetes": "diabetes.n.01",
        # the head is not always the last word
        "vice president of sales": "vice_president.n.01",
        "cancer of the lung": "cancer.n.01",
        "Pneumonia, bacterial": "pneumonia.n.01",
        "Paris, France": "paris.n.01",
        "Cancer (breast)": "cancer.n.01",
        "(acute) bronchitis": "bronchitis.n.01",
        "Room 12": "room.n.01",
        "Ward B": "ward.n.01",
        "stage IV melanoma": "melanoma.n.01",
        "HIV/AIDS": "aids.n.01",
        # W. C. Fields is a comedian, and what stands before a number is no head if it only counts
        "rice fields": "field.n.01",
        "trip Paris": "paris.n.01",
        "diabetes mellitus type 2": "diabetes_mellitus.n.01",
        "cancer stage IV": "cancer.n.01",
        "Grade 12": "class.n.02",
    },
    "key": {"dog.n.01": "dog.n.01", "DOG.N.01": "dog.n.01"},
    "root": {"*": "entity.n.01", " * ": "entity.n.01"},
}


@pytest.mark.parametrize(
    ("term", "how", "key"), [(t, how, k) for how, e in FOUND.items() for t, k in e.items()]
)
def test_a_term_is_found_and_marked_with_how(lookup: Lookup, term: str, how: str, key: str) -> None:
    assert lookup(term) == (key, how)


@pytest.mark.parametrize(
    "term",
    [
        *("", "  ", "#2", "asdfgh", "02139", "A12.3", "2024-03-09", "C#", "n/a", "COVID-19"),
        *("GO:12", "…", "()", ","),
        # nothing is better than what these could be bent to: a serve, otherness, an employer, the lung
        *("Protective-serv", "other", "Other", "self-employed", "not in labor force", "xyzzy of the lung"),
        *("12 34", "7th-8th", "smartphone"),
        "x" * 5000,
    ],
)
def test_what_is_no_word_is_not_found(lookup: Lookup, term: str) -> None:
    assert lookup(term) == ("", "")


def test_all_senses_are_given_best_known_first(wordnet_connection: Connection) -> None:
    senses = ontology.senses(wordnet_connection, "dog", "wordnet")
    assert [(sense.sense, sense.key) for sense in senses] == [
        (1, "dog.n.01"),
        (2, "frump.n.01"),
        (3, "dog.n.03"),
        (4, "cad.n.01"),
        (5, "frank.n.02"),
        (6, "pawl.n.01"),
        (7, "andiron.n.01"),
    ]
    assert senses[0].parents == ["canine.n.02", "domestic_animal.n.01"]
    assert senses[0].gloss.startswith("a member of the genus Canis")
    assert (senses[0].min_depth, senses[0].max_depth) == (10, 15)


@pytest.mark.parametrize(
    ("term", "key"),
    [("dog#2", "frump.n.01"), ("Dogs#3", "dog.n.03"), (" dog#1 ", "dog.n.01"), ("mice#04", "mouse.n.04")],
)
def test_a_number_names_a_sense(wordnet_connection: Connection, term: str, key: str) -> None:
    assert [sense.key for sense in ontology.senses(wordnet_connection, term, "wordnet")] == [key]


@pytest.mark.parametrize(
    ("term", "told"), [("dog#8", '"dog" has no sense 8'), ("big dog#99", '"dog" has no sense 99')]
)
def test_a_sense_that_does_not_exist_is_told_with_how_many_there_are(
    wordnet_connection: Connection, term: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        ontology.senses(wordnet_connection, term, "wordnet")
    assert caught.value.hint == "It has 7 in this ontology."


def test_an_unknown_term_is_told_with_the_way_to_map_it(wordnet_connection: Connection) -> None:
    with pytest.raises(psycopg.Error) as caught, wordnet_connection.transaction():
        wordnet_connection.execute("select anondb.find_concept('xyzzy''s')")
    assert caught.value.sqlstate == "SA132"
    error = translate(caught.value)
    assert error.message == 'ontology "wordnet" has no concept for "xyzzy\'s"'
    assert "anondb.map_term('xyzzy''s', " in str(error.hint)


def test_a_bare_term_means_its_first_sense(wordnet_connection: Connection) -> None:
    find = "select c.key from anondb.concept as c where c.id = anondb.find_concept(%s)"
    assert one(wordnet_connection, find, "dog") == one(wordnet_connection, find, "dog#1") == "dog.n.01"


def test_an_id_is_a_concept_where_one_is_asked_for_and_no_word_of_a_hierarchy(
    wordnet_connection: Connection,
) -> None:
    id_ = one(wordnet_connection, "select c.id from anondb.concept as c where c.key = 'dog.n.01'")
    assert one(wordnet_connection, "select anondb.find_concept(%s::text)", id_) == id_
    [sense] = ontology.senses(wordnet_connection, str(id_), "wordnet")
    assert (sense.key, sense.how) == ("dog.n.01", "id")
    ontology_id = one(wordnet_connection, "select o.id from anondb.ontology as o")
    labels = wordnet_connection.execute(
        "select s.how from anondb.term_senses('77123', %s) as s", (ontology_id,)
    )
    assert labels.fetchall() == []  # a code in the data is not the concept with that number


def test_null_is_no_term(wordnet_connection: Connection) -> None:
    assert one(wordnet_connection, "select anondb.find_concept(null)") is None
    assert one(wordnet_connection, "select anondb.similarity('dog', null)") is None
    assert wordnet_connection.execute("select from anondb.term_senses(null, 1)").fetchall() == []


def test_a_mapping_goes_before_all_other_ways(wordnet_connection: Connection, lookup: Lookup) -> None:
    ontology.map_term(wordnet_connection, " G_P ", "surgeon", "wordnet")
    ontology.map_term(wordnet_connection, "dog.n.01", "cat#1", "wordnet")
    ontology.map_term(wordnet_connection, "Dog", "cat.n.01", "wordnet")
    assert lookup("g p") == ("surgeon.n.01", "mapping")
    assert lookup("DOG") == ("cat.n.01", "mapping")
    assert lookup("dog.n.01") == ("cat.n.01", "mapping")
    assert lookup("dog#1") == ("dog.n.01", "lemma")  # who names a sense means the word
    assert lookup("dogs") == ("dog.n.01", "plural")
    assert [(m.term, m.key, m.label) for m in ontology.mappings(wordnet_connection, "wordnet")] == [
        ("dog", "cat.n.01", "cat"),
        ("dog.n.01", "cat.n.01", "cat"),
        ("g p", "surgeon.n.01", "surgeon"),
    ]


def test_a_mapping_can_be_changed_and_forgotten(wordnet_connection: Connection, lookup: Lookup) -> None:
    ontology.map_term(wordnet_connection, "GP", "surgeon", "wordnet")
    ontology.map_term(wordnet_connection, "gp", "doctor#1", "wordnet")
    assert lookup("GP") == ("doctor.n.01", "mapping")
    ontology.map_term(wordnet_connection, "Gp", None, "wordnet")
    assert lookup("GP") == ("general_practitioner.n.01", "lemma")


@pytest.mark.parametrize(
    ("term", "concept", "told"),
    [
        ("", "dog", "no term that can be mapped"),
        ("*", "dog", "no term that can be mapped"),
        ("rex#2", "dog", "no term that can be mapped"),
        ("rex", "xyzzy", "has no concept for"),
        ("rex", "dog#99", "has no sense 99"),
    ],
)
def test_a_mapping_that_says_nothing_is_refused(
    wordnet_connection: Connection, term: str, concept: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told), wordnet_connection.transaction():
        ontology.map_term(wordnet_connection, term, concept, "wordnet")


OBO = """\
format-version: 1.2

[Term]
id: DOID:4
name: disease

[Term]
id: DOID:1612
name: breast cancer
synonym: "malignant tumour of breast" EXACT []
alt_id: DOID:77
is_a: DOID:4

[Term]
id: DOID:2
name: Ménière's disease
is_a: DOID:4
"""


@pytest.mark.parametrize(
    ("term", "key", "how"),
    [
        ("DOID:1612", "DOID:1612", "key"),
        ("doid:1612", "DOID:1612", "key"),
        ("DOID:77", "DOID:1612", "synonym"),
        ("Malignant Tumour of Breast", "DOID:1612", "synonym"),
        ("breast cancers", "DOID:1612", "plural"),
        ("early breast cancer", "DOID:1612", "head"),
        ("Meniere’s disease", "DOID:2", "lemma"),
        ("MÉNIÈRE'S DISEASE", "DOID:2", "lemma"),
        ("rare diseases", "DOID:4", "head"),
        ("*", "DOID:4", "root"),
    ],
)
def test_terms_are_found_in_any_ontology(
    connection: Connection, tmp_path_factory: pytest.TempPathFactory, term: str, key: str, how: str
) -> None:
    file = tmp_path_factory.mktemp("obo") / "doid.obo"
    file.write_text(OBO, encoding="utf-8")
    ontology.store(connection, "doid", obo.read(file))
    [sense] = ontology.senses(connection, term, "doid")
    assert (sense.key, sense.how) == (key, how)


def test_the_star_is_nothing_where_there_are_several_roots(connection: Connection) -> None:
    ontology.store(connection, "two", csvfile.parse("a,x\nb,y\n", place="two.csv"))
    assert ontology.senses(connection, "*", "two") == []


def test_a_key_in_the_right_case_goes_before_one_in_another(connection: Connection) -> None:
    ontology.store(
        connection, "cases", csvfile.parse("turkey,bird\nTurkey,country\nTURKEY,code\n", place="x.csv")
    )
    for key in ("turkey", "Turkey", "TURKEY"):
        [sense] = ontology.senses(connection, key, "cases")
        assert (sense.key, sense.how) == (key, "key")


TEXTS = st.text(st.sampled_from("aBé Zø_ -’'\t‐—ﬁ１\u00a0\u0301ÅçÑ"), max_size=12)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(terms=st.lists(TEXTS, min_size=1, max_size=20))
def test_files_and_the_database_have_the_same_normal_form_of_a_term(
    connection: Connection, terms: list[str]
) -> None:
    rows = connection.execute(
        "select anondb.normal_term(t.term) from unnest(%s::text[]) as t (term)", (terms,)
    )
    assert [term for (term,) in rows] == [normal_term(term) for term in terms]


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(term=st.text(st.sampled_from("dog of,;:/&+(-)[]#*12 ivx"), max_size=24))
def test_no_text_breaks_the_lookup(wordnet_connection: Connection, term: str) -> None:
    with suppress(UsageError), wordnet_connection.transaction():  # a sense that does not exist
        found = ontology.senses(wordnet_connection, term, "wordnet")
        assert [sense.sense for sense in found] == sorted({sense.sense for sense in found})
