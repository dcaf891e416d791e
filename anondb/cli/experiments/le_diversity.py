"""anondb experiment le-diversity: what does it cost to keep relatives out of a class, and what does it gain?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from anondb.cli.experiments.options_and_tables import (
    CsvFile,
    Report,
    Source,
    names,
    numbers,
    show_table,
    watched,
    write_csv,
)
from anondb.cli.options import Dsn, Json, Public, require_possible_files
from anondb.cli.output import echo_json, out, plain, write
from anondb.errors import UsageError

if TYPE_CHECKING:
    from anondb.study.diversity_study import DiversityStudy


def le_diversity(
    source: Source = None,
    quasi: Annotated[
        str | None,
        typer.Option(metavar="COLUMN,…", help="… its quasi-identifiers …", show_default=False),
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="… its sensitive column …", show_default=False)
    ] = None,
    hierarchy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="… and the hierarchy of that: stored, or FILE.csv.", show_default=False
        ),
    ] = None,
    l: Annotated[str, typer.Option("--l", metavar="L,…", help="The l to try.")] = "2,3,4,5,6",  # noqa: E741
    e: Annotated[str, typer.Option("--e", metavar="E,…", help="The e to try.")] = "0,1",
    records: Annotated[
        str, typer.Option(metavar="N,…", help="The numbers of records to try.")
    ] = "5000,10000,15000,20000,25000,30000",
    fixed_l: Annotated[int, typer.Option(help="The l while the number of records varies.", min=2)] = 3,
    seed: Annotated[int, typer.Option(help="Of what is drawn at random.")] = 7,
    dsn: Dsn = None,
    as_json: Json = False,
    file: CsvFile = None,
    report: Report = None,
    public: Public = False,
) -> None:
    """What does it cost to keep close relatives out of a class, and what does it gain?

    Makes releases in two tables for every l, e and number of records, and measures their
    loss, their diversity (DOT) and the time. Whatever fits no class is left out, however
    much that is. Nothing is published. Without a table it draws synthetic adults.

    Examples:

      anondb experiment le-diversity --report diversity.html

      anondb experiment le-diversity --table patients --quasi age,zip --sensitive disease --hierarchy disease
    """
    require_possible_files(file, report)

    from anondb.study import diversity_study
    from anondb.study.diversity_experiment import DiversityRequest

    request = DiversityRequest(
        source, names(quasi), sensitive, hierarchy, numbers(l, "--l"), _distances(e), numbers(records, "--records"),
        fixed_l, seed,
    )  # fmt: skip
    study = watched(dsn, lambda db, listener: db.diversity_experiment(request, listener))
    if file is not None:
        write_csv(diversity_study.rows(study), file)
    if report is not None:
        from anondb.study.diversity_report import html

        write(html(study), report)
    if as_json:
        echo_json(diversity_study.as_json(study))
    else:
        _print(study)


def _distances(text: str) -> tuple[float, ...]:
    try:
        return tuple(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError:
        raise UsageError("--e takes numbers with commas between them", hint="for example --e 0,1") from None


def _print(study: DiversityStudy) -> None:
    from anondb.study.diversity_report import release_table, summary

    for sentence in summary(study):
        out.print(plain(sentence))
    show_table("Releases in two tables", release_table(study.releases))
    if study.failures:
        out.print(f"\n{len(study.failures)} settings have no release, the first one: ", end="")
        out.print(plain(next(iter(study.failures.values()))))
