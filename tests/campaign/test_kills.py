"""Whoever is killed, before whichever statement: the old release is there or the new one, and the next run works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.campaign.cases import OTHERS, RUNS, Case
from tests.campaign.ground import Ground
from tests.campaign.strike import STRIKES, Target
from tests.commands import Commands

pytestmark = [pytest.mark.campaign, pytest.mark.once]

# in a run of all tests: a few statements of each, spread over the whole command
_SHORT = {"client": 3, "backend": 1, "server": 1}
_EVERY = {"client": 1, "backend": 3, "server": 7}  # in the long form: each, every third, every seventh


def _places(kind: str, whole: int, *, is_long: bool, turn: int) -> list[int]:
    """Before which requests it is struck; in the short form others for each case."""
    if is_long:
        return list(range(1, whole + 1, _EVERY[kind]))
    step = whole / _SHORT[kind]
    return sorted({1 + int((n + (turn * 0.37) % 1) * step) % whole for n in range(_SHORT[kind])})


# what each run of the tests has time for: one of each way to write; the others wait for the night
_ALWAYS = {"refresh", "linked", "le_diversity", "vgh load --replace"}
_CASES = [
    pytest.param(case, id=case.name, marks=() if case.name in _ALWAYS else pytest.mark.nightly)
    for case in (*RUNS, *OTHERS)
]


@pytest.mark.parametrize("case", _CASES)
def test_a_command_that_is_struck_leaves_the_old_or_the_new(
    case: Case, ground: Ground, commands: Commands, is_long: bool, tried: Callable[[str, int, int], None]
) -> None:
    target = Target(ground, commands, case)
    turn = [*RUNS, *OTHERS].index(case)
    found: list[str] = []
    for kind in STRIKES:
        places = _places(kind, target.whole, is_long=is_long, turn=turn)
        wrong = {at: target.strike(kind, at).wrong for at in places}
        found += [f"{kind} before statement {at}: {what}" for at, whats in wrong.items() for what in whats]
        tried(f"{case.name}: {kind} killed", len(places), sum(map(bool, wrong.values())))
    assert not found, "\n".join(found)


def test_what_is_left_half_done_is_found(ground: Ground, commands: Commands) -> None:
    """A command whose state also counts what a rollback does not undo leaves neither the old nor the new."""
    load = next(case for case in OTHERS if case.name == "vgh load --replace")
    target = Target(
        ground, commands, replace(load, name="drifting", looks="select last_value from anondb.vgh_id_seq")
    )
    wrong = target.strike("client", target.whole).wrong
    assert "the next one leaves something else" in wrong
