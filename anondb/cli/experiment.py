"""anondb experiment: published studies, rerun in the database on your own data or on synthetic sets."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from anondb.api import connect
from anondb.cli.options import Dsn, Json, Public, require_possible_files
from anondb.cli.output import echo_json, err, is_watched, out, plain, table, write
from anondb.errors import UsageError

if TYPE_CHECKING:
    from anondb.report.figures import Table
    from anondb.study.gsl_study import Study, Weighting

app = typer.Typer(
    no_args_is_help=True, help="Rerun published studies on your own data, or on synthetic sets."
)


@app.callback()
def experiment() -> None:
    """Rerun published studies on your own data, or on synthetic sets."""


@app.command()
def gsl(
    source: Annotated[
        str | None, typer.Option("--table", metavar="TABLE", help="Your table …", show_default=False)
    ] = None,
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
    hierarchies: Annotated[int, typer.Option(help="Hierarchies of falling quality.", min=3)] = 20,
    k: Annotated[
        str, typer.Option("--k", metavar="K,…", help="The k to anonymize for.")
    ] = "2,5,10,20,50,100",
    algorithms: Annotated[
        str, typer.Option(metavar="NAME,…", help="What anonymizes: datafly, incognito, optimal.")
    ] = "datafly,incognito",
    measure: Annotated[str, typer.Option(help="The similarity that the scores are made of.")] = "wup",
    ontology: Annotated[str, typer.Option(metavar="NAME", help="That knows the words.")] = "wordnet",
    suppression: Annotated[
        float, typer.Option(help="The share of the records that a release may leave out.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(help="Of what is drawn at random.")] = 7,
    dsn: Dsn = None,
    as_json: Json = False,
    file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.csv", help="Write every release, one line each.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="Write a report with charts.")
    ] = None,
    public: Public = False,
) -> None:
    """Does the score of a hierarchy (GSL) foretell the utility of what is anonymized with it?

    Builds a hierarchy from the ontology, makes ever worse ones of it, anonymizes
    with each for every k, and correlates scores with utility. Nothing is published,
    and the hierarchies are gone afterwards.

    Examples:

      anondb experiment gsl --hierarchies 10 --k 5,50

      anondb experiment gsl --table hospital.admissions --column job,reason --report gsl.html
    """
    if synthetic is not None and source is not None:
        raise UsageError("a table and a synthetic set are named", hint="give --table or --set")
    numbers = _numbers(k)
    require_possible_files(file, report)

    from anondb.study import gsl_study
    from anondb.study.experiment import ExperimentRequest

    request = ExperimentRequest(
        source, _names(column), synthetic or "visits", hierarchies, numbers, _names(algorithms), measure,
        ontology, suppression, seed,
    )  # fmt: skip
    with connect(dsn) as db, _bar() as bar:
        task = bar.add_task("", total=1.0)
        study = db.experiment(
            request, lambda doing, done: bar.update(task, description=doing, completed=done)
        )
    if file is not None:
        write(_csv(study), file)
    if report is not None:
        from anondb.study.report import html

        write(html(study), report)
    if as_json:
        echo_json(gsl_study.as_json(study))
    else:
        _print(study)


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description:<36}"), BarColumn(bar_width=30), TimeElapsedColumn(),
        console=err, transient=True, disable=not is_watched(),
    )  # fmt: skip


def _names(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(name.strip() for name in text.split(","))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise UsageError(
            "--k takes whole numbers with commas between them", hint="for example --k 2,10,100"
        ) from None


def _csv(study: Study) -> str:
    from anondb.study.gsl_study import rows

    text = io.StringIO()
    lines = rows(study)
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _print(study: Study) -> None:
    from anondb.study.gsl_study import weighed
    from anondb.study.report import agreement_table, correlation_table, summary

    for sentence in summary(study):
        out.print(plain(sentence))
    _table("Spearman's correlation of GSL and loss, by k", correlation_table(study))
    _table("Agreement of the ratings with the utility", agreement_table(study))
    _weightings(weighed(study))
    if study.failures:
        out.print(f"\n{len(study.failures)} trials have no release, the first one: ", end="")
        out.print(plain(next(iter(study.failures.values()))))


def _table(title: str, content: Table) -> None:
    out.print(f"\n[bold]{title}[/bold]")
    heads = [head if place in content.words else f">{head}" for place, head in enumerate(content.head)]
    made = table(*heads)
    for row in content.rows:
        made.add_row(*map(plain, row))
    out.print(made)


def _weightings(weightings: Sequence[Weighting]) -> None:
    """Shows those of the 35 weightings that say most."""
    from anondb.study.report import weighting_table

    by_excess = sorted(weightings, key=lambda one: (one.excess, one.place))
    shown = {
        "GSL alone": next(one for one in weightings if one.weights["semq"] == 100),
        "all equal": next(one for one in weightings if len(set(one.weights.values())) == 1),
        "the best": by_excess[0],
        "the worst": by_excess[-1],
    }
    content = weighting_table(list(shown.values()))
    rows = [[name, *row] for name, row in zip(shown, content.rows, strict=True)]
    _table(
        f"Choosing by the evaluator, {len(weightings)} weightings",
        content._replace(head=["", *content.head], rows=rows, words=(0, 1)),
    )
