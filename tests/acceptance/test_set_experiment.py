"""anondb experiment mdav: what a user sees, that nothing is left behind, and the published order of the losses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from anondb.api import Database
from anondb.errors import UsageError
from anondb.methods.mdav.mdav import DISTANCES, VARIANTS
from anondb.study.set_experiment import SetRequest
from anondb.study.set_study import TWINS
from anondb.study.synthetic_logs import SETS
from tests.acceptance.search_logs import LISTENERS, SWIMMERS, log
from tests.conftest import Cli

pytestmark = pytest.mark.once  # another server version would say the same


def test_an_experiment_tells_its_figures_and_leaves_nothing_behind(
    db: Database, cli: Cli, tmp_path: Path
) -> None:
    log(db, [*SWIMMERS, *LISTENERS, ["football", "xyzzy"], ["xyzzy"], None])
    given = ["--table", "logs", "--column", "queries", "--ontology", "toy", "--k", "2,3"]
    done = cli("experiment", "mdav", *given, "--json", "--out", "e.csv", "--report", "e.html")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    [data] = told["logs"]
    assert (data["records"], data["concepts"], data["unmapped"], data["seed"]) == (7, 6, 2, None)
    settings = [(row["distance"], row["variant"]) for row in told["table"]]
    assert settings == [(distance, variant) for distance in DISTANCES for variant in VARIANTS]
    assert len(told["losses"]) == len(settings) * 2
    assert {row["classes"] for row in told["losses"] if row["k"] == 3} == {2}
    with (tmp_path / "e.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(told["losses"])
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1 + len(DISTANCES)
    assert "xyzzy" not in page
    assert "football" not in page
    left = db.connection.execute("select count(*) from anondb.run").fetchone()
    assert left == (0,)


def test_the_loss_of_an_experiment_is_that_of_whole_centroids(db: Database) -> None:
    """By hand: {jazz, opera}, {jazz}, {opera, jazz} are released as {jazz}; δ(jazz, opera) = 2/3."""
    log(db, LISTENERS)
    study = db.set_experiment(SetRequest("logs", "queries", k=(3,), ontology="toy"))
    assert study.means()["average", "semantic", 3] == pytest.approx(2 * (1 / 3) ** 2)


@pytest.mark.parametrize("name", SETS)
def test_the_published_order_holds_on_synthetic_logs(wordnet: Database, name: str) -> None:
    """Meaning loses less than either twin, and average least: in the mean of three seeds, and of all k.

    Single draws and k can differ, as sum_of_minimum is close: docs/mdav.md counts in how many.
    """
    study = wordnet.set_experiment(SetRequest(set=name, records=100, texts=6, draws=3, seed=1))
    assert [log.seed for log in study.logs] == [1, 2, 3]
    for twin in TWINS:
        less, of = study.less_than(twin)
        assert less == of == 20, twin
    means = study.means()
    over_all_k = {distance: sum(means[distance, "semantic", k] for k in study.k) for distance in DISTANCES}
    assert min(over_all_k, key=over_all_k.__getitem__) == "average"
    assert list(study.least().values()).count("average") >= 3


def test_the_same_seed_gives_the_same_losses(wordnet: Database) -> None:
    asked = SetRequest(records=30, texts=4, k=(2,), draws=1)
    first, second = (wordnet.set_experiment(asked).means() for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (SetRequest("logs"), "a table needs a column"),
        (SetRequest(set="word"), 'no set "word"'),
        (SetRequest(k=()), "nothing to try"),
        (SetRequest(draws=0), "a log has records"),
        (SetRequest("logs", "queries", k=(9,), ontology="toy"), "only 3 records have texts"),
        (SetRequest(records=5), "WordNet is not loaded"),
        (SetRequest("logs", "querys", k=(3,), ontology="toy"), 'has no column "querys"'),
        # refused by its type: the server would quote a value in its log
        (SetRequest("spoken", "word", k=(3,), ontology="toy"), 'column "word" is none'),
    ],
)
def test_what_cannot_be_tried_is_refused(db: Database, asked: SetRequest, problem: str) -> None:
    log(db, LISTENERS)
    db.connection.execute("create table spoken as select 'Ann Smith' as word")
    with pytest.raises(UsageError, match=problem):
        db.set_experiment(asked)
