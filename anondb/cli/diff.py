"""anondb diff: what changed from one release to another, and what somebody learns who has both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from anondb.api import connect
from anondb.cli.options import Dsn, Json, names, pairs
from anondb.cli.output import echo_json, out, plain, table

if TYPE_CHECKING:
    from anondb.db.together import Difference

# what a line says, in the order of the table; `{}` stands for k
_CHANGED = {
    "records_before": "records before",
    "records_after": "records after",
    "records_entered": "records that are new for certain",
    "records_left": "records that are gone for certain",
    "classes_before": "classes before",
    "classes_after": "classes after",
    "classes_appeared": "classes that appeared",
    "classes_vanished": "classes that vanished",
    "classes_grown": "classes that grew",
    "classes_shrunk": "classes that shrank",
    "classes_exchanged": "classes with other rows, as many as before",
}
_LEARNED = {
    "entered_below_k": "new records, fewer than {} in their class",
    "left_below_k": "gone records, fewer than {} in their class",
    "both_below_k": "persons in both with fewer than {} candidates, at most",
    "persons_below_k": "persons of the source with fewer than {} candidates",
    "entered_certain": "new records whose value is certain",
    "left_certain": "gone records whose value is certain",
    "both_certain": "persons in both whose value is certain, at most",
    "persons_certain": "persons of the source with one value left",
    "persons_certain_right": "  and it is theirs",
    "both_surer": "persons in both whose value is surer, at most",
    "persons_surer": "persons of the source whose value is surer",
}


def diff(
    before: Annotated[
        str, typer.Argument(metavar="RUN|TABLE", help="The older release: a run of ours, or a table.")
    ],
    after: Annotated[str, typer.Argument(metavar="RUN|TABLE", help="The newer one.")],
    quasi: Annotated[
        list[str] | None, typer.Option(metavar="A,B,…", help="The columns that people could be found by.")
    ] = None,
    sensitive: Annotated[
        list[str] | None, typer.Option(metavar="A,B,…", help="The columns that must not be given away.")
    ] = None,
    kept: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,…", help="Further columns that both have as they were in the source."),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "--k", min=1, help="How many candidates a person must have; else the policies' k, or 2."
        ),
    ] = None,
    vgh: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=NAME", help="The stored hierarchy of a column.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="The table both were made from: counts its persons exactly."),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Names the person in the source; else each record is one."),
    ] = None,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Show what changed from one release to another, and what somebody learns who has both.

    Of runs, columns and k are those of their policies. A table may be anybody's: a kept copy of an
    older release, or an extract of a partner. Counts only: no value of a person is shown.

    Examples:

      anondb diff 12 15

      anondb diff share.march share.april --quasi age,zip --sensitive diagnosis --k 5

    Exit code 3 if somebody is told apart, or a value becomes certain.
    """
    with connect(dsn) as db:
        found = db.releases.diff(
            before,
            after,
            quasi=None if quasi is None else names(quasi),
            sensitive=None if sensitive is None else names(sensitive),
            kept=None if kept is None else names(kept),
            k=k,
            vghs=pairs("--vgh", "hierarchy", "job=occupation", vgh),
            source=source,
            unit=unit,
        )
    if as_json:
        echo_json(found.as_json())
    elif found.compared:
        _print(found)
    else:
        _print_history(found)
    if found.exposes:
        raise typer.Exit(3)


def _print(found: Difference) -> None:
    for title, lines in (("What changed", _CHANGED), ("What both together tell", _LEARNED)):
        shown = table(title, "column", ">")
        for name, words in lines.items():
            for figure, column, value in found.figures:
                if figure == name:
                    shown.add_row(words.format(found.k), plain(column or ""), f"{value:,}")
        out.print(shown)
        out.print()
    if found.exposes:
        out.print("[yellow]Whoever has both learns what neither tells.[/yellow]")
    else:
        out.print(f"Nobody has fewer than {found.k} candidates, and no value is certain, by having both.")


def _print_history(found: Difference) -> None:
    for side in (found.before, found.after):
        if side.run is not None and side.relation is None:
            why = f"they were replaced by run {side.replaced_by}" if side.replaced_by else "the table is gone"
            out.print(
                f"The rows of run {side.run} are no longer in {plain(side.target or '')}: {why}.",
                soft_wrap=True,
            )
    if found.between:
        shown = table("run", "date", "levels", ">records", ">new", ">out", ">moved", ">waiting", ">departed")
        for r in found.between:
            counts = (r.records, r.entered, r.left, r.moved, r.waiting, r.departed)
            levels = ", ".join(map(str, r.levels or ()))
            shown.add_row(str(r.run), f"{r.released_at:%Y-%m-%d %H:%M}", levels, *(f"{n:,}" for n in counts))
        out.print("\nWhat the ledger has counted:\n")
        out.print(shown)
    out.print(
        "\nTo see what both tell together, compare a kept copy: anondb diff COPY RUN. "
        "Where changes are held, single persons cannot be told by what changed.",
        soft_wrap=True,
    )
