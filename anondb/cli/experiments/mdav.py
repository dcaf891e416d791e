"""anondb experiment mdav: do records lose less if they are compared by meaning, and by which distance?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anondb.cli.experiments.options_and_tables import Report, Source, numbers, show_table, watched, write_csv
from anondb.cli.options import Dsn, Json, Public, require_possible_files
from anondb.cli.output import echo_json, out, plain, write
from anondb.errors import UsageError

if TYPE_CHECKING:
    from anondb.study.set_study import SetStudy


def mdav(
    source: Source = None,
    column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="… and its column of sets of texts, text[].", show_default=False),
    ] = None,
    synthetic: Annotated[
        str | None,
        typer.Option(
            "--set",
            metavar="NAME",
            help="Synthetic logs: words, queries.  [default: words]",
            show_default=False,
        ),
    ] = None,
    records: Annotated[int, typer.Option(help="Of a synthetic log.", min=2)] = 150,
    texts: Annotated[int, typer.Option(help="Of a record of it, on average.", min=1)] = 10,
    draws: Annotated[int, typer.Option(help="How many synthetic logs; losses are their mean.", min=1)] = 3,
    k: Annotated[str, typer.Option("--k", metavar="K,…", help="The k to anonymize for.")] = "2,3,4,5",
    ontology: Annotated[str, typer.Option(metavar="NAME", help="That knows the words.")] = "wordnet",
    seed: Annotated[int, typer.Option(help="Of the first synthetic log.")] = 7,
    dsn: Dsn = None,
    as_json: Json = False,
    file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.csv", help="Write every loss, one line each.")
    ] = None,
    report: Report = None,
    public: Public = False,
) -> None:
    """Do sets of texts lose less if they are compared by meaning, and by which distance?

    Makes classes by every distance of sets, by meaning and by its two twins without,
    for every k, and measures the loss of the published method. Nothing is published.

    Examples:

      anondb experiment mdav --set queries --draws 5

      anondb experiment mdav --table searches --column queries --report sets.html
    """
    if synthetic is not None and source is not None:
        raise UsageError("a table and a synthetic set are named", hint="give --table or --set")
    ks = numbers(k, "--k")
    require_possible_files(file, report)

    from anondb.study import set_study
    from anondb.study.set_experiment import SetRequest

    request = SetRequest(source, column, synthetic or "words", records, texts, ks, ontology, seed, draws)
    study = watched(dsn, lambda db, listener: db.set_experiment(request, listener))
    if file is not None:
        write_csv(set_study.rows(study), file)
    if report is not None:
        from anondb.study.set_report import html

        write(html(study), report)
    if as_json:
        echo_json(set_study.as_json(study))
    else:
        _print(study)


def _print(study: SetStudy) -> None:
    from anondb.study.set_report import log_table, loss_table
    from anondb.study.set_study import summary

    for sentence in summary(study):
        out.print(plain(sentence))
    show_table("Information loss by distance and k", loss_table(study))
    show_table("The data", log_table(study))
