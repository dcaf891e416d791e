"""What docs/gsl.md says is so: the score, the queries, the figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anondb.api import Database
from anondb.cli.score import score as command
from benchmarks import gsl

pytestmark = pytest.mark.once  # another server version would say the same

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "gsl.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture
def vertebrates(wordnet: Database, tmp_path: Path) -> Database:
    file = tmp_path / "vertebrates.csv"
    file.write_text(blocks("csv")[0])
    wordnet.hierarchies.load("vertebrates", file)
    return wordnet


def test_the_documented_score_is_the_real_one(vertebrates: Database) -> None:
    assert str(vertebrates.score("vertebrates")) == blocks("text")[0].rstrip("\n")


def test_the_documented_queries_run(vertebrates: Database) -> None:
    for query in blocks("sql")[0].split(";\n"):
        if query.strip():
            assert vertebrates.connection.execute(query.encode()).fetchall()


def test_scores_are_fast_enough_to_compare_many_candidates(wordnet: Database) -> None:
    """Under 20 ms for a hierarchy of 100 leaves and 6 levels, under 1 s for a hundred in one statement."""
    gsl.store(wordnet.connection)
    figures = gsl.measure(wordnet.connection)
    assert figures["one"] < 20
    assert figures["all"] < 1000


def test_the_documented_options_exist() -> None:
    options = {"table": "source"} | {
        name: name for name in ("measure", "weights", "preferences", "unmapped", "column")
    }
    assert set(options.values()) <= set(command.__annotations__)
    assert all(f"--{option}" in TEXT or f"`{option}`" in TEXT for option in options)
