"""anondb import-arx: a project of ARX becomes a table and a policy that runs, and a file that is none harms nobody."""

from __future__ import annotations

import json
import tomllib
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest

from anondb.api import Database
from anondb.errors import UsageError
from tests.acceptance import arx_projects as arx
from tests.conftest import Cli

pytestmark = pytest.mark.once  # another server version would say the same


def imported(db: Database, path: Path, **more: Any) -> dict[str, Any]:
    """The policy of a project."""
    made = db.tables.import_arx(path, "patients", path.with_suffix(".toml"), replace=True, force=True, **more)
    return tomllib.loads(made.policy.read_text(encoding="utf-8"))


def test_a_project_becomes_a_table_and_a_policy_that_runs(cli: Cli, db: Database, tmp_path: Path) -> None:
    done = cli("import-arx", arx.project(tmp_path), "--table", "patients", "--out", tmp_path / "clinic.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:2] == [
        f"public.patients: {arx.PERSONS} records from {tmp_path / 'clinic.deid'}",
        f"policy: {tmp_path / 'clinic.toml'}",
    ]
    ran = cli("run", tmp_path / "clinic.toml", "--json")
    result = json.loads(ran.stdout)
    assert (result["records"], result["k"] >= 3, result["levels"]["size/x"]) == (arx.PERSONS, True, 0)
    assert result["levels"]["zip"] >= 1
    assert result["levels"]["age"] <= 2
    query = "select count(*) from public.patients as p where p.name = 'Person0' and p.zip = '01234' and p.age = 20"
    assert db.connection.execute(query).fetchall() == [(1,)]
    missing = 'select count(*) from public.patients as p where p."size/x" is null'
    assert db.connection.execute(missing).fetchall() == [(arx.PERSONS // 3,)]


def test_roles_levels_weights_and_suppression_are_those_of_the_project(db: Database, tmp_path: Path) -> None:
    weights = {"age": 0.9, "zip": 0.5, "ward": 0.7}
    policy = imported(db, arx.project(tmp_path, config=arx.config(suppression="0.25", weights=weights)))
    assert {name: column["role"] for name, column in policy["columns"].items()} == {
        "name": "identifier",
        "age": "quasi",
        "zip": "quasi",
        "size/x": "quasi",
        "diagnosis": "sensitive",
        "ward": "other",
    }
    columns = policy["columns"]
    assert (columns["age"]["max_level"], columns["zip"]["min_level"], "max_level" in columns["zip"]) == (
        2,
        1,
        False,
    )
    assert columns["size/x"]["max_level"] == 0
    assert policy["privacy"]["suppression"] == 0.25
    assert policy["method"]["weights"] == {"age": 1.8}
    assert (policy["source"], policy["target"]) == ("public.patients", "public.patients_release")


@pytest.mark.parametrize(
    ("criterion", "key", "model"),
    [
        ("distinct-3-diversity", "l_diversity", {"l": 3}),
        ("shannon-entropy-2.5-diversity", "l_diversity", {"l": 2.5, "kind": "entropy"}),
        ("recursive-(4.0,3)-diversity", "l_diversity", {"l": 3, "c": 4, "kind": "recursive"}),
        ("0.2-closeness with equal ground-distance", "t_closeness", {"t": 0.2}),
        ("0.2-closeness with ordered distance", "t_closeness", {"t": 0.2, "distance": "ordered"}),
        (
            "0.2-closeness with hierarchical ground-distance",
            "t_closeness",
            {"t": 0.2, "distance": "hierarchical"},
        ),
        ("basic-1.0E-4-likeness", "beta_likeness", {"beta": 0.0001}),
        ("enhanced-3.0-likeness", "beta_likeness", {"beta": 3, "kind": "enhanced"}),
        (
            "2.0-disclosure privacy",
            "delta_disclosure",
            {"delta": 1.38629},
        ),  # the base of ARX's logarithm is 2
    ],
)
def test_a_model_is_that_of_the_project(
    db: Database, tmp_path: Path, criterion: str, key: str, model: dict[str, object]
) -> None:
    config = arx.config([f"{criterion} for attribute 'diagnosis'", "3-anonymity"])
    policy = imported(db, arx.project(tmp_path, config=config))
    assert policy["privacy"] == {key: {"column": "diagnosis", **model}, "k": 3, "suppression": 0.1}
    assert ("hierarchy" in policy["columns"]["diagnosis"]) == (model.get("distance") == "hierarchical")


@pytest.mark.parametrize(
    ("metric", "objective"),
    [
        ("Loss (0.5/1.0/1.0)", "loss"),
        ("Average equivalence class size", "average_class_size"),
        ("Non-monotonic discernability", "discernibility"),
        ("Height", "height"),
        ("Classification accuracy", "loss"),
    ],
)
def test_the_objective_is_the_nearest_there_is(
    db: Database, tmp_path: Path, metric: str, objective: str
) -> None:
    path = arx.project(tmp_path, config=arx.config(metric=metric))
    made = db.tables.import_arx(path, "patients", tmp_path / "clinic.toml")
    assert tomllib.loads(made.policy.read_text())["method"]["objective"] == objective
    assert any(metric in note for note in made.notes) == (metric == "Classification accuracy")


def test_what_has_no_counterpart_is_listed_and_stands_in_the_policy(db: Database, tmp_path: Path) -> None:
    criteria = [
        "(0.01)-population-uniqueness (dankar)",
        "grassberger-entropy-2.0-diversity for attribute 'diagnosis'",
    ]
    columns: list[Any] = [
        *arx.COLUMNS[:1],
        ("age", arx.COLUMNS[1][1], {"microaggregationFunction": "Arithmetic mean"}),
    ]
    path = arx.project(
        tmp_path,
        config=arx.config([*criteria, "Inclusion"], suppression=1),
        definition=arx.definition([*columns, *arx.COLUMNS[2:]]),
    )
    made = db.tables.import_arx(path, "patients", tmp_path / "clinic.toml")
    text = made.policy.read_text(encoding="utf-8")
    assert "k = 5" in text
    for told in (*criteria, "research subset", "Arithmetic mean", "k = 5 stands in their place"):
        assert any(told in note for note in made.notes), told
    assert all(f"# DECIDE: {note}\n" in text for note in made.notes)


def test_a_hierarchy_of_several_roots_gets_one_that_is_never_reached(db: Database, tmp_path: Path) -> None:
    files = arx.members() | {
        "input/hierarchies/zip.csv": "01234;01\n01235;01\n47102;47\n47103;47\nNULL;NULL\n"
    }
    path = tmp_path / "clinic.deid"
    path.write_bytes(arx.packed(files))
    policy = imported(db, path)
    zips = policy["columns"]["zip"]
    assert zips["max_level"] == 1
    assert (
        tmp_path / zips["hierarchy"]["csv"]
    ).read_text() == "01234;01;*\n01235;01;*\n47102;47;*\n47103;47;*\n"


def test_a_file_says_nothing_outside_of_its_comment_and_its_folder(db: Database, tmp_path: Path) -> None:
    role = arx.COLUMNS[1][1]
    columns = [
        ("../../evil", role, {}) if name == "age" else (name, kind, more) for name, kind, more in arx.COLUMNS
    ]
    config = arx.config(["3-anonymity", "nothing\n[privacy]\nk = 2\u2028k = 2"])
    changed = arx.table().replace("age", "../../evil", 1)
    files = arx.members(config=config, definition=arx.definition(columns), table=changed)
    path = tmp_path / "in" / "clinic.deid"
    path.parent.mkdir()
    path.write_bytes(arx.packed(files))
    policy = imported(db, path)
    assert (policy["privacy"]["k"], set(policy["privacy"])) == (3, {"k", "suppression"})
    made = {file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*") if file.is_file()}
    assert made == {"in/clinic.deid", "in/clinic.toml", "in/clinic_hierarchies/01_zip.csv"}


def patched(content: bytes) -> bytes:
    """The same with the flag that says that it is encrypted."""
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(mark)
        content = content[: at + place] + bytes([content[at + place] | 1]) + content[at + place + 1 :]
    return content


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><config>&b;</config>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><definition>&a;</definition>'
WHOLE = arx.packed(arx.members())
WRONG: dict[str, list[Any]] = {
    "is no ARX project": [
        b"",
        b"name;age\nAnn;3\n",
        WHOLE[: len(WHOLE) // 2],
        WHOLE.replace(b"PK\x03\x04", b"XX\x03\x04"),
    ],
    "a path that leads out": [
        arx.packed(arx.members() | {name: "x"})
        for name in (
            "../evil.csv",
            "/evil.csv",
            "input/hierarchies/../../../evil.csv",
            "..\\evil.csv",
            "C:\\evil",
        )
    ],
    "is encrypted": [patched(WHOLE)],
    "two files of one name": [[*arx.members().items(), ("input/config.xml", arx.config(["2-anonymity"]))]],
    "packed in a way": [arx.packed(arx.members(), zipfile.ZIP_LZMA)],
    "declares a document type": [
        arx.packed(arx.members(config=LAUGHS)),
        arx.packed(arx.members(definition=OUTSIDE)),
    ],
    "is nested too deeply": [arx.packed(arx.members(config="<a>" * 1000 + "</a>" * 1000))],
    "is no XML": [arx.packed(arx.members(config="<config>")), arx.packed(arx.members(project="k = 2"))],
    "would become": [arx.packed(arx.members(table="name;age\n" + "0;0\n" * (1 << 25)))],
    "says nothing of its metric": [arx.packed(arx.members(config="<config></config>"))],
    "a number of its configuration is none": [
        arx.packed(arx.members(config=arx.config(suppression=number)))
        for number in ("nan", "much", "-1", "inf")
    ],
    "defines no columns": [arx.packed(arx.members(definition="<definition></definition>"))],
    "are not those that it defines": [arx.packed(arx.members(definition=arx.definition(arx.COLUMNS[:-1])))],
    "data/input.csv line 2: 1 cell": [arx.packed(arx.members(table="a;b\nSecretia\n"))],
}


@pytest.mark.parametrize("told", WRONG)
def test_a_file_that_is_no_project_is_refused_and_leaves_nothing(
    db: Database, tmp_path: Path, told: str
) -> None:
    path = tmp_path / "clinic.deid"
    for content in WRONG[told]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that are there twice
            path.write_bytes(content if isinstance(content, bytes) else arx.packed(content))
        with pytest.raises(UsageError, match=told) as raised:
            db.tables.import_arx(path, "patients", tmp_path / "clinic.toml")
        assert raised.value.hint
        assert "Secretia" not in str(raised.value)
    assert [file.name for file in tmp_path.iterdir()] == ["clinic.deid"]
    assert db.connection.execute("select to_regclass('public.patients')").fetchall() == [(None,)]


@pytest.mark.parametrize(
    "part", ["project.xml", "data/input.csv", "input/config.xml", "input/definition.xml"]
)
def test_a_project_that_lacks_a_part_is_refused(db: Database, tmp_path: Path, part: str) -> None:
    path = tmp_path / "clinic.deid"
    path.write_bytes(arx.packed({name: text for name, text in arx.members().items() if name != part}))
    with pytest.raises(UsageError, match=f"lacks {part}"):
        db.tables.import_arx(path, "patients", tmp_path / "clinic.toml")


def test_what_is_there_already_stays(cli: Cli, db: Database, tmp_path: Path) -> None:
    path, policy = arx.project(tmp_path), tmp_path / "clinic.toml"
    policy.write_text("mine")
    refused = cli("import-arx", path, "--table", "patients", "--out", policy)
    assert (refused.returncode, "--force" in refused.stderr, policy.read_text()) == (2, True, "mine")
    assert cli("import-arx", path, "--table", "patients", "--out", policy, "--force").returncode == 0
    db.connection.execute("create table public.mine (a int)")
    taken = cli("import-arx", path, "--table", "mine", "--out", tmp_path / "other.toml", "--replace")
    assert (taken.returncode, (tmp_path / "other.toml").exists()) == (2, False)
    missing = cli("import-arx", tmp_path / "nobody.deid", "--table", "x")
    assert (missing.returncode, "cannot be read" in missing.stderr) == (2, True)
