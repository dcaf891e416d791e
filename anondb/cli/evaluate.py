"""anondb evaluate: what a release is worth, and what it gives away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from anondb.api import connect
from anondb.cli.metrics import print_evaluation
from anondb.cli.options import Dsn, Json, names, pairs
from anondb.cli.output import RunProgress, echo_json
from anondb.errors import UsageError

if TYPE_CHECKING:
    from anondb.evaluation.evaluation import Evaluation


def evaluate(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="A run of ours: its number, or last.", show_default=False),
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
    columns: Annotated[
        bool, typer.Option("--columns", help="Also the metrics of each quasi-identifier.")
    ] = False,
    original: Annotated[
        str | None, typer.Option(metavar="TABLE", help="The table that a release was made from.")
    ] = None,
    release: Annotated[
        str | None, typer.Option(metavar="TABLE", help="The release, whoever made it.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Names a record in both; else no measure by record.")
    ] = None,
    quasi: Annotated[
        list[str] | None, typer.Option(metavar="A,B,…", help="The columns that people could be found by.")
    ] = None,
    vgh: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=NAME", help="The stored hierarchy of a column.")
    ] = None,
    ontology: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=NAME", help="Instead: what knows the texts of a column, or of its sets."
        ),
    ] = None,
    sensitive: Annotated[
        list[str] | None, typer.Option(metavar="A,B,…", help="The columns that must not be given away.")
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Everyone who could be in the release, generalized as it is."),
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Instead: the share of the population that is in the original."),
    ] = None,
    masked: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…", help="The labels of a suppressed record, one a quasi-identifier: '*,*'."
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Names the person, who may have several records: risk counts persons."
        ),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(metavar="N", help="Cluster N records; 1000 unless told.", show_default=False)
    ] = None,
    clusters: Annotated[
        int | None,
        typer.Option(metavar="N", help="Into how many; else as suits the original.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", help="Which records are sampled.")] = 0,
) -> None:
    """Show what a release is worth, and what it gives away.

    Of a run of ours, the metrics that it kept while it knew whose record is whose
    (`anondb run --evaluate full` keeps more). Of any other release, all metrics that
    the two tables give, computed now and with your own rights.

    Examples:

      anondb evaluate last --columns

      anondb evaluate --original hospital.admissions --release share.admissions --key id
      --quasi age,zip,job --vgh job=occupation --sensitive diagnosis
    """
    of_tables: dict[str, object] = {"--original": original, "--release": release, "--quasi": quasi}
    others = {"--key": key, "--vgh": vgh, "--ontology": ontology, "--sensitive": sensitive, "--population": population,
              "--fraction": fraction, "--unit": unit, "--masked": masked, "--sample": sample, "--clusters": clusters,
              "--seed": seed or None}  # fmt: skip
    given = [name for name, value in (of_tables | others).items() if value is not None]
    if run is not None:
        if given:
            raise UsageError(
                f"a run is named, and {given[0]} is for tables",
                hint="give the number of a run alone, or --original, --release and --quasi",
            )
        with connect(dsn) as db:
            evaluation = db.releases.evaluate(run)
    else:
        missing = [name for name, value in of_tables.items() if value is None]
        if original is None or release is None or quasi is None:
            raise UsageError(
                f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
                if given
                else "neither a run nor two tables are named",
                hint="anondb evaluate last, or anondb evaluate --original T --release T2 --key id --quasi age,zip",
            )
        with connect(dsn) as db, RunProgress() as progress:
            evaluation = db.releases.evaluate_tables(
                original,
                release,
                quasi=names(quasi),
                key=key,
                vghs=pairs("--vgh", "hierarchy", "job=occupation", vgh),
                ontologies=pairs("--ontology", "ontology", "job=wordnet", ontology),
                sensitive=names(sensitive or []),
                population=population,
                fraction=fraction,
                sample=sample,
                clusters=clusters,
                seed=seed,
                roots=None if masked is None else names([masked]),
                unit=unit,
                listener=progress,
            )
    _print(evaluation, as_json=as_json, columns=columns)


def _print(evaluation: Evaluation, *, as_json: bool, columns: bool) -> None:
    if as_json:
        echo_json(evaluation.as_json())
    else:
        print_evaluation(evaluation, columns=columns)
