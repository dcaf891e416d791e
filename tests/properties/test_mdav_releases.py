"""Releases of random sets of texts: k by concepts, nothing rare quoted, everything counted."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given, settings
from hypothesis import strategies as st

from anondb.api import Database
from anondb.errors import UnsatisfiableError
from anondb.plan.model import Options
from tests.acceptance.search_logs import a_policy, log, released
from tests.properties.examples import laws

# what people may write, and what it means; the phrase is what the run takes it for
MEANINGS = {
    "Jazz": ("jazz", "jazz"), "loud jazz": ("loud jazz", "jazz"), "opera": ("opera", "opera"),
    "old OPERA": ("old opera", "opera"), "sea": ("sea", "sea"), "deep  sea": ("deep sea", "sea"),
    "football": ("football", "football"), "red football": ("red football", "football"),
}  # fmt: skip
texts = st.one_of(st.none(), st.sampled_from(["xyzzy", "", *MEANINGS]))
logs = st.lists(st.one_of(st.none(), st.lists(texts, max_size=4)), min_size=1, max_size=12)

Log = list[list[str | None] | None]


def means(texts: list[str | None] | None) -> frozenset[str]:
    return frozenset(MEANINGS[text][1] for text in texts or () if text in MEANINGS)


@settings(laws, max_examples=max(laws.max_examples // 2, 10))  # each is a whole run
@given(sets=logs, k=st.integers(2, 4), every=st.booleans(), seed=st.integers(0, 3))
@example(sets=[["Jazz"], ["Jazz"], None, None], k=2, every=False, seed=0)
@example(sets=[["xyzzy"], [None], [""]], k=3, every=True, seed=0)
def test_a_release_of_sets_keeps_its_promises(
    db: Database, sets: Log, k: int, every: bool, seed: int
) -> None:
    log(db, sets)
    known = sum(bool(means(one)) for one in sets)
    kept = [n if n >= k else 0 for n in (known, len(sets) - known)]
    method = f'terms = "{"all" if every else "frequent"}"\nseed = {seed}'
    policy = a_policy(k=k, method=method, privacy="suppression = 1.0")
    if len(sets) < k or not any(kept):
        try:
            db.run(policy)
        except UnsatisfiableError:
            return
        raise AssertionError("nothing can be released")
    result = db.run(policy, options=Options(evaluate="basic")).result

    rows = released(db)
    assert (result.released, len(rows), result.suppressed) == (sum(kept), sum(kept), len(sets) - sum(kept))
    meant = dict(MEANINGS.values())
    classes = Counter(frozenset(meant[term] for term in terms) for _, terms in rows)
    assert min(classes.values()) >= k
    assert (result.k, result.classes) == (min(classes.values()), len(classes))
    assert classes.keys() <= {means(one) for one in sets}  # each is the set of a real record

    records = Counter(
        phrase for one in sets for phrase in {MEANINGS[text][0] for text in one or () if text in MEANINGS}
    )
    for _, terms in rows:
        assert len(terms) == len(set(terms))
        for term in terms:
            assert records[term] >= (1 if every else k) or (not every and term == meant[term])
    unknown = [len({t for t in one or () if t is not None and t not in MEANINGS}) for one in sets]
    assert result.unmapped == sum(unknown)
