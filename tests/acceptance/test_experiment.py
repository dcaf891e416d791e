"""anondb experiment gsl: what a user sees, what is left behind, and what WordNet says."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from anondb.api import Database
from anondb.db import ontology, vgh
from anondb.db.study import SCRATCH
from anondb.errors import UnsatisfiableError, UsageError
from anondb.hierarchies.build.ranking import RankingMethod
from anondb.study.experiment import ExperimentRequest
from anondb.study.gsl_study import Study, correlations, evaluated, rows
from anondb.study.report import correlation_table, html
from anondb.study.synthetic_sets import SETS
from tests import toys
from tests.conftest import Cli
from tests.sql.test_aika import COUNTS
from tests.sql.test_aika import toy as toy

pytestmark = pytest.mark.once  # another server version would say the same

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "experiment.md").read_text(encoding="utf-8")
KINDS = {
    "animal": {"bird": ("owl", "wren", "crow"), "fish": ("carp", "pike", "eel")},
    "plant": {"tree": ("oak", "elm", "ash"), "herb": ("mint", "sage", "dill")},
    "tool": {"blade": ("axe", "saw", "knife"), "grip": ("vice", "clamp", "tongs")},
}
LEAVES = [leaf for kind in KINDS.values() for leaves in kind.values() for leaf in leaves]
ASKED = ExperimentRequest(
    "things", ("name", "use"), hierarchies=4, k=(3, 12), ontology="kinds", suppression=0.0
)


@pytest.fixture
def things(db: Database) -> Database:
    parents: dict[str, list[str]] = {"thing": []}
    for kind, classes in KINDS.items():
        parents[kind] = ["thing"]
        for name, leaves in classes.items():
            parents |= {name: [kind], **{leaf: [name] for leaf in leaves}}
    ontology.store(db.connection, "kinds", toys.ontology(parents))
    db.connection.execute("create table things (id int, name text, use text)")
    with db.connection.cursor().copy("copy things from stdin") as copy:
        for place in range(240):
            copy.write_row((place, LEAVES[place % 18], LEAVES[place * 5 // 11 % 18]))
    return db


def stored(database: Database) -> list[str]:
    return [one.name for one in database.hierarchies.list()]


def without_seconds(study: Study) -> list[dict[str, object]]:
    return [row | {"seconds": None} for row in rows(study)]


def test_an_experiment_tells_its_figures_and_leaves_nothing_behind(
    things: Database, cli: Cli, tmp_path: Path
) -> None:
    given = ["--table", "things", "--column", "name,use", "--ontology", "kinds", "--suppression", "0"]
    given += ["--hierarchies", "4", "--k", "3,12"]
    done = cli("experiment", "gsl", *given, "--json", "--out", "t.csv", "--report", "t.html")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["columns"] == ["name", "use"]
    names = [one["name"] for one in told["hierarchies"]]
    assert names[:4] == ["base", "worse 1", "worse 2", "worse 3"]
    assert len(told["trials"]) == len(names) * 2 * 2
    assert len(told["correlations"]) == 2 * 2 * 3 * 2
    assert len(told["averaged_correlations"]) == 2 * 3 * 2
    assert len(told["improvements"]) == 2 * 2 * 2
    assert len(told["agreements"]) == 2 * 2 * 2
    assert len(told["weightings"]) == 35
    assert told["seconds"]["tas"] > told["seconds"]["apes"] > 0
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(told["trials"])
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    HTMLParser().feed(page)
    assert page.count("<svg") == 4  # a scatter for each algorithm, correlations, times
    assert "<script" not in page
    assert not set(LEAVES) & set(page.replace("<", " ").replace(">", " ").split())
    assert stored(things) == []
    assert things.connection.execute("select count(*) from anondb.run").fetchone() == (0,)


def test_clusterings_are_a_utility_when_they_are_asked_for(things: Database, cli: Cli) -> None:
    """They are those of the trials' evaluation, and lose more where the hierarchy loses all."""
    asked = replace(ASKED, k=(3, 240), hierarchies=3, algorithms=("datafly",))
    found = things.experiment(replace(asked, clusterings=True))
    assert found.utilities == ("semantic_sse", "sem_iloss", "rand_loss", "nmi_loss")
    assert all(0 <= one.utility[name] <= 1 for one in found.outcomes for name in found.utilities[2:])
    at_root = [one.utility["nmi_loss"] for one in found.outcomes if one.k == 240]
    assert min(at_root) == pytest.approx(1.0)  # all records are alike: a clustering of them tells nothing
    assert min(one.utility["nmi_loss"] for one in found.outcomes if one.k == 3) < 1.0
    plain = things.experiment(asked)
    assert [{n: one.utility[n] for n in plain.utilities} for one in found.outcomes] == [
        one.utility for one in plain.outcomes
    ]
    told = {correlation.utility for correlation in correlations(found)}
    assert told == set(found.utilities)
    assert correlation_table(found).head[-1] == "dynamic avg, 1 − NMI"
    assert "static max, 1 − Rand" in html(found)
    refused = cli("experiment", "gsl", "--study", "dynamic", "--clusterings")
    assert refused.returncode == 2


def test_the_same_seed_gives_the_same_figures(things: Database) -> None:
    asked = replace(ASKED, k=(12,), algorithms=("datafly",))
    first, again, other = (things.experiment(replace(asked, seed=seed)) for seed in (7, 7, 8))
    assert without_seconds(again) == without_seconds(first) != without_seconds(other)


