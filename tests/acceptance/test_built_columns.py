"""hierarchy = { build = true }: a run builds the hierarchy of its column, says which, and leaves nothing behind."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from anondb.api import Database
from anondb.db import ontology
from anondb.errors import AnondbError, UsageError
from anondb.hierarchies.build.ranking import RankingMethod
from tests import toys
from tests.conftest import Cli
from tests.documentation import blocks, rows
from tests.sql.test_aika import COUNTS, PARENTS

BIRDS = {"songbird": ["bird"], "lark": ["songbird"], "finch": ["songbird"]}
POLICY = """
source = "pets"
target = "released"
[privacy]
k = 4
[method]
algorithm = "incognito"
objective = "classes"
[columns]
name = { role = "quasi", hierarchy = { build = true, ontology = "toy" } }
age  = { role = "quasi", hierarchy = { build = true } }
code = { role = "identifier" }
"""
LEFT = """
select (select count(*) from anondb.vgh), (select count(*) from anondb.vgh_node),
       (select count(*) from anondb.concept_similarity)
"""


@pytest.fixture
def pets(db: Database) -> Database:
    ontology.store(db.connection, "toy", toys.ontology(PARENTS | BIRDS))
    db.connection.execute("create table pets (name text, age int, code text)")
    with db.connection.cursor().copy("copy pets from stdin") as copy:
        for name, count in (COUNTS | {"lark": 2, "finch": 1}).items():
            for place in range(count * 3):
                copy.write_row((name, 20 + place % 7, f"x{place}z"))
    return db


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "pets.toml"
    path.write_text(POLICY)
    return path


def test_a_run_uses_the_best_candidate_says_so_and_leaves_none_behind(pets: Database, policy: Path) -> None:
    release = pets.run(policy)
    assert pets.connection.execute(LEFT).fetchone() == (0, 0, 0)
    told = release.result.as_json()
    pets.hierarchies.build("pet", "pets", "name", ontology="toy", k=4)
    best = pets.hierarchies.rank("pet", RankingMethod(k=4, table="pets", column="name")).ranked[0]
    built = told["built"]["name"]
    assert (f"pet.{built['candidate']}", built["gsl"]) == (
        best.vgh,
        pytest.approx(best.aspects["semq"].score),
    )
    assert told["built"]["age"]["gsl"] is None  # ranges mean nothing
    labels = {row[told["levels"]["name"]] for row in pets.hierarchies.show(best.vgh).rows}
    released = pets.connection.execute("select distinct name from released").fetchall()
    assert {name for (name,) in released} <= labels
    [column] = [one for one in release.result.report["columns"] if one["name"] == "name"]
    assert column["hierarchy"].endswith(f"the best of {built['candidates']}, GSL {built['gsl']:.4f}")
    kept = pets.connection.execute("select r.result -> 'built' from anondb.run as r").fetchone()
    assert kept == (told["built"],)


def test_the_same_policy_builds_the_same_release(pets: Database, policy: Path) -> None:
    rows = []
    for _ in range(2):
        pets.run(policy)
        rows.append(pets.connection.execute("table released").fetchall())
    assert rows[0] == rows[1]


def test_the_statements_that_build_are_kept_without_a_value(pets: Database, policy: Path) -> None:
    pets.run(policy)
    kept = pets.connection.execute(
        "select s.name, s.sql from anondb.run_step as s where s.stage = 'prepare'"
    ).fetchall()
    assert {"values", "senses", "hypernyms", "rank candidates"} <= {name for name, _ in kept}
    assert not any("wren" in str(sql) for _, sql in kept)


def test_a_run_that_fails_leaves_no_candidate(pets: Database, policy: Path) -> None:
    policy.write_text(POLICY.replace("k = 4", "k = 999"))
    with pytest.raises(AnondbError):
        pets.run(policy)
    assert pets.connection.execute(LEFT).fetchone() == (0, 0, 0)


def test_a_column_of_codes_is_told_with_what_else_is_wrong(pets: Database, policy: Path) -> None:
    written = POLICY.replace('code = { role = "identifier" }', 'code = { role = "quasi", hierarchy = BUILD }')
    policy.write_text(written.replace("BUILD", '{ build = true, ontology = "toy" }').replace("age ", "aged "))
    with pytest.raises(UsageError) as caught:
        pets.run(policy)
    assert 'ontology "toy" knows 0% of the 18 distinct values of public.pets.code' in str(caught.value)
    assert 'no column "aged"' in str(caught.value)
    assert "x1z" not in str(caught.value)


def test_an_ontology_that_is_not_loaded_is_told(pets: Database, policy: Path) -> None:
    policy.write_text(POLICY.replace('"toy"', '"wordnet"'))
    with pytest.raises(UsageError, match=r'\[columns.name\]: .*"wordnet"'):
        pets.run(policy)


def test_a_plan_shows_what_the_run_reads_and_builds_nothing(pets: Database, policy: Path, cli: Cli) -> None:
    done = cli("plan", policy)
    assert done.returncode == 0, done.stderr
    assert "prepare: values q1" in done.stdout
    assert "the run builds a hierarchy from them" in done.stdout
    assert pets.connection.execute(LEFT).fetchone() == (0, 0, 0)
    done = cli("run", policy, "--json")
    assert json.loads(done.stdout)["built"]["name"]["candidates"] > 1


def test_the_documented_grants_are_enough_for_a_run_that_builds(
    pets: Database, policy: Path, dsn: str, new_role: Callable[[], str], cli: Cli
) -> None:
    nightly = new_role()
    to_run = blocks("docs/database.md", "sql")[1].rpartition("-- as anna")[2].partition("\n")[2]
    [needed] = [cells[1] for cells in rows("docs/database.md", "Privileges") if "build = true" in cells[0]]
    to_build = [
        f"grant {rights} on {tables.replace('`', '').rstrip(', ')} to nightly;"
        for rights, tables in re.findall(r"`([a-z, ]+)` on ((?:`anondb\.\w+`(?:, )?)+)", needed)
    ]
    of_the_source = "grant usage, create on schema public to nightly; grant select on pets to nightly;"
    granted = "\n".join([of_the_source, to_run, *to_build]).replace("nightly", nightly)
    pets.connection.execute(granted.encode())
    done = cli("run", policy, ANONDB_DSN=make_conninfo(dsn, options=f"-c role={nightly}"))
    assert (done.returncode, done.stderr) == (0, "")
    assert pets.connection.execute(LEFT).fetchone() == (0, 0, 0)


def test_two_who_judge_the_same_concepts_do_not_meet_in_a_table(pets: Database) -> None:
    """Each run judges on the data of its beginning, where what another kept since is not seen, and in the way."""
    pets.hierarchies.build("pet", "pets", "name", ontology="toy")
    with pets.connection.transaction():
        pets.connection.execute("set transaction isolation level repeatable read, read only")
        ranked = pets.connection.execute(
            "select r.vgh, r.semq_score from anondb.rank_vghs(array['pet.base', 'pet.1']) as r"
        ).fetchall()
    assert {name for name, _ in ranked} == {"pet.base", "pet.1"}
    assert all(score for _, score in ranked)


@pytest.mark.parametrize("algorithm", ["datafly", "optimal", "mondrian"])
def test_every_algorithm_that_takes_hierarchies_takes_a_built_one(
    pets: Database, policy: Path, algorithm: str
) -> None:
    policy.write_text(POLICY.replace("incognito", algorithm).replace('objective = "classes"', ""))
    assert pets.run(policy).result.k >= 4
