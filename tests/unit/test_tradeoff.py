"""The Pareto front of a comparison, and what it recommends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.compare.compare import settings_of, variant
from anondb.compare.tradeoff import front, recommended, sentence
from anondb.compare.trial import Setting
from anondb.methods.registry import METHODS
from anondb.report.model import ComparedRun
from tests.unit.test_compare_settings import policy


def run(
    loss: float | None, risk: float | None, name: str = "x", seconds: float = 1.0, k: int = 5
) -> ComparedRun:
    figures = {"gen_iloss": loss, "prosecutor_mean": risk, "seconds": seconds, "suppressed": 3.0}
    return ComparedRun(name, k, 4, figures)


figures = st.sampled_from([0.0, 0.1, 0.2, 0.5, None])


@given(pairs=st.lists(st.tuples(figures, figures), max_size=8))
def test_nothing_beats_the_front_and_something_on_it_beats_all_others(
    pairs: list[tuple[float | None, float | None]],
) -> None:
    runs = [run(*pair, name=str(number)) for number, pair in enumerate(pairs)]
    known = [
        (loss, risk, one) for (loss, risk), one in zip(pairs, runs, strict=True) if None not in (loss, risk)
    ]
    chosen = {one.algorithm for one in front(runs)}
    for loss, risk, one in known:
        assert loss is not None
        assert risk is not None
        beaten = any(
            other_loss <= loss and other_risk <= risk and (other_loss, other_risk) != (loss, risk)
            for other_loss, other_risk, _ in known
            if other_loss is not None and other_risk is not None
        )
        assert (one.algorithm in chosen) == (not beaten)
    assert chosen <= {one.algorithm for _, _, one in known}


def test_what_loses_least_is_recommended_and_of_equals_what_risks_less() -> None:
    runs = [
        run(0.5, 0.01, "coarse"),
        run(0.30, 0.2, "risky"),
        run(0.305, 0.1, "careful"),
        run(0.305, 0.1, "slow", 9),
    ]
    assert recommended(runs) is runs[2]
    said = sentence(runs)
    assert said is not None
    assert said.startswith("Recommended: careful at k = 5")
    assert "gives up 30.5% of the detail, where others give up 30% to 50%" in said
    assert "3 records are suppressed, and it took 1.0 seconds" in said


def test_nothing_is_recommended_where_there_is_no_choice_or_the_demands_differ() -> None:
    assert recommended([run(0.5, 0.1)]) is None
    assert recommended([run(0.5, 0.1), run(None, 0.1)]) is None
    assert recommended([run(0.5, 0.1), run(0.4, 0.1, k=10)]) is None
    assert sentence([]) is None


def test_a_guide_tries_every_way_of_every_method() -> None:
    found = settings_of(policy(), None, [5], None, ways=True)
    names = [setting.name for setting in found]
    assert len(names) == len(set(names))
    for setting in found:
        assert setting.way is None or setting.way in METHODS[setting.algorithm].ways()
    assert {*("mondrian by loss", "datafly cells", "optimal cells", "datafly local", "optimal local")} <= set(
        names
    )
    assert all(setting.way is None for setting in settings_of(policy(), None, [5], None))


@pytest.mark.parametrize("name", METHODS)
def test_a_way_changes_the_policy_and_keeps_what_it_demands(name: str) -> None:
    asked = policy(f'algorithm = "{name}"') if name in ("datafly", "mondrian", "optimal") else None
    for way in METHODS[name].ways().values():
        if asked is not None:
            changed = way(asked)
            assert changed != asked
            assert (changed.privacy.k, changed.privacy.models) == (asked.privacy.k, asked.privacy.models)


@pytest.mark.parametrize("name", ["datafly", "optimal"])
def test_a_way_is_what_it_is_called_whatever_the_policy_has(name: str) -> None:
    """Weights say which cells go last, and mean nothing to rounds of datafly."""
    cells = policy(f'algorithm = "{name}"\nweights = {{ zip = 2 }}', privacy='suppress = "cells"')
    local = policy(f'algorithm = "{name}"\nrecode = "local"')
    for asked in (cells, local):
        tried = {
            setting.way: variant(asked, setting)
            for setting in settings_of(asked, [name], [5], None, ways=True)
        }
        found = {
            way: (one.policy.method.recode, one.policy.privacy.suppress, one.refusal, one.ignored)
            for way, one in tried.items()
        }
        assert found[None] == (asked.method.recode, asked.privacy.suppress, None, ())
        assert found["cells"] == ("global", "cells", None, ())
        assert found["local"] == ("local", "remove", None, ())
    assert bool(variant(cells, Setting(name, 5, ("zip",), way="local")).policy.method.weights) == (
        name == "optimal"
    )


@pytest.mark.parametrize(
    ("method", "privacy", "said"),
    [
        ("", 'suppress = "mask"', "nothing else is done with it"),
        ("", 'unit = "name"', "rounds count records"),
        ('\nobjective = "classes"', "", "know no objective"),
    ],
)
def test_a_policy_that_has_no_rounds_is_refused_with_the_reason(method: str, privacy: str, said: str) -> None:
    asked = policy(f'algorithm = "optimal"{method}', privacy=privacy)
    refused = variant(asked, Setting("optimal", 5, ("zip",), way="local")).refusal
    assert refused is not None
    assert said in str(refused)


def test_rounds_that_an_algorithm_does_not_have_are_said() -> None:
    asked = policy('algorithm = "optimal"\nrecode = "local"')
    [said] = variant(asked, Setting("incognito", 5, ("zip",))).ignored
    assert said == 'the recoding "local" is not known to incognito'
