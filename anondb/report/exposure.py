"""What a release shows as it was, how sure a guess it allows, and what nobody has looked at: to be read first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from anondb.models.registry import MODELS
from anondb.policy.model import Role, is_kept
from anondb.report.words import listed, percent

_BOUNDING = {name for name, model in MODELS.items() if model.bounds_guess}  # the surest guess
_MOST = 4  # columns whose guesses are told one by one


def exposure(
    columns: Sequence[tuple[str, str, int | None]],
    guesses: Mapping[str, float],
    models: Collection[tuple[str, str | None]],
) -> Iterator[tuple[str, str]]:
    """Facts, each under a heading: of columns with role and level, the surest guess of each sensitive one, and the
    models of the policy with their columns."""
    if not columns:
        return  # of a run that an older version kept
    kept = [name for name, role, level in columns if is_kept(role, level)]
    yield "Released as it was", ", ".join(kept) or "no column"
    if guesses:
        yield "Surest guess", _guess(guesses, {column for kind, column in models if kind in _BOUNDING})
    if harmless := [name for name, role, _ in columns if role == Role.OTHER]:
        yield "Declared harmless", f"{', '.join(harmless)}: the policy says so, and nothing protects it"
    yield "Not considered", "other releases of the same persons, and what else is known of them"


def _guess(guesses: Mapping[str, float], bounded: Collection[str | None]) -> str:
    """By size, the surest first: whoever finds a person's class is right so often who says its commonest value."""
    ordered = sorted(guesses, key=lambda column: -guesses[column])
    guesses_in_words = [f"{percent(guesses[column])} for {column}" for column in ordered[:_MOST]]
    if rest := ordered[_MOST:]:
        guesses_in_words.append(f"at most {percent(guesses[rest[0]])} for {len(rest)} more")
    unasked = [column for column in ordered if column not in bounded]
    if not unasked:
        return f"{', '.join(guesses_in_words)}, the share of one value in a class"
    of = "" if len(unasked) == len(ordered) else f" of {listed(unasked[:_MOST])}"
    return (
        f"{', '.join(guesses_in_words)}, the share of one value in a class; no l-diversity{of} was asked for"
    )
