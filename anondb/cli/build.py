"""anondb vgh build and anondb vgh rank: hierarchies that nobody has to write, and the choice among them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress as Bar
from rich.text import Text

from anondb.api import Database, connect
from anondb.cli.options import Dsn, Json, Public, VghName
from anondb.cli.output import echo_json, err, is_watched, out, reason_of, table
from anondb.errors import UsageError
from anondb.hierarchies.build.ranking import ASPECTS, Ranking, RankingMethod, read_weights

if TYPE_CHECKING:
    from anondb.hierarchies.build.build import Building, SenseChoice

_LISTED = 10  # values and candidates that are shown of many

Weights = Annotated[
    str,
    typer.Option(metavar="ASPECT=W,…", help="What counts: semq, priv, distrn, isize; the sum is 100."),
]
K = Annotated[int, typer.Option("--k", help="Records that a class is to hold.", min=1)]
Best = Annotated[bool, typer.Option("--best", help="Store the winner as NAME.")]
Replace = Annotated[bool, typer.Option("--replace", help="Overwrite those of this name.")]
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE.html", help="Write scores and pictures as a page."),
]
_EQUAL = "semq=25,priv=25,distrn=25,isize=25"


def build(
    name: VghName,
    source: Annotated[str, typer.Option("--table", metavar="TABLE", help="The table …", show_default=False)],
    column: Annotated[
        str, typer.Option(metavar="COLUMN", help="… and its column of words or numbers.", show_default=False)
    ],
    k: K = 5,
    levels: Annotated[str, typer.Option(metavar="SHARE", help="The levels to keep when some go.")] = "75%",
    perspectives: Annotated[int, typer.Option(help="How many other perspectives to try.", min=0)] = 3,
    bound: Annotated[float, typer.Option(help="How similar another perspective is to be.")] = 0.8,
    senses: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What values mean, a line each: Bat=bat#1", show_default=False),
    ] = None,
    ontology: Annotated[
        str, typer.Option(metavar="NAME", help="The ontology that knows the values.")
    ] = "wordnet",
    seed: Annotated[int, typer.Option(help="Of what is drawn at random.")] = 0,
    weights: Weights = _EQUAL,
    best: Best = False,
    replace: Replace = False,
    report: Report = None,
    public: Public = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Build hierarchies for a column from the meaning of its values, or from the distribution of its numbers.

    They are stored as NAME.base, NAME.1, NAME.2, … and ranked; --best stores the winner as NAME. In a terminal,
    you are asked for the meaning of values that nothing tells apart.

    Example: anondb vgh build job --table hospital.admissions --column job --best
    """
    given = {} if senses is None else _senses(senses)
    share = _share(levels)
    method = RankingMethod(read_weights(weights), k, table=source, column=column)
    with connect(dsn) as db, Bar(console=err, transient=True, disable=not is_watched()) as bar:
        task = bar.add_task("building", total=1.0)

        def ask(choices: Mapping[str, Sequence[SenseChoice]]) -> dict[str, str]:
            bar.stop()
            given = _chosen_by_user(choices)
            bar.start()
            return given

        made = db.hierarchies.build(
            name,
            source,
            column,
            k=k,
            levels=share,
            perspectives=perspectives,
            bound=bound,
            senses=given,
            ontology=ontology,
            seed=seed,
            replace=replace,
            ask=ask if sys.stdin.isatty() and sys.stdout.isatty() and not as_json else None,
            progress=lambda doing, done: bar.update(task, description=doing, completed=done * 0.7),
        )
        bar.update(task, description="ranking", completed=0.7)
        ranking = db.hierarchies.rank(made.names, method)
        if best:
            db.hierarchies.keep(ranking.winner, name, replace=replace)
        made_by = {candidate.name: ", ".join(candidate.made_by) for candidate in made.candidates}
        if report is not None:
            _write(db, ranking, report, made_by)
    if as_json:
        candidates = [asdict(candidate) for candidate in made.candidates]
        meanings = [asdict(meaning) for meaning in made.meanings]
        building = {"name": name, "values": made.values, "unknown": made.unknown, "meanings": meanings}
        echo_json({**building, "candidates": candidates, "ranking": ranking.as_json()})
        return
    _tell(made)
    _print(ranking, made_by)
    if best:
        out.print(Text(f"{ranking.winner} is stored as {name}"))


