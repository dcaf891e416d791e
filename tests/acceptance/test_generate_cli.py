"""anondb generate and learn: what a user gets, and how mistakes are told."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anondb.api import Database
from anondb.cli import generate as commands
from anondb.errors import AnondbError, UsageError
from anondb.policy.model import Policy
from anondb.synthetic.cocoa import possible, recipe
from anondb.synthetic.domain import Frequencies, Range
from anondb.synthetic.domain_file import NAMES, load, parse
from anondb.synthetic.learning import LearnOptions
from tests.conftest import Cli

pytestmark = pytest.mark.once  # another server version would say the same


def output(cli: Cli, *arguments: str | Path) -> str:
    done = cli(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_table_is_made_with_the_columns_of_its_domain(cli: Cli, db: Database) -> None:
    text = output(cli, "generate", "irish_census", "--rows", "200", "--table", "people", "--seed", "7")
    assert text == "people: 200 rows of irish_census, seed 7\n"
    cursor = db.connection.execute("select * from public.people")
    assert tuple(column.name for column in cursor.description or ()) == load("irish_census").columns
    assert len(cursor.fetchall()) == 200


def test_the_printed_sql_makes_the_same_table(cli: Cli, db: Database) -> None:
    statement = output(cli, "generate", "insurance", "--rows", "50", "--table", "one", "--print")
    assert db.connection.execute("select to_regclass('public.one')").fetchall() == [(None,)]
    db.connection.execute(statement.encode())
    db.synthetic.generate("insurance", 50, "two")
    difference = "(table one except all table two) union all (table two except all table one)"
    assert db.connection.execute(difference).fetchall() == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "how many rows?"),
        ({"rows": 5, "sizes": "5"}, "--all-distributions"),
        ({"rows": 5, "all_distributions": True}, "give --sizes"),
        ({"sizes": "5,x", "all_distributions": True}, "list of numbers"),
        ({"rows": 5, "print_": True, "policy": Path("p.toml")}, "leave --print out"),
        ({"sizes": "5", "all_distributions": True, "policy": Path("p.toml")}, "makes them all"),
    ],
)
def test_options_that_do_not_fit_are_told(options: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        commands.generate("adult", "t", **options, dsn="host=nowhere.invalid")
    assert told in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("domain", "rows", "table", "options", "told"),
    [
        ("irish_cencus", 5, "t", {}, 'did you mean "irish_census"'),
        ("adult", 0, "t", {}, "not above 0"),
        ("adult", -3, "t", {}, "not above 0"),
        ("adult", 5, "t", {"seed": 2**63}, "seed is too large"),
        ("adult", 5, "t", {"distribution": "nromal"}, 'did you mean "normal"'),
        ("adult", 5, "t", {"sort": "x"}, 'no sort "x"'),
        ("adult", 5, "anondb.run", {}, "exists"),
        ("adult", 5, "nowhere.t", {}, "nowhere"),
    ],
)
def test_a_wrong_call_makes_nothing(
    db: Database, domain: str, rows: int, table: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(AnondbError) as caught:
        db.synthetic.generate(domain, rows, table, **options)
    assert told in str(caught.value)
    assert caught.value.hint
    assert db.connection.execute("select to_regclass('t')").fetchall() == [(None,)]


@pytest.mark.once
def test_the_grid_has_a_table_for_every_distribution_and_size(cli: Cli, db: Database, tmp_path: Path) -> None:
    domain = tmp_path / "toy.toml"
    domain.write_text(
        "[attributes.a]\nfrequencies = { x = 9, y = 3, z = 1 }\n[attributes.b]\nexpression = 'a'\n"
    )
    arguments = ("generate", domain, "--all-distributions", "--sizes", "40,90", "--table", "bench")
    found = json.loads(output(cli, *arguments, "--json", "--report", tmp_path / "bench.html"))
    assert len(found["sets"]) == 24
    sizes = {one["table"]: one["rows"] for one in found["sets"]}
    assert sizes["public.bench_student_t_90"] == 90
    assert db.connection.execute("select count(*) from bench_student_t_90").fetchall() == [(90,)]
    assert 0 <= found["explained"][1] <= found["explained"][0] <= 1
    assert "<svg" in (tmp_path / "bench.html").read_text(encoding="utf-8")


def test_a_grid_is_made_as_a_whole_or_not_at_all(db: Database) -> None:
    db.connection.execute("create table bench_uniform_9 ()")
    told: list[tuple[int, int]] = []
    with pytest.raises(UsageError, match="exists"):
        db.synthetic.grid("insurance", "bench", sizes=[9], progress=lambda *seen: told.append(seen))
    assert told == [(done, 12) for done in range(1, 12)]
    assert db.connection.execute("select to_regclass('bench_original_9')").fetchall() == [(None,)]
    for table, sizes in (("x" * 60, [9]), ("t", []), ("t", [5, 5]), ("t", [0])):
        with pytest.raises(UsageError):
            db.synthetic.grid("insurance", table, sizes=sizes)


@pytest.mark.parametrize("name", NAMES)
def test_a_generated_table_is_anonymized_like_any_other(db: Database, tmp_path: Path, name: str) -> None:
    columns = load(name).columns
    # amounts of money are nearly unique, and as `other` they would be refused
    roles = dict.fromkeys(columns, "sensitive")
    roles |= {columns[0]: "identifier"} | dict.fromkeys(columns[1:4], "quasi")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'source = "people"\ntarget = "released"\n[privacy]\nk = 5\n[method]\nalgorithm = "mondrian"\n[columns]\n'
        + "".join(f'{column} = {{ role = "{role}" }}\n' for column, role in roles.items())
    )
    db.synthetic.generate(name, 1000, "people", distribution="normal")
    db.run(policy)
    query = "select anondb.k_anonymity('released', %s::name[]) >= 5, (select count(*) from released)"
    found = db.connection.execute(query, (list(columns[1:4]),)).fetchall()
    assert found == [(True, 1000)]


@pytest.mark.parametrize("name", NAMES)
def test_every_domain_has_a_policy_that_runs_with_a_hierarchy_of_all_values(
    cli: Cli, db: Database, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "people.toml"
    output(cli, "generate", name, "--rows", "3000", "--table", "people", "--policy", file)
    policy = Policy.load(file)
    assert tuple(column.name for column in policy.columns) == load(name).columns
    folder = tmp_path / "people_hierarchies"
    for hierarchy in folder.iterdir():
        leaves = [line.partition(";")[0] for line in hierarchy.read_text().splitlines()]
        assert sorted(leaves) == sorted(possible(load(name), hierarchy.stem) or ())
    result = db.run(file).result
    assert result.k >= 5
    assert result.suppressed <= 150
    again = cli("generate", name, "--rows", "9", "--table", "others", "--policy", file)
    assert again.returncode == 2
    assert '"people.toml" exists already' in again.stderr
    assert db.connection.execute("select to_regclass('public.others')").fetchall() == [(None,)]


def test_a_domain_of_ones_own_has_no_policy_to_go_with(cli: Cli, tmp_path: Path) -> None:
    domain = tmp_path / "own.toml"
    domain.write_text("[attributes.a]\nfrequencies = { x = 1 }")
    told = cli("generate", domain, "--rows", "9", "--table", "t", "--policy", tmp_path / "p.toml")
    assert told.returncode == 2
    assert "anondb draft t" in told.stderr


PEOPLE = """
create table people (name text, job text, tool text, age int, height numeric, note text);
insert into people
select 'person ' || i, j.job, case when i % 50 = 0 then 'rare' else j.tool end, 20 + i % 40, 150.5 + i % 40, 'x' || i
from generate_series(1, 400) as i,
     lateral (select case when i % 4 = 0 then 'cook' else 'smith' end,
                     case when i % 4 = 0 then 'pan' else 'hammer' end) as j (job, tool);
