"""The study of (l, e)-diversity on any data: a release for every l, e and size, none of which is published."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from anondb.compare.trial import Setting, run_trial
from anondb.db.connection import Connection, Door, one_snapshot
from anondb.db.errors import translated
from anondb.db.install.upgrade import require_current
from anondb.db.introspect import column_categories, resolve_source
from anondb.db.synthetic import generate
from anondb.errors import UnsatisfiableError, UsageError, did_you_mean
from anondb.hierarchies.forms import CsvVgh, Hierarchy, StoredVgh
from anondb.models.le_diversity import LeDiversity
from anondb.policy.model import Column, Method, Name, Policy, Privacy, Role
from anondb.policy.names import parse_name
from anondb.run.pipeline import Silence
from anondb.run.plan import Options
from anondb.sqltree.render import render
from anondb.sqltree.tables import Relation
from anondb.study import diversity_sql
from anondb.study.diversity_study import Anatomized, DiversityStudy
from anondb.synthetic import cocoa
from anondb.synthetic.domain_file import load

MOST_RELEASES = 1_000
ADULTS = "adult"
"""The built-in domain of the synthetic data, and what is taken of it."""
ADULT_QUASI = ("age", "sex", "race", "marital_status")
ADULT_SENSITIVE = "education"
_ALL, _SAMPLE = "anondb_study_all", "anondb_study"
_DROP = "drop table pg_temp.anondb_study"

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class DiversityRequest:
    """What to try: columns of a table, or without one synthetic adults."""

    table: str | None = None
    quasi: tuple[str, ...] = ()
    sensitive: str | None = None
    hierarchy: str | None = None  # a stored one, or a CSV file
    l: tuple[int, ...] = (2, 3, 4, 5, 6)  # noqa: E741 - the literature's name
    e: tuple[float, ...] = (0.0, 1.0)
    records: tuple[int, ...] = (5_000, 10_000, 15_000, 20_000, 25_000, 30_000)
    fixed_l: int = 3  # while the number of records varies
    seed: int = 7


@dataclass(frozen=True)
class _Data:
    relation: Relation
    text: str  # for reports
    quasi: tuple[str, ...]
    sensitive: str
    hierarchy: Hierarchy
    called: str  # the hierarchy


def experiment(door: Door, request: DiversityRequest, progress: Progress | None = None) -> DiversityStudy:
    """Runs the study; all that it makes is temporary, and undone at its end."""
    tell = progress or (lambda doing, share: None)
    _check(request)
    with door.open() as connection:
        require_current(connection)
        with one_snapshot(connection, "experimenting", undo=True):
            data = _data(connection, request, tell)
            releases, failures = _releases(connection, request, data, tell)
    if not releases:
        why = next(iter(failures.values()))
        raise UnsatisfiableError(f"no setting has a release: {why}", hint="try a smaller l or e")
    return DiversityStudy(
        data.text, data.quasi, data.sensitive, data.called, request.fixed_l, request.seed, tuple(releases), failures
    )  # fmt: skip


def _check(request: DiversityRequest) -> None:
    named = (request.quasi, request.sensitive, request.hierarchy)
    if (request.table is not None and not all(named)) or (request.table is None and any(named)):
        raise UsageError(
            "a table needs quasi-identifiers, a sensitive column and its hierarchy, and these need a table",
            hint="--table patients --quasi age,zip --sensitive disease --hierarchy disease.csv",
        )
    if not (request.l and request.e and request.records):
        raise UsageError("there is nothing to try", hint="give an l, an e and a number of records")
    if min(*request.l, request.fixed_l) < 2 or max(*request.l, request.fixed_l) >= 2**31:
        raise UsageError("l is at least 2", hint="--l 2,3,4")
    if min(request.e) < 0:
        raise UsageError("e is at least 0", hint="--e 0,1")
    if min(request.records) < 1:
        raise UsageError("the number of records is not above 0", hint="--records 5000,10000")
    number = len(request.e) * (len(request.l) + len(request.records))
    if number > MOST_RELEASES:
        raise UsageError(f"these are {number:,} releases", hint=f"try at most {MOST_RELEASES:,} at once")


def _data(connection: Connection, request: DiversityRequest, tell: Progress) -> _Data:
    if request.table is None or request.sensitive is None or request.hierarchy is None:
        most = max(request.records)
        tell("making the data", 0.0)
        generate(
            connection, cocoa.recipe(load(ADULTS), None, None), Relation("pg_temp", _ALL), most, request.seed
        )
        relation = resolve_source(connection, Name(None, _ALL))
        file = CsvVgh(Path(str(files("anondb.study") / "data" / "education.csv")))
        text = f"{most:,} synthetic adults"
        return _Data(relation, text, ADULT_QUASI, ADULT_SENSITIVE, file, "the levels of schools")
    relation = resolve_source(connection, parse_name(request.table))
    known = column_categories(connection, relation)
    for column in (*request.quasi, request.sensitive):
        if column not in known:
            hint = did_you_mean(column, known) or f"choose from {', '.join(known)}"
            raise UsageError(f'{request.table} has no column "{column}"', hint=hint)
    if len({*request.quasi, request.sensitive}) <= len(request.quasi):
        raise UsageError("a column is named twice", hint="name each once")
    is_file = request.hierarchy.endswith(".csv")
    hierarchy = CsvVgh(Path(request.hierarchy)) if is_file else StoredVgh(request.hierarchy)
    return _Data(relation, request.table, request.quasi, request.sensitive, hierarchy, request.hierarchy)


def _settings(request: DiversityRequest, available: int) -> list[tuple[int, int, float]]:
    """Records, l and e: l varies with the most records, and the number of records with one l."""
    sizes = sorted({min(records, available) for records in request.records})
    wanted = {(sizes[-1], l) for l in request.l} | {(records, request.fixed_l) for records in sizes}  # noqa: E741
    return [(records, l, e) for records, l in sorted(wanted) for e in sorted(set(request.e))]  # noqa: E741


def _releases(
    connection: Connection, request: DiversityRequest, data: _Data, tell: Progress
) -> tuple[list[Anatomized], dict[str, str]]:
    with translated("counting the records"):
        [available] = connection.execute(render(diversity_sql.count(data.relation)).encode()).fetchone() or (
            0,
        )
    if not isinstance(available, int) or available == 0:
        raise UsageError(f"{data.text} has no records", hint="is it the right table?")
    settings = _settings(request, available)
    releases: list[Anatomized] = []
    failures: dict[str, str] = {}
    for number, (records, l, e) in enumerate(settings):  # noqa: E741
        called = f"{records:,} records, l = {l}, e = {e:g}"
        tell(called, 0.05 + 0.95 * number / len(settings))
        for found in _release(connection, request, data, (records, l, e)):
            if isinstance(found, str):
                failures[called] = found
            else:
                releases.append(found)
    return releases, failures


def _release(
    connection: Connection, request: DiversityRequest, data: _Data, setting: tuple[int, int, float]
) -> Iterator[Anatomized | str]:
    """The figures of one setting, or why it has none."""
    records, l, e = setting  # noqa: E741
    columns = (*data.quasi, data.sensitive)
    sampled = diversity_sql.sample(_SAMPLE, data.relation, columns, records, request.seed)
    with translated("drawing a sample"):
        connection.execute(render(sampled).encode())
    relation = resolve_source(connection, Name("pg_temp", _SAMPLE))
    policy = _policy(relation, data, LeDiversity(data.sensitive, l, e), request.seed)
    trial = run_trial(
        connection, policy, Setting(policy.method.algorithm, 1, data.quasi), Options(), Silence()
    )
    connection.execute(_DROP)
    if isinstance(trial.error, UsageError):
        raise trial.error
    if trial.result is None:
        yield trial.failure
        return
    result, figures = trial.result, trial.result.all_metrics()
    seconds = sum(spent for stage, spent in result.seconds.items() if stage != "evaluate")
    yield Anatomized(
        result.records, l, e, result.classes, result.suppressed, figures["information_loss"],
        figures["information_loss_sum"], figures["dot"], round(seconds, 4),
    )  # fmt: skip


def _policy(relation: Relation, data: _Data, model: LeDiversity, seed: int) -> Policy:
    """The source leaves out whatever fits no class, and so may these."""
    name = Name(relation.schema, relation.name)
    quasi = [Column(column, Role.QUASI) for column in data.quasi]
    columns = (*quasi, Column(data.sensitive, Role.SENSITIVE, data.hierarchy))
    # the method that publishes such classes in two tables has the name of the model
    method = Method(LeDiversity.name, seed=seed)
    return Policy(name, name, Privacy(1, 1.0, models=(model,)), method, columns, "", "experiment", "")
