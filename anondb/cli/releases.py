"""anondb releases and anondb verify: what was released of a target over time, and whether the last release holds."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from anondb.api import connect
from anondb.cli.options import Dsn, Json
from anondb.cli.output import echo_json, out, plain, table

Target = Annotated[
    str, typer.Argument(metavar="TARGET", help="The release: schema.table.", show_default=False)
]


class _ListsByDefault(TyperGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """`anondb releases share.admissions` lists; only what is a command is taken for one."""
        if not args or args[0] not in (*self.commands, "-h", "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ListsByDefault,
    help="What was released of each target: date, levels, records, who waits and who has left. See `releases list -h`.",
)


@app.command("list")
def list_releases(
    target: Annotated[
        str | None, typer.Argument(metavar="[TARGET]", help="Of this target alone.", show_default=False)
    ] = None,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """List the releases that the ledger knows, newest first.

    Example: anondb releases share.admissions
    """
    with connect(dsn) as db:
        found = db.releases.history(target)
    if as_json:
        echo_json([release.as_json() for release in found])
        return
    if not found:
        out.print("the ledger knows no release" + ("" if target is None else f" of {plain(target)}"))
        return
    shown = table(
        "target", ">series", ">release", ">run", "date", "levels", ">records", ">new", ">out", ">moved", ">waiting",
        ">departed", ">withheld",
    )  # fmt: skip
    for r in found:
        counts = (r.records, r.entered, r.left, r.moved, r.waiting, r.departed, r.withheld)
        shown.add_row(
            plain(r.target),
            f"{r.series}" if r.goes_on else f"{r.series} (ended)",
            str(r.release),
            str(r.run),
            f"{r.released_at:%Y-%m-%d %H:%M}",
            ", ".join(map(str, r.levels or ())),
            *(f"{count:,}" for count in counts),
        )
    out.print(shown)


@app.command()
def forget(
    target: Target,
    everything: Annotated[
        bool, typer.Option("--all", help="The series that goes on too: the next release is a first one.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dsn: Dsn = None,
) -> None:
    """Forget the releases of ended series, and with --all everything that the ledger knows of a target.

    Example: anondb releases forget share.admissions --all
    """
    with connect(dsn) as db:
        if everything and not yes:
            typer.confirm(
                "The next release is then compared with none before it, and whoever kept one can. Go on?",
                abort=True,
            )
        series = db.releases.forget(target, everything=everything)
    out.print(f"{series} series forgotten")


def verify(target: Target, as_json: Json = False, dsn: Dsn = None) -> None:
    """Prove a release again: from its own rows, what its policy demands, and the ledger.

    Example: anondb verify share.admissions

    Exit code 3 if a condition does not hold.
    """
    with connect(dsn) as db:
        proofs = db.releases.verify(target)
    holds = all(proof.holds is not False for proof in proofs)
    if as_json:
        echo_json({"target": target, "holds": holds, "conditions": [proof.as_json() for proof in proofs]})
    else:
        shown = table("condition", "holds", "found")
        for proof in proofs:
            word = {True: "yes", False: "NO", None: "cannot be told"}[proof.holds]
            shown.add_row(plain(proof.name), word, plain(proof.detail))
        out.print(shown)
    if not holds:
        raise typer.Exit(3)
