"""Record fusion through the command line: what it releases, written by hand, and where it has nothing to release."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from anondb.methods.fusion.fusion import VARIANTS
from tests.acceptance.clinic import OTHER, Clinic
from tests.acceptance.test_plan import squeezed

# swimming and windsurfing have two of three generalizations in common
LEISURE = """\
child,parent
sport,leisure
water sport,sport
swimming,water sport
windsurfing,water sport
tennis,sport
reading,leisure
"""
MEANT = '{ role = "quasi", ontology = "leisure", unknown = "accept" }'
BARE = '{ role = "quasi" }'


@pytest.fixture
def leisure(clinic: Clinic, tmp_path: Path) -> Clinic:
    file = tmp_path / "leisure.csv"
    file.write_text(LEISURE)
    said = clinic.cli("ontology", "load", file)
    assert said.returncode == 0, said.stderr
    return clinic


def visits(clinic: Clinic, columns: str, *rows: tuple[object, ...]) -> None:
    clinic.execute(f"create table hospital.visits ({columns})")
    with clinic.connection.cursor().copy("copy hospital.visits from stdin") as copy:
        for row in rows:
            copy.write_row(row)


def fusion(clinic: Clinic, columns: dict[str, str], privacy: str = "k = 2", said: str = "") -> Path:
    policy = clinic.policy(columns, source="hospital.visits", privacy=privacy)
    policy.write_text(policy.read_text().replace('"datafly"', f'"fusion"\n{said}'))
    return policy


def released(clinic: Clinic) -> list[tuple[object, ...]]:
    """The rows, in the order of their last column."""
    return sorted(clinic.execute("select * from share.admissions"), key=lambda row: str(row[-1]))


def test_what_is_rare_takes_the_values_of_what_is_most_similar(leisure: Clinic) -> None:
    """Windsurfing is alone; swimming is nearer to it than tennis, and reading has nothing in common with it."""
    reasons = ["swimming"] * 2 + ["windsurfing"] + ["tennis"] * 2 + ["reading"] * 3
    visits(leisure, "reason text, stay int", *[(reason, stay) for stay, reason in enumerate(reasons)])
    said = leisure.publish(fusion(leisure, {"reason": MEANT, "stay": OTHER}))
    assert (said["tuples"], said["fusions"], said["classes"], said["k"]) == (4, 1, 3, 2)
    assert (said["released"], said["suppressed"], said["levels"]) == (8, 0, {})
    assert released(leisure) == [
        (reason.replace("windsurfing", "swimming"), stay) for stay, reason in enumerate(reasons)
    ]
    # depths: water sport 2, swimming 3: 2 * 2 / (1 + 1 + 2 * 2) of one in eight records
    lost = 1 - 4 / 6
    assert said["metrics"]["sem_iloss"] == pytest.approx(lost / 8, abs=1e-6)
    assert said["metrics"]["semantic_quality"] == pytest.approx(1 - lost / 8, abs=1e-6)
    assert said["metrics"]["semantic_sse"] == pytest.approx(lost**2, abs=1e-6)
    assert said["metrics"]["discernibility"] == 3**2 + 2**2 + 3**2


def test_one_meaning_is_one_value_in_its_most_frequent_spelling(leisure: Clinic) -> None:
    visits(leisure, "reason text", ("Sport",), ("sports",), ("sports",), ("SPORT",))
    said = leisure.has_released(fusion(leisure, {"reason": MEANT}, "k = 2"))
    assert (said["tuples"], said["fusions"], said["metrics"]["sem_iloss"]) == (1, 0, 0)
    assert released(leisure) == [("sports",)] * 4


def test_null_and_what_the_ontology_does_not_know_are_values_like_no_other(leisure: Clinic) -> None:
    rows = [("tennis", 1), ("tennis", 1), ("qwertz", 1), ("QWERTZ", 2), (None, 2), (None, 2)]
    visits(leisure, "reason text, ward int", *rows)
    said = leisure.has_released(fusion(leisure, {"reason": MEANT, "ward": BARE}))
    # the two spellings are one value: a record of either is half like the other one, as like as its own ward
    assert said["tuples"] == 4
    assert said["k"] >= 2
    assert "unknown to the ontology" in said["notes"]["sem_iloss:reason"]
    assert {row[0] for row in released(leisure)} <= {"tennis", "QWERTZ", None}


def test_records_with_null_can_be_left_out(leisure: Clinic) -> None:
    visits(leisure, "reason text", ("tennis",), ("tennis",), (None,))
    said = leisure.has_released(fusion(leisure, {"reason": MEANT}, 'k = 2\nnulls = "suppress"'))
    assert (said["released"], said["suppressed"]) == (2, 1)
    assert said["metrics"]["sem_iloss"] == 0


def test_numbers_are_compared_by_their_distance(clinic: Clinic) -> None:
    visits(clinic, "age int", (20,), (20,), (27,), (40,), (40,))
    clinic.has_released(fusion(clinic, {"age": BARE}))
    assert [int(str(age)) for (age,) in released(clinic)] == [20, 20, 20, 40, 40]


def test_values_of_a_hierarchy_are_compared_by_what_is_above_them(clinic: Clinic) -> None:
    """12345 shares four digits with 12346, and three with 12399."""
    visits(
        clinic, "zip text", *[(z,) for z in ("12345", "12346", "12346", "12399", "12399", "55555", "55555")]
    )
    clinic.has_released(fusion(clinic, {"zip": '{ role = "quasi", hierarchy = { mask = "right" } }'}))
    assert [zip_ for (zip_,) in released(clinic)] == ["12346"] * 3 + ["12399"] * 2 + ["55555"] * 2


def test_all_different_or_all_alike_there_is_a_release(leisure: Clinic) -> None:
    words = ("swimming", "windsurfing", "tennis", "reading")
    visits(leisure, "reason text", *[(word,) for word in words])
    policy = fusion(leisure, {"reason": MEANT}, "k = 4")
    assert leisure.has_released(policy)["classes"] == 1
    leisure.execute("update hospital.visits set reason = 'tennis'")
    assert leisure.has_released(policy)["fusions"] == 0


def test_fewer_than_k_records_cannot_be_released(leisure: Clinic) -> None:
    visits(leisure, "reason text", ("tennis",), ("tennis",))
    said = leisure.cli("run", fusion(leisure, {"reason": MEANT}, "k = 3"))
    assert said.returncode == 3
    assert squeezed("k = 3 is larger than the table") in squeezed(said.stderr)


def test_an_empty_table_is_no_release_unless_it_may_be_one(leisure: Clinic) -> None:
    visits(leisure, "reason text")
    policy = fusion(leisure, {"reason": MEANT})
    refused = leisure.cli("run", policy)
    assert refused.returncode == 2
    assert squeezed("hospital.visits is empty") in squeezed(refused.stderr)
    said = leisure.publish(policy, "--allow-empty")
    assert (said["released"], said["tuples"], said["fusions"], said["changed"]) == (0, 0, 0, 0)


@pytest.mark.parametrize("values", [("qwertz", "asdf", "qwertz"), (None, None, None)])
def test_where_no_value_is_known_there_is_a_release_and_no_figure_of_meaning(
    leisure: Clinic, values: tuple[str | None, ...]
) -> None:
    visits(leisure, "reason text", *[(value,) for value in values])
    said = leisure.has_released(fusion(leisure, {"reason": MEANT}, "k = 3"))
    assert (said["released"], said["classes"], said["k"]) == (3, 1, 3)
    assert "semantic_quality" not in said["metrics"]
    assert said["notes"]["semantic_quality"] == "no value is known to its ontology"
    assert {row[0] for row in released(leisure)} == {values[0] and "*"}  # two records have it, and k is 3


def test_clusters_are_of_concepts_not_of_spellings(leisure: Clinic) -> None:
    """Three words, however they are spelled, in 12, 1 and 12 records; windsurfing joins the first ones."""
    reasons = ["swimming"] * 6 + ["Swimming"] * 6 + ["windsurfing"] + ["reading"] * 6 + ["Readings"] * 6
    visits(leisure, "reason text", *[(reason,) for reason in reasons])
    said = leisure.publish(fusion(leisure, {"reason": MEANT}), "--evaluate", "full")
    assert (said["fusions"], said["changed"], said["rare"]) == (1, 1, 1)
    assert said["notes"]["rand"] == "3 clusters of the originals, 2 clusters of the release"
    # the clusters of both together are those of the originals
    before, after = (-sum(n / 25 * math.log2(n / 25) for n in sizes) for sizes in ((12, 1, 12), (13, 12)))
    assert said["metrics"]["partition_distance"] == pytest.approx((before - after) / before)


@pytest.mark.once
def test_the_report_says_what_was_changed_and_what_is_left(leisure: Clinic) -> None:
    pytest.importorskip("matplotlib", reason="the charts come with the extra `report`")
    reasons = ["swimming"] * 2 + ["windsurfing"] + ["tennis"] * 2 + ["reading"] * 3
    visits(leisure, "reason text, ward int", *[(reason, 1) for reason in reasons])
    policy = fusion(leisure, {"reason": MEANT, "ward": BARE})
    leisure.publish(policy, "--report", str(leisure.folder / "fused.html"))
    page = squeezed((leisure.folder / "fused.html").read_text(encoding="utf-8"))
    for words in (
        "Of 4 different combinations of values 1 had too few records. 1 took the values of a similar one, which "
        "changed 1 record (12.5%): what is released of these is not true of their persons.",
        "95.8% of the meaning of the quasi-identifiers is left.",
        "what is rare has the value of a similar record",
        "no hierarchy: concepts of leisure",
        "no hierarchy: values of the data",
    ):
        assert squeezed(words) in page
    assert "windsurfing" not in page
    said = leisure.cli("run", policy)
    assert squeezed("1 of 8 records with them, took the values of a similar one") in squeezed(said.stdout)


@pytest.mark.once
def test_variants_are_compared_by_what_their_authors_compare(leisure: Clinic) -> None:
    words = ("swimming", "windsurfing", "tennis", "reading")
    visits(
        leisure, "reason text", *[(word,) for place, word in enumerate(words) for _ in range(1 + 2 * place)]
    )
    policy = fusion(leisure, {"reason": MEANT})
    asked = ("compare", policy, "--variants", ",".join(VARIANTS), "--k", "2,4", "--evaluate", "full")
    said = leisure.cli(*asked)
    assert (said.returncode, said.stderr) == (0, "")
    head, *lines = said.stdout.splitlines()
    for figure in ("meaning left", "discernibility", "linkage", "clusters apart"):
        assert f" {figure} " in head
    assert [line.split()[:3] for line in lines[: 2 * len(VARIANTS)]] == [
        ["fusion", variant, k] for k in ("2", "4") for variant in VARIANTS
    ]
    assert "To keep meaning: fusion semantic" in said.stdout
    trials = json.loads(leisure.cli(*asked, "--json").stdout)["trials"]
    assert [(trial["algorithm"], trial["variant"], trial["k"]) for trial in trials] == [
        ("fusion", variant, k) for k in (2, 4) for variant in VARIANTS
    ]
    for trial in trials:
        assert {"semantic_quality", "discernibility", "record_linkage_text", "partition_distance"} <= trial[
            "figures"
        ].keys()
        assert trial["figures"]["k_reached"] >= trial["k"]


def test_an_ontology_that_is_not_there_is_named(clinic: Clinic) -> None:
    visits(clinic, "reason text", ("tennis",), ("tennis",))
    said = clinic.cli("run", fusion(clinic, {"reason": MEANT}))
    assert said.returncode == 2
    assert squeezed('there is no ontology "leisure"') in squeezed(said.stderr)


def test_a_value_is_looked_up_in_the_first_ontology_that_knows_it(leisure: Clinic, tmp_path: Path) -> None:
    file = tmp_path / "sickness.csv"
    file.write_text("child,parent\nflu,illness\ncold,illness\ntennis,illness\n")
    said = leisure.cli("ontology", "load", file)
    assert said.returncode == 0, said.stderr
    reasons = ["flu", "flu", "cold", "tennis", "swimming", "swimming"]
    visits(leisure, "reason text, stay int", *[(reason, stay) for stay, reason in enumerate(reasons)])
    meant = '{ role = "quasi", ontology = ["leisure", "sickness"] }'
    said_json = leisure.has_released(fusion(leisure, {"reason": meant, "stay": OTHER}))
    assert said_json["unknown"]["reason"] == {"texts": 0, "records": 0}
    # a cold is like a flu, and tennis is a sport: to leisure, which comes first
    assert [reason for reason, _ in released(leisure)] == ["flu"] * 3 + ["swimming"] * 3
    refused = leisure.cli(
        "run", fusion(leisure, {"reason": meant.replace("sickness", "sicknes"), "stay": OTHER})
    )
    assert squeezed('there is no ontology "sicknes"') in squeezed(refused.stderr)


def test_senses_can_be_reviewed_and_put_right_before_a_run(leisure: Clinic) -> None:
    visits(
        leisure,
        "reason text, ward text",
        *[(reason, "A") for reason in ("Tennis", "Tennis", "swims", "chess")],
    )
    policy = fusion(leisure, {"reason": MEANT, "ward": BARE})

    def reviewed() -> list[tuple[object, ...]]:
        said = leisure.cli("ontology", "review", policy, "--json")
        assert (said.returncode, said.stderr) == (0, "")
        fields = ("column", "value", "records", "ontology", "label", "how", "senses")
        return [tuple(value[field] for field in fields) for value in json.loads(said.stdout)]

    tennis = ("reason", "Tennis", 2, "leisure", "tennis", "key", 1)
    assert reviewed() == [
        tennis,
        ("reason", "chess", 1, None, None, None, None),
        ("reason", "swims", 1, "leisure", "swimming", "noun", 1),
    ]
    leisure.cli("ontology", "map", "chess", "reading", "--ontology", "leisure")
    assert ("reason", "chess", 1, "leisure", "reading", "mapping", 1) in reviewed()
    shown = leisure.cli("ontology", "review", policy)
    for words in ("chess", "mapping", "3 texts, of which 0 mean nothing to their ontology"):
        assert squeezed(words) in squeezed(shown.stdout)
    assert leisure.execute("select to_regclass('share.admissions')") == [(None,)]
    said = leisure.has_released(policy)
    assert said["unknown"]["reason"] == {"texts": 0, "records": 0}


def test_an_ontology_is_for_texts(clinic: Clinic) -> None:
    visits(clinic, "reason int", (1,), (1,))
    said = clinic.cli("run", fusion(clinic, {"reason": MEANT}))
    assert said.returncode == 2
    assert squeezed('an ontology knows words, and "reason" is integer') in squeezed(said.stderr)


def test_the_plan_shows_how_records_are_fused_and_touches_nothing(leisure: Clinic) -> None:
    visits(leisure, "reason text, ward int", ("tennis", 1), ("tennis", 1))
    said = leisure.cli("plan", fusion(leisure, {"reason": MEANT, "ward": BARE}))
    assert said.returncode == 0, said.stderr
    for function in ("code_values", "concept_likeness", "fuse"):
        assert f"anondb.{function}(" in said.stdout.lower()
    assert leisure.execute("select to_regclass('share.admissions')") == [(None,)]


def test_the_order_of_the_rows_and_the_seed_alone_decide(leisure: Clinic) -> None:
    rng = random.Random(3)
    words = ("swimming", "windsurfing", "tennis", "reading", "sport", "qwertz", None)
    rows = [(rng.choice(words), rng.randint(1, 4)) for _ in range(60)]
    visits(leisure, "reason text, ward int", *rows)
    policy = fusion(leisure, {"reason": MEANT, "ward": BARE}, "k = 6", 'variant = "none"\nseed = 5')
    leisure.has_released(policy)
    first = leisure.execute("select * from share.admissions")
    leisure.execute(
        "create table hospital.other as select * from hospital.visits order by random();"
        "truncate hospital.visits; insert into hospital.visits select * from hospital.other"
    )
    leisure.has_released(policy)
    assert leisure.execute("select * from share.admissions") == first


def test_fused_classes_have_no_surest_family_of_values(leisure: Clinic) -> None:
    """(l, e)-diversity, relatives as one: swimmers all have an infection of the lungs, until they take in others."""
    rows = [
        ("swimming", "flu"),
        ("swimming", "pneumonia"),
        ("tennis", "burn"),
        ("tennis", "ulcer"),
        ("reading", "burn"),
        ("reading", "flu"),
    ]
    visits(leisure, "reason text, diagnosis text", *rows)
    (leisure.folder / "diagnosis.csv").write_text(
        "flu;lung;any\npneumonia;lung;any\nburn;skin;any\nulcer;gut;any\n"
    )
    diagnosis = '{ role = "sensitive", hierarchy = { csv = "diagnosis.csv" } }'
    model = 'k = 2\nle_diversity = { column = "diagnosis", l = 2, e = 1, kind = "%s" }'
    columns = {"reason": MEANT, "diagnosis": diagnosis}
    said = leisure.publish(fusion(leisure, columns, model % "grouped"))
    assert (said["released"], said["classes"]) == (6, 2)
    assert said["metrics"]["le_diversity_grouped:diagnosis"] == 2
    refused = leisure.cli("run", fusion(leisure, columns, model % "apart"))
    assert refused.returncode == 3
