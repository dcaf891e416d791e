"""anondb vgh score, senses, show: what a user sees of a hierarchy's meaning, and how mistakes are told."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from anondb.api import Database
from anondb.db import ontology, vgh
from tests import toys
from tests.conftest import Cli

pytestmark = pytest.mark.once  # another server version would say the same

PARENTS = {
    "thing": [],
    "animal": ["thing"],
    "bird": ["animal"],
    "mammal": ["animal"],
    "owl": ["bird"],
    "wren": ["bird"],
    "cat": ["mammal"],
    "club": ["thing"],
    "flitter": ["mammal"],
}
WORDS = {"bat": ["club", "flitter"]}
SOUND = ("owl;bird;animal;thing", "wren;bird;animal;thing", "cat;mammal;animal;thing")
WRONG = ("owl;mammal;animal;thing", "wren;bird;animal;thing", "cat;mammal;animal;thing")


@pytest.fixture
def toy(db: Database) -> Database:
    ontology.store(db.connection, "toy", toys.ontology(PARENTS, words=WORDS))
    vgh.store(db.connection, "sound", toys.vgh(*SOUND), ontology="toy")
    vgh.store(db.connection, "wrong", toys.vgh(*WRONG), ontology="toy")
    return db


def output(cli: Cli, *arguments: str | Path) -> str:
    done = cli(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def complaint(cli: Cli, *arguments: str | Path, code: int = 2) -> str:
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert "hint:" in done.stderr
    return done.stderr


@pytest.mark.usefixtures("toy")
class TestScore:
    def test_it_tells_levels_transitions_and_what_is_wrong(self, cli: Cli) -> None:
        text = output(cli, "vgh", "score", "wrong", "--measure", "path")
        assert text.startswith("wrong: GSL 0.7222, Poor\npath, max, weights uniform, ontology toy\n")
        level1 = next(line for line in text.splitlines() if line.split()[:1] == ["1"])
        assert level1.split() == ["1", "0.7500", "0.5833", "0.1179"]
        assert "less than level 1" in text  # owl is nearer to animal than to mammal
        assert text.index("Worst transitions") < text.index("What is wrong")
        assert 'level 1 "mammal" is no generalization of owl\n        move to "bird"\n' in text

    def test_a_sound_hierarchy_has_nothing_wrong(self, cli: Cli) -> None:
        assert "nothing that the ontology knows of" in output(cli, "vgh", "score", "sound")

    def test_json_has_all_of_it(self, cli: Cli) -> None:
        found = json.loads(output(cli, "vgh", "score", "wrong", "--measure", "path", "--json"))
        assert found["vgh"] == "wrong"
        assert found["gsl"] == pytest.approx((3 / 4 + 2 / 3 + 3 / 4) / 3)
        assert found["rating"] == "Poor"
        assert [level["max"] for level in found["levels"]] == pytest.approx([3 / 4, 2 / 3, 3 / 4])
        assert found["coverage"] == {
            "leaves": 3,
            "mapped_leaves": 3,
            "pairs": 9,
            "mapped_pairs": 9,
            "share": 1.0,
        }
        assert found["worst"][0] == {"leaf": "owl", "level": 1, "ancestor": "mammal", "loss": 0.75}
        assert [(fault["kind"], fault["suggestion"]) for fault in found["faults"]] == [
            ("falling", None),
            ("no_hypernym", "bird"),
        ]

    def test_candidates_are_compared_best_first(self, cli: Cli) -> None:
        lines = output(cli, "vgh", "score", "wrong", "sound", "--aggregate", "avg").splitlines()
        assert [line.split()[0] for line in lines[3:5]] == ["sound", "wrong"]
        assert lines[-1].startswith("the set: GSL ")

    def test_a_set_has_preferences(self, cli: Cli) -> None:
        found = json.loads(
            output(cli, "vgh", "score", "wrong", "sound", "--preferences", "1.5,0.5", "--json")
        )
        sound, wrong = (score["gsl"] for score in found["scores"])
        assert found["set"]["gsl"] == pytest.approx((1.5 * wrong + 0.5 * sound) / 2)
        assert found["set"]["preferences"] == [1.5, 0.5]

    def test_levels_have_weights(self, cli: Cli) -> None:
        figures = {
            weights: json.loads(
                output(cli, "vgh", "score", "sound", "--measure", "path", "--weights", weights, "--json")
            )
            for weights in ("level", "0,0,1")
        }
        assert figures["0,0,1"]["gsl"] == pytest.approx(3 / 4)
        assert figures["level"]["gsl"] == pytest.approx((3 / 2 + 4 / 3 + 3 / 4) / 6)

    def test_leaves_count_as_often_as_they_occur(self, cli: Cli, toy: Database) -> None:
        toy.connection.execute("create schema clinic")
        toy.connection.execute(
            "create table clinic.pets as select * from (values ('owl'), ('owl'), (null)) as p (kind)"
        )
        text = output(
            cli, "vgh", "score", "wrong", "--table", "clinic.pets", "--column", "kind", "--measure", "path"
        )
        assert "as often as in clinic.pets.kind" in text
        level1 = next(line for line in text.splitlines() if line.split()[:1] == ["1"])
        assert level1.split()[:4] == ["1", "0.7500", "0.7500", "0.0000"]

    def test_unknown_terms_are_named_or_left_out(self, cli: Cli, toy: Database) -> None:
        vgh.store(toy.connection, "sound", toys.vgh(*SOUND, "qqq;bird;animal;thing"), replace=True)
        assert '"qqq"' in complaint(cli, "vgh", "score", "sound")
        text = output(cli, "vgh", "score", "sound", "--unmapped", "skip")
        assert "covers 3 of 4 leaves, and 9 of 12 pairs of a leaf and an ancestor (75.0%)" in text

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("none",), 'no hierarchy "none"'),
            (("sound", "--measure", "cosine"), "wup_depth"),
            (("sound", "--aggregate", "min"), "max and avg"),
            (("sound", "--weights", "heavy"), "0.5,0.3,0.2"),
            (("sound", "--weights", "0.5,0.5"), "2 weights"),
            (("sound", "--weights", "0.5,0.5,0.5"), "sum to 1"),
            (("sound", "wrong", "--preferences", "2,1"), "of mean 1"),
            (("sound", "wrong", "--preferences", "a,b"), "1.5,0.5"),
            (("sound", "--unmapped", "guess"), "skip"),
            (("sound", "--table", "pets"), "--column"),
            (("sound", "--table", "pets", "--column", "kind"), "pets does not exist"),
            (("sound", "--table", "pg_catalog.pg_class", "--column", "kind"), "no column kind"),
            (("sound", "--table", "pg_catalog.pg_class", "--column", "relkind"), "no leaves"),
        ],
    )
    def test_a_mistake_is_told_with_what_to_do(self, cli: Cli, arguments: tuple[str, ...], told: str) -> None:
        assert told in complaint(cli, "vgh", "score", *arguments)

    def test_a_missing_ontology_is_told(self, cli: Cli, toy: Database) -> None:
        vgh.store(toy.connection, "other", toys.vgh("owl;*"))
        assert 'no ontology "wordnet"' in complaint(cli, "vgh", "score", "other")

    def test_a_standby_tells_what_to_do(self, cli: Cli, dsn: str) -> None:
        read_only = f"{dsn} options='-c default_transaction_read_only=on'"
        done = cli("vgh", "score", "sound", ANONDB_DSN=read_only)
        assert done.returncode == 4
        assert "Score it once" in done.stderr
        output(cli, "vgh", "score", "sound")
        assert cli("vgh", "score", "sound", ANONDB_DSN=read_only).returncode == 0


@pytest.mark.usefixtures("toy")
class TestSenses:
    @pytest.fixture(autouse=True)
    def bats(self, toy: Database) -> None:
        vgh.store(toy.connection, "bats", toys.vgh("bat;animal;*", "owl;animal;*"), ontology="toy")

    def senses(self, cli: Cli, *arguments: str) -> list[tuple[str, str, str]]:
        found = json.loads(output(cli, "vgh", "senses", "bats", *arguments, "--json"))
        return [(sense["label"], sense["concept"], sense["how"]) for sense in found]

    def test_every_node_is_listed_with_how_it_was_found(self, cli: Cli) -> None:
        assert self.senses(cli) == [
            ("bat", "club", "lemma, lesk"),
            ("owl", "owl", "key"),
            ("animal", "animal", "inherited"),
            ("*", "thing", "inherited"),
        ]
        text = output(cli, "vgh", "senses", "bats")
        assert text.splitlines()[1].split() == ["0", "bat", "club", "lemma,", "lesk", "0.00"]

    def test_a_sense_can_be_chosen_and_taken_back(self, cli: Cli) -> None:
        assert self.senses(cli, "--set", "bat=bat#2")[0] == ("bat", "flitter", "chosen")
        assert self.senses(cli)[0] == ("bat", "flitter", "chosen")
        assert self.senses(cli, "--set", "bat=")[0] == ("bat", "club", "lemma, lesk")

    @pytest.mark.parametrize("choice", ["bat", "=bat#2", "bat=bat#9", "bat=qqq", "qqq=owl"])
    def test_a_wrong_choice_changes_nothing(self, cli: Cli, choice: str) -> None:
        before = self.senses(cli)
        complaint(cli, "vgh", "senses", "bats", "--set", "owl=wren", "--set", choice)
        assert self.senses(cli) == before


@pytest.mark.usefixtures("toy")
class TestShow:
    def test_the_tree_has_the_loss_of_each_class(self, cli: Cli) -> None:
        assert output(cli, "vgh", "show", "sound", "--measure", "path") == (
            "thing  0.7500\n└─ animal  0.6667\n   ├─ bird  0.5000\n   │  ├─ owl\n   │  └─ wren\n"
            "   └─ mammal  0.5000\n      └─ cat\n"
        )

    def test_a_terminal_gets_colours(self, cli: Cli) -> None:
        shown = cli("vgh", "show", "sound", FORCE_COLOR="1", TERM="xterm-256color").stdout
        assert "\x1b[" in shown

    def test_dot_and_svg_are_written_to_a_file(self, cli: Cli, tmp_path: Path) -> None:
        for form in ("dot", "svg", "tree"):
            file = tmp_path / f"sound.{form}"
            assert output(cli, "vgh", "show", "sound", "--format", form, "--out", file) == ""
            assert file.read_text(encoding="utf-8") == output(cli, "vgh", "show", "sound", "--format", form)
        assert (tmp_path / "sound.dot").read_text().startswith('digraph "sound" {')
        assert ElementTree.parse(tmp_path / "sound.svg").getroot().tag.endswith("svg")
        assert "cannot be written" in complaint(
            cli, "vgh", "show", "sound", "--out", tmp_path / "no" / "file"
        )

    def test_codes_and_missing_ontologies_are_drawn_without_losses(self, cli: Cli, toy: Database) -> None:
        vgh.store(toy.connection, "codes", toys.vgh("11;1*;*", "12;1*;*"), ontology="toy")
        vgh.store(toy.connection, "words", toys.vgh("owl;bird;*"))
        assert output(cli, "vgh", "show", "codes") == "*\n└─ 1*\n   ├─ 11\n   └─ 12\n"
        assert output(cli, "vgh", "show", "words") == "*\n└─ bird\n   └─ owl\n"
        assert "#e7eaee" in output(cli, "vgh", "show", "words", "--format", "svg")
        assert "wordnet" in complaint(cli, "vgh", "show", "words", "--measure", "wup")

    def test_an_unknown_measure_or_hierarchy_is_refused(self, cli: Cli) -> None:
        complaint(cli, "vgh", "show", "sound", "--measure", "cosine")
        complaint(cli, "vgh", "show", "none")


def test_a_hierarchy_says_which_ontology_it_uses(cli: Cli, db: Database, tmp_path: Path) -> None:
    ontology.store(db.connection, "toy", toys.ontology(PARENTS))
    (tmp_path / "sound.csv").write_text("\n".join(SOUND))
    output(cli, "vgh", "load", "sound", "sound.csv", "--ontology", "toy")
    output(cli, "vgh", "load", "sound", "sound.csv", "--replace")
    output(cli, "vgh", "load", "words", "sound.csv")
    listed = json.loads(output(cli, "vgh", "list", "--json"))
    assert {info["name"]: info["ontology"] for info in listed} == {"sound": "toy", "words": "wordnet"}
    assert db.hierarchies.score("sound").ontology == "toy"


def test_what_the_library_prints_is_what_the_command_prints(cli: Cli, toy: Database) -> None:
    printed = output(cli, "vgh", "score", "wrong").splitlines()
    assert str(toy.hierarchies.score("wrong")).splitlines() == [line.rstrip() for line in printed]
