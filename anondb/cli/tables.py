"""anondb load, show, export: tables from files, on the screen, into files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anondb.api import connect
from anondb.cli.options import Dsn, Json, Public
from anondb.cli.output import echo, echo_json, err, out, plain, progress_bar, table
from anondb.errors import UsageError

if TYPE_CHECKING:
    from anondb.api.tables import Head, Loaded

_WIDEST = 60  # characters of a value that are shown

TableName = Annotated[
    str, typer.Argument(metavar="TABLE", help="The table, or schema.table.", show_default=False)
]


def load(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.csv", help="The file, one line a row; or builtin:adult.", show_default=False
        ),
    ],
    target: Annotated[str, typer.Option("--table", metavar="TABLE", help="The new table.")],
    types: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=TYPE",
            help="The type of a column, where it is not to be told from its values: text, integer, bigint, numeric, "
            "numeric:comma, double, boolean, date, date:dmy, date:mdy, timestamp, timestamptz, time. May be repeated.",
        ),
    ] = None,
    null: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT", help="A cell that stands for no value; else the empty one. May be repeated."
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME,…", help="Names of the columns, for a file whose first line has none."
        ),
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line has names; else it is recognized."),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(metavar="CHARACTER", help="What separates cells; else it is recognized.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="The file's encoding; else it is recognized.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Make a table anew that was loaded before.")
    ] = False,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Make a table of a CSV file, in the embedded PostgreSQL or any other database.

    Types are told from the values: numbers, dates, times, else text.
    Codes with leading zeros stay as they are.
    A file with anything wrong is refused as a whole, with the number of the line.

    Examples:

      anondb load people.csv --table people

      anondb load builtin:adult --table adult

      anondb load people.csv --table people --types zip=text --null NA --replace

      anondb load adult.data --table adult --columns age,workclass,weight,education
    """
    from anondb.exchange.csv_table import Wishes

    wishes = Wishes(
        types=_types(types or []),
        nulls=tuple(null) if null is not None else ("",),
        columns=tuple(columns.split(",")) if columns else (),
        header=header,
        encoding=encoding,
        delimiter=delimiter,
    )
    with connect(dsn) as db, progress_bar("loading", bytes_=True) as progress:
        loaded = db.tables.load(file, target, wishes=wishes, replace=replace, progress=progress)
    if as_json:
        echo_json(_as_json(loaded))
    else:
        _tell(loaded)


def import_arx(
    project: Annotated[
        Path, typer.Argument(metavar="PROJECT.deid", help="A project of ARX.", show_default=False)
    ],
    target: Annotated[str, typer.Option("--table", metavar="TABLE", help="The new table.")],
    policy: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="POLICY.toml",
            help="The new policy; else it is called as the project.",
            show_default=False,
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Make a table anew that was loaded before.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a policy that is there.")] = False,
    public: Public = False,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Make a table and a policy of a project of ARX.

    The policy has its roles, hierarchies, privacy models, weights and suppression.
    What has no counterpart is listed, and stands in the policy as DECIDE.

    Example: anondb import-arx patients.deid --table patients --out patients.toml
    """
    out_file = policy or Path(f"{project.stem}.toml")
    with connect(dsn) as db, progress_bar("loading", bytes_=True) as progress:
        made = db.tables.import_arx(
            project, target, out_file, replace=replace, force=force, progress=progress
        )
    if as_json:
        facts = {"table": made.table, "records": made.records, "policy": str(made.policy)}
        echo_json(facts | {"notes": list(made.notes)})
        return
    out.print(f"{plain(made.table)}: {made.records:,} records from {plain(str(project))}", soft_wrap=True)
    out.print(f"policy: {plain(str(made.policy))}", soft_wrap=True)
    for note in made.notes:
        out.print(f"decide: {plain(note)}", soft_wrap=True)


def show(
    target: TableName,
    limit: Annotated[int, typer.Option(metavar="N", help="How many rows.", min=1)] = 20,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Show the first rows of a release, or of any table.

    Examples:

      anondb show share.admissions --limit 5

      anondb show share.admissions --json
    """
    with connect(dsn) as db:
        head = db.tables.head(target, limit)
    if as_json:
        rows = ", ".join(head.json_rows)
        facts = {
            "table": head.table,
            "run": head.run,
            "has_more": head.has_more,
            "columns": list(head.columns),
        }
        echo(_object(facts, rows))
    else:
        _print_head(head, limit)


def export(
    target: TableName,
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="The new file.", show_default=False)],
    not_a_release: Annotated[
        bool, typer.Option("--not-a-release", help="Export the rows of a table that no run has published.")
    ] = False,
    public: Public = False,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Write a release to a CSV file.

    UTF-8, the names of the columns first, an empty cell for NULL.

    Example: anondb export share.admissions admissions.csv
    """
    with connect(dsn) as db:
        records = db.tables.export(target, file, not_a_release=not_a_release)
    if as_json:
        echo_json({"table": target, "file": str(file), "records": records})
    else:
        out.print(f"{plain(str(file))}: {records:,} records of {plain(target)}", soft_wrap=True)


def _types(wanted: list[str]) -> dict[str, str]:
    types = {}
    for text in wanted:
        name, equals, kind = text.rpartition("=")
        if not equals or not name or not kind:
            raise UsageError("--types names a column and its type", hint="--types zip=text")
        types[name] = kind
    return types


def _as_json(loaded: Loaded) -> dict[str, object]:
    form = loaded.file.form
    return {
        "table": loaded.table,
        "records": loaded.records,
        "encoding": form.encoding.removesuffix("-sig"),
        "delimiter": form.delimiter,
        "columns": {column.name: column.kind.type for column in loaded.file.columns},
        "doubts": {column.name: column.doubt for column in loaded.file.columns if column.doubt},
    }


def _tell(loaded: Loaded) -> None:
    file = loaded.file
    out.print(
        f"{plain(loaded.table)}: {loaded.records:,} records from {plain(loaded.source)} ({file.form})",
        soft_wrap=True,
    )
    shown = table("column", "type")
    for column in file.columns:
        shown.add_row(plain(column.name), column.kind.name)
    out.print(shown)
    for column in file.columns:
        if column.doubt:
            err.print(
                f"{plain(column.name)} is text: {column.doubt} (--types {plain(column.name)}=…)",
                soft_wrap=True,
            )
    if file.form.is_guessed:
        err.print(
            f"the encoding is a guess, as the file is not UTF-8: {file.form.encoding}; --encoding names another"
        )


def _print_head(head: Head, limit: int) -> None:
    shown = table()
    for name in head.columns:
        shown.add_column(plain(name))
    for row in head.rows:
        shown.add_row(*("[dim]NULL[/dim]" if cell is None else plain(_cut(cell)) for cell in row))
    out.print(shown)
    what = f"released by run {head.run}" if head.run is not None else "no release: its rows as they are"
    more = f"the first {len(head.rows)} rows" if head.has_more else f"all {len(head.rows)} rows"
    out.print(f"{plain(head.table)}, {what}; {more}", soft_wrap=True)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _object(facts: Mapping[str, object], rows: str) -> str:
    """One object: the rows are JSON of the server already."""
    import json

    return f'{json.dumps(facts, ensure_ascii=False)[:-1]}, "rows": [{rows}]}}'