def rank(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME…", help="What was built under a name, or several hierarchies."),
    ],
    weights: Weights = _EQUAL,
    k: K = 5,
    source: Annotated[
        str | None,
        typer.Option("--table", metavar="TABLE", help="Count each leaf as often as it occurs here …"),
    ] = None,
    column: Annotated[str | None, typer.Option(metavar="COLUMN", help="… in this column.")] = None,
    measure: Annotated[str, typer.Option(metavar="NAME", help="The similarity of semq.")] = "wup",
    aggregate: Annotated[
        str, typer.Option(metavar="max|avg", help="Of the leaves' losses at a level.")
    ] = "max",
    best: Best = False,
    replace: Replace = False,
    report: Report = None,
    public: Public = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Rank hierarchies on four sides: meaning, privacy, distortion for k, and size of the intervals.

    Without a table, each leaf counts once.

    Example: anondb vgh rank job --weights semq=40,priv=20,distrn=20,isize=20
    """
    if best and len(names) > 1:
        raise UsageError("--best stores the winner under the one name that was built", hint="name one")
    method = RankingMethod(read_weights(weights), k, measure, aggregate, source, column)
    with connect(dsn) as db:
        ranking = db.hierarchies.rank(names if len(names) > 1 else names[0], method)
        if best:
            db.hierarchies.keep(ranking.winner, names[0], replace=replace)
        if report is not None:
            _write(db, ranking, report, {})
    if as_json:
        echo_json(ranking.as_json())
        return
    _print(ranking, {})
    if best:
        out.print(Text(f"{ranking.winner} is stored as {names[0]}"))


def _chosen_by_user(choices: Mapping[str, Sequence[SenseChoice]]) -> dict[str, str]:
    """Asks the person at the terminal what values mean; values without an answer keep their best known sense."""
    given: dict[str, str] = {}
    err.print(
        Text(f"{len(choices)} values have several senses that nothing tells apart; 0 ends the questions.")
    )
    for value, senses in choices.items():
        err.print(Text(f"\n{value}"))
        for number, sense in enumerate(senses, start=1):
            err.print(Text(f"  {number}  {sense.concept}: {sense.meaning}"))
        answer = -1
        while not 0 <= answer <= len(senses):
            answer = typer.prompt(f"What does {value} mean?", default=1, type=int, err=True)
        if answer == 0:
            break
        given[value] = senses[answer - 1].concept
    return given


def _tell(made: Building) -> None:
    """What was built, and what is unsure about it."""
    out.print(Text(f"{made.name}: {len(made.names)} candidates for {made.values} values"))
    _list("not in the ontology, below the root", made.unknown)
    _list("of several senses that nothing tells apart", [f"{m.value} ({m.concept})" for m in made.ambiguous])
    _list("unlike nearly all others", [f"{m.value} ({m.concept})" for m in made.apart])
    if made.unknown or made.ambiguous or made.apart:
        out.print(
            "  hint: say what they mean in a file, Bat=bat#1 on each line, and give --senses FILE --replace"
        )
    if made.meets_at_root:
        out.print(
            "the values have no class in common below the root: above the level under it, nothing is told"
        )


def _write(db: Database, ranking: Ranking, file: Path, made_by: Mapping[str, str]) -> None:
    try:
        db.hierarchies.report(ranking, file, made_by)
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: cannot be written: {reason_of(error)}", hint="check its name") from None


def _print(ranking: Ranking, made_by: Mapping[str, str]) -> None:
    headings = [f">{aspect} ({ranking.method.weights[aspect]:g})" for aspect in ASPECTS]
    # as much as a terminal of 80 columns holds; the rest is in --json and the report
    listing = table(">rank", "hierarchy", ">score", *headings, ">depth")
    for column in listing.columns[:3]:
        column.no_wrap = True  # the figures break before a name does
    for ranked in ranking.ranked[:_LISTED]:
        cells = [
            "–" if aspect.score is None else f"{aspect.score:.3f} #{aspect.rank}"
            for aspect in (ranked.aspects[name] for name in ASPECTS)
        ]
        depth = str(ranked.structure["depth"].maximum)
        listing.add_row(str(ranked.rank), Text(ranked.vgh), f"{ranked.score:g}", *cells, depth)
    out.print(listing)
    if len(ranking.ranked) > _LISTED:
        out.print(f"and {len(ranking.ranked) - _LISTED} more")
    if made_by.get(ranking.winner):
        out.print(Text(f"the best, {ranking.winner}, was made by: {made_by[ranking.winner]}"))


def _list(heading: str, values: list[str]) -> None:
    if values:
        more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
        out.print(Text(f"{len(values)} {heading}: {', '.join(values[:_LISTED])}{more}"))


def _share(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise UsageError(f'--levels is "{text}", and no share', hint="for example --levels 75%") from None


def _senses(file: Path) -> dict[str, str]:
    """Lines of VALUE=CONCEPT; empty lines mean nothing."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{file}: cannot be read as UTF-8", hint="check the file's name") from None
    senses = {}
    for number, line in enumerate(lines, start=1):
        value, equals, concept = line.rpartition("=")
        if line.strip() and not (equals and value and concept.strip()):
            raise UsageError(f"{file} line {number}: not VALUE=CONCEPT", hint="for example Bat=bat#1")
        if line.strip():
            senses[value] = concept.strip()
    return senses
