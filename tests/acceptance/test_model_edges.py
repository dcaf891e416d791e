"""β-likeness and δ-disclosure privacy at their edges: NULLs, one class, one value, masks, persons; and faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

import pytest

import anondb
from anondb.api import Database
from anondb.errors import UnsatisfiableError, VerificationError
from anondb.models.beta_likeness import BetaLikeness
from anondb.models.delta_disclosure import DeltaDisclosure
from anondb.models.l_diversity import LDiversity
from anondb.models.t_closeness import TCloseness
from anondb.run.result import Result
from anondb.sqltree.build import Node, equal, number

pytestmark = pytest.mark.once  # another server version would say the same

LEVELLED = ("datafly", "incognito", "optimal")
EVERY = (*LEVELLED, "mondrian", "fusion")
Wards = Mapping[str | None, Sequence[str | None]]
FLU_AND_COLD = ("flu", "cold", "flu", "cold")
THREE: Wards = {"a": FLU_AND_COLD, "b": FLU_AND_COLD, "c": ("flu", "cold", "ulcer", "flu")}


def policy(algorithm: str, privacy: str, patient: str = "identifier") -> anondb.Policy:
    return anondb.Policy.parse(f"""
source = "stays"
target = "released"
[privacy]
{privacy}
[method]
algorithm = "{algorithm}"
[columns]
ward = {{ role = "quasi", hierarchy = {{ mask = "all" }} }}
diagnosis = {{ role = "sensitive" }}
patient = {{ role = "{patient}" }}
""")


def fill(db: Database, wards: Wards, patients: int = 1000) -> None:
    """A patient has as many stays as there are more of these than patients in a ward."""
    db.connection.execute("create table stays (ward text, diagnosis text, patient text)")
    rows = [
        (ward, diagnosis, f"{ward} {place % patients}")
        for ward, diagnoses in wards.items()
        for place, diagnosis in enumerate(diagnoses)
    ]
    with db.connection.cursor() as cursor:
        cursor.executemany("insert into stays values (%s, %s, %s)", rows)


def release(db: Database, algorithm: str, privacy: str) -> Result:
    """The release; what it reaches of a model is what anyone can measure of it."""
    result = db.run(policy(algorithm, privacy)).result
    for name, value in result.metrics.items():
        model, _, kind = name.partition(":")[0].rpartition("_")
        if model == "beta_likeness":
            call = "select anondb.beta_likeness('released', '{ward}', 'diagnosis', %s)"
            assert db.connection.execute(call, (kind,)).fetchall() == [(value,)]
        if name == "delta_disclosure:diagnosis":
            call = "select anondb.delta_disclosure('released', '{ward}', 'diagnosis')"
            assert db.connection.execute(call).fetchall() == [(value,)]
    return result


def wards_left(db: Database) -> Counter[Any]:
    return Counter(ward for (ward,) in db.connection.execute("select ward from released"))


def beta(most: float, kind: str = "basic") -> str:
    return f'beta_likeness = {{ column = "diagnosis", beta = {most}, kind = "{kind}" }}'


def delta(most: float) -> str:
    return f'delta_disclosure = {{ column = "diagnosis", delta = {most} }}'


# NULL, one class, one value


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize(("most", "classes"), [(0.99, 1), (1, 2)])
def test_null_is_a_value_that_can_become_more_frequent(
    db: Database, algorithm: str, most: float, classes: int
) -> None:
    fill(db, {"a": ["flu", None, "flu", "flu"], "b": ["flu"] * 4})  # of all 1 in 8, of ward a 1 in 4
    result = release(db, algorithm, beta(most))
    assert (result.classes, result.released) == (classes, 8)
    assert result.metrics["beta_likeness_basic:diagnosis"] == classes - 1


@pytest.mark.parametrize("algorithm", EVERY)
def test_null_is_a_value_that_a_class_can_lack(db: Database, algorithm: str) -> None:
    fill(db, {"a": ["flu", None], "b": ["flu", "flu"]})
    assert release(db, algorithm, delta(100)).classes == 1
    db.connection.execute("update stays set diagnosis = null where ward = 'b' and patient = 'b 1'")
    result = release(db, algorithm, delta(0.01))
    assert (result.classes, result.metrics["delta_disclosure:diagnosis"]) == (2, 0)


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("privacy", [beta(0.01), beta(0.01, "enhanced"), delta(0.01)])
@pytest.mark.parametrize(
    "wards",
    [
        {"a": ["flu", "cold", None]},  # one class
        {"a": ["flu"]},  # one record
        {"a": ["flu"] * 2, "b": ["flu"]},  # one value, which everybody has: p = 1
        {"a": [None] * 3, "b": [None]},
    ],
)
def test_one_class_and_one_value_tell_nothing_new(
    db: Database, algorithm: str, privacy: str, wards: Wards
) -> None:
    fill(db, wards)
    result = release(db, algorithm, privacy)
    assert (result.classes, result.suppressed) == (len(wards), 0)
    [reached] = [
        value for name, value in result.metrics.items() if ":diagnosis" in name and "_d" not in name[:2]
    ]
    assert reached == 0


# a value of one class alone; what is left out; masks


@pytest.mark.parametrize("algorithm", LEVELLED)
def test_who_is_left_out_is_not_compared_with(db: Database, algorithm: str) -> None:
    """The ulcer is 1 in 12 of all and 1 in 4 of ward c: a gain of 2. Without ward c nobody has one."""
    fill(db, THREE)
    result = release(db, algorithm, f"{beta(1.5)}\nsuppression = 0.34")
    assert (wards_left(db), result.suppressed) == ({"a": 4, "b": 4}, 4)
    assert result.metrics["beta_likeness_basic:diagnosis"] == 0
    result = release(db, algorithm, f"{beta(2)}\nsuppression = 0.34")
    assert (set(wards_left(db)), result.suppressed) == ({"a", "b", "c"}, 0)
    assert result.metrics["beta_likeness_basic:diagnosis"] == 2


@pytest.mark.parametrize("algorithm", LEVELLED)
def test_all_classes_that_fail_are_left_out_at_once(db: Database, algorithm: str) -> None:
    """With δ = 1.2 ward c passes, and a and b lack the ulcer: two thirds are more than may be suppressed, and all
    wards become one, though without ward c both would pass. With δ = 1 it fails too, and none is left."""
    fill(db, THREE)
    for most in (1.2, 1):
        result = release(db, algorithm, f"{delta(most)}\nsuppression = 0.4")
        assert (wards_left(db), result.suppressed) == ({"*": 12}, 0)
    result = release(db, algorithm, f"{delta(1.2)}\nsuppression = 0.7")
    assert (wards_left(db), result.suppressed) == ({"c": 4}, 8)


def test_mondrian_does_not_cut_where_a_half_would_lack_a_value(db: Database) -> None:
    fill(db, THREE)
    assert release(db, "mondrian", delta(5)).classes == 1
    assert release(db, "mondrian", beta(0.25)).classes == 1
    assert release(db, "mondrian", beta(2)).classes == 3


@pytest.mark.parametrize("algorithm", LEVELLED)
def test_a_masked_class_meets_the_model_too(db: Database, algorithm: str) -> None:
    """Ward c, masked, would be a class with the same gain; all that is released is what it is compared with."""
    fill(db, THREE)
    result = release(db, algorithm, f'{beta(1.5)}\nsuppression = 0.34\nsuppress = "mask"')
    assert (wards_left(db), result.suppressed) == ({"*": 12}, 0)


@pytest.mark.parametrize("algorithm", LEVELLED)
def test_masked_records_are_among_what_others_are_compared_with(db: Database, algorithm: str) -> None:
    fill(db, {"a": ["flu"] * 2 + ["cold"] * 2, "b": ["flu"] * 2 + ["cold"] * 2, "c": ["flu"], "d": ["cold"]})
    result = release(db, algorithm, f'k = 2\n{beta(0.5)}\n{delta(0.5)}\nsuppression = 0.2\nsuppress = "mask"')
    assert (wards_left(db), result.suppressed) == ({"a": 4, "b": 4, "*": 2}, 2)


@pytest.mark.parametrize("algorithm", EVERY)
def test_records_with_null_in_a_quasi_identifier_are_no_part_of_the_comparison(
    db: Database, algorithm: str
) -> None:
    fill(db, {"a": FLU_AND_COLD, "b": FLU_AND_COLD, None: ["ulcer"] * 2})
    result = release(db, algorithm, f'k = 2\nnulls = "suppress"\n{delta(0.1)}\n{beta(0.1)}')
    assert (wards_left(db), result.suppressed) == ({"a": 4, "b": 4}, 2)
    assert result.metrics["delta_disclosure:diagnosis"] == 0
    assert release(db, algorithm, f"k = 2\n{delta(0.1)}").classes == 1  # by default NULL is a ward of its own


# with others


@pytest.mark.parametrize("algorithm", LEVELLED)
def test_persons_are_counted_for_k_and_records_for_the_shares(db: Database, algorithm: str) -> None:
    """Two patients have four stays in each ward; β and δ, as l and t, look at what is released: the stays."""
    fill(db, {"a": FLU_AND_COLD, "b": ["flu", "flu", "flu", "cold"]}, patients=2)
    result = release(db, algorithm, f'k = 2\nunit = "patient"\n{beta(1)}\n{delta(1)}')
    assert wards_left(db) == {"a": 4, "b": 4}
    assert result.metrics["persons_min"] == 2
    assert result.metrics["beta_likeness_basic:diagnosis"] == pytest.approx((1 / 2 - 3 / 8) / (3 / 8))
    assert result.metrics["delta_disclosure:diagnosis"] == pytest.approx(log((3 / 8) / (1 / 4)))


@pytest.mark.parametrize("algorithm", EVERY)
def test_every_model_of_a_policy_is_met_and_told(db: Database, algorithm: str, tmp_path: Path) -> None:
    fill(db, {"a": FLU_AND_COLD, "b": ["flu", "flu", "flu", "cold"]})
    privacy = "\n".join(
        [
            "k = 3",
            'l_diversity = { column = "diagnosis", l = 2 }',
            't_closeness = { column = "diagnosis", t = 0.2 }',
            'beta_likeness = [{ column = "diagnosis", beta = 0.5 }, '
            '{ column = "diagnosis", beta = 0.5, kind = "enhanced" }]',
            delta(0.5),
        ]
    )
    result = release(db, algorithm, privacy)
    assert wards_left(db).total() == 8
    assert len(wards_left(db)) == 2
    reached = {name: value for name, value in result.metrics.items() if name.startswith(("beta", "delta"))}
    assert reached == {
        "beta_likeness_basic:diagnosis": pytest.approx(1 / 3),
        "beta_likeness_enhanced:diagnosis": pytest.approx(1 / 3),
        "delta_disclosure:diagnosis": pytest.approx(log(1.5)),
    }
    db.releases.report("last", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (
        "No value of diagnosis is more than 1.33 times as frequent in a group as in the whole release."
        in page
    )
    assert "Every group has all values of diagnosis, each of them at most 1.5 times as frequent" in page
    assert "β-likeness (enhanced, diagnosis)" in page
    assert "δ-disclosure privacy (diagnosis)" in page
    stricter = privacy.replace("delta = 0.5", "delta = 0.4")  # ln 1.5 = 0.405
    assert release(db, algorithm, stricter).classes == 1


# what cannot be, and what must not be


@pytest.mark.parametrize(("privacy", "helps"), [(beta(0.1), "a larger beta"), (delta(0.1), "a larger delta")])
def test_where_no_release_meets_it_the_error_says_what_would_help(
    db: Database, privacy: str, helps: str
) -> None:
    fill(db, {"a": ["flu"] * 3, "b": ["cold"] * 3})
    low = policy("optimal", privacy).text.replace('mask = "all" }', 'mask = "all" }, max_level = 0')
    with pytest.raises(UnsatisfiableError) as refused:
        db.run(anondb.Policy.parse(low))
    assert helps in str(refused.value.hint)


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize(
    ("model", "privacy", "words"),
    [
        (LDiversity, 'l_diversity = { column = "diagnosis", l = 2 }', "distinct diversity 1"),
        (TCloseness, 't_closeness = { column = "diagnosis", t = 0.1 }', "a class is 0.5 from the release"),
        (BetaLikeness, beta(0.1), 'a value of "diagnosis" gains 1 in a class, more than beta = 0.1'),
        (
            DeltaDisclosure,
            delta(0.1),
            'a class has a disclosure of inf in "diagnosis", not below delta = 0.1',
        ),
    ],
)
def test_a_search_that_is_wrong_publishes_nothing(
    db: Database, monkeypatch: pytest.MonkeyPatch, algorithm: str, model: type, privacy: str, words: str
) -> None:
    def anything(self: object, of: object, reference: object) -> Node:
        return equal(number(1), number(1))

    fill(db, {"a": ["flu"] * 3, "b": ["cold"] * 3})
    monkeypatch.setattr(model, "holds", anything)
    with pytest.raises(VerificationError) as failed:
        db.run(policy(algorithm, privacy))
    assert words in str(failed.value)
    assert db.connection.execute("select to_regclass('released')").fetchall() == [(None,)]