def test_the_figures_are_printed(things: Database, cli: Cli) -> None:
    given = (
        "--table",
        "things",
        "--column",
        "name",
        "--ontology",
        "kinds",
        "--hierarchies",
        "4",
        "--k",
        "20",
    )
    done = cli("experiment", "gsl", *given, "--algorithms", "datafly")
    assert done.returncode == 0, done.stderr
    for told in ("rank correlation", "Wallace II", "GSL alone", "Choosing beforehand"):
        assert told in done.stdout


def test_the_evaluator_ranks_as_the_database_does(things: Database) -> None:
    """For one column, E is what anondb.rank_vghs counts for the same candidates."""
    things.hierarchies.build("v", "things", "name", ontology="kinds")
    method = RankingMethod(
        {"semq": 50.0, "priv": 25.0, "distrn": 0.0, "isize": 25.0}, 3, aggregate="avg", table="things", column="name"
    )  # fmt: skip
    ranked = things.hierarchies.rank("v", method).ranked
    aspects = [{name: one.aspects[name].score or 0.0 for name in one.aspects} for one in ranked]
    assert evaluated(aspects, (50, 25, 0, 25)) == pytest.approx([one.score for one in ranked])


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("when", ["building", "judging", "datafly"])
def test_an_experiment_that_ends_early_leaves_nothing_behind(
    things: Database, kind: type[BaseException], when: str
) -> None:
    seen: list[list[str]] = []

    def fail(doing: str, _: float) -> None:
        if doing.startswith(when) and (when != "building" or doing.endswith("use")):
            seen.append(stored(things))
            raise kind

    with pytest.raises(kind):
        things.experiment(ASKED, fail)
    [names] = seen
    assert names  # or there was nothing to leave behind
    assert all(name.startswith(SCRATCH) for name in names)
    assert stored(things) == []


def test_what_a_killed_experiment_left_goes_with_the_next_one(things: Database) -> None:
    """That of a session which still lives is not touched."""
    [(pid,)] = things.connection.execute("select pg_backend_pid()").fetchall()
    table = toys.vgh("owl;bird")
    for name in (f"{SCRATCH} 1: x.base", f"{SCRATCH} {pid}: x.base", "experiment"):
        vgh.store(things.connection, name, table)
    things.experiment(replace(ASKED, hierarchies=3, k=(3,), algorithms=("datafly",)))
    assert stored(things) == [f"{SCRATCH} {pid}: x.base", "experiment"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"table": "pets", "columns": ()}, "a table needs a column"),
        ({"table": None, "columns": (), "set": "visit"}, 'no set "visit"'),
        ({"table": None, "columns": ()}, "WordNet"),
        ({"columns": ("nam",)}, 'no column "nam"'),
        ({"columns": ("age",)}, "numbers"),
        ({"columns": ("one",)}, "one distinct value"),
        ({"columns": ("name", "name")}, "twice"),
        ({"algorithms": ("mondrian",)}, "mondrian"),
        ({"k": (0,)}, "nothing to try"),
        ({"hierarchies": 2}, "fewer than three"),
        ({"hierarchies": 5000}, "trials"),
        ({"measure": "wut"}, "wut"),
        ({"suppression": 1.0}, "share"),
    ],
)
def test_mistakes_are_told(toy: Database, changed: dict[str, object], told: str) -> None:
    asked = ExperimentRequest(**({"table": "pets", "columns": ("name",), "ontology": "toy"} | changed))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=told) as caught:
        toy.experiment(asked)
    assert caught.value.hint
    assert not any(value in str(caught.value) for value in ("owl", "wren"))
    assert stored(toy) == []


@pytest.mark.once
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--table", "pets", "--column", "name", "--set", "visits"), "a table and a synthetic set"),
        (("--k", "x"), "whole numbers"),
        (("--out", "no/such/place.csv"), "place.csv"),
    ],
)
def test_mistakes_of_the_call_are_told(cli: Cli, arguments: tuple[str, ...], told: str) -> None:
    done = cli("experiment", "gsl", *arguments)
    assert done.returncode == 2
    assert told in done.stderr


def test_no_release_at_all_is_told(toy: Database) -> None:
    asked = ExperimentRequest("pets", ("name",), hierarchies=3, k=(sum(COUNTS.values()) + 1,), ontology="toy")
    with pytest.raises(UnsatisfiableError, match="no trial has a release"):
        toy.experiment(asked)


@pytest.mark.once
def test_the_documented_options_and_sets_exist(cli: Cli) -> None:
    told = cli("experiment", "gsl", "--help").stdout
    options = {
        word for row in TEXT.splitlines() if row.startswith("| `--") for word in re.findall(r"`(--\w+)", row)
    }
    assert len(options) == 17
    assert [option for option in options if option not in told] == []
    assert all(name in told and f"`{name}`" in TEXT for name in SETS)


@pytest.mark.once
def test_in_wordnet_no_perturbation_is_better_than_the_base_and_gsl_foretells_sse(wordnet: Database) -> None:
    found = wordnet.experiment(ExperimentRequest(hierarchies=8, k=(10,), algorithms=("datafly",)))
    base, *worse = (one.gsl for one in found.judged if one.kind == "worse")
    assert all(base[name] <= one[name] for one in worse for name in base)
    assert all((one.rho or 0) > 0.7 for one in correlations(found))
