"""The metrics of a release on the terminal: tables by group, and what has to be said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from anondb.cli.output import out, plain, table
from anondb.evaluation.metric_value import MetricValue
from anondb.evaluation.metrics import GROUPS, describe
from anondb.models.registry import without_k
from anondb.report.words import counted, formatted, percent

if TYPE_CHECKING:
    from anondb.evaluation.evaluation import Evaluation

_TITLES = {
    "models": "Classes, and the models reached",
    "utility": "Utility: what the release is worth",
    "values": "Numbers: what computing with those that have changed gives",
    "clusters": "Clusters: are the groups of the originals those of the release?",
    "linkage": "Linkage: released records that find their original",
    "risk": "Risk: how surely a record is the right one",
    "disclosure": "Disclosure: how surely a class gives away its sensitive value",
}
_LINKAGE = {name: name.removeprefix("record_linkage_") for name in GROUPS["linkage"]}


def print_evaluation(evaluation: Evaluation, *, columns: bool = False) -> None:
    """All that is known of a release; those of single columns if wanted."""
    from anondb.evaluation.evaluation import group_of

    _print_head(evaluation)
    whole = [m for m in evaluation.metric_values if m.column is None or _is_about(m)]
    for group, title in _TITLES.items():
        members = [m for m in whole if group_of(m.name) == group]
        if members:
            out.print(f"\n[bold]{title}[/bold]")
            _print_linkage(members) if group == "linkage" else _print_group(members)
            _print_notes(members)
    if columns:
        _print_columns([m for m in evaluation.metric_values if m not in whole])


def _is_about(metric: MetricValue) -> bool:
    """A column is what a metric is about, and no part of a whole."""
    return describe(metric.name).is_about_column


def _print_head(evaluation: Evaluation) -> None:
    when = (evaluation.finished or "").replace("T", " ")
    who = "" if evaluation.run is None else f"run {evaluation.run}, {evaluation.algorithm}, {when}: "
    out.print(
        f"{who}[bold]{plain(evaluation.release)}[/bold] of {plain(evaluation.original)}", soft_wrap=True
    )
    share = evaluation.suppressed / evaluation.records if evaluation.records else 0.0
    out.print(
        f"{evaluation.released:,} of {counted(evaluation.records, 'record')} in "
        f"{counted(evaluation.classes, 'class', 'classes')}; {evaluation.suppressed:,} suppressed ({percent(share)})",
        soft_wrap=True,
    )
    if no_k := without_k((m.name, None) for m in evaluation.metric_values):
        out.print(no_k, soft_wrap=True)


def _print_group(values: Sequence[MetricValue]) -> None:
    """A metric a line; what was before stands before, where any is known."""
    no_k = without_k((m.name, None) for m in values)
    with_before = any(m.before is not None for m in values)
    of_columns = any(m.column is not None for m in values)
    heads = [*["column"] * of_columns, *([">before", ">after"] if with_before else [">value"]), "better"]
    lines = table("metric", *heads)
    for entry in values:
        if entry.value is None and entry.before is None:
            continue  # its note tells why
        metric = describe(entry.name)
        label, better = metric.label, metric.better
        if no_k and label.startswith("k: "):
            label, better = label.removeprefix("k: ").capitalize(), ""
        cells = [entry.before, entry.value] if with_before else [entry.value]
        column = [plain(entry.column or "")] * of_columns
        lines.add_row(label, *column, *(formatted(value, metric.format) for value in cells), better)
    if lines.row_count:
        out.print(lines)


def _print_linkage(metric_values: Sequence[MetricValue]) -> None:
    """Side by side, because the one by text is 0 for generalized values whatever the risk."""
    values = {m.name: m.value for m in metric_values}
    known = [name for name in _LINKAGE if values.get(name) is not None]
    if not known:
        return
    line = table(*(f">by {_LINKAGE[name]}" for name in known))
    line.add_row(*(formatted(values[name], "percent") for name in known))
    out.print(line)
    if values.get("record_linkage_text") == 0 and values.get("record_linkage_coverage"):
        out.print("  generalized values equal no original, so by text nothing is found: read it by coverage")


def _print_columns(metric_values: Sequence[MetricValue]) -> None:
    """A line a column; of risk, what is left of it."""
    names = list(dict.fromkeys(m.name for m in metric_values if m.value is not None))
    values = {(m.name, m.column): m.value for m in metric_values}
    out.print("\n[bold]By column[/bold]")
    lines = table("column", *(f">{describe(name).label}" for name in names))
    for column in dict.fromkeys(m.column or "" for m in metric_values):
        cells = [formatted(values.get((name, column)), describe(name).format) for name in names]
        lines.add_row(plain(column), *cells)
    out.print(lines)
    _print_notes(metric_values)


def _print_notes(metric_values: Sequence[MetricValue]) -> None:
    """Each note once, with all that it is said of; a note on all of them is said of nothing in particular."""
    labels_by_note: dict[str, list[str]] = {}
    for metric in metric_values:
        if metric.note:
            of = (
                _noted(metric)
                if metric.column is None or _is_about(metric)
                else f"{_noted(metric)} of {metric.column}"
            )
            labels_by_note.setdefault(metric.note, []).append(of)
    for note, labels in labels_by_note.items():
        of = "" if len(labels) == len(metric_values) else f"{', '.join(dict.fromkeys(labels))}: "
        out.print(f"  [dim]{plain(of + note)}[/dim]", soft_wrap=True)


def _noted(metric: MetricValue) -> str:
    if metric.name.startswith("journalist"):
        return "Journalist risk"  # all of them have the same note
    return f"by {_LINKAGE[metric.name]}" if metric.name in _LINKAGE else describe(metric.name).label


def summary(metric_values: Iterable[MetricValue]) -> Iterator[str]:
    """Utility and risk of a release in a few lines; none if it was not evaluated."""
    by_name = {m.name: m for m in metric_values if m.column is None}

    def in_words(name: str, say: Callable[[MetricValue], str]) -> list[str]:
        return [say(by_name[name])] if name in by_name and by_name[name].value is not None else []

    worth = in_words("gen_iloss", lambda f: f"{formatted(f.value, 'share')} of the detail is lost")
    lost = "" if worth else " is lost"
    worth += in_words("sem_iloss", lambda f: f"{formatted(f.value, 'share')} of the meaning{lost}")
    worth += in_words("semantic_sse", lambda f: f"semantic squared error {formatted(f.value, 'number')}")
    worth += in_words("information_loss", lambda f: f"information loss {formatted(f.value, 'share')}")
    worth += in_words("dot", lambda f: f"DOT {formatted(f.value)}")
    worth += in_words("discernibility", lambda f: f"discernibility {formatted(f.value, 'count')}")
    linked = [
        phrase
        for name in ("record_linkage_text", "record_linkage_coverage")
        for phrase in in_words(name, lambda f: f"{formatted(f.value, 'percent')} by {_LINKAGE[f.name]}")
    ]
    risks = in_words("prosecutor_max", lambda f: f"{_arrow(f)} at most")
    risks += in_words("prosecutor_mean", lambda f: f"{_arrow(f)} on average")
    for name, phrases in (("utility", worth), ("linkage", linked), ("prosecutor risk", risks)):
        if phrases:
            yield f"{name}: {', '.join(phrases)}"


def _arrow(metric: MetricValue) -> str:
    before = "" if metric.before is None else f"{formatted(metric.before, 'share')} → "
    return before + formatted(metric.value, "share")
