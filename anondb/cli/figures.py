"""The figures of a release on the terminal: tables by family, and what has to be said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from anondb.cli.output import out, plain, table
from anondb.evaluation.figure import Figure
from anondb.evaluation.metrics import GROUPS, describe
from anondb.report.words import counted, figure, percent

if TYPE_CHECKING:
    from anondb.evaluation.evaluation import Evaluation

_TITLES = {
    "models": "Classes, and the models reached",
    "utility": "Utility: what the release is worth",
    "clusters": "Clusters: are the groups of the originals those of the release?",
    "linkage": "Linkage: released records that find their original",
    "risk": "Risk: how surely a record is the right one",
    "disclosure": "Disclosure: how surely a class gives away its sensitive value",
}
NO_K = (
    "Quasi-identifiers are released as they are, which gives no k; sensitive values are known by class alone."
)
_LINKAGE = {name: name.removeprefix("record_linkage_") for name in GROUPS["linkage"]}


def print_evaluation(found: Evaluation, *, columns: bool = False) -> None:
    """All that is known of a release; figures of single columns if asked for."""
    from anondb.evaluation.evaluation import family_of

    _print_head(found)
    whole = [f for f in found.figures if f.column is None or _is_about(f)]
    for family, title in _TITLES.items():
        members = [f for f in whole if family_of(f.name) == family]
        if members:
            out.print(f"\n[bold]{title}[/bold]")
            _print_linkage(members) if family == "linkage" else _print_family(members)
            _print_notes(members)
    if columns:
        _print_columns([f for f in found.figures if f not in whole])


def _is_about(found: Figure) -> bool:
    """A sensitive column is what a figure is about, and no part of a whole."""
    return describe(found.name).scope == "sensitive column"


def _print_head(found: Evaluation) -> None:
    when = (found.finished or "").replace("T", " ")
    who = "" if found.run is None else f"run {found.run}, {found.algorithm}, {when}: "
    out.print(f"{who}[bold]{plain(found.release)}[/bold] of {plain(found.original)}", soft_wrap=True)
    share = found.suppressed / found.records if found.records else 0.0
    out.print(
        f"{found.released:,} of {counted(found.records, 'record')} in "
        f"{counted(found.classes, 'class', 'classes')}; {found.suppressed:,} suppressed ({percent(share)})",
        soft_wrap=True,
    )
    if any(f.name == "le_diversity" for f in found.figures):
        out.print(NO_K, soft_wrap=True)


def _print_family(figures: Sequence[Figure]) -> None:
    """A figure a line; what was before stands before, where any is known."""
    without_k = any(f.name == "le_diversity" for f in figures)
    compared = any(f.before is not None for f in figures)
    of_columns = any(f.column is not None for f in figures)
    heads = [*["column"] * of_columns, *([">before", ">after"] if compared else [">figure"]), "better"]
    made = table("measure", *heads)
    for found in figures:
        if found.value is None and found.before is None:
            continue  # its note tells why
        metric = describe(found.name)
        label, better = metric.label, metric.better
        if without_k and label.startswith("k: "):
            label, better = label.removeprefix("k: ").capitalize(), ""
        values = [found.before, found.value] if compared else [found.value]
        column = [plain(found.column or "")] * of_columns
        made.add_row(label, *column, *(figure(value, metric.format) for value in values), better)
    if made.row_count:
        out.print(made)


def _print_linkage(figures: Sequence[Figure]) -> None:
    """Side by side, because the one by text is 0 for generalized values whatever the risk."""
    values = {f.name: f.value for f in figures}
    known = [name for name in _LINKAGE if values.get(name) is not None]
    if not known:
        return
    made = table(*(f">by {_LINKAGE[name]}" for name in known))
    made.add_row(*(figure(values[name], "percent") for name in known))
    out.print(made)
    if values.get("record_linkage_text") == 0 and values.get("record_linkage_coverage"):
        out.print("  generalized values equal no original, so by text nothing is found: read it by coverage")


def _print_columns(figures: Sequence[Figure]) -> None:
    """A line a column; of risk, what is left of it."""
    names = list(dict.fromkeys(f.name for f in figures if f.value is not None))
    values = {(f.name, f.column): f.value for f in figures}
    out.print("\n[bold]By column[/bold]")
    made = table("column", *(f">{describe(name).label}" for name in names))
    for column in dict.fromkeys(f.column or "" for f in figures):
        cells = [figure(values.get((name, column)), describe(name).format) for name in names]
        made.add_row(plain(column), *cells)
    out.print(made)
    _print_notes(figures)


def _print_notes(figures: Sequence[Figure]) -> None:
    """Each note once, with all that it is said of; a note on all of them is said of nothing in particular."""
    said: dict[str, list[str]] = {}
    for found in figures:
        if found.note:
            of = (
                _noted(found)
                if found.column is None or _is_about(found)
                else f"{_noted(found)} of {found.column}"
            )
            said.setdefault(found.note, []).append(of)
    for note, labels in said.items():
        of = "" if len(labels) == len(figures) else f"{', '.join(dict.fromkeys(labels))}: "
        out.print(f"  [dim]{plain(of + note)}[/dim]", soft_wrap=True)


def _noted(found: Figure) -> str:
    if found.name.startswith("journalist"):
        return "Journalist risk"  # all of them have the same note
    return f"by {_LINKAGE[found.name]}" if found.name in _LINKAGE else describe(found.name).label


def summary(figures: Iterable[Figure]) -> Iterator[str]:
    """Utility and risk of a release in a few lines; none if it was not evaluated."""
    found = {f.name: f for f in figures if f.column is None}

    def told(name: str, say: Callable[[Figure], str]) -> list[str]:
        return [say(found[name])] if name in found and found[name].value is not None else []

    worth = told("gen_iloss", lambda f: f"{figure(f.value, 'share')} of the detail is lost")
    lost = "" if worth else " is lost"
    worth += told("sem_iloss", lambda f: f"{figure(f.value, 'share')} of the meaning{lost}")
    worth += told("semantic_sse", lambda f: f"semantic squared error {figure(f.value, 'number')}")
    worth += told("information_loss", lambda f: f"information loss {figure(f.value, 'share')}")
    worth += told("dot", lambda f: f"DOT {figure(f.value)}")
    worth += told("discernibility", lambda f: f"discernibility {figure(f.value, 'count')}")
    linked = [
        part
        for name in ("record_linkage_text", "record_linkage_coverage")
        for part in told(name, lambda f: f"{figure(f.value, 'percent')} by {_LINKAGE[f.name]}")
    ]
    risks = told("prosecutor_max", lambda f: f"{_arrow(f)} at most")
    risks += told("prosecutor_mean", lambda f: f"{_arrow(f)} on average")
    for name, parts in (("utility", worth), ("linkage", linked), ("prosecutor risk", risks)):
        if parts:
            yield f"{name}: {', '.join(parts)}"


def _arrow(found: Figure) -> str:
    before = "" if found.before is None else f"{figure(found.before, 'share')} → "
    return before + figure(found.value, "share")
