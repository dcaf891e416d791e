"""Scores as people read them, with colours where there are any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from anondb.hierarchies.score import Fault, Level, Score, ScoreSet

_FAULTS = 20  # told of one hierarchy
_NAMES = 4  # leaves named of one fault
_WIDTH = 110
_STYLES = ((0.2, "green"), (0.4, "cyan"), (0.6, "yellow"), (0.8, "magenta"))


def plain(shown: RenderableType) -> str:
    """The text without colours."""
    text = StringIO()
    Console(file=text, width=_WIDTH, highlight=False, color_system=None).print(shown)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def style(loss: float) -> str:
    """The colour of a loss on a terminal."""
    return next((colour for bound, colour in _STYLES if loss < bound), "red")


def one(score: Score) -> RenderableType:
    """One score: its figures first, then the faults of the hierarchy."""
    head = Text.assemble((score.vgh, "bold"), ": GSL ", _rated(score.gsl, score.rating))
    parts: list[RenderableType] = [head, Text(f"{score.method}, ontology {score.ontology}", style="dim")]
    covered = score.coverage
    if covered.mapped_pairs < covered.pairs:
        parts.append(
            Text(
                f"covers {covered.mapped_leaves} of {covered.leaves} leaves, and {covered.mapped_pairs} of "
                f"{covered.pairs} pairs of a leaf and an ancestor ({covered.share:.1%})",
                style="yellow",
            )
        )
    parts += ["", _levels(score)]
    if score.worst:
        parts += ["", Text("Worst transitions", style="bold"), _worst(score)]
    parts += ["", Text("What is wrong", style="bold"), *_faults(score.faults)]
    return Group(*parts)


def several(scores: ScoreSet) -> RenderableType:
    """Several scores side by side, and the score of the whole set."""
    height = max(len(score.levels) for score in scores.scores)
    listing = _table(
        "hierarchy", ">GSL", "rating", *(f">level {n + 1}" for n in range(height)), ">covers", ">faults"
    )
    for score in scores.scores:
        losses = [_figure(level.loss) for level in score.levels]
        listing.add_row(
            Text(score.vgh),
            _figure(score.gsl),
            score.rating,
            *losses,
            *[""] * (height - len(losses)),
            f"{score.coverage.share:.0%}",
            str(len(score.faults)),
        )
    given = (
        "" if scores.preferences is None else f", by preferences {', '.join(map(str, scores.preferences))}"
    )
    method = Text(f"{scores.scores[0].method}", style="dim")
    return Group(
        method, "", listing, "", Text.assemble("the set: GSL ", _rated(scores.gsl, scores.rating), given)
    )


def _levels(score: Score) -> Table:
    beside = "avg" if score.method.aggregate == "max" else "max"
    listing = _table(">level", ">loss", ">average" if beside == "avg" else ">greatest", ">deviation", "")
    below: Level | None = None
    for level in score.levels:
        falls = below is not None and None not in (below.loss, level.loss) and level.loss < below.loss - 1e-9  # type: ignore[operator]
        note = f"less than level {level.level - 1}" if falls else ""
        figures = (level.loss, getattr(level, beside), level.deviation)
        listing.add_row(str(level.level), *map(_figure, figures), Text(note, style="yellow"))
        below = level
    return listing


def _worst(score: Score) -> Table:
    listing = _table(">loss", ">level", "from", "to")
    for step in score.worst:
        listing.add_row(_figure(step.loss), str(step.level), Text(step.leaf), Text(step.ancestor))
    return listing


def _faults(faults: Sequence[Fault]) -> Iterator[RenderableType]:
    if not faults:
        yield Text("nothing that the ontology knows of", style="green")
    # a loss that falls because of a wrong ancestor is told with it
    causes = {(fault.level, fault.node) for fault in faults if fault.kind == "no_hypernym"}
    shown = [fault for fault in faults if fault.kind != "falling" or (fault.level, fault.node) not in causes]
    for fault in shown[:_FAULTS]:
        yield Text.assemble((f"level {fault.level} ", "dim"), (f'"{fault.node}" ', "bold"), _complaint(fault))
        yield Padding(Text(fault.advice, style="cyan"), (0, 0, 0, 8), expand=False)
    if len(shown) > _FAULTS:
        kinds = Counter(fault.kind for fault in shown[_FAULTS:])
        more = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        yield Text(f"and more: {more}; --json or anondb.vgh_faults tells them all", style="dim")


def _complaint(fault: Fault) -> str:
    leaves = fault.leaves or []
    names = ", ".join(leaves[:_NAMES]) + (f" and {len(leaves) - _NAMES} more" if len(leaves) > _NAMES else "")
    if fault.kind == "falling":
        return f'loses more than "{fault.other}" above it: {names}'
    if fault.kind == "no_hypernym":
        return f"is no generalization of {names}"
    if fault.kind == "synonym":
        return f'means the same as "{fault.other}"'
    return f'overlaps with "{fault.other}"' + ("" if leaves == [fault.node] else f": {names}")


def _rated(gsl: float, rating: str) -> Text:
    return Text(f"{gsl:.4f}, {rating}", style=f"bold {style(gsl)}")


def _figure(value: float | None) -> Text:
    return Text("–") if value is None else Text(f"{value:.4f}", style=style(value))


def _table(*columns: str) -> Table:
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left")
    return made
