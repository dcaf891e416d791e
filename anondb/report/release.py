"""The report of a run: what the history keeps of it, as the pages of `anondb.report` show it.

It needs nothing but the history: neither the source nor the release is read, and both may be gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from importlib.util import find_spec
from pathlib import Path

from anondb import files
from anondb.db import kept_runs, run_record
from anondb.db.connection import Connection
from anondb.db.run_record import RunRecord
from anondb.errors import UsageError
from anondb.hierarchies.forms import VghTable
from anondb.report import html
from anondb.report.metrics import place, reported
from anondb.report.model import (
    ClassSizes,
    ColumnReport,
    FusionSummary,
    LatticeNode,
    LatticeReport,
    PrivacyModel,
    ReportData,
    ReportedMetric,
    RunSummary,
    Statement,
    Suppression,
)
from anondb.run.plan import STAGES
from anondb.run.run_account import BranchAccount, KeptRun, LatticeAccount, RunAccount, SizesAccount

_BEFORE = "_before"  # ends the names of metrics of the source
_NEEDED = ("jinja2", "matplotlib")


def require_possible(connection: Connection, file: Path | str) -> None:
    """Raises if a report could not be made or written, so that nobody learns it after a long run."""
    require_packages()
    require_writable(Path(file))
    run_record.require_readable(connection)


def write(connection: Connection, run: int | str, file: Path | str | None = None) -> Path:
    """Writes the report of a run that published; returns the file, which has the run's number unless one is named."""
    require_packages()
    kept = kept_runs.find(connection, run)
    path = Path(f"anondb-run-{kept.run}.html" if file is None else file)
    page = html.render(report_data(kept, run_record.read(connection, kept.run)))
    try:
        files.write(path, page)
    except (OSError, ValueError) as error:
        raise _unwritable(
            path, error, f"anondb report {kept.run} --out FILE.html writes it elsewhere"
        ) from None
    return path


def report_data(run: KeptRun, record: RunRecord) -> ReportData:
    """All that a report shows; of runs of older versions, what they kept."""
    account = run.account
    columns = tuple(_columns(account))
    return ReportData(
        title=f"Release of {run.source}",
        run=_summary(run),
        policy=record.policy,
        models=tuple(PrivacyModel(**vars(model)) for model in account.models),
        columns=columns,
        class_sizes=_class_sizes(account.sizes),
        lattice=_lattice(account.lattice, [c.name for c in columns if c.role == "quasi"]),
        metrics=_reported(run.metrics, account.notes, [column.name for column in columns]),
        suppression=None if account.suppression is None else Suppression(**vars(account.suppression)),
        statements=tuple(Statement(s.stage, s.name, s.sql, s.rows, s.ms) for s in record.steps),
        kept=account.kept,
        linked=account.linked,
        package=record.package,
    )


def _summary(run: KeptRun) -> RunSummary:
    account, finished = run.account, run.finished_at
    return RunSummary(
        run=run.run,
        algorithm=run.algorithm,
        source=run.source,
        target=run.target,
        records=account.records,
        released=account.released,
        suppressed=account.suppressed,
        classes=account.classes,
        k=account.k,
        seconds={stage: account.seconds[stage] for stage in STAGES if stage in account.seconds},
        finished="" if finished is None else f"{finished.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        partitions=account.partitions,
        bounds=account.bounds,
        rounds=tuple((one.records, one.loss) for one in account.rounds),
        fused=None if account.fused is None else FusionSummary(**vars(account.fused)),
    )


def _columns(account: RunAccount) -> Iterator[ColumnReport]:
    trees = account.trees or {}
    for column in account.columns:
        branches = trees.get(column.name)
        tree = _tree(branches, column.height) if branches and column.height else None
        yield ColumnReport(
            column.name,
            column.role,
            column.level,
            column.height,
            release=column.release,
            hierarchy=column.hierarchy or "",
            tree=tree,
        )


def _tree(branches: Sequence[BranchAccount], height: int) -> VghTable:
    """The hierarchy with nameless leaves; where a path begins above level 1, they stand in for what is missing."""
    rows: list[tuple[str, ...]] = []
    for branch in branches:
        for _ in range(branch.leaves):
            leaf = f"value {len(rows) + 1}"
            rows.append((*[leaf] * (height + 1 - len(branch.path)), *branch.path))
    return VghTable(tuple(rows))


def _class_sizes(sizes: SizesAccount | None) -> ClassSizes | None:
    return None if sizes is None else ClassSizes(dict(sizes.after), dict(sizes.before))


def _lattice(lattice: LatticeAccount | None, columns: Sequence[str]) -> LatticeReport | None:
    if lattice is None:
        return None
    nodes = (LatticeNode(node.levels, node.state, node.score) for node in lattice.nodes or ())
    heights = {(height, state): count for height, state, count in lattice.heights or ()}
    return LatticeReport(tuple(columns), tuple(nodes), lattice.chosen, lattice.score, heights)


def _reported(
    metrics: Mapping[tuple[str, str], float], notes: Mapping[str, str], columns: Sequence[str]
) -> tuple[ReportedMetric, ...]:
    """Metrics of utility and risk, those of the whole release and of a column in the order of their definitions."""
    note_of = {tuple(key.partition(":")[::2]): note for key, note in notes.items()}
    keys = {(name.removesuffix(_BEFORE), column) for name, column in (*metrics, *note_of)}
    places = {key: there for key in keys if (there := place(key[0])) is not None}

    def order(key: tuple[str, str]) -> tuple[tuple[int, int], str, int]:
        name, column = key
        return places[key], name, columns.index(column) if column in columns else -1

    return tuple(
        reported(
            name,
            metrics.get((name, column)),
            before=metrics.get((name + _BEFORE, column)),
            column=column or None,
            note=note_of.get((name, column), ""),
        )
        for name, column in sorted(places, key=order)
    )


def require_packages() -> None:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"a report needs {' and '.join(missing)}, not installed here", hint="pip install 'anondb[report]'"
        )


def require_writable(file: Path) -> None:
    """Tries it, and leaves no trace."""
    try:
        files.require_writable(file)
    except (OSError, ValueError) as error:
        raise _unwritable(file, error, "nothing was run; choose another file") from None


def _unwritable(file: Path, error: Exception, hint: str) -> UsageError:
    reason = getattr(error, "strerror", None) or "its name is not possible"
    return UsageError(f"{file}: cannot be written: {reason}", hint=hint)
