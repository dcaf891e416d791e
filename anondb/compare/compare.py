"""Compare: every algorithm with every k on the same data (Ayala-Rivera et al. 2014); nothing is published."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from math import inf
from typing import Protocol

from anondb.compare.sample import on_rows
from anondb.compare.sample import refused as refused_sizes
from anondb.compare.trial import Setting, Trial, run_trial
from anondb.db.connection import Connection, Door, one_snapshot
from anondb.db.install.upgrade import require_current
from anondb.errors import UsageError, did_you_mean
from anondb.methods.method import ReleaseMethod
from anondb.methods.registry import COMPARED, GUIDED, METHODS
from anondb.policy.model import Column, Policy, Role
from anondb.run.pipeline import Listener, Silence
from anondb.run.plan import Options

MOST_TRIALS = 1_000
MOST_SECONDS = 1_000_000


class CompareListener(Listener, Protocol):
    """Is called as a comparison goes on."""

    def trial(self, setting: Setting, number: int, of: int) -> None: ...


class _Silence(Silence):
    def trial(self, setting: Setting, number: int, of: int) -> None: ...


@dataclass(frozen=True)
class Variant:
    """A policy changed to a setting: what an algorithm does not know is left out, and listed."""

    policy: Policy
    ignored: tuple[str, ...] = ()
    refusal: UsageError | None = None  # why this setting cannot run


def compare(
    door: Door,
    policy: Policy,
    settings: Sequence[Setting],
    options: Options,
    listener: CompareListener | None = None,
    budget: float | None = None,
) -> tuple[Trial, ...]:
    """Runs every setting on the data of one moment; one that cannot run says why.

    With a `budget` of seconds no trial begins after it is spent, and no search goes on beyond it.
    """
    spent = inf if budget is None else time.monotonic() + _positive(budget)
    listener = listener or _Silence()
    trials = []
    with door.open() as connection:
        require_current(connection)
        for algorithm in {setting.algorithm for setting in settings}:
            METHODS[algorithm].load_ahead()  # or the first to use a package would pay for it
        with one_snapshot(connection, "comparing", undo=True):
            numbered = enumerate(settings, 1)
            for (size, seed), some in groupby(numbered, lambda one: (one[1].size, one[1].seed)):
                with _rows(connection, policy, size, seed, options, spent) as (rows, refusal):
                    for number, setting in some:
                        listener.trial(setting, number, len(settings))
                        changed = variant(rows, setting)
                        left = spent - time.monotonic()
                        if left <= 0:
                            refusal = refusal or _too_late()
                        changed = replace(changed, refusal=changed.refusal or refusal)
                        if changed.refusal is None:
                            within = min(left, inf if options.time_limit is None else options.time_limit)
                            searching = options if within == inf else replace(options, time_limit=within)
                            trial = run_trial(connection, changed.policy, setting, searching, listener)
                        else:
                            trial = Trial(setting, error=changed.refusal)
                        trials.append(replace(trial, ignored=changed.ignored))
    _refuse_policy(trials)
    return tuple(trials)


@contextmanager
def _rows(
    connection: Connection, policy: Policy, size: int | None, seed: int, options: Options, spent: float
) -> Iterator[tuple[Policy, UsageError | None]]:
    """The policy on so many rows for as long as the context lasts, or why there are none."""
    if size is None:
        yield policy, None
        return
    with connection.transaction(force_rollback=True):
        drawn, refusal = policy, None
        if spent > time.monotonic():
            try:
                drawn = on_rows(connection, policy, size, seed, options)
            except UsageError as error:
                refusal = error
        yield drawn, refusal


def settings_of(
    policy: Policy,
    algorithms: Sequence[str] | None,
    k: Sequence[int] | None,
    quasi: Sequence[int] | None,
    variants: Sequence[str] | None = None,
    *,
    ways: bool = False,
    sizes: Sequence[int] | None = None,
    seeds: int = 1,
) -> list[Setting]:
    """All combinations, in the order of the call: by rows, by seed, by number of columns, by k, by algorithm and its
    variants.

    With `ways` each algorithm is tried in all its ways too.
    """
    if sizes is not None and (refusal := refused_sizes(policy)) is not None:
        raise refusal
    if sizes is not None and min(sizes, default=0) < 1:
        raise UsageError("a size is at least one row", hint="for example 5000,10000")
    if not 1 <= seeds <= MOST_TRIALS:
        raise UsageError("the seeds are a number of repetitions", hint=f"give 1 to {MOST_TRIALS:,}")
    if algorithms is None:
        usual = GUIDED if ways else COMPARED
        algorithms = usual if variants is None else (policy.method.algorithm,)
    names = [column.name for column in policy.quasi]
    demanded = [policy.privacy.k] if k is None else k
    counts = [len(names)] if quasi is None else quasi
    if not (algorithms and demanded and counts) or variants == []:
        raise UsageError("there is nothing to compare", hint="give at least one algorithm, k and number")
    for name in algorithms:
        if name not in METHODS:
            hint = did_you_mean(name, METHODS) or f"choose from {', '.join(METHODS)}"
            raise UsageError(f'there is no algorithm "{name}"', hint=hint)
    compared = {policy.method.algorithm, *algorithms}
    for name in compared:
        if (refusal := METHODS[name].refused_comparison(compared - {name})) is not None:
            raise refusal
    if policy.tables and quasi is not None:
        raise UsageError(
            "the columns of linked tables are compared as they are", hint="leave the numbers of columns out"
        )
    variants_of = _variants(algorithms, variants)
    if min(demanded) < 1:
        raise UsageError("k must be at least 1", hint="a k of 5 makes each record look like 4 others")
    if min(counts) < 1 or max(counts) > len(names):
        raise UsageError(
            f"the policy has {len(names)} quasi-identifiers to compare with",
            hint=f"give numbers from 1 to {len(names)}; the first so many columns are taken",
        )
    settings = [
        Setting(algorithm, one_k, tuple(names[:count]), word, way, size, seed)
        for size in ([None] if sizes is None else sorted(set(sizes)))
        for seed in range(seeds)
        for count in dict.fromkeys(counts)
        for one_k in dict.fromkeys(demanded)
        for algorithm in dict.fromkeys(algorithms)
        for word in variants_of[algorithm]
        for way in (None, *(METHODS[algorithm].ways() if ways else ()))
    ]
    if len(settings) > MOST_TRIALS:
        raise UsageError(
            f"these are {len(settings):,} trials", hint=f"compare fewer at once, at most {MOST_TRIALS:,}"
        )
    return settings


def _variants(algorithms: Sequence[str], chosen: Sequence[str] | None) -> dict[str, list[str | None]]:
    """Which variants of each algorithm are run; an algorithm that has none is run once, as it is."""
    if chosen is None:
        return {name: [None] for name in algorithms}
    known = {word: None for name in algorithms for word in METHODS[name].options.get("variant", ())}
    if not known:
        having = ", ".join(name for name, method in METHODS.items() if "variant" in method.options)
        raise UsageError(
            f"{' and '.join(algorithms)} {'have' if len(algorithms) > 1 else 'has'} no variants to compare",
            hint=f"they are of {having}: name the algorithm, or leave the variants out",
        )
    for word in chosen:
        if word not in known:
            hint = did_you_mean(word, known) or f"choose from {', '.join(known)}"
            raise UsageError(f'there is no variant "{word}"', hint=hint)
    mine = {
        name: [word for word in dict.fromkeys(chosen) if word in METHODS[name].options.get("variant", ())]
        for name in algorithms
    }
    return {name: list(words) or [None] for name, words in mine.items()}


def variant(policy: Policy, setting: Setting) -> Variant:
    """The policy as this setting has it; a quasi-identifier outside of the setting is not released."""
    method = METHODS[setting.algorithm]
    columns = tuple(
        Column(column.name, Role.IDENTIFIER)
        if column.role is Role.QUASI and column.name not in setting.columns
        else column
        for column in policy.columns
    )
    fewer = replace(policy, columns=columns, privacy=replace(policy.privacy, k=setting.k))
    try:
        keys = method.taken_over(policy.method, setting.columns)
        if setting.seed:
            keys = replace(keys, seed=keys.seed + setting.seed)
        if setting.variant is not None:
            keys = replace(keys, variant=setting.variant)
        if policy.tables and (reason := method.refused_links(vars(keys))) is not None:
            raise UsageError(reason[0], hint=reason[1])
        changed = method.varied(keys, fewer)
        ignored = tuple(_ignored(policy, changed, method))  # what a way changes is on purpose
        if setting.way is not None:
            changed = method.ways()[setting.way](changed)
    except UsageError as refusal:
        return Variant(fewer, refusal=refusal)
    return Variant(changed, ignored)


def _ignored(policy: Policy, changed: Policy, algorithm: ReleaseMethod) -> Iterator[str]:
    """What the policy asks for and this algorithm does not know."""
    kept = {column.name: column for column in changed.quasi}
    others = {column.name: column for column in changed.columns}
    if policy.privacy.suppress != changed.privacy.suppress:
        yield f"{algorithm.name} suppresses no single cells"
    for column in policy.quasi:
        bounds = column.min_level, column.max_level
        if column.name in kept and column.ontology != kept[column.name].ontology:
            yield f'the ontology of "{column.name}" is not read by {algorithm.name}'
        if column.name in kept and bounds != (kept[column.name].min_level, kept[column.name].max_level):
            yield f'the levels of "{column.name}" are not bounded: {algorithm.name} gives it none'
        if column.name in kept and column.release != kept[column.name].release:
            yield f'the release of "{column.name}" is not read by {algorithm.name}, which releases labels'
    for column in policy.columns:
        if column.shuffle and not others[column.name].shuffle:
            yield f'values of "{column.name}" are not exchanged by {algorithm.name}'
    wanted, method, own = policy.method, changed.method, METHODS[policy.method.algorithm].options
    for key, word, new_word, words in (
        ("objective", wanted.objective, method.objective, own.get("objective", ())),
        ("heuristic", wanted.heuristic, method.heuristic, own.get("heuristic", ())),
        ("recoding", wanted.recode, method.recode, own.get("recode", ())),
    ):
        # the first word is what a policy has that does not say any
        if word is not None and word not in (new_word, *words[:1]):
            yield f'the {key} "{word}" is not known to {algorithm.name}'
    if {name for name in wanted.weights if name in kept} != set(method.weights):
        yield f"the weights have no meaning to {algorithm.name} here"


def _positive(budget: float) -> float:
    if not 0 < budget <= MOST_SECONDS:
        raise UsageError("the budget is not a time to spend", hint=f"give seconds, up to {MOST_SECONDS:,}")
    return budget


def _too_late() -> UsageError:
    return UsageError(
        "the budget was spent before this was tried", hint="give more seconds, or try fewer ways"
    )


def _refuse_policy(trials: Sequence[Trial]) -> None:
    """Raises the error that all trials share: then the policy itself is wrong, or its source does not exist."""
    errors = [trial.error for trial in trials]
    first = errors[0]
    if isinstance(first, UsageError) and all(
        isinstance(error, UsageError) and error.message == first.message for error in errors
    ):
        raise first
