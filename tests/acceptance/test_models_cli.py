"""l-diversity, t-closeness and persons through the command line: what a run reaches, and what is refused."""

from __future__ import annotations

import pytest

from tests.acceptance.clinic import COLUMNS, IDENTIFIER, MASK_ALL, SENSITIVE, Clinic, complaint, quasi

pytestmark = pytest.mark.once  # another server version would say the same

OPTIMAL = 'algorithm = "optimal"'

# Wards a and b have four patients each, with two diagnoses; ward c has four patients who all have the flu.
WARDS = """
create table hospital.wards (patient int, ward text, diagnosis text, score int);
insert into hospital.wards values
    (1, 'a', 'flu', 1), (2, 'a', 'flu', 2), (3, 'a', 'ulcer', 3), (4, 'a', 'ulcer', 4),
    (5, 'b', 'flu', 1), (6, 'b', 'flu', 2), (7, 'b', 'flu', 3), (8, 'b', 'ulcer', 4),
    (9, 'c', 'flu', 1), (10, 'c', 'flu', 1), (11, 'c', 'flu', 1), (12, 'c', 'flu', 1);
"""
WARD = {"patient": IDENTIFIER, "ward": MASK_ALL, "diagnosis": SENSITIVE, "score": SENSITIVE}
# Ten admissions of one patient in ward a, five of five patients in ward b.
ADMISSIONS = """
create table hospital.stays (patient int, ward text, diagnosis text);
insert into hospital.stays select 1, 'a', 'flu' from generate_series(1, 10);
insert into hospital.stays select i, 'b', 'flu' from generate_series(11, 15) as i;
"""
STAY = {"patient": IDENTIFIER, "ward": MASK_ALL, "diagnosis": SENSITIVE}


@pytest.fixture
def wards(clinic: Clinic) -> Clinic:
    clinic.execute(WARDS)
    (clinic.folder / "diagnoses.csv").write_text("flu;lung;any\nulcer;stomach;any\ncough;lung;any\n")
    return clinic


def metrics(clinic: Clinic, privacy: str, columns: dict[str, str] = WARD) -> dict[str, float]:
    """The figures of the models after a run on the wards, by name."""
    policy = clinic.policy(columns, source="hospital.wards", privacy=privacy, method=OPTIMAL)
    printed = clinic.publish(policy)
    models = ("l_diversity", "t_closeness", "persons")
    return {name: figure for name, figure in printed["metrics"].items() if name.startswith(models)}


def wards_left(clinic: Clinic) -> list[str]:
    return [ward for (ward,) in clinic.execute("select distinct ward from share.admissions order by 1")]


def test_a_class_without_enough_diagnoses_is_suppressed_and_every_l_that_is_reached_is_told(
    wards: Clinic,
) -> None:
    reached = metrics(
        wards,
        """suppression = 0.34
        l_diversity = [
            { column = "diagnosis", l = 2 },
            { column = "diagnosis", l = 1.7, kind = "entropy" },
            { column = "score", l = 3, kind = "recursive", c = 2 },
        ]""",
    )
    assert wards_left(wards) == ["a", "b"]
    # three of four have the flu: exp(-(0.75 ln 0.75 + 0.25 ln 0.25)); scores: 1 < 2 * (1 + 1), and 1 < 2 * 1 too
    assert reached == {
        "l_diversity_distinct:diagnosis": 2,
        "l_diversity_entropy:diagnosis": pytest.approx(1.7547654),
        "l_diversity_recursive:score": 4,
    }


def test_closeness_is_to_what_is_released_not_to_what_is_left_out(wards: Clinic) -> None:
    columns = WARD | {"diagnosis": '{ role = "sensitive", hierarchy = { csv = "diagnoses.csv" } }'}
    reached = metrics(
        wards,
        """suppression = 0.34
        l_diversity = { column = "diagnosis", l = 2 }
        t_closeness = [
            { column = "diagnosis", t = 0.2 },
            { column = "diagnosis", t = 0.2, distance = "ordered" },
            { column = "diagnosis", t = 0.2, distance = "hierarchical" },
        ]""",
        columns,
    )
    # Of all twelve, nine have the flu, and ward a, with half, would be 1/4 away. But ward c is not diverse;
    # without it five of eight have it, and a and b are 1/8 away. Two values are a whole order, and meet at the root.
    assert wards_left(wards) == ["a", "b"]
    assert reached == {
        "l_diversity_distinct:diagnosis": 2,
        **{f"t_closeness_{way}:diagnosis": 0.125 for way in ("equal", "ordered", "hierarchical")},
    }


def test_k_counts_persons_where_the_policy_names_them(clinic: Clinic) -> None:
    clinic.execute(ADMISSIONS)
    policy = clinic.policy(
        STAY, source="hospital.stays", privacy='k = 5\nunit = "patient"\nsuppression = 0.7', method=OPTIMAL
    )
    printed = clinic.publish(policy, "--levels", "0")
    assert clinic.execute("select ward, count(*) from share.admissions group by 1") == [("b", 5)]
    assert (printed["k"], printed["suppressed"]) == (5, 10)
    assert printed["metrics"]["persons_min"] == 5
    rows = clinic.policy(STAY, source="hospital.stays", privacy="k = 5", method=OPTIMAL)
    assert clinic.publish(rows, "--levels", "0")["released"] == 15


