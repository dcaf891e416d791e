"""`db.releases`: what was released, what it is worth and gives away, and what other settings would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from anondb.db import health, introspect, kept_runs, ledger, run_list
from anondb.db.connection import Door
from anondb.db.health import ReleaseHealth
from anondb.db.install import upgrade
from anondb.db.ledger import Proof, ReleaseInfo
from anondb.db.run_list import RunInfo
from anondb.db.session import Session
from anondb.policy.accept import PolicyInput, policy_from
from anondb.policy.names import parse_name
from anondb.run.plan import Options
from anondb.sqltree.tables import Relation

if TYPE_CHECKING:
    from anondb.compare.compare import CompareListener
    from anondb.compare.comparison import Trials
    from anondb.db.together import Difference
    from anondb.evaluation.evaluation import Evaluation
    from anondb.run.pipeline import Listener


class Releases:
    """The releases of a database, and those that could be.

    ```python
    with anondb.connect() as db:
        for run in db.releases.runs(limit=10):
            print(run.run, run.target, run.status)
        print(db.releases.evaluate("last").as_json()["metrics"])
        db.releases.report("last", "admissions.html")
        db.releases.compare("admissions.toml", k=[2, 5, 10]).report("compared.html")
    ```
    """

    def __init__(self, door: Door, session: Session) -> None:
        self._door = door
        self._session = session

    def runs(self, target: str | None = None, *, limit: int | None = None) -> list[RunInfo]:
        """The history of runs, newest first, of failed ones too; `target` as the history spells it."""
        upgrade.require_current(self._session)
        return run_list.runs(self._session, target, limit)

    def health(self, target: str | None = None) -> list[ReleaseHealth]:
        """How each target is: when it was last published, what failed since; `target` as the history spells it."""
        upgrade.require_current(self._session)
        return health.health(self._session, target)

    def trim_history(self, keep: timedelta) -> int:
        """Forgets runs that ended longer ago; what tells a release from a stranger stays. Returns how many are gone."""
        upgrade.require_current(self._session)
        return health.trim(self._session, keep)

    def evaluate(self, run: int | str = "last") -> Evaluation:
        """What a run found that its release is worth and gives away; `"last"` is the last that published."""
        from anondb.evaluation import evaluation

        upgrade.require_current(self._session)
        return evaluation.of_run(kept_runs.find(self._session, run))

    def evaluate_tables(
        self,
        original: str,
        release: str,
        *,
        quasi: Sequence[str],
        key: str | None = None,
        vghs: Mapping[str, str] | None = None,
        sensitive: Sequence[str] = (),
        population: str | None = None,
        fraction: float | None = None,
        sample: int | None = None,
        clusters: int | None = None,
        seed: int = 0,
        roots: Sequence[str] | None = None,
        unit: str | None = None,
        ontologies: Mapping[str, str] | None = None,
        listener: Listener | None = None,
    ) -> Evaluation:
        """What a release that anyone has made is worth and gives away, against its original.

        `key` names a record in both tables; without it, what needs the link is left out. `vghs` names stored
        hierarchies by column, `ontologies` what knows the texts of columns without one.
        `unit` names the person, whom risk then counts.
        `roots` are the labels, one for each quasi-identifier, of a record that is masked.
        """
        from anondb.evaluation import tables as tables
        from anondb.evaluation.two_tables import EvaluationRequest
        from anondb.run.pipeline import Silence

        request = EvaluationRequest(
            original,
            release,
            quasi,
            key,
            vghs or {},
            sensitive,
            population,
            fraction,
            sample,
            clusters,
            seed,
            roots,
            unit,
            ontologies or {},
        )
        return tables.evaluate_tables(self._door, request, (listener or Silence()).step)

    def history(self, target: str | None = None) -> list[ReleaseInfo]:
        """The releases that the ledger knows, newest first: levels, records, who waits, who has left."""
        upgrade.require_current(self._session)
        return ledger.releases(self._session, None if target is None else self._text(target))

    def diff(
        self,
        before: str | int,
        after: str | int,
        *,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] | None = None,
        kept: Sequence[str] | None = None,
        k: int | None = None,
        vghs: Mapping[str, str] | None = None,
        source: str | None = None,
        unit: str | None = None,
    ) -> Difference:
        """What changed from one release to another, and what somebody learns who has both, in counts.

        Each is the number of a run, or a table that anyone has made. Of runs, columns and k are those of their
        policies, unless given. With the `source`, its persons are counted, of whom `unit` names each.
        """
        from anondb.db import together

        question = together.Question(quasi, sensitive, kept, k, vghs or {}, source, unit)
        return together.difference(self._door, before, after, question)

    def verify(self, target: str) -> list[Proof]:
        """Proves the last release of a target again, from its own rows, its policy and the ledger."""
        upgrade.require_current(self._session)
        return ledger.verify(self._session, self._target(target))

    def forget(self, target: str, *, everything: bool = False) -> int:
        """Forgets the ended series of a target, or all of them, so that a next release is a first one."""
        upgrade.require_current(self._session)
        return ledger.forget(self._session, self._text(target), everything=everything)

    def _target(self, target: str) -> Relation:
        return introspect.resolve_target(self._session, parse_name(target))

    def _text(self, target: str) -> str:
        return introspect.target_text(self._target(target))

    def report(self, run: int | str = "last", file: Path | str | None = None) -> Path:
        """Writes the report of a run, one HTML file, from the history alone; returns where it is."""
        from anondb.report import release as release_report

        upgrade.require_current(self._session)
        return release_report.write(self._session, run, file)

    def compare(
        self,
        policy: PolicyInput,
        *,
        algorithms: Sequence[str] | None = None,
        k: Sequence[int] | None = None,
        quasi: Sequence[int] | None = None,
        variants: Sequence[str] | None = None,
        ways: bool = False,
        budget: float | None = None,
        sizes: Sequence[int] | None = None,
        seeds: int = 1,
        weights: Mapping[str, float] | None = None,
        options: Options | None = None,
        listener: CompareListener | None = None,
    ) -> Trials:
        """Tries every algorithm, or its variants, with every k and so many quasi-identifiers; publishes nothing.

        With `ways` each algorithm is also tried in all its ways; no trial begins once `budget` seconds are spent.
        `sizes` draw so many rows of the source each, `seeds` repeats all with other draws, `weights` rank the
        algorithms by several criteria at once (`{"loss": 40, "risk": 40, "time": 20}`).
        """
        from anondb.compare import compare as comparing
        from anondb.compare.comparison import Trials
        from anondb.compare.ranking import checked

        policy, shares = policy_from(policy), {} if weights is None else checked(weights)
        settings = comparing.settings_of(
            policy, algorithms, k, quasi, variants, ways=ways, sizes=sizes, seeds=seeds
        )
        options = options or Options()
        found = comparing.compare(self._door, policy, settings, options, listener, budget)
        return Trials(policy, found, shares)
