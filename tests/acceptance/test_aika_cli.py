"""anondb vgh build and rank: what a user sees, on a toy and on WordNet."""

from __future__ import annotations

import json
import os
import pty
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from anondb.api import Database
from anondb.db import ontology
from anondb.db.execute import Executor
from anondb.hierarchies.build import queries
from anondb.hierarchies.build.ranking import RankingMethod
from anondb.hierarchies.forms import VghTable
from anondb.hierarchies.tree import Node
from tests import toys
from tests.commands import fresh
from tests.conftest import Cli
from tests.sql.test_aika import COUNTS, PARENTS

pytestmark = pytest.mark.once  # another server version would say the same

# 96 animals of WordNet's, spread by a hash; each word's first sense
ANIMALS = """
select l.lemma from anondb.lexeme as l
join anondb.concept_closure as t on t.descendant = l.concept
join anondb.concept as a on a.id = t.ancestor and a.key = 'animal.n.01'
where l.sense = 1 and l.lemma ~ '^[a-z]+$' order by md5(l.lemma), l.lemma limit %s
"""
LOSSES = "select t.leaf, t.level, t.loss from anondb.trans_gsl('pet.base', unmapped => 'skip') as t"
SENSES = """
select n.level, n.label, s.concept from anondb.vgh_node as n
join anondb.vgh_sense as s on s.vgh = n.vgh and s.node = n.node
where n.vgh = anondb.find_vgh(%s)
"""


@pytest.fixture
def toy(db: Database) -> Database:
    words = {"bat": ["tool", "mammal"]}
    ontology.store(db.connection, "toy", toys.ontology(PARENTS, words=words))
    db.connection.execute("create table pets (name text, age int, code text)")
    with db.connection.cursor().copy("copy pets from stdin") as copy:
        for name, count in (COUNTS | {"bat": 2, "qwrt": 1}).items():
            for place in range(count):
                copy.write_row((name, place, f"x{name}{place}"))
    return db


def test_build_ranks_tells_what_is_unsure_and_stores_the_best(
    toy: Database, cli: Cli, tmp_path: Path
) -> None:
    given = ("--table", "pets", "--column", "name", "--ontology", "toy", "--levels", "50%")
    done = cli("vgh", "build", "pet", *given, "--best")
    assert done.returncode == 0, done.stderr
    assert "1 not in the ontology, below the root: qwrt" in done.stdout
    assert "1 of several senses that nothing tells apart: bat (tool)" in done.stdout
    assert "is stored as pet" in done.stdout
    file = tmp_path / "senses.txt"
    file.write_text("bat=bat#2\n\nqwrt=tool\n")
    done = cli("vgh", "build", "pet", *given, "--senses", file, "--replace", "--json")
    told = json.loads(done.stdout)
    assert (told["values"], told["unknown"]) == (9, [])
    sure = {one["value"]: (one["concept"], one["how"], one["confidence"]) for one in told["meanings"]}
    assert (sure["bat"], sure["qwrt"]) == (("mammal", "given", 1), ("tool", "given", 1))
    assert not any(one["is_ambiguous"] for one in told["meanings"])
    done = cli("vgh", "rank", "pet", "--weights", "semq=40,priv=20,distrn=20,isize=20", "--json")
    ranked = json.loads(done.stdout)
    assert sorted(one["vgh"] for one in ranked["ranked"]) == sorted(c["name"] for c in told["candidates"])
    assert cli("vgh", "show", "pet").returncode == 0


@pytest.mark.once
def test_a_person_is_asked_what_nothing_tells_apart_and_a_pipe_is_not(toy: Database, dsn: str) -> None:
    terminal, end = pty.openpty()
    arguments = ("vgh", "build", "pet", "--table", "pets", "--column", "name", "--ontology", "toy")
    with subprocess.Popen(
        fresh(arguments),
        env=os.environ | {"ANONDB_DSN": dsn, "COLUMNS": "120"},
        stdin=end,
        stdout=end,
        stderr=subprocess.PIPE,
        text=True,
    ) as asking:
        os.write(terminal, b"7\n2\n")  # there is no sense 7
        _, told = asking.communicate(timeout=60)
    os.close(end)
    os.close(terminal)
    assert asking.returncode == 0, told
    assert told.count("What does bat mean?") == 2
    assert "2  mammal" in told
    [row] = [row for row in toy.hierarchies.show("pet.base").rows if row[0] == "bat"]
    assert row[1:] == ("mammal", "animal", "thing")