def test_a_unit_that_cannot_repeat_costs_nothing(clinic: Clinic) -> None:
    clinic.execute(ADMISSIONS)
    clinic.execute("delete from hospital.stays where patient = 1")
    privacy = 'k = 5\nunit = "patient"'
    policy = clinic.policy(STAY, source="hospital.stays", privacy=privacy, method=OPTIMAL)

    def frequency_sets() -> list[tuple[str]]:
        clinic.has_released(policy)
        return clinic.execute(
            "select s.sql from anondb.run_step as s where s.run = (select max(r.id) from anondb.run as r)"
            " and s.name in ('frequencies', 'units', 'frequency set') order by s.seq"
        )

    before = frequency_sets()
    assert len(before) == 3
    assert "patient" in before[0][0]
    clinic.execute("alter table hospital.stays add primary key (patient)")
    after = frequency_sets()
    assert len(after) == 2
    assert all("patient" not in text and '"u"' not in text for (text,) in after)


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        (
            'k = 2\nl_diversity = { column = "ward", l = 2 }',
            '"ward" would be a sensitive column that is also quasi',
        ),
        ('k = 2\nt_closeness = { column = "diagnosis", t = 1.5 }', "t must lie between 0 and 1"),
        ('k = 2\nt_closeness = { column = "diagnosis", t = -0.1 }', "t must lie between 0 and 1"),
        (
            'k = 2\nt_closeness = { column = "diagnosis", t = 0.2, distance = "hierarchical" }',
            '"diagnosis" has no hierarchy',
        ),
        ('k = 2\nunit = "ward"', "which persons share by design"),
        ('k = 2\nl_diversity = { column = "diagnosis", l = 1 }', "at least 2"),
    ],
)
def test_models_that_make_no_sense_are_refused_before_anything_is_read(
    wards: Clinic, privacy: str, words: str
) -> None:
    with wards.unchanged(None):
        policy = wards.policy(WARD, source="hospital.wards", privacy=privacy, method=OPTIMAL)
        assert words in complaint(wards.cli("run", policy), 2)


def test_a_diagnosis_outside_its_hierarchy_is_refused_and_not_named(wards: Clinic) -> None:
    (wards.folder / "diagnoses.csv").write_text("flu;lung;any\ncough;lung;any\n")
    columns = WARD | {"diagnosis": '{ role = "sensitive", hierarchy = { csv = "diagnoses.csv" } }'}
    privacy = 't_closeness = { column = "diagnosis", t = 0.3, distance = "hierarchical" }'
    with wards.unchanged():
        policy = wards.policy(columns, source="hospital.wards", privacy=privacy, method=OPTIMAL)
        said = complaint(wards.cli("run", policy), 2)
    assert 'column "diagnosis": 1 distinct value in 3 records is outside the hierarchy' in said
    assert "ulcer" not in said


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        (
            'l_diversity = { column = "diagnosis", l = 3 }',
            ['l = 3 is larger than the number of values of "diagnosis", which is 2', "lower l"],
        ),
        ("k = 13", ["k = 13 is larger than the table: 12 records"]),
        # not even the table as a whole is diverse enough: 1.75 < 1.9
        (
            'l_diversity = { column = "diagnosis", l = 1.9, kind = "entropy" }',
            ["at levels ward 1, 12 records would have to be suppressed", "a smaller l"],
        ),
    ],
)
def test_models_that_no_release_can_meet_end_with_exit_code_3(
    wards: Clinic, privacy: str, words: list[str]
) -> None:
    with wards.unchanged():
        policy = wards.policy(WARD, source="hospital.wards", privacy=privacy, method=OPTIMAL)
        said = complaint(wards.cli("run", policy), 3)
    assert all(word in said for word in words)


def test_a_masked_class_meets_every_model(wards: Clinic) -> None:
    """Ward c, masked, would be a class where all have the flu; so the wards are given up instead."""
    diverse = 'l_diversity = { column = "diagnosis", l = 2 }\nsuppression = 0.5'
    assert metrics(wards, f'{diverse}\nsuppress = "mask"') == {"l_diversity_distinct:diagnosis": 2}
    assert wards_left(wards) == ["*"]
    metrics(wards, diverse)
    assert wards_left(wards) == ["a", "b"]


def test_the_hospital_is_diverse_in_ranges_of_ages(clinic: Clinic) -> None:
    columns = COLUMNS | {"zip": quasi('{ mask = "right" }')}
    privacy = 'k = 3\nl_diversity = { column = "diagnosis", l = 3 }'
    printed = clinic.publish(clinic.policy(columns, privacy=privacy, method='algorithm = "incognito"'))
    # two ages in a range have two diagnoses: the last range of five has but two ages
    assert printed["levels"] == {"age": 3, "zip": 0}
    assert printed["metrics"]["l_diversity_distinct:diagnosis"] == 3
