"""What commands print: results on standard output, logs, errors and progress on standard error."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from anondb.errors import UsageError
from anondb.plan.model import STAGES

if TYPE_CHECKING:
    from anondb.db.execute import Step

out = Console(highlight=False, soft_wrap=False)
err = Console(stderr=True, highlight=False)
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
        return json.dumps(line | getattr(record, "fields", {}), ensure_ascii=False)


_json_logs = False


def set_up_logging(form: LogFormat, *, verbose: bool) -> None:
    global _json_logs
    _json_logs = form is LogFormat.JSON
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines() if _json_logs else logging.Formatter("%(message)s"))
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


def write(text: str, file: Path | None) -> None:
    """A result to a file, else to standard output."""
    if file is None:
        typer.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be written: {error.strerror}", hint="check the file's name"
        ) from None


class RunProgress:
    """A progress bar over the stages of a run, on a terminal only; a log line a step when asked for."""

    def __init__(self) -> None:
        self._bar = Progress(
            TextColumn("{task.description:<8}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[doing]}", style="dim"),
            TimeElapsedColumn(),
            console=err,
            transient=True,
            disable=not is_watched(),
        )
        self._task = self._bar.add_task("start", total=len(STAGES), doing="")

    def stage(self, name: str) -> None:
        self._bar.update(self._task, description=name, completed=STAGES.index(name), doing="")

    def step(self, step: Step) -> None:
        self._bar.update(self._task, doing=step.name)
        fields = {"stage": step.stage, "step": step.name, "rows": step.rows, "ms": round(step.ms, 1)}
        log.info(
            "%s: %s, %d rows, %.1f ms", step.stage, step.name, step.rows, step.ms, extra={"fields": fields}
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
