"""A recipient who finds the words of one person on the records of others, in a release of fused texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anondb.api import Database, Release
from anondb.db.ontology import store
from anondb.errors import UnsatisfiableError, UsageError
from anondb.methods.fusion.fusion import VARIANTS
from anondb.policy.load import parse
from tests.conftest import Cli
from tests.properties.examples import laws
from tests.toys import Graph, ontology

GRAPH: Graph = {
    "leisure": [], "sport": ["leisure"], "water sport": ["sport"], "swimming": ["water sport"],
    "windsurfing": ["water sport"], "tennis": ["sport"], "reading": ["leisure"],
}  # fmt: skip
NAMED = "tennis with Ann Smith, 7 Elm Street"


def policy(k: int, *, variant: str = "semantic", column: str = "", seed: int = 0) -> str:
    return f"""
        source = "visits"
        target = "share"
        [privacy]
        k = {k}
        [method]
        algorithm = "fusion"
        variant = "{variant}"
        seed = {seed}
        [columns]
        reason = {{ role = "quasi", ontology = "leisure"{column} }}
        ward = {{ role = "quasi" }}
    """


def release(db: Database, rows: Sequence[tuple[str | None, str | None]], text: str) -> Release:
    store(db.connection, "leisure", ontology(GRAPH))
    db.connection.execute("drop table if exists visits; create table visits (reason text, ward text)")
    with db.connection.cursor() as cursor:
        cursor.executemany("insert into visits values (%s, %s)", rows)
    return db.run(parse(text))


def released(db: Database) -> list[tuple[Any, ...]]:
    return db.connection.execute("select reason, ward from share order by 1, 2").fetchall()


def test_the_words_of_one_person_do_not_end_on_the_records_of_others(db: Database) -> None:
    rows: list[tuple[str | None, str | None]] = [(NAMED, "A"), ("tennis", "A"), ("Tennis", "A")]
    release(db, [*rows, *[("reading", "B")] * 3], policy(3))
    assert released(db) == [("reading", "B")] * 3 + [("tennis", "A")] * 3


def test_a_text_that_means_nothing_and_is_rare_is_not_released(db: Database) -> None:
    rows = [*[("swimming", "A")] * 5, *[("tennis", "A")] * 5, ("Ann Smith", "A"), ("Bob Jones", "A")]
    release(db, rows, policy(3, column=', unknown = "accept"'))
    assert {reason for reason, _ in released(db)} <= {"swimming", "tennis"}
    # and where there is nothing else to be taken for
    release(
        db, [("Ann Smith", "A"), ("Bob Jones", "A"), ("Eve", "B")], policy(3, column=', unknown = "accept"')
    )
    assert {reason for reason, _ in released(db)} == {"*"}


def test_a_partner_of_many_words_is_taken_before_one_of_few(db: Database) -> None:
    """Windsurfing is most similar to swimming, which one record has: tennis is taken, which three have."""
    rows: list[tuple[str | None, str | None]] = [
        ("windsurfing", "A"),
        ("swimming", "A"),
        *[("tennis", "A")] * 3,
    ]
    release(db, rows, policy(2))
    assert released(db) == [("tennis", "A")] * 5


@settings(laws)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(
                ["swimming", "Swimming", "windsurfing", "tennis", NAMED, "reading", "xyzzy", "plugh", None]
            ),
            st.sampled_from(["A", "B", "C", None]),
        ),
        min_size=1,
        max_size=16,
    ),
    k=st.integers(2, 4),
    variant=st.sampled_from(VARIANTS),
    seed=st.integers(0, 3),
)
def test_every_released_value_is_of_k_records_or_a_label(
    db: Database, rows: list[tuple[str | None, str | None]], k: int, variant: str, seed: int
) -> None:
    text = policy(k, variant=variant, column=', unknown = "accept"', seed=seed)
    if len(rows) < k:
        with pytest.raises(UnsatisfiableError):
            release(db, rows, text)
        return
    result = release(db, rows, text).result
    found = released(db)
    assert len(found) == len(rows)
    assert min(Counter(found).values()) >= k
    assert result.classes == len(Counter(found))
    for column, labels in ((0, set(GRAPH)), (1, set())):
        have = Counter(row[column] for row in rows)
        for value in {row[column] for row in found} - {None, "*"}:
            assert have[value] >= k or value in labels


def test_a_column_that_the_ontology_hardly_knows_is_refused(db: Database, cli: Cli, tmp_path: Any) -> None:
    rows = [*[("tennis", "A")] * 17, ("xyzzy", "A"), ("plugh", "A")]
    with pytest.raises(UsageError, match=r'2 of 19 records .* "reason"') as refused:
        release(db, rows, policy(3))
    assert 'unknown = "accept"' in (refused.value.hint or "")
    assert "xyzzy" not in str(refused.value)
    release(db, [*rows, ("tennis", "A")], policy(3))  # a tenth is not more than a tenth
    (tmp_path / "visits.toml").write_text(policy(3))
    ran = cli("run", "visits.toml")
    assert ran.returncode == 0, ran.stderr
    assert "2 texts of reason, of 2 records, are unknown to its ontology" in " ".join(ran.stdout.split())
    db.connection.execute("insert into visits values ('frotz', 'A')")
    assert cli("run", "visits.toml").returncode == 2
    release(db, [*rows, ("frotz", "A")], policy(3, column=', unknown = "accept"'))


def test_what_looks_like_the_number_of_a_sense_is_no_error_and_is_not_quoted(
    db: Database, cli: Cli, tmp_path: Any
) -> None:
    """tennis has no sense 5, and a run that said so would tell what a person has written."""
    rows: list[tuple[str | None, str | None]] = [("tennis#5#99", "A"), ("tennis #5", "A"), ("tennis", "A")]
    release(db, rows, policy(3))
    assert released(db) == [("tennis", "A")] * 3
    db.connection.execute(
        """
        create table logs (words text[]);
        insert into logs values ('{tennis#99}'), ('{tennis#5#99,#99}'), ('{tennis}')
        """
    )
    (tmp_path / "logs.toml").write_text(
        """
        source = "logs"
        target = "share_of_logs"
        [privacy]
        k = 3
        [method]
        algorithm = "mdav"
        [columns]
        words = { role = "quasi", set = true, ontology = "leisure" }
        """
    )
    for command in (["ontology", "review"], ["run"]):
        said = cli(*command, "logs.toml")
        assert said.returncode == 0, said.stderr
    [[errors]] = db.connection.execute("select count(r.error) from anondb.run as r").fetchall()
    assert errors == 0
