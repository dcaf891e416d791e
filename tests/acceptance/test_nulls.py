"""NULL is a value of its own, stays NULL below the root, and is with the others there; or it is left out."""

from __future__ import annotations

import pytest

from tests.acceptance.clinic import OTHER, Clinic, quasi

# two NULLs, two 1s and one each of 6 and 7
SICK = """
create table hospital.sick as
select * from (values (null::int, 'a'), (null, 'b'), (1, 'c'), (1, 'd'), (6, 'e'), (7, 'f')) as v (x, who)
"""
RANGES = quasi("{ start = 0, widths = [5] }")


def labels(clinic: Clinic) -> list[str | None]:
    return [label for (label,) in clinic.execute("select x from share.sick order by who")]


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (2, [None, None, "[0, 5)", "[0, 5)", "[5, 10)", "[5, 10)"]),
        (3, ["*"] * 6),
    ],
)
def test_null_stays_null_below_the_root_and_is_the_root_there(
    clinic: Clinic, k: int, expected: list[str | None]
) -> None:
    clinic.execute(SICK)
    policy = clinic.policy(
        {"x": RANGES, "who": OTHER}, source="hospital.sick", target="share.sick", privacy=f"k = {k}"
    )
    result = clinic.publish(policy)
    assert (result["released"], result["suppressed"]) == (6, 0)
    assert labels(clinic) == expected
    assert clinic.execute("select anondb.k_anonymity('share.sick', array['x'])") == [(result["k"],)]


def test_the_root_of_a_hierarchy_file_takes_the_nulls_too(clinic: Clinic) -> None:
    clinic.execute(SICK)
    (clinic.folder / "x.csv").write_text("1;low;everyone\n6;high;everyone\n7;high;everyone\n")
    columns = {"x": quasi('{ csv = "x.csv" }'), "who": OTHER}
    for k, expected in ((2, [None, None, "low", "low", "high", "high"]), (6, ["everyone"] * 6)):
        clinic.publish(
            clinic.policy(columns, source="hospital.sick", target="share.sick", privacy=f"k = {k}")
        )
        assert labels(clinic) == expected


def test_records_with_null_are_left_out_when_asked_for(clinic: Clinic) -> None:
    clinic.execute(SICK)
    privacy = 'k = 4\nnulls = "suppress"'
    columns = {"x": RANGES, "who": OTHER}
    result = clinic.has_released(
        clinic.policy(columns, source="hospital.sick", target="share.sick", privacy=privacy)
    )
    assert (result["records"], result["released"], result["suppressed"], result["k"]) == (6, 4, 2, 4)
    assert labels(clinic) == ["*"] * 4


def test_records_left_out_for_null_do_not_count_as_suppression(clinic: Clinic) -> None:
    clinic.execute(SICK)
    columns = {"x": quasi('{ mask = "all" }'), "who": OTHER}
    privacy = 'k = 2\nsuppression = 0.5\nnulls = "suppress"'
    result = clinic.has_released(
        clinic.policy(columns, source="hospital.sick", target="share.sick", privacy=privacy)
    )
    assert (result["levels"], result["released"], result["suppressed"]) == ({"x": 0}, 2, 4)
    assert labels(clinic) == ["1", "1"]


def test_masked_records_keep_their_other_columns_and_meet_k(clinic: Clinic) -> None:
    clinic.execute(SICK)
    columns = {"x": quasi('{ mask = "all" }'), "who": OTHER}
    privacy = 'k = 2\nsuppression = 0.34\nsuppress = "mask"'
    result = clinic.has_released(
        clinic.policy(columns, source="hospital.sick", target="share.sick", privacy=privacy)
    )
    assert (result["levels"], result["released"], result["suppressed"], result["k"]) == ({"x": 0}, 6, 2, 2)
    assert labels(clinic) == [None, None, "1", "1", "*", "*"]


def test_a_mask_of_fewer_than_k_records_is_not_accepted(clinic: Clinic) -> None:
    clinic.execute(SICK)
    clinic.execute("delete from hospital.sick where x = 7")
    columns = {"x": quasi('{ mask = "all" }'), "who": OTHER}
    privacy = 'k = 2\nsuppression = 0.5\nsuppress = "mask"'
    result = clinic.has_released(
        clinic.policy(columns, source="hospital.sick", target="share.sick", privacy=privacy)
    )
    assert (result["levels"], result["k"]) == ({"x": 1}, 5)
    removed = clinic.policy(
        columns, source="hospital.sick", target="share.sick", privacy="k = 2\nsuppression = 0.5"
    )
    assert clinic.has_released(removed)["released"] == 4
