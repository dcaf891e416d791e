"""The worked example of docs/algorithms.md is what anondb does: each table, listing and error."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from anondb.api import Database
from anondb.cli.demo import make_admissions
from anondb.errors import AnondbError
from anondb.methods.full_domain.grid import Grid, check_size
from anondb.policy.load import parse
from anondb.run.plan import Options
from anondb.run.result import Result
from tests.conftest import Cli
from tests.documentation import ROOT, blocks, rows

pytestmark = pytest.mark.once  # another server version would say the same

FILE = "docs/algorithms.md"
EXAMPLE = ROOT / "examples" / "hospital"
METHOD = 'algorithm = "optimal"\nobjective = "loss"\n'

MONDRIAN, POLICY = blocks(FILE, "toml")
FOUND = [row for row in rows(FILE, "An example") if row[0].startswith("`")]
METHODS = {row[0].strip("`"): row[1:] for row in FOUND if "=" not in row[0]}
MODELS = {row[0].strip("`"): row[1:] for row in FOUND if "=" in row[0]}


@pytest.fixture
def hospital(db: Database) -> Database:
    make_admissions(db, EXAMPLE)
    return db


def run(db: Database, policy: str, levels: tuple[int, ...] | None = None) -> Result:
    return db.run(parse(policy, base=EXAMPLE), options=Options(levels=levels)).result


def cells(result: Result, loss: float | None) -> list[str]:
    """A result as a row of the documentation has it."""
    return [*map(str, (*result.levels.values(), result.classes, result.suppressed)), f"{loss:.4f}"]


def test_each_documented_method_finds_the_documented_release(hospital: Database) -> None:
    found = {}
    for word in METHODS:
        chosen = f'algorithm = "optimal"\nobjective = "{word}"\n'
        if word == "datafly":
            chosen = 'algorithm = "datafly"\n'
        assert METHOD in POLICY
        result = run(hospital, POLICY.replace(METHOD, chosen))
        # what each of them loses by the same measure
        same = run(hospital, POLICY, tuple(result.levels.values()))
        found[word] = cells(result, same.as_json()["score"])
    assert found == METHODS
    assert len(found) == 5


def test_each_documented_model_costs_what_is_documented(hospital: Database) -> None:
    results = {
        model: run(hospital, POLICY.replace("[privacy]\n", f"[privacy]\n{model}\n")) for model in MODELS
    }
    assert {model: cells(result, result.as_json()["score"]) for model, result in results.items()} == MODELS
    assert len(results) == 5


def test_mondrian_gives_what_is_documented(hospital: Database) -> None:
    policies = {
        "`strict = true`": MONDRIAN,
        "`strict = false`": MONDRIAN.replace("strict = true", "strict = false"),
        '`split = "loss"`': MONDRIAN.replace("strict = true", 'split = "loss"'),
        "`optimal`": POLICY,
    }
    found = {}
    for name, policy in policies.items():
        result = run(hospital, policy)
        loss = result.all_metrics()["gen_iloss"]
        found[name] = [str(result.classes), str(result.suppressed), f"{loss:.4f}"]
    assert {row[0]: row[1:] for row in rows(FILE, "Mondrian") if row[0] in policies} == found


def test_the_documented_listing_is_that_of_the_command(hospital: Database, cli: Cli, tmp_path: Path) -> None:
    [listing] = [block for block in blocks(FILE, "console") if "anondb lattice" in block]
    command, _, printed = listing.partition("\n")
    write(tmp_path, POLICY)
    done = cli(*command.removeprefix("$ anondb ").split())
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.rstrip() for line in done.stdout.splitlines()] == printed.splitlines()


def test_the_documented_refusal_is_that_of_the_command(hospital: Database, cli: Cli, tmp_path: Path) -> None:
    [refusal] = [block for block in blocks(FILE, "text") if block.startswith("error: ")]
    narrow = POLICY.replace("[5, 10, 20, 40] }", "[5, 10, 20, 40] }, max_level = 2")
    narrow = narrow.replace('"occupation.csv" }', '"occupation.csv" }, max_level = 1')
    write(tmp_path, narrow.replace("suppression = 0.05", "suppression = 0"))
    done = cli("run", "admissions.toml")
    assert done.returncode == 3
    # which other nodes came close depends on the way of the search
    assert [done.stderr.split("; ")[0], done.stderr.split("; ")[-1]] == refusal.split("; ")


def test_the_documented_levels_can_be_published(hospital: Database) -> None:
    found = []
    for file, policy in [("README.md", blocks("README.md", "toml")[0]), (FILE, POLICY)]:
        for levels in re.findall(r"--levels ([0-9,]+)", (ROOT / file).read_text(encoding="utf-8")):
            chosen = tuple(map(int, levels.split(",")))
            found.append(tuple(run(hospital, policy, chosen).levels.values()) == chosen)
    assert found == [True, True]


def test_each_documented_refusal_of_levels_and_models_is_given(hospital: Database) -> None:
    documented = blocks("docs/errors.md", "text")
    diverse = POLICY.replace("[privacy]\n", '[privacy]\nl_diversity = { column = "diagnosis", l = 20 }\n')
    for policy, levels in [(diverse, None), (POLICY, (0, 0, 2, 0, 0)), (POLICY, (0, 0, 1, 0, 0))]:
        with pytest.raises(AnondbError) as refusal:
            run(hospital, policy, levels)
        assert f"error: {refusal.value}\n" in documented


def test_the_documented_refusal_of_a_large_lattice_is_given() -> None:
    with pytest.raises(AnondbError) as refusal:
        check_size(Grid([0] * 20, [3] * 20))
    assert f"error: {refusal.value}\n" in blocks("docs/errors.md", "text")


def write(folder: Path, policy: str) -> None:
    """Where the command line runs, under the name that the documentation uses."""
    shutil.copy(EXAMPLE / "occupation.csv", folder)
    (folder / "admissions.toml").write_text(policy, encoding="utf-8")
