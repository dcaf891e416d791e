"""anondb lattice lists every node and publishes nothing; anondb run --levels publishes the one that is chosen."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from anondb.api import Database
from anondb.db.connection import Door
from anondb.run.plan import Options
from tests.acceptance.clinic import COLUMNS, Clinic, complaint

pytestmark = pytest.mark.once  # another server version would say the same

INCOGNITO = 'algorithm = "incognito"'
AGES, ZIPS = range(5), range(6)


def figures(age: int, zip_: int) -> tuple[int, int]:
    """By hand: the records in classes below k = 3, and the classes that are large enough.

    Each of the twelve ages has two records of one zip code; the four zip codes differ in the last digit.
    """
    if age == 0:
        return 24, 0
    if zip_ > 0:
        return 0, (3, 2, 1, 1)[age - 1]
    return ((16, 2), (4, 4), (0, 4), (0, 4))[age - 1]


def listed(clinic: Clinic, *arguments: object) -> dict[str, Any]:
    """What `anondb lattice --json` prints; it changes nothing, and no run is in the history."""
    with clinic.unchanged(None):
        done = clinic.cli("lattice", "--json", *map(str, arguments))
    assert (done.returncode, done.stderr) == (0, "")
    return dict(json.loads(done.stdout))


def test_every_node_is_listed_once_with_its_figures_and_nothing_is_written(clinic: Clinic) -> None:
    found = listed(clinic, clinic.policy(method=INCOGNITO), "--full")
    assert found["columns"] == ["age", "zip"]
    assert (found["heights"], found["objective"]) == ({"age": 4, "zip": 5}, "classes")
    assert (found["lattice"], found["best"], found["proven"]) == (30, [3, 0], True)
    expected = []
    for age, zip_ in product(AGES, ZIPS):
        suppressed, classes = figures(age, zip_)
        node = {"levels": [age, zip_], "state": "not anonymous" if suppressed else "anonymous"}
        score = None if suppressed else classes
        expected.append(node | {"suppressed": suppressed, "classes": classes, "score": score})
    expected.sort(key=lambda node: (sum(node["levels"]), node["levels"]))  # type: ignore[arg-type]
    assert found["nodes"] == expected


def test_what_a_search_need_not_look_at_is_implied_or_pruned(clinic: Clinic) -> None:
    found = listed(clinic, clinic.policy(method='algorithm = "optimal"\nobjective = "classes"'))
    assert sorted(map(tuple, (node["levels"] for node in found["nodes"]))) == list(product(AGES, ZIPS))
    assert found["best"] == [3, 0]
    for node in found["nodes"]:
        suppressed, classes = figures(*node["levels"])
        assert node["state"] in ("pruned", "not anonymous" if suppressed else "anonymous")
        assert (node["suppressed"], node["classes"]) in ((None, None), (suppressed, classes))
    checked = [node for node in found["nodes"] if node["classes"] is not None]
    assert len(checked) == found["checks"] < found["lattice"]


def test_nodes_are_sorted_filtered_and_limited(clinic: Clinic) -> None:
    policy = clinic.policy(method=INCOGNITO)
    most = listed(clinic, policy, "--full", "--sort", "classes", "--state", "anonymous", "--limit", 3)
    assert [(node["levels"], node["classes"]) for node in most["nodes"]] == [
        ([3, 0], 4),
        ([4, 0], 4),
        ([1, 1], 3),
    ]
    best = listed(clinic, policy, "--full", "--sort", "score", "--limit", 2)
    assert [node["levels"] for node in best["nodes"]] == [[3, 0], [4, 0]]
    failing = listed(clinic, policy, "--full", "--sort", "suppressed", "--state", "not")
    assert [node["suppressed"] for node in failing["nodes"]] == [4, 16] + [24] * 6
    assert "--state" in clinic.cli("lattice", policy, "--state", "good").stderr


def test_the_table_shows_the_chosen_node_and_how_many_there_are(clinic: Clinic) -> None:
    policy = clinic.policy(
        privacy="k = 3\nsuppression = 0.2", method='algorithm = "optimal"\nobjective = "loss"'
    )
    done = clinic.cli("lattice", policy, "--full", "--sort", "score", "--limit", "4")
    assert (done.returncode, done.stderr) == (0, "")
    head, *lines = [line.split() for line in done.stdout.splitlines() if line.strip()]
    assert head == ["age", "zip", "state", "suppressed", "classes", "loss"]
    [chosen] = [line for line in lines if "(chosen)" in line]
    assert chosen == lines[0] == ["3", "0", "anonymous", "(chosen)", "0", "4", "0.5"]
    assert " ".join(lines[-1]) == "4 of 30 nodes, 30 checked"


def test_a_chosen_node_gives_what_the_lattice_says_of_it(clinic: Clinic) -> None:
    privacy = "k = 3\nsuppression = 0.2"
    policy = clinic.policy(privacy=privacy, method='algorithm = "optimal"\nobjective = "discernibility"')
    nodes = {tuple(node["levels"]): node for node in listed(clinic, policy, "--full")["nodes"]}
    assert nodes[2, 0]["state"] == "anonymous"  # four records may be suppressed
    with Database(Door(clinic.dsn)) as database:
        for levels in [(2, 0), (3, 0), (1, 1), (2, 3), (4, 5)]:
            result = database.run(policy, options=Options(levels=levels)).result
            node = nodes[levels]
            assert tuple(result.levels.values()) == levels
            assert (result.suppressed, result.classes) == (node["suppressed"], node["classes"])
            assert (result.as_json()["score"], result.as_json()["proven"], result.as_json()["checks"]) == (
                node["score"],
                False,
                1,
            )
            assert result.k >= 3


def test_the_chosen_levels_are_published_and_those_that_fail_are_not(clinic: Clinic) -> None:
    policy = clinic.policy(method=INCOGNITO)
    printed = clinic.publish(policy, "--levels", "1,1")
    assert printed["levels"] == {"age": 1, "zip": 1}
    assert clinic.execute("select count(*), count(distinct age), min(zip) from share.admissions") == [
        (24, 3, "Z907*")
    ]
    with clinic.unchanged():
        said = complaint(clinic.cli("run", policy, "--levels", "1,0"), 3)
    assert "16 records would have to be suppressed, and 0 may be" in said
    assert "anondb lattice" in said


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ("1", ["1 levels are given for 2", "age, zip"]),
        ("5,0", ['level 5 of "age" is out of range', "from 0 to 4"]),
        ("-1,0", ['level -1 of "age" is out of range']),
    ],
)
def test_levels_that_are_not_there_are_refused(clinic: Clinic, levels: str, words: list[str]) -> None:
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(method=INCOGNITO), f"--levels={levels}"), 2)
    assert all(word in said for word in words)


@pytest.mark.parametrize("levels", ["one,two", "1,,0", "", "1.5,0"])
def test_levels_that_are_no_numbers_are_refused_before_anything_is_read(clinic: Clinic, levels: str) -> None:
    with clinic.unchanged(None):
        said = complaint(clinic.cli("run", clinic.policy(), f"--levels={levels}"), 2)
    assert "1,0,2" in said


def bounded(hierarchy: str, bounds: str) -> str:
    return f'{{ role = "quasi", hierarchy = {hierarchy}, {bounds} }}'


RANGES, MASK = "{ start = 0, widths = [5, 10, 20] }", '{ mask = "right" }'


def test_levels_stay_within_what_the_policy_allows(clinic: Clinic) -> None:
    columns = COLUMNS | {"age": bounded(RANGES, "max_level = 2"), "zip": bounded(MASK, "min_level = 2")}
    policy = clinic.policy(columns, method=INCOGNITO)
    found = listed(clinic, policy)
    assert sorted(node["levels"] for node in found["nodes"]) == [
        list(levels) for levels in product(range(3), range(2, 6))
    ]
    assert found["best"] == [1, 2]
    with clinic.unchanged():
        said = complaint(clinic.cli("run", policy, "--levels", "3,2"), 2)
    assert "from 0 to 2" in said


@pytest.mark.parametrize(
    ("column", "bounds"),
    [
        ({"age": bounded(RANGES, "max_level = 5")}, "from 0 to 4"),
        ({"age": bounded(RANGES, "min_level = 5")}, "from 0 to 4"),
        # how long the codes are is known when they have been read
        ({"zip": bounded(MASK, "max_level = 6")}, "from 0 to 5"),
    ],
)
def test_levels_above_the_root_are_refused(clinic: Clinic, column: dict[str, str], bounds: str) -> None:
    policy = clinic.policy(COLUMNS | column, method=INCOGNITO)
    with clinic.unchanged():
        assert bounds in complaint(clinic.cli("run", policy), 2)


@pytest.mark.parametrize("algorithm", ["incognito", "optimal"])
def test_where_nothing_satisfies_the_policy_the_closest_nodes_and_a_way_out_are_told(
    clinic: Clinic, algorithm: str
) -> None:
    columns = COLUMNS | {"age": bounded(RANGES, "max_level = 2"), "zip": bounded(MASK, "max_level = 0")}
    policy = clinic.policy(columns, privacy="k = 3\nsuppression = 0.1", method=f'algorithm = "{algorithm}"')
    with clinic.unchanged():
        said = complaint(clinic.cli("run", policy), 3)
    assert "at levels age 2, zip 0, 4 records would have to be suppressed" in said
    for help_ in ("a suppression that allows 4 records", "a higher max_level", "a smaller k"):
        assert help_ in said


def test_a_lattice_in_which_nothing_passes_can_be_looked_at(clinic: Clinic) -> None:
    columns = COLUMNS | {"age": bounded(RANGES, "max_level = 0"), "zip": bounded(MASK, "min_level = 5")}
    policy = clinic.policy(columns, method=INCOGNITO)
    found = listed(clinic, policy)
    assert found["best"] is None
    assert [(node["levels"], node["state"]) for node in found["nodes"]] == [([0, 5], "not anonymous")]
    # the age alone has ruled it out
    with clinic.unchanged():
        said = complaint(clinic.cli("run", policy), 3)
    assert "at levels age 0, zip 5, 24 records would have to be suppressed" in said


def test_a_chosen_node_whose_masked_records_are_no_class_says_so(clinic: Clinic) -> None:
    clinic.execute("delete from hospital.admissions where age in (30) and zip = 'Z9072'")
    privacy = 'k = 3\nsuppression = 0.2\nsuppress = "mask"'
    policy = clinic.policy(privacy=privacy, method=INCOGNITO)
    with clinic.unchanged():
        said = complaint(clinic.cli("run", policy, "--levels", "2,0"), 3)
    assert "2 records would be masked, and do not satisfy it as a class of their own" in said


@pytest.mark.parametrize("algorithm", ["incognito", "optimal"])
def test_a_search_out_of_time_says_that_its_release_may_not_be_the_best(
    clinic: Clinic, algorithm: str
) -> None:
    policy = clinic.policy(method=f'algorithm = "{algorithm}"')
    done = clinic.cli("run", policy, "--json", "--time-limit", "0.001")
    if done.returncode == 0:
        printed = json.loads(done.stdout)
        assert printed["proven"] is False
        assert printed["k"] >= 3
    else:
        assert "--time-limit" in complaint(done, 3)
    assert clinic.publish(policy, "--time-limit", "600")["proven"] is True
