"""anondb vgh score and anondb vgh senses: how good a hierarchy is, and what it means."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from anondb.api import connect
from anondb.cli.options import Dsn, Json, VghName
from anondb.cli.output import echo_json, out, table
from anondb.errors import UsageError
from anondb.hierarchies.score import Method
from anondb.ontology.measures import MEASURES

_UNSURE = 0.5  # a confidence below which a sense deserves a look

Measure = Annotated[
    str, typer.Option(metavar="NAME", help=f"The similarity of concepts: {', '.join(MEASURES)}.")
]


def score(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME…", help="One hierarchy, or several to compare.", show_default=False),
    ],
    measure: Measure = Method.measure,
    aggregate: Annotated[
        str, typer.Option(metavar="max|avg", help="Of the leaves' losses at a level.")
    ] = Method.aggregate,
    weights: Annotated[
        str,
        typer.Option(metavar="WEIGHTS", help="Of the levels: uniform, level, or 0.5,0.3,0.2 (lowest first)."),
    ] = "uniform",
    source: Annotated[
        str | None,
        typer.Option("--table", metavar="TABLE", help="Count each leaf as often as it occurs here …"),
    ] = None,
    column: Annotated[str | None, typer.Option(metavar="COLUMN", help="… in this column.")] = None,
    unmapped: Annotated[
        str, typer.Option(metavar="error|skip", help="What to do with terms that the ontology does not know.")
    ] = Method.unmapped,
    preferences: Annotated[
        str | None, typer.Option(metavar="P,P,…", help="Of the set: one for each hierarchy, of mean 1.")
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Tell how much meaning a hierarchy loses (GSL, 0 to 1), where, and what is wrong with it.

    Several hierarchies are compared, best first.

    Examples:

      anondb vgh score occupation

      anondb vgh score occupation --table hospital.admissions --column job

      anondb vgh score occupation city --preferences 1.5,0.5
    """
    own = weights if weights in ("uniform", "level") else _numbers(weights, "--weights", "0.5,0.3,0.2")
    method = Method(measure, aggregate, own, source, column, unmapped)
    wanted = None if preferences is None else _numbers(preferences, "--preferences", "1.5,0.5")
    with connect(dsn) as db:
        several = len(names) > 1 or wanted is not None
        scored = (
            db.hierarchies.score_set(names, method, preferences=wanted)
            if several
            else db.hierarchies.score(names[0], **vars(method))
        )
    if as_json:
        echo_json(scored.as_json())
    else:
        out.print(scored)


def senses(
    name: VghName,
    choices: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="LABEL=CONCEPT",
            help="Say what a label means: Bat=bat#1, Bat=bat.n.01; Bat= takes it back. Can be repeated.",
        ),
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """List what every node of a hierarchy means, how that was found, and how sure it is.

    Example: anondb vgh senses animals --set Bat=bat#1
    """
    chosen = [_choice(text) for text in choices or ()]
    with connect(dsn) as db:
        with db.session.transaction():  # all choices or none
            for label, concept in chosen:
                db.hierarchies.choose_sense(name, label, concept)
        senses_of_nodes = db.hierarchies.senses(name)
    if as_json:
        echo_json([asdict(sense) for sense in senses_of_nodes])
        return
    listing = table(">level", "label", "concept", "found by", ">sure", "meaning")
    for sense in senses_of_nodes:
        unsure = "yellow" if sense.confidence < _UNSURE else ""
        listing.add_row(
            str(sense.level),
            Text(sense.label),
            Text(sense.concept or "unknown", style="" if sense.concept else "red"),
            sense.how if sense.concept else "",
            Text(f"{sense.confidence:.2f}" if sense.concept else "", style=unsure),
            Text(sense.meaning or "", overflow="ellipsis", no_wrap=True),
        )
    out.print(listing)


def _numbers(text: str, option: str, example: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f'{option} is "{text}", and no list of numbers', hint=f"for example {option} {example}"
        ) from None


def _choice(text: str) -> tuple[str, str | None]:
    label, equals, concept = text.rpartition("=")
    if not equals or not label:
        raise UsageError(f'--set is "{text}"', hint="write LABEL=CONCEPT, as in --set Bat=bat#1")
    return label, concept.strip() or None
