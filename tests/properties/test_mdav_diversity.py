"""Releases of random sets with a sensitive column: l-diversity is counted by a program that reads the release alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp, log
from typing import Any, cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anondb.api import Database
from anondb.errors import PolicyError, UnsatisfiableError
from anondb.policy.load import parse
from anondb.policy.model import Policy
from tests.acceptance.search_logs import log as make_log
from tests.properties.examples import laws

KINDS = ("distinct", "entropy", "recursive")
texts = st.sampled_from(["jazz", "opera", "swimming", "windsurfing", "sea", "football", "xyzzy"])
records = st.lists(
    st.tuples(st.lists(texts, max_size=3), st.one_of(st.none(), st.sampled_from("abc"))),
    min_size=4,
    max_size=24,
)


def policy(k: int, l: int, kind: str, more: str = "", suppression: float = 1.0) -> Policy:  # noqa: E741
    c = ", c = 3" if kind == "recursive" else ""
    return parse(
        f"""
        source = "logs"
        target = "share"
        [privacy]
        k = {k}
        suppression = {suppression}
        l_diversity = {{ column = "illness", l = {l}, kind = "{kind}"{c} }}
        [method]
        algorithm = "mdav"
        {more}
        [columns]
        id = {{ role = "identifier" }}
        city = {{ role = "identifier" }}
        illness = {{ role = "sensitive", keep = "identifying" }}
        queries = {{ role = "quasi", set = true, ontology = "toy" }}
        """
    )


def logs(db: Database, sets: Sequence[tuple[list[str], str | None]]) -> None:
    make_log(db, [texts for texts, _ in sets])
    db.connection.execute("alter table logs add illness text")
    with db.connection.cursor() as cursor:
        cursor.executemany(
            "update logs set illness = %s where id = %s", [(ill, n) for n, (_, ill) in enumerate(sets)]
        )


def is_diverse(values: list[Any], l: int, kind: str) -> bool:  # noqa: E741
    """Machanavajjhala et al. 2007, from their words."""
    counts = sorted(Counter(values).values(), reverse=True)
    match kind:
        case "distinct":
            return len(counts) >= l
        case "entropy":
            shares = [count / len(values) for count in counts]
            return exp(-sum(share * log(share) for share in shares)) >= l - 1e-9
    return counts[0] < 3 * sum(counts[l - 1 :])


def classes(db: Database) -> dict[tuple[str, ...], list[Any]]:
    found: dict[tuple[str, ...], list[Any]] = {}
    for terms, illness in db.connection.execute("select queries, illness from share").fetchall():
        found.setdefault(tuple(cast(list[str], terms)), []).append(illness)
    return found


@settings(laws, max_examples=max(laws.max_examples // 2, 10))  # each is a whole run
@given(sets=records, k=st.integers(2, 4), l=st.integers(2, 3), kind=st.sampled_from(KINDS))
@example(sets=[(["jazz"], "a")] * 4 + [(["sea"], "b")] * 4, k=2, l=2, kind="distinct")
@example(sets=[(["jazz"], "a")] * 4 + [([], "b")] * 4, k=2, l=2, kind="distinct")
def test_every_released_class_is_diverse(
    db: Database,
    sets: list[tuple[list[str], str | None]],
    k: int,
    l: int,  # noqa: E741
    kind: str,
) -> None:
    logs(db, sets)
    known = [illness for texts, illness in sets if set(texts) - {"xyzzy"}]
    without = [illness for texts, illness in sets if not set(texts) - {"xyzzy"}]
    try:
        result = db.run(policy(k, l, kind)).result
    except UnsatisfiableError:
        # those with concepts are one class in the end, which then is not enough, or there are too few of them
        assert not (len(known) >= k and is_diverse(known, l, kind))
        assert len(known) >= k or not (len(without) >= k and is_diverse(without, l, kind))
        return
    found = classes(db)
    assert sum(map(len, found.values())) == result.released
    for values in found.values():
        assert len(values) >= k
        assert is_diverse(values, l, kind)
    assert result.k == min(map(len, found.values()))
    # of those with a concept nobody is left out, if they are enough
    assert result.released >= (len(known) if len(known) >= k else 0)


def test_classes_are_merged_only_as_far_as_it_takes(db: Database) -> None:
    logs(
        db,
        [
            (["jazz"], "a"),
            (["jazz"], "a"),
            (["opera"], "b"),
            (["opera"], "b"),
            *[(["sea"], i) for i in "abab"],
        ],
    )
    result = db.run(policy(2, 2, "distinct")).result
    found = classes(db)
    assert sorted(len(values) for values in found.values()) == [4, 4]
    assert result.metrics["l_diversity_distinct:illness"] == 2
    assert "took in the nearest" in " ".join(result.finding.way(result))
    assert found.keys() == {("jazz",), ("sea",)}


def test_what_cannot_be_kept_is_refused(db: Database) -> None:
    with pytest.raises(PolicyError, match="records need not look alike"):
        policy(2, 2, "distinct", 'draw = "record"')
    logs(db, [(["jazz"], "a")] * 3 + [(["sea"], "b")] * 3 + [([], "a")] * 3)
    with pytest.raises(UnsatisfiableError, match="l = 3 is larger than the number of values"):
        db.run(policy(2, 3, "distinct"))
    with pytest.raises(UnsatisfiableError, match="3 would have to be suppressed"):
        db.run(policy(2, 2, "distinct", suppression=0.1))
    assert db.run(policy(2, 2, "distinct", suppression=0.5)).result.suppressed == 3
