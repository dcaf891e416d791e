"""Figures as people say them, and the summary of a release in plain words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from math import isfinite

from anondb.evaluation.metrics import describe
from anondb.methods.registry import METHODS
from anondb.models.k_anonymity import KAnonymity
from anondb.models.registry import MODELS, without_k
from anondb.models.star_matches import StarMatches
from anondb.report.forms import form_sentences
from anondb.report.model import ComparedRun, PrivacyModel, ReportData, RunSummary
from anondb.run.run_account import STARRED

NONE = "–"  # where there is no value


def formatted(value: float | None, unit: str = "number") -> str:
    """A value in its unit."""
    if value is None or not isfinite(value):
        return NONE
    if unit == "share":
        return percent(value)
    if unit == "percent":
        return percent(value / 100)
    if unit == "bytes":
        return f"{value / 2**20:,.1f} MB"
    return number(value)


def with_deviation(run: ComparedRun, name: str) -> str:
    """A figure of a comparison in its unit; of several seeds, with its standard deviation."""
    unit, deviation = describe(name).format, run.deviations.get(name)
    text = formatted(run.metrics.get(name), unit)
    return text if deviation is None else f"{text} ± {formatted(deviation, unit)}"


def percent(share: float) -> str:
    """Few digits, but never 0% of what is there, nor 100% of what is not all."""
    if 0 < share < 0.0001:
        return "<0.01%"
    if 0.9999 < share < 1:
        return ">99.99%"
    digits = 2 if 0 < share < 0.01 or 0.99 < share < 1 else 1
    text = f"{share * 100:.{digits}f}"
    return text.rstrip("0").rstrip(".") + "%"


def number(value: float) -> str:
    """Whole numbers whole, others with the digits that matter."""
    if value == int(value):
        return f"{int(value):,}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 1:
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{value:.3g}"


def counted(number_of: int, one: str, many: str | None = None) -> str:
    return f"{number_of:,} {one if number_of == 1 else many or one + 's'}"


def setting(run: ComparedRun) -> str:
    """What a run of a comparison ran with."""
    rows = "" if run.size is None else f" of {counted(run.size, 'row')}"
    return f"k = {run.k:,} with {counted(run.quasi, 'column')}{rows}"


MOST_NAMED = 12
"""Columns that a sentence names."""


def listed(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def named_or_counted(names: Sequence[str], what: str) -> str:
    """Their names, or how many there are: a sentence with dozens of names is not read."""
    return listed(names) if len(names) <= MOST_NAMED else f"all {len(names)} {what}"


def summary(data: ReportData) -> list[str]:
    """What a reader should know who reads nothing else; the first sentence is the main one."""
    if data.run is None:
        return list(_compared(data))
    if data.run.released == 0:
        return [
            "No record is released.",
            f"All {counted(data.run.records, 'record')} of {data.run.source} were suppressed.",
        ]
    return [*_privacy(data, data.run), *_price(data, data.run)]


def _privacy(data: ReportData, run: RunSummary) -> Iterator[str]:
    others = run.k - 1
    by_person = any(model.variant == "persons" for model in data.models)
    one, several = ("person", "persons") if by_person else ("record", "records")
    if no_k := without_k((model.kind, model.variant) for model in data.models):
        yield no_k
    elif any(model.kind == StarMatches.name for model in data.models):
        yield StarMatches.beside(run.k)
    elif others > 0:
        variant = next((model.variant for model in data.models if model.kind == KAnonymity.name), None)
        yield KAnonymity.sentence(run.k, f"{run.k}", None, variant)
    else:
        yield "Some released records look like no other."
    yield from (column.sentence for column in data.kept)
    yield from (pseudonym.sentence for pseudonym in data.linked)
    yield from form_sentences((column.name, column.release) for column in data.columns)
    sentences = (model_in_words(model) for model in data.models if model.kind != "k_anonymity")
    yield from (sentence for sentence in sentences if sentence)
    risk = next((m for m in data.metrics if m.name == "prosecutor_max" and m.column is None), None)
    if risk is not None and risk.after:
        known = named_or_counted([column.name for column in data.quasi], "quasi-identifiers")
        before = "" if risk.before is None else f" ({percent(risk.before)} before)"
        knows = f"knows {known} of a person" if known else "knows a person's quasi-identifiers"
        yield f"Whoever {knows} picks the right record with a chance of at most {percent(risk.after)}{before}."
    unique = next((m for m in data.metrics if m.name == "sample_uniques" and m.column is None), None)
    if unique is not None and unique.before:
        were = f"{one} was" if unique.before == 1 else f"{several} were"
        now = formatted(unique.after, "count") if unique.after else "none"
        yield f"{formatted(unique.before, 'count')} {were} unique before; now {now} {_is(unique.after)}."


def _price(data: ReportData, run: RunSummary) -> Iterator[str]:
    if run.suppressed:
        allowed = (
            "" if data.suppression is None else f"; the policy allows {percent(data.suppression.allowed)}"
        )
        what = "masked" if data.suppression is not None and data.suppression.how == "mask" else "left out"
        share = percent(run.suppressed / run.records)
        were = "was" if run.suppressed == 1 else "were"
        yield f"{run.suppressed:,} of {counted(run.records, 'record')} ({share}) {were} {what}{allowed}."
    else:
        yield f"All {counted(run.records, 'record')} are in the release."
    starred = 0 if data.suppression is None else data.suppression.reasons.get(STARRED, 0)
    if starred:
        their = "its" if starred == 1 else "their"
        yield f"{counted(starred, 'record')} {_is(starred)} released with some of {their} cells suppressed."
    loss = next((m for m in data.metrics if m.name == "gen_iloss" and m.column is None), None)
    if loss is not None and loss.after is not None:
        by_column = [m for m in data.metrics if m.name == "gen_iloss" and m.column is not None]
        worst = max(by_column, key=lambda m: m.after or 0.0, default=None)
        most = f", most of it in {worst.column}" if worst is not None and worst.after else ""
        yield f"{percent(loss.after)} of the detail in the quasi-identifiers was given up for that{most}."
    if run.algorithm in METHODS:
        yield from METHODS[run.algorithm].summary(data, run)


def _is(count: float | None) -> str:
    return "are" if count is not None and count > 1 else "is"


def _compared(data: ReportData) -> Iterator[str]:
    if data.comparison is None:
        return
    runs = data.comparison.runs
    algorithms = list(dict.fromkeys(run.algorithm for run in runs))
    yield f"{counted(len(runs), 'run')} of {listed(algorithms)} side by side."
    if failed := [run for run in runs if run.failure]:
        yield f"{counted(len(failed), 'run')} found no release that satisfies the policy."


def model_in_words(model: PrivacyModel) -> str:
    """What a release keeps that reached so much of a model; empty for models that are not known here."""
    known = MODELS.get(model.kind)
    if known is None:
        return ""
    return known.sentence(model.reached, number(model.reached), model.column, model.variant)


def demand(model: PrivacyModel) -> tuple[str, str, str]:
    """The name of a model, what was demanded and what was reached."""
    known = MODELS.get(model.kind)
    name, sign = (model.kind.replace("_", " "), "") if known is None else (known.title, known.sign)
    details = [part for part in (model.variant, model.column) if part]
    title = f"{name} ({', '.join(details)})" if details else name
    return title, sign + number(model.demanded), number(model.reached)


def printable(text: str) -> str:
    """Names may hold control characters, which HTML may not, and characters that turn the text's direction."""
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs") and character not in "\n\t"
    return "\ufffd" if hidden else character
