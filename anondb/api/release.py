"""A release as the library hands it out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from anondb.run.result import Result

if TYPE_CHECKING:
    import pandas

    from anondb.api.database import Database


class Release:
    """A published release and the metrics of the run that made it."""

    def __init__(self, database: Database, result: Result) -> None:
        self._database = database
        self.result = result

    @property
    def metrics(self) -> Mapping[str, float]:
        """The metrics of the run, by name."""
        return self.result.all_metrics()

    def report(self, file: Path | str | None = None) -> Path:
        """Writes the report of the run that made it: one HTML file, for people."""
        return self._database.releases.report(self.result.run, file)

    def to_frame(self, limit: int | None = None) -> pandas.DataFrame:
        """The released rows (or the first of them) as a pandas DataFrame."""
        from anondb.report import frames

        return frames.rows(self._database.session, self.result.relation, limit)

    def class_sizes(self) -> pandas.Series[int]:
        """The sizes of the release's classes, counted from its rows now."""
        from anondb.report import frames

        result = self.result
        counted = result.finding.class_sizes(result.relation, list(result.quasi))
        return frames.class_sizes(self._database.session, counted)

    def __repr__(self) -> str:
        result = self.result
        return f"<Release {result.target}: {result.released} records in {result.classes} classes, k = {result.k}>"
