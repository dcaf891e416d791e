"""What commands print: results on standard output, logs, errors and progress on standard error."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from anondb import files
from anondb.errors import UsageError
from anondb.run.plan import STAGES

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from anondb.db.execute import Step

# what steers a terminal, turns the direction of a text, or is no character at all
_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """A text that may hold names of others, as a terminal can show it; of JSON, still the same JSON."""
    return _STEERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain(name: object) -> str:
    """A name for the markup of a console: on one line, and no markup itself."""
    return escape(visible(str(name)).replace("\n", "\\n").replace("\t", "\\t"))


class _Terminal(Console):
    """Shows whatever it is given as text alone; what colours it is added after that."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


out = _Terminal(highlight=False, soft_wrap=False)
err = _Terminal(stderr=True, highlight=False)
log = logging.getLogger("anondb")


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        return as_json(line | getattr(record, "fields", {}))


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def as_json(value: object) -> str:
    return visible(json.dumps(value, ensure_ascii=False))


_json_logs = False


def set_up_logging(form: LogFormat, *, verbose: bool) -> None:
    global _json_logs
    _json_logs = form is LogFormat.JSON
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines() if _json_logs else _Lines("%(message)s"))
    log.handlers = [handler]
    log.setLevel(logging.INFO if verbose else logging.WARNING)
    log.propagate = False
    # the driver warns of what it ignores while it cleans up after an error; the error is what we tell
    logging.getLogger("psycopg").setLevel(logging.CRITICAL)
    # and the charts' library of where it keeps its list of fonts
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)


def report_error(message: str, hint: str | None, code: int) -> None:
    """An error on standard error: a line of JSON for machines, a few lines for people."""
    if _json_logs:
        log.error(message, extra={"fields": {"hint": hint, "exit_code": code}})
        return
    err.print(Text("error: ", style="bold red") + Text(message, style="default"), soft_wrap=True)
    if hint:
        err.print(Text(f"  hint: {hint}", style="yellow"), soft_wrap=True)


def report_warning(message: str, hint: str) -> None:
    """What goes on all the same, but should be known."""
    if _json_logs:
        log.warning(message, extra={"fields": {"hint": hint}})
        return
    err.print(Text("warning: ", style="bold yellow") + Text(message, style="default"), soft_wrap=True)
    err.print(Text(f"  hint: {hint}", style="yellow"), soft_wrap=True)


def report_usage(error: Any) -> None:
    """A call that typer refuses, as it shows it to people, and as all other errors to machines."""
    if _json_logs:
        path = error.ctx.command_path if getattr(error, "ctx", None) else "anondb"
        report_error(error.format_message(), f"see {path} --help", error.exit_code)
    else:
        error.show()


def table(*columns: str, title: str | None = None) -> Table:
    """A plain table; columns that start with `>` hold numbers."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left")
    return made


def is_watched() -> bool:
    """Whether a person looks at standard error."""
    return sys.stderr.isatty() and not _json_logs


def echo(text: str, *, nl: bool = True) -> None:
    """A result for machines to standard output: as it is, unless that is a terminal."""
    # colour is said to be wanted, or what looks like it would be taken out of the text
    typer.echo(visible(text) if sys.stdout.isatty() else text, nl=nl, color=True)


def echo_json(value: object) -> None:
    typer.echo(as_json(value))


def write(text: str, file: Path | None) -> None:
    """A result to a file, else to standard output."""
    if file is None:
        echo(text, nl=False)
        return
    try:
        files.write(file, text)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{file}: cannot be written: {reason_of(error)}", hint="check the file's name"
        ) from None


def reason_of(error: Exception) -> str:
    return getattr(error, "strerror", None) or "its name is not possible"


@contextmanager
def progress_bar(what: str, *, bytes_: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal only; what it gives is told how much is done, and of how much."""
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        DownloadColumn() if bytes_ else MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=not is_watched(),
    )
    with bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class RunProgress:
    """A progress bar over the stages of a run, on a terminal only; a log line a step when asked for."""

    def __init__(self) -> None:
        self._bar = _bar_of_stages() if is_watched() else None

    def update(self, **fields: Any) -> None:
        """Changes what the bar shows, if there is one."""
        if self._bar is not None:
            bar, task = self._bar
            bar.update(task, **fields)

    def stage(self, name: str) -> None:
        self.update(description=name, completed=STAGES.index(name), doing="")

    def step(self, step: Step) -> None:
        self.update(doing=step.name)
        fields = {"stage": step.stage, "step": step.name, "rows": step.rows, "ms": round(step.ms, 1)}
        log.info(
            "%s: %s, %d rows, %.1f ms", step.stage, step.name, step.rows, step.ms, extra={"fields": fields}
        )

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar[0].stop()


def _bar_of_stages() -> tuple[Progress, TaskID]:
    """For a terminal; most runs have none, and do not load what draws it."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description:<8}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[doing]}", style="dim"),
        TimeElapsedColumn(),
        console=err,
        transient=True,
    )
    return bar, bar.add_task("start", total=len(STAGES), doing="")
