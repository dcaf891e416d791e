"""The built-in domain of the Adult data is what `anondb learn` says of it, by the command that the file names."""

from __future__ import annotations

import pytest
from psycopg import sql

from anondb.api import Database
from anondb.synthetic.domain import Expression
from anondb.synthetic.domain_file import load, parse
from anondb.synthetic.learning import LearnOptions

pytestmark = pytest.mark.once


def test_the_adult_domain_is_learned_from_the_adult_data(adult: Database) -> None:
    *columns, age_group = load("adult").attributes
    assert isinstance(age_group.generator, Expression)
    view = sql.SQL("create view adult_by_age as select *, {} as age_group from adult")
    adult.connection.execute(view.format(sql.SQL(age_group.generator.text)))
    given = {
        "education": ("age_group",),
        "marital_status": ("age",),
        "salary_class": ("marital_status", "education"),
    }
    learned = parse(adult.learn("adult_by_age", LearnOptions(threshold=1, bins=100, given=given)).text)
    assert list(learned.attributes[:-1]) == columns
