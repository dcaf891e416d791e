"""anondb evaluate by an ontology: releases that anyone has made of texts and of sets of texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.clinic import OTHER, Clinic
from tests.acceptance.test_fusion import LEISURE, MEANT, fusion, visits
from tests.acceptance.test_plan import squeezed


@pytest.fixture
def leisure(clinic: Clinic, tmp_path: Path) -> Clinic:
    file = tmp_path / "leisure.csv"
    file.write_text(LEISURE)
    said = clinic.cli("ontology", "load", file)
    assert said.returncode == 0, said.stderr
    return clinic


def evaluated(clinic: Clinic, *options: object) -> dict[str, dict[str, object]]:
    said = clinic.cli(
        "evaluate", "--original", "hospital.visits", "--release", "share.admissions", "--key", "stay", "--quasi",
        "reason", *map(str, options), "--json",
    )  # fmt: skip
    assert (said.returncode, said.stderr) == (0, ""), said.stderr
    answer: dict[str, dict[str, object]] = json.loads(said.stdout)
    return answer


def test_the_figures_are_those_that_the_run_has_kept_itself(leisure: Clinic) -> None:
    words = ("swimming", "Swimming", "windsurfing", "tennis", "reading", "Readings", "qwertz", None)
    reasons = [word for place, word in enumerate(words) for _ in range(1 + place % 3)]
    visits(leisure, "reason text, stay int", *[(reason, stay) for stay, reason in enumerate(reasons)])
    said = leisure.publish(fusion(leisure, {"reason": MEANT, "stay": OTHER}, "k = 3"), "--evaluate", "full")
    found = evaluated(leisure, "--ontology", "reason=leisure")
    for name in (
        "sem_iloss",
        "sem_iloss:reason",
        "semantic_quality",
        "semantic_sse",
        "rand",
        "partition_distance",
    ):
        assert found["metrics"][name] == pytest.approx(said["metrics"][name]), name
    assert 0 < said["metrics"]["sem_iloss"] < 1
    assert found["notes"]["rand"] == said["notes"]["rand"]
    assert "semantic_quality" not in evaluated(leisure)["metrics"]


def test_sets_are_as_far_apart_as_their_concepts_are_from_the_nearest(leisure: Clinic) -> None:
    """By hand: swimming and windsurfing are 1 - 2·2 / (1 + 1 + 2·2) = 1/3 apart, and reading is 1 from both."""
    leisure.execute(
        "create schema if not exists share;"
        "create table hospital.visits (stay int, reason text[]);"
        "create table share.admissions (stay int, reason text[]);"
        "insert into hospital.visits values (1, '{swimming,reading}'), (2, '{reading}'), (3, '{reading}'),"
        " (4, '{swimming}'), (5, '{qwertz}');"
        "insert into share.admissions values (1, '{windsurfing,reading}'), (2, '{Readings}'),"
        " (3, '{swimming,reading}'), (5, '{reading}')"
    )
    found = evaluated(leisure, "--ontology", "reason=leisure", "--clusters", 2)
    apart = (
        (1 / 3 + 0 + 1 / 3 + 0) / 4,
        0.0,
        (0 + 1 + 0) / 3,
        1.0,
    )  # the last is not released, qwertz means nothing
    assert found["metrics"]["sem_iloss"] == pytest.approx(sum(apart) / 4)
    assert found["metrics"]["semantic_quality:reason"] == pytest.approx(1 - sum(apart) / 4)
    assert found["metrics"]["semantic_sse"] == pytest.approx(sum(d * d for d in apart))
    assert found["notes"]["rand"] == "2 clusters of the originals, 2 clusters of the release"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--ontology", "reason"), "--ontology names a column and its ontology"),
        (("--ontology", "raeson=leisure"), 'an ontology is given for "raeson", which is no quasi-identifier'),
        (("--ontology", "reason=leisur"), 'there is no ontology "leisur"'),
        (("--ontology", "reason=leisure", "--vgh", "reason=job"), '"reason" has a hierarchy and an ontology'),
        (("--clusters", "0"), "0 clusters of 1,000 records"),
    ],
)
def test_a_wrong_call_is_told_what_is_right(leisure: Clinic, options: tuple[str, ...], words: str) -> None:
    visits(leisure, "reason text, stay int", ("tennis", 1))
    leisure.execute(
        "create schema if not exists share; create table share.admissions as table hospital.visits"
    )
    said = leisure.cli(
        "evaluate", "--original", "hospital.visits", "--release", "share.admissions", "--key", "stay", "--quasi",
        "reason", *options,
    )  # fmt: skip
    assert said.returncode == 2
    assert squeezed(words) in squeezed(said.stderr)
