"""anondb generate, anondb learn: synthetic tables, and domains from tables."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anondb.api import connect
from anondb.cli.options import Dsn, Json, Public
from anondb.cli.output import echo, echo_json, err, out, plain, progress_bar, table, write
from anondb.errors import UsageError
from anondb.synthetic.ready_policy import ReadyPolicy, ready_policy, require_free, save

if TYPE_CHECKING:
    from anondb.synthetic.generation import Grid


def generate(
    domain: Annotated[
        str,
        typer.Argument(
            metavar="DOMAIN",
            help="irish_census, insurance, adult, german_credit, or a TOML file of your own.",
        ),
    ],
    target: Annotated[str, typer.Option("--table", metavar="TABLE", help="The new table.")],
    rows: Annotated[int | None, typer.Option(metavar="N", help="How many rows.", show_default=False)] = None,
    distribution: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|ATTRIBUTE=NAME,…",
            help="How frequent the values of all attributes are, or of those that are named: original, normal, beta, "
            "chi, chi_square, exponential, gamma, geometric, logarithmic, poisson, student_t, uniform.",
        ),
    ] = None,
    sort: Annotated[
        str | None,
        typer.Option(metavar="alpha|reverse|none", help="The order of the values under the distribution."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same rows.")] = 1,
    all_distributions: Annotated[
        bool, typer.Option("--all-distributions", help="A table for every distribution and size.")
    ] = False,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="N,N,…", help="The sizes for --all-distributions.", show_default=False),
    ] = None,
    print_: Annotated[bool, typer.Option("--print", help="Print the SQL, and touch nothing.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="With --all-distributions: a picture of the tables."),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            metavar="POLICY.toml",
            help="A policy for the table, with a hierarchy for each column that needs one.",
        ),
    ] = None,
    public: Public = False,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Make a table of realistic synthetic rows, in the database.

    The domain, the seed and its number decide a row: more rows with the same seed have the fewer ones among them.

    Examples:

      anondb generate irish_census --rows 100000 --table people --seed 7

      anondb generate insurance --rows 5000 --table insured --distribution normal --sort reverse

      anondb generate insurance --rows 5000 --table varied --distribution occupation=normal,activity=poisson

      anondb generate adult --rows 30000 --table people --policy people.toml

      anondb generate adult --all-distributions --sizes 5000,10000 --table bench --report bench.html
    """
    if all_distributions:
        _only(
            rows is None and distribution is None and not print_ and policy is None,
            "--all-distributions makes them all: give --sizes",
        )
    else:
        _only(sizes is None and report is None, "--sizes and --report need --all-distributions")
        _only(rows is not None, "how many rows? give --rows")
        _only(policy is None or not print_, "--policy is for a table that is made: leave --print out")
    counts = None if sizes is None else _sizes(sizes)
    ready = None if policy is None else _ready_policy(domain, target, policy)
    with connect(dsn) as db:
        if print_:
            echo(
                db.synthetic.statement(
                    domain, rows or 0, target, distribution=distribution, sort=sort, seed=seed
                ),
                nl=False,
            )
            return
        with progress_bar("tables" if all_distributions else "rows") as progress:
            if all_distributions:
                grid = db.synthetic.grid(
                    domain, target, sizes=counts, sort=sort, seed=seed, progress=progress
                )
            else:
                made = db.synthetic.generate(
                    domain,
                    rows or 0,
                    target,
                    distribution=distribution,
                    sort=sort,
                    seed=seed,
                    progress=progress,
                )
    if ready is not None and policy is not None:
        save(ready, policy, _folder(policy))
    if all_distributions:
        _tell_grid(grid, report, as_json)
    elif as_json:
        echo_json({"domain": domain, "table": target, "rows": made, "seed": seed})
    else:
        out.print(f"{plain(target)}: {made:,} rows of {plain(domain)}, seed {seed}")
        if policy is not None:
            out.print(f"a policy for it, to be run with: anondb run {plain(str(policy))}")


def _folder(policy: Path) -> str:
    """Where the hierarchies of a policy lie, beside it."""
    return f"{policy.stem}_hierarchies"


def _ready_policy(domain: str, target: str, policy: Path) -> ReadyPolicy:
    require_free(policy, _folder(policy))
    return ready_policy(domain, target, f"{target}_shared", _folder(policy))


def learn(
    source: Annotated[str, typer.Argument(metavar="TABLE", help="The table to learn from.")],
    file: Annotated[
        Path | None,
        typer.Option("--out", metavar="DOMAIN.toml", help="Where to write it; else it is printed."),
    ] = None,
    threshold: Annotated[
        int, typer.Option(metavar="N", help="Values and combinations of fewer records are left out.")
    ] = 10,
    identifier: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column that is not looked at; may be repeated."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=ON,ON", help="What a column depends on; may be repeated."),
    ] = None,
    minimum: Annotated[
        float,
        typer.Option(metavar="SHARE", help="The mutual information that makes a dependency, from 0 to 1."),
    ] = 0.1,
    bins: Annotated[int, typer.Option(metavar="N", help="About so many bins for a column of numbers.")] = 20,
    public: Public = False,
    dsn: Dsn = None,
) -> None:
    """Learn a domain from a table: frequencies, and the dependencies that are found or given.

    Nothing that fewer records than the threshold have goes into the file; numbers go in as ranges.
    What was left out is listed, in the file too.

    Example: anondb learn hospital.admissions --identifier name --out admissions_domain.toml
    """
    from anondb.synthetic.learning import LearnOptions

    options = LearnOptions(threshold, identifier or (), _dependencies(given or []), minimum, bins)
    with connect(dsn) as db:
        learned = db.synthetic.learn(source, options)
    write(learned.text, file)
    for left in learned.left_out:
        err.print(f"left out: {plain(left)}", soft_wrap=True)
    if file is not None:
        depends = sum(1 for parents in learned.given.values() if parents)
        out.print(f"domain: {plain(str(file))}, {depends} dependencies, threshold {threshold}")


def _tell_grid(grid: Grid, report: Path | None, as_json: bool) -> None:
    if report is not None:
        from anondb.report import diversity

        points = [(set_.distribution, set_.rows, set_.x, set_.y) for set_ in grid.sets]
        write(diversity.page(grid.domain, points, grid.explained), report)
    if as_json:
        echo_json(asdict(grid))
        return
    listing = table("table", "distribution", ">rows", ">component 1", ">component 2")
    for set_ in grid.sets:
        listing.add_row(
            plain(set_.table), set_.distribution, f"{set_.rows:,}", f"{set_.x:.2f}", f"{set_.y:.2f}"
        )
    out.print(listing)
    shares = " and ".join(f"{share:.0%}" for share in grid.explained)
    out.print(f"the components show {shares} of how the tables' frequencies differ")
    if report is not None:
        out.print(f"report: {plain(str(report))}")


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError("--sizes is a list of numbers", hint="--sizes 5000,10000") from None


def _dependencies(given: list[str]) -> dict[str, tuple[str, ...]]:
    parents_of: dict[str, tuple[str, ...]] = {}
    for text in given:
        child, equals, parents = text.partition("=")
        if not equals or not all(parents.split(",")) or child in parents.split(","):
            raise UsageError(
                "--given names a column and what it depends on", hint="--given marital_status=age,sex"
            )
        parents_of[child] = tuple(parents.split(","))
    return parents_of


def _only(fits: bool, message: str) -> None:
    if not fits:
        raise UsageError(message, hint="see anondb generate --help")