insert into people values ('the only one', 'king', 'crown', 1000, 9999, null);
"""


class TestLearn:
    @pytest.fixture(autouse=True)
    def people(self, db: Database) -> None:
        db.connection.execute(PEOPLE)

    def test_what_few_records_have_is_never_in_the_file(self, db: Database) -> None:
        learned = db.synthetic.learn("people", LearnOptions(threshold=10, identifiers=("name",)))
        for rare in ("king", "crown", "rare", "1000", "9999", "person", "only", "x1"):
            assert f'"{rare}' not in learned.text
        assert "name: an identifier, not looked at" in learned.left_out
        assert "note: the whole column" in learned.left_out
        assert parse(learned.text).columns == ("job", "tool", "age", "height")
        assert "threshold = 10" in learned.text

    def test_a_dependency_is_found_and_kept_in_what_is_generated(self, db: Database) -> None:
        learned = db.synthetic.learn("people", LearnOptions(identifiers=("name", "note")))
        assert learned.given["tool"] == ("job",)
        db.synthetic.generate(parse(learned.text), 500, "again")
        pairs = db.connection.execute("select job, tool, count(*) from again group by 1, 2").fetchall()
        assert {pair[:2] for pair in pairs} == {("cook", "pan"), ("smith", "hammer")}

    def test_numbers_are_learned_in_bins_that_no_single_record_decides(self, db: Database) -> None:
        learned = db.synthetic.learn("people", LearnOptions(identifiers=("name", "note", "height"), bins=4))
        [age] = [one for one in parse(learned.text).attributes if one.name == "age"]
        bins = (Range(20, 29), Range(30, 39), Range(40, 49), Range(50, 59))
        # the one of 1,000 years is counted to a frequent bin: nobody can subtract how many were left out
        assert isinstance(age.generator, Frequencies)
        assert age.generator.weights == dict.fromkeys(bins, 100) | {Range(50, 59): 101}

    def test_what_depends_on_a_number_depends_on_its_bin(self, db: Database) -> None:
        db.connection.execute("update people set tool = case when age < 40 then 'new' else 'old' end")
        given = {"tool": ("age",)}
        learned = db.synthetic.learn(
            "people", LearnOptions(identifiers=("name", "note"), bins=4, given=given)
        )
        assert recipe(parse(learned.text))
        db.synthetic.generate(parse(learned.text), 300, "again")
        rows = db.connection.execute("select age < 40, tool from again").fetchall()
        assert set(Counter(rows)) == {(True, "new"), (False, "old")}

    def test_the_command_writes_a_file_and_lists_what_is_left_out(self, cli: Cli, tmp_path: Path) -> None:
        done = cli("learn", "people", "--identifier", "name", "--out", "mine.toml", "--given", "tool=job,age")
        assert done.returncode == 0
        assert "left out: name: an identifier, not looked at" in done.stderr
        assert "threshold 10" in done.stdout
        assert load(tmp_path / "mine.toml").columns == ("job", "tool", "age", "height")

    @pytest.mark.parametrize(
        ("table", "options", "told"),
        [
            ("nobody", {}, "does not exist"),
            ("people", {"identifiers": ("nam",)}, 'did you mean "name"'),
            ("people", {"given": {"tool": ("jobs",)}}, 'no column "jobs"'),
            ("people", {"given": {"tool": ("name",)}, "identifiers": ("name",)}, "is an identifier"),
            ("people", {"given": {"tool": ("job",), "job": ("tool",)}}, "circle"),
            ("people", {"threshold": 0}, "numbers from 1"),
            ("people", {"threshold": 5000}, "nothing of people can be learned"),
        ],
    )
    def test_a_mistake_is_told(self, db: Database, table: str, options: dict[str, Any], told: str) -> None:
        with pytest.raises(UsageError) as caught:
            db.synthetic.learn(table, LearnOptions(**options))
        assert told in str(caught.value)

    @pytest.mark.parametrize("given", ["tool", "tool=", "tool=job,", "tool=tool"])
    def test_a_dependency_without_a_parent_is_told(self, given: str) -> None:
        with pytest.raises(UsageError, match="what it depends on"):
            commands.learn("people", given=[given])

    def test_a_dependency_that_is_left_out_is_listed(self, db: Database) -> None:
        learned = db.synthetic.learn("people", LearnOptions(identifiers=("name",), given={"tool": ("note",)}))
        assert "tool by note: one of them is left out" in learned.left_out
