"""Releases of random sets of texts: k by concepts, nothing rare quoted, everything counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hypothesis import example, given, settings
from hypothesis import strategies as st

from anondb.api import Database
from anondb.errors import UnsatisfiableError
from anondb.methods.mdav.mdav import DRAWS
from anondb.run.plan import Options
from tests.acceptance.search_logs import GRAPH, a_policy, log, released
from tests.properties.examples import laws
from tests.properties.mdav_oracle import generalizations

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


def first_of(concept: str, tells: Callable[[str], bool]) -> str | None:
    """The nearest one above that can be told; a concept of these tests has one parent at most."""
    chain = [concept]
    while GRAPH[chain[-1]]:
        chain += GRAPH[chain[-1]]
    return next((name for name in chain if tells(name)), None)


@settings(laws, max_examples=max(laws.max_examples // 2, 10))  # each is a whole run
@given(sets=logs, k=st.integers(2, 4), seed=st.integers(0, 3), draw=st.sampled_from(DRAWS))
@example(sets=[["Jazz"], ["Jazz"], None, None], k=2, seed=0, draw="class")
@example(sets=[["xyzzy"], [None], [""]], k=3, seed=0, draw="class")
def test_a_release_of_sets_keeps_its_promises(db: Database, sets: Log, k: int, seed: int, draw: str) -> None:
    log(db, sets)
    known = sum(bool(means(one)) for one in sets)
    kept = [n if n >= k else 0 for n in (known, len(sets) - known)]
    policy = a_policy(k=k, method=f'seed = {seed}\ndraw = "{draw}"', privacy="suppression = 1.0")
    if len(sets) < k or not any(kept):
        try:
            db.run(policy)
        except UnsatisfiableError:
            return
        raise AssertionError("nothing can be released")
    result = db.run(policy, options=Options(evaluate="basic")).result

    rows = released(db)
    assert (result.released, len(rows), result.suppressed) == (sum(kept), sum(kept), len(sets) - sum(kept))
    meant = dict(MEANINGS.values()) | {concept: concept for concept in GRAPH}
    classes = Counter(frozenset(meant[term] for term in terms) for _, terms in rows)
    assert min(classes.values()) >= k
    alike = Counter(tuple(terms) for _, terms in rows) if draw == "class" else classes
    assert min(alike.values()) >= k
    assert (result.k, result.classes) == (min(alike.values()), len(alike))

    said = [{MEANINGS[text][0] for text in one or () if text in MEANINGS} for one in sets]
    texts_of = Counter(text for texts in said for text in texts)
    above = [frozenset().union(*(generalizations(GRAPH, c) for c in means(one))) for one in sets]
    concepts_of = Counter(concept for concepts in above for concept in concepts)

    def tells(concept: str) -> bool:
        """Whether k records have it, and a term that stands for it is one of k records, or of none."""
        frequent = any(texts_of[phrase] >= k for phrase, of in meant.items() if of == concept)
        return concepts_of[concept] >= k and (frequent or not texts_of[concept])

    for _, terms in rows:
        assert len(terms) == len(set(terms))
        for term in terms:
            assert concepts_of[meant[term]] >= k
            assert texts_of[term] >= k or (texts_of[term] == 0 and term == meant[term])
    # nothing is said that no record is about, and nothing less than can be said
    told = [{nearest for c in means(one) if (nearest := first_of(c, tells))} for one in sets]
    assert classes.keys() <= {frozenset(), *map(frozenset, told)}
    unknown = [len({t for t in one or () if t is not None and t not in MEANINGS}) for one in sets]
    assert result.as_json()["unmapped"] == sum(unknown)
