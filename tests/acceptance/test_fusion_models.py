"""Fusion with demands on sensitive columns: kept by every class, read from the released table alone."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from anondb.methods.fusion.fusion import VARIANTS
from tests.acceptance.clinic import Clinic
from tests.acceptance.test_fusion import BARE, LEISURE, MEANT, fusion, visits
from tests.acceptance.test_plan import squeezed

SENSITIVE = '{ role = "sensitive" }'
WORDS = ("swimming", "windsurfing", "tennis", "reading", "sport", "qwertz", None)
ILLNESSES = ("flu", "flu", "flu", "ulcer", "asthma", None)

Classes = Mapping[tuple[object, ...], Sequence[object]]


@pytest.fixture
def leisure(clinic: Clinic, tmp_path: Path) -> Clinic:
    file = tmp_path / "leisure.csv"
    file.write_text(LEISURE)
    said = clinic.cli("ontology", "load", file)
    assert said.returncode == 0, said.stderr
    return clinic


def fill(clinic: Clinic, seed: int, records: int = 80) -> None:
    rng = random.Random(seed)
    rows = [(rng.choice(WORDS), rng.randint(1, 4), rng.choice(ILLNESSES)) for _ in range(records)]
    visits(clinic, "reason text, ward int, illness text", *rows)


def classes(clinic: Clinic) -> Classes:
    """The sensitive values of each combination of quasi-identifiers, as anybody reads them in the release."""
    found = defaultdict(list)
    for *quasi, illness in clinic.execute("select reason, ward, illness from share.admissions"):
        found[tuple(quasi)].append(illness)
    return found


def distinct(values: Sequence[object]) -> float:
    return len(set(values))


def entropy(values: Sequence[object]) -> float:
    shares = [n / len(values) for n in Counter(values).values()]
    return math.exp(-sum(share * math.log(share) for share in shares))


def released(clinic: Clinic, model: str, k: int, said: str = "") -> Classes:
    columns = {"reason": MEANT, "ward": BARE, "illness": SENSITIVE}
    policy = fusion(clinic, columns, f"k = {k}\n{model}", said)
    answer = clinic.has_released(policy)
    found = classes(clinic)
    assert sum(map(len, found.values())) == answer["released"] == 80
    assert min(map(len, found.values())) >= k
    assert answer["fusions"] == answer["tuples"] - len({*found}) or answer["classes"] == len(found)
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_class_has_l_values_and_k_records(leisure: Clinic, variant: str) -> None:
    fill(leisure, seed=3)
    model = 'l_diversity = { column = "illness", l = 3 }'
    found = released(leisure, model, 4, f'variant = "{variant}"')
    assert all(distinct(values) >= 3 for values in found.values())
    assert len(found) > 1


@pytest.mark.parametrize("seed", range(3))
def test_models_that_more_records_can_break_hold_too(leisure: Clinic, seed: int) -> None:
    """Entropy is not monotone: what is taken in can make a class that was varied less so."""
    fill(leisure, seed)
    found = released(leisure, 'l_diversity = { column = "illness", l = 2.5, kind = "entropy" }', 3)
    assert all(entropy(values) >= 2.5 - 1e-9 for values in found.values())
    assert len(found) > 1


def test_classes_are_as_close_to_the_whole_as_is_asked(leisure: Clinic) -> None:
    fill(leisure, seed=5)
    found = released(leisure, 't_closeness = { column = "illness", t = 0.25 }', 3)
    whole = Counter(value for values in found.values() for value in values)
    for values in found.values():
        own = Counter(values)
        apart = sum(abs(own[v] / len(values) - n / whole.total()) for v, n in whole.items()) / 2
        assert apart <= 0.25 + 1e-9
    assert len(found) > 1


def test_what_fails_takes_the_values_of_what_is_most_similar(leisure: Clinic) -> None:
    """Both have k records, but swimmers have one illness; windsurfing is nearer to them than reading."""
    rows = [("swimming", "flu")] * 3 + [("windsurfing", "flu"), ("windsurfing", "ulcer")] * 2
    rows += [("reading", "flu"), ("reading", "asthma")] * 2
    visits(leisure, "reason text, illness text", *rows)
    policy = fusion(
        leisure,
        {"reason": MEANT, "illness": SENSITIVE},
        'k = 2\nl_diversity = { column = "illness", l = 2 }',
    )
    said = leisure.has_released(policy)
    assert (said["fusions"], said["changed"], said["metrics"]["l_diversity_distinct:illness"]) == (1, 3, 2)
    found = Counter(reason for (reason,) in leisure.execute("select reason from share.admissions"))
    assert found == {"windsurfing": 7, "reading": 4}


def test_where_no_values_are_enough_the_policy_is_refused(leisure: Clinic) -> None:
    fill(leisure, seed=1)
    columns = {"reason": MEANT, "ward": BARE, "illness": SENSITIVE}
    for model, words in (
        ('l_diversity = { column = "illness", l = 9 }', "l = 9 is larger than the number of values"),
        (
            'l_diversity = { column = "illness", l = 3.9, kind = "entropy" }',
            "the table as a whole does not satisfy",
        ),
    ):
        said = leisure.cli("run", fusion(leisure, columns, f"k = 2\n{model}"))
        assert said.returncode == 3
        assert squeezed(words) in squeezed(said.stderr)


def test_what_is_released_with_the_same_labels_is_judged_as_the_one_class_that_it_is(clinic: Clinic) -> None:
    """Rare zips are all *: two classes without relatives are one class with relatives there."""
    (clinic.folder / "illness.csv").write_text("".join(f"{n}{i},{n},*\n" for n in "abc" for i in (1, 2)))
    illnesses = ["a1", "b1", "a2", "b2", "a1", "c1", "a2", "c2", "b1", "c1", "b2", "c2"]
    visits(clinic, "zip text, illness text", *[(f"z{n}", illness) for n, illness in enumerate(illnesses)])
    columns = {
        "zip": BARE,
        "illness": '{ role = "sensitive", hierarchy = { csv = "illness.csv" } }',
    }
    model = 'k = 2\nle_diversity = { column = "illness", l = 2, e = 1 }'
    said = clinic.cli("run", fusion(clinic, columns, model))
    assert said.returncode == 3, said.stderr
    assert "the table as a whole does not satisfy the policy" in " ".join(said.stderr.split())
