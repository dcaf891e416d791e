"""The command line: `anondb …`. Results go to standard output, logs and errors to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from anondb import signals
from anondb.cli.output import LogFormat, report_error, report_usage, set_up_logging
from anondb.errors import AnondbError, Terminated


class _Commands(TyperGroup):
    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Ends on a signal or a closed pipe by our rules: typer's are to exit in silence with 130 or 1."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise typer.Exit(_interrupted(error)) from None
        except BrokenPipeError:  # `anondb plan … | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


# Commands and groups of them, in the order of the help, with the module of each; what is not called is not loaded.
_COMMANDS = {
    "demo": "demo",
    "load": "tables",
    "show": "tables",
    "export": "tables",
    "import-arx": "tables",
    "draft": "draft",
    "check": "check",
    "schema": "check",
    "plan": "policies",
    "run": "policies",
    "procedure": "procedure",
    "lattice": "lattice",
    "compare": "compare",
    "report": "report",
    "evaluate": "evaluate",
    "status": "operate",
    "verify": "releases",
    "diff": "diff",
    "generate": "generate",
    "learn": "generate",
}
_GROUPS = {
    "db": "database",
    "ontology": "ontology",
    "vgh": "vgh",
    "experiment": "experiment",
    "history": "operate",
    "secret": "secret",
    "releases": "releases",
}
_TAKE_A_VALUE = ("--log-format", "--owner")


@lru_cache(maxsize=1)
def program(only: str | None = None) -> typer.Typer:
    """The command line; with `only`, as far as it takes to call that command."""
    app = typer.Typer(
        name="anondb",
        cls=_Commands,
        help="Anonymize tables inside PostgreSQL, and keep their meaning.",
        epilog="Try: anondb demo",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,  # a traceback with local variables would print data
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(before_all)  # not named `options`, as the module is that takes its name once it is loaded
    for name, module in _COMMANDS.items():
        if only in (None, name):
            app.command(name)(getattr(_module(module), name.replace("-", "_")))
    for name, module in _GROUPS.items():
        if only in (None, name):
            app.add_typer(_module(module).app, name=name)
    return app


def __getattr__(name: str) -> typer.Typer:
    if name != "app":
        raise AttributeError(f"module 'anondb.cli' has no attribute {name!r}")
    return program()


def _module(name: str) -> Any:
    return import_module(f"anondb.cli.{name}")


def called(arguments: Sequence[str]) -> str | None:
    """The command that a call names; None where it is not clear, and for help on all of them."""
    words = iter(arguments)
    for word in words:
        if word in _TAKE_A_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return word if word in _COMMANDS or word in _GROUPS else None
    return None


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"anondb {version('anondb')}")
        raise typer.Exit


def before_all(
    log_format: Annotated[
        LogFormat, typer.Option(help="How logs and errors look on standard error.")
    ] = LogFormat.TEXT,
    owner: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE",
            envvar="ANONDB_OWNER",
            show_envvar=True,
            help="The role that installed anondb in the database, if you trust it and it is not your own.",
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log every step of a run.")] = False,
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave."),
    ] = False,
) -> None:
    """Anonymize tables inside PostgreSQL, and keep their meaning."""
    set_up_logging(log_format, verbose=verbose)
    if owner is not None:
        os.environ["ANONDB_OWNER"] = owner  # where each connection of this process looks for it


def main() -> NoReturn:
    """Runs a command and exits with the code that stands for how it ended."""
    try:
        app = program(called(sys.argv[1:]))
        signals.unwind()
        sys.exit(app(standalone_mode=False))
    except KeyboardInterrupt as error:
        sys.exit(_interrupted(error))
    except AnondbError as error:
        report_error(error.message, error.hint, error.exit_code)
        sys.exit(error.exit_code)
    except typer.Exit as leaving:
        sys.exit(leaving.exit_code)
    except typer.Abort as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # while the call was read
            sys.exit(_interrupted(error.__cause__))
        report_error("not confirmed; nothing was changed", "answer y, or give --yes", 130)
        sys.exit(130)
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # a usage error of typer's
            report_usage(error)
            sys.exit(error.exit_code)
        # the text of an unforeseen error may quote data: only its kind and place are told
        where = _innermost(error)
        report_error(f"unexpected {type(error).__name__} in {where}", "please report this", 1)
        sys.exit(1)
    finally:
        signals.ignore()


def _interrupted(error: KeyboardInterrupt) -> int:
    """Says which signal it was; returns its exit code."""
    word, code = (error.word, error.exit_code) if isinstance(error, Terminated) else ("interrupted", 130)
    with suppress(OSError):  # the terminal that is gone cannot be told
        report_error(f"{word}; what was not finished is undone", None, code)
    return code


def _innermost(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "anondb" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
