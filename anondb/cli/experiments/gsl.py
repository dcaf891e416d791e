"""anondb experiment gsl: does the score of a hierarchy foretell the utility of what is anonymized with it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from anondb.cli.experiments.dynamic import dynamic, only_dynamic
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
from anondb.methods.registry import STUDIED

if TYPE_CHECKING:
    from anondb.study.gsl_study import Study, Weighting


def gsl(
    source: Source = None,
    column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN,…", help="… and its columns of words.", show_default=False),
    ] = None,
    synthetic: Annotated[
        str | None,
        typer.Option(
            "--set",
            metavar="NAME",
            help="A synthetic set: visits, clinic, market.  [default: visits]",
            show_default=False,
        ),
    ] = None,
    study: Annotated[
        str,
        typer.Option(
            "--study", metavar="worse|dynamic", help="Ever worse hierarchies, or data of many shapes."
        ),
    ] = "worse",
    hierarchies: Annotated[
        int | None,
        typer.Option(help="How many hierarchies; 20, in the dynamic study 60.", min=3, show_default=False),
    ] = None,
    k: Annotated[
        str, typer.Option("--k", metavar="K,…", help="The k to anonymize for.")
    ] = "2,5,10,20,50,100",
    algorithms: Annotated[
        str,
        typer.Option(
            metavar="NAME,…", help="What anonymizes: algorithms that release each column at one level."
        ),
    ] = ",".join(STUDIED),
    measure: Annotated[str, typer.Option(help="The similarity that the scores are made of.")] = "wup",
    ontology: Annotated[str, typer.Option(metavar="NAME", help="That knows the words.")] = "wordnet",
    suppression: Annotated[
        float, typer.Option(help="The share of the records that a release may leave out.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(help="Of what is drawn at random.")] = 7,
    heuristic: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Of algorithms that have several: distinct, semantic.", show_default=False
        ),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of algorithms that have several: classes, loss, semantic, …",
            show_default=False,
        ),
    ] = None,
    clusterings: Annotated[
        bool,
        typer.Option(
            "--clusterings", help="Correlate with Rand index and NMI of clusterings too; it takes longer."
        ),
    ] = False,
    dsn: Dsn = None,
    as_json: Json = False,
    file: CsvFile = None,
    report: Report = None,
    public: Public = False,
) -> None:
    """Does the score of a hierarchy (GSL) foretell the utility of what is anonymized with it?

    Builds a hierarchy from the ontology, makes ever worse ones of it, anonymizes
    with each for every k, and correlates scores with utility. Nothing is published,
    and the hierarchies are gone afterwards.

    Examples:

      anondb experiment gsl --hierarchies 10 --k 5,50

      anondb experiment gsl --heuristic semantic --objective semantic

      anondb experiment gsl --study dynamic --hierarchies 60

      anondb experiment gsl --table hospital.admissions --column job,reason --report gsl.html
    """
    if study == "dynamic":
        only_dynamic(
            source is None and column is None and synthetic is None and report is None and not clusterings
        )
        require_possible_files(file, None)
        dynamic(dsn, hierarchies or 60, measure, suppression, seed, heuristic, file, as_json=as_json)
        return
    if study != "worse":
        raise UsageError(f'there is no study "{study[:40]}"', hint="there are worse and dynamic")
    if synthetic is not None and source is not None:
        raise UsageError("a table and a synthetic set are named", hint="give --table or --set")
    ks = numbers(k, "--k")
    require_possible_files(file, report)

    from anondb.study import gsl_study
    from anondb.study.experiment import ExperimentRequest

    request = ExperimentRequest(
        source, names(column), synthetic or "visits", hierarchies or 20, ks, names(algorithms), measure,
        ontology, suppression, seed, heuristic, objective, clusterings,
    )  # fmt: skip
    found = watched(dsn, lambda db, listener: db.experiment(request, listener))
    if file is not None:
        write_csv(gsl_study.rows(found), file)
    if report is not None:
        from anondb.study.report import html

        write(html(found), report)
    if as_json:
        echo_json(gsl_study.as_json(found))
    else:
        _print(found)


def _print(study: Study) -> None:
    from anondb.study.gsl_study import weighed
    from anondb.study.report import (
        agreement_table,
        averaged_table,
        correlation_table,
        improvement_table,
        summary,
    )

    for sentence in summary(study):
        out.print(plain(sentence))
    show_table("Spearman's correlation of GSL and the loss averaged over all k", averaged_table(study))
    show_table("What the best hierarchy by GSL saves against the worst", improvement_table(study))
    show_table("Spearman's correlation of GSL and loss, by k", correlation_table(study))
    show_table("Agreement of the ratings with the utility", agreement_table(study))
    _weightings(weighed(study))
    if study.failures:
        out.print(f"\n{len(study.failures)} trials have no release, the first one: ", end="")
        out.print(plain(next(iter(study.failures.values()))))


def _weightings(weightings: Sequence[Weighting]) -> None:
    """Shows those of the 35 weightings that say most."""
    from anondb.study.report import weighting_table

    by_excess = sorted(weightings, key=lambda weighting: (weighting.excess, weighting.place))
    shown = {
        "GSL alone": next(weighting for weighting in weightings if weighting.weights["semq"] == 100),
        "all equal": next(weighting for weighting in weightings if len(set(weighting.weights.values())) == 1),
        "the best": by_excess[0],
        "the worst": by_excess[-1],
    }
    content = weighting_table(list(shown.values()))
    rows = [[name, *row] for name, row in zip(shown, content.rows, strict=True)]
    show_table(
        f"Choosing by the evaluator, {len(weightings)} weightings",
        content._replace(head=["", *content.head], rows=rows, words=(0, 1)),
    )
