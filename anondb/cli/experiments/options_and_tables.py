"""What the commands of several studies have in common: options, the bar, tables and files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from anondb.api import connect
from anondb.cli.output import err, is_watched, out, plain, table, write
from anondb.errors import UsageError

if TYPE_CHECKING:
    from anondb.api import Database
    from anondb.report.report_charts import Table

Source = Annotated[
    str | None, typer.Option("--table", metavar="TABLE", help="Your table …", show_default=False)
]
CsvFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE.csv", help="Write every release, one line each.")
]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="FILE.html", help="Write a report with charts.")
]
Listener = Callable[[str, float], None]
"""Is told what is being done, and which share of all is."""
Made = TypeVar("Made")


def watched(dsn: str | None, experiment: Callable[[Database, Listener], Made]) -> Made:
    """Makes an experiment, with a bar on a terminal that somebody watches."""
    bar = Progress(
        TextColumn("{task.description:<36}"), BarColumn(bar_width=30), TimeElapsedColumn(),
        console=err, transient=True, disable=not is_watched(),
    )  # fmt: skip
    with connect(dsn) as db, bar:
        task = bar.add_task("", total=1.0)
        return experiment(db, lambda doing, done: bar.update(task, description=doing, completed=done))


def names(text: str | None) -> tuple[str, ...]:
    """An option's names with commas between them."""
    return () if text is None else tuple(name.strip() for name in text.split(","))


def numbers(text: str, option: str) -> tuple[int, ...]:
    """An option's whole numbers with commas between them, each once."""
    try:
        return tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise UsageError(
            f"{option} takes whole numbers with commas between them", hint=f"for example {option} 2,10,100"
        ) from None


def write_csv(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    """One line a row, with their names in the first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write(text.getvalue(), file)


def show_table(title: str, content: Table) -> None:
    """A table of a study, its numbers to the right."""
    out.print(f"\n[bold]{title}[/bold]")
    heads = [head if place in content.words else f">{head}" for place, head in enumerate(content.head)]
    made = table(*heads)
    for row in content.rows:
        made.add_row(*map(plain, row))
    out.print(made)