@pytest.mark.once
def test_a_report_has_scores_structure_and_pictures(toy: Database, cli: Cli, tmp_path: Path) -> None:
    given = ("--table", "pets", "--column", "name", "--ontology", "toy", "--levels", "50%")
    done = cli("vgh", "build", "pet", *given, "--report", "pet.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "pet.html").read_text()
    assert "semq (25)" in page
    assert "Branching" in page
    assert page.count("<svg") >= 2
    assert "with every loss on its edge" in page
    assert "script" not in page
    assert cli("vgh", "rank", "pet", "--report", "no/such/folder.html").returncode == 2
    done = cli("vgh", "build", "age", "--table", "pets", "--column", "age", "--report", "age.html")
    assert done.returncode == 0, done.stderr
    assert "every loss" not in (tmp_path / "age.html").read_text()


@pytest.mark.once
def test_an_exhaustive_picture_has_the_loss_of_every_edge(toy: Database, cli: Cli) -> None:
    toy.hierarchies.build("pet", "pets", "name", ontology="toy")
    edges = toy.hierarchies.edge_losses("pet.base")
    found: list[Any] = toy.connection.execute(LOSSES).fetchall()
    lost = {(leaf, level): loss for leaf, level, loss in found}
    assert edges[0, "owl"] == pytest.approx(lost["owl", 1])
    assert edges[1, "bird"] == pytest.approx((lost["owl", 2] + lost["wren", 2]) / 2)
    drawn = cli("vgh", "show", "pet.base", "--format", "dot", "--exhaustive").stdout
    assert drawn.count("->") == drawn.count("fontsize=9") + 1  # nobody knows what qwrt loses
    assert f'[label="{edges[0, "owl"]:.4f}", fontsize=9]' in drawn
    assert (
        f">{edges[0, 'owl']:.4f}<" in cli("vgh", "show", "pet.base", "--format", "svg", "--exhaustive").stdout
    )
    assert "fontsize=9" not in cli("vgh", "show", "pet.base", "--format", "dot").stdout
    assert cli("vgh", "show", "pet.base", "--exhaustive").returncode == 2


OBO = """format-version: 1.2

[Term]
id: X:0
name: ill

[Term]
id: X:1
name: viral
is_a: X:0

[Term]
id: X:2
name: flu
is_a: X:1

[Term]
id: X:3
name: measles
is_a: X:1

[Term]
id: X:4
name: cholera
is_a: X:0
"""
CSV = "child,parent\nviral,ill\nflu,viral\nmeasles,viral\ncholera,ill\n"


@pytest.mark.once
@pytest.mark.parametrize(("file", "text"), [("own.csv", CSV), ("own.obo", OBO)])
def test_any_loaded_ontology_builds(db: Database, cli: Cli, tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text)
    assert cli("ontology", "load", file, "--name", "own").returncode == 0
    db.connection.execute(
        "create table stays as select unnest(array['flu', 'measles', 'cholera']) as disease"
    )
    db.hierarchies.build("disease", "stays", "disease", ontology="own")
    assert set(db.hierarchies.show("disease.base").rows) == {
        ("flu", "viral", "ill"), ("measles", "viral", "ill"), ("cholera", "cholera", "ill"),
    }  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("build", "v", "--table", "pets", "--column", "code", "--ontology", "toy"), "knows 0%"),
        (("build", "v", "--table", "pets", "--column", "name", "--levels", "x"), "no share"),
        (("build", "v", "--table", "pets", "--column", "name", "--levels", "0%"), "share of levels"),
        (("build", "v", "--table", "pets", "--column", "name", "--senses", "no.txt"), "cannot be read"),
        (("rank", "v"), 'no hierarchy "v"'),
        (("rank", "v", "--weights", "semq=50,priv=20"), "sum to 100"),
        (("rank", "v", "w", "--best"), "one name"),
    ],
)
def test_mistakes_are_told(toy: Database, cli: Cli, arguments: tuple[str, ...], told: str) -> None:
    done = cli("vgh", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "xowl" not in done.stderr  # no value of the column


@pytest.fixture
def zoo(wordnet: Database) -> Database:
    """96 animals, each as often as its place says."""
    words = [word for (word,) in wordnet.connection.execute(ANIMALS, (96,)).fetchall()]
    wordnet.connection.execute("create table zoo (animal text)")
    with wordnet.connection.cursor().copy("copy zoo from stdin") as copy:
        for place, word in enumerate(words):
            for _ in range(1 + place * 7 % 13):
                copy.write_row((word,))
    return wordnet


@pytest.mark.once
def test_96_animals_have_a_hundred_candidates_and_a_base_that_is_not_worse_than_chance(zoo: Database) -> None:
    built = zoo.hierarchies.build("animal", "zoo", "animal", perspectives=14)
    ranked = zoo.hierarchies.rank("animal", RankingMethod(table="zoo", column="animal"))
    assert len(built.names) >= 100
    assert len(ranked.ranked) == len(built.names)
    not_worse_than_mixed(zoo, "animal.base")


def not_worse_than_mixed(db: Database, name: str) -> None:
    """The law: values moved into branches that are not theirs, level by level, do not lose less."""
    base, gsl = db.hierarchies.show(name), db.hierarchies.score(name).gsl
    found = db.connection.execute(SENSES, (name,)).fetchall()
    concepts: dict[Any, Any] = {(level, label): concept for level, label, concept in found}
    for seed in range(3):
        mixed = perturbed(base, concepts, random.Random(seed))
        queries.store(
            Executor(db.connection, lambda step: None), {"mixed": mixed}, "wordnet", replace=["mixed"]
        )
        assert gsl <= db.hierarchies.score("mixed").gsl


def perturbed(table: VghTable, concepts: dict[Node, int], draw: random.Random) -> queries.Built:
    """The hierarchy with its leaves at each other's places, each with its own meaning."""
    classes = {node[1] for node in concepts if node[0] > 0}
    movable = [row[0] for row in table.rows if row[0] not in classes]  # others are the names of a class too
    target = dict(zip(movable, draw.sample(movable, len(movable)), strict=True))
    rows = tuple(tuple(target.get(label, label) for label in row) for row in table.rows)
    return queries.Built(VghTable(rows), concepts)
