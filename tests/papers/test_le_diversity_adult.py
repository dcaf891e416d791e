"""Adult with education as the sensitive column: what e costs and gains, as in Wang, Han and Wang's experiment."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from anondb.api import Database
from anondb.errors import UnsatisfiableError
from anondb.policy.load import parse
from anondb.run.result import Result
from tests.adult import file_name, paths
from tests.documentation import rows
from tests.properties.le_diversity_oracle import largest_first

pytestmark = pytest.mark.once

DOCUMENTED = 30_000
SOME_ADULTS = (
    "create table some_adults as select * from adult order by md5(adult::text), adult::text limit %s"
)
GROUPS = 5  # of education at level 1: no more than so many values of a class can be more than 1 apart


@pytest.fixture
def education(adult_folder: Path) -> Path:
    return adult_folder / file_name("education")


def anatomized(
    adult: Database,
    file: Path,
    l: int,  # noqa: E741
    e: int,
    privacy: str = "suppression = 1",
) -> Result:
    text = f"""
        source = "some_adults"
        target = "released"
        [privacy]
        {privacy}
        le_diversity = {{ column = "education", l = {l}, e = {e} }}
        [method]
        algorithm = "le_diversity"
        [columns]
        age = {{ role = "quasi" }}
        sex = {{ role = "quasi" }}
        race = {{ role = "quasi" }}
        marital_status = {{ role = "quasi" }}
        education = {{ role = "sensitive", hierarchy = {{ csv = "{file}" }} }}
        native_country = {{ role = "other" }}
        workclass = {{ role = "other" }}
        occupation = {{ role = "other" }}
        salary_class = {{ role = "other" }}
    """
    return adult.run(parse(text)).result


@pytest.mark.parametrize(("records", "ls"), [(5_000, (2, 4)), (DOCUMENTED, (2, 3, 4, 5))])
def test_values_that_are_no_relatives_are_more_diverse_and_cost_more(
    adult: Database, education: Path, records: int, ls: tuple[int, ...]
) -> None:
    adult.connection.execute(
        SOME_ADULTS.encode(),
        (records,),
    )
    group = {path[0]: path[1] for path in paths("education")}
    found = adult.connection.execute("select education from some_adults").fetchall()
    counts = Counter(str(education) for (education,) in found)
    groups = [sum(counts[value] for value in group if group[value] == g) for g in set(group.values())]
    assert len(groups) == GROUPS
    for l in ls:  # noqa: E741
        plain, apart = (anatomized(adult, education, l, e) for e in (0, 1))
        assert (plain.classes, apart.classes) == (
            largest_first(list(counts.values()), l)[0],
            largest_first(groups, l)[0],
        )
        assert apart.suppressed >= plain.suppressed
        was, now = plain.all_metrics(), apart.all_metrics()
        assert now["dot"] > was["dot"]
        assert min(was["le_diversity:education"], now["le_diversity:education"]) >= l
        if l >= 3:
            assert now["information_loss"] > was["information_loss"]
        if records == DOCUMENTED:
            suppressed = [f"{100 * run.suppressed / records:.0f} %" for run in (plain, apart)]
            figures = [f"{run[name]:.2f}" for name in ("dot", "information_loss") for run in (was, now)]
            assert [str(l), *suppressed, *figures] in rows("docs/le_diversity.md", "What it costs")


ONE_NULL = "insert into some_adults (age, sex, race, marital_status) values (40, 'Male', 'White', 'Divorced')"


def test_one_null_education_does_not_make_the_release_impossible(adult: Database, education: Path) -> None:
    """At e = 2 a NULL, one step below the root, is near to all: it is left out, and the others are as without it."""
    adult.connection.execute(SOME_ADULTS.encode(), (DOCUMENTED,))
    without = anatomized(adult, education, 2, 2, privacy="")
    adult.connection.execute(ONE_NULL.encode())
    found = anatomized(adult, education, 2, 2, privacy="")
    assert found.suppressed == without.suppressed + 1
    assert (found.classes, found.released) == (without.classes, without.released)
    assert found.metrics["le_diversity:education"] == 2


def test_on_synthetic_adults_too(db: Database) -> None:
    """The same on data that comes with the package."""
    db.synthetic.generate("adult", 3_000, "made_adults")
    db.connection.execute("create table some_adults as select * from made_adults")
    file = Path(str(files("anondb.study") / "data" / "education.csv"))
    without = anatomized(db, file, 2, 2, "suppression = 0.3")
    db.connection.execute(ONE_NULL.encode())
    found = anatomized(db, file, 2, 2, "suppression = 0.3")
    assert (found.suppressed, found.released) == (without.suppressed + 1, without.released)
    assert found.released > 2_000


def test_what_leaves_two_thirds_out_is_refused_with_what_would_fit(adult: Database, education: Path) -> None:
    adult.connection.execute(SOME_ADULTS.encode(), (DOCUMENTED,))
    with pytest.raises(UnsatisfiableError, match=r"records fit no class .* and 6000 may be") as caught:
        anatomized(adult, education, 4, 1, privacy="")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("l = 2 with e = 1, or l = 4 with e = 0 would leave few enough")
    assert anatomized(adult, education, 2, 1, privacy="").suppressed == 0
    assert anatomized(adult, education, 4, 0, privacy="").suppressed <= 6_000
