"""The stages of local recoding: the search of its method, and then rounds with the records that it would suppress."""

from __future__ import annotations

from anondb.errors import UsageError
from anondb.methods.full_domain import costs_sql as costs
from anondb.methods.full_domain import local_sql as sql
from anondb.methods.full_domain.local import way_of_costs, way_of_labels
from anondb.methods.full_domain.local_search import Attempt, Recoding
from anondb.methods.full_domain.local_words import RoundsFound
from anondb.methods.full_domain.objective import Additive, normalized
from anondb.methods.full_domain.search import usual_checks
from anondb.methods.full_domain.stages import Levelled
from anondb.methods.outcome import Classes
from anondb.run.encode_sql import analyze
from anondb.run.plan import Options
from anondb.run.publish_sql import Chosen
from anondb.run.statement import Statement

_SHARE = 11  # of a minute's checks, so many parts less for the first search: the rounds gain more than its best node
_WAYS = 3  # that are tried at most
_LEAST = 10  # of so many checks, one at least is for the first search


class Local(Levelled):
    """datafly and optimal with `recode = "local"`."""

    one_node = False
    most_checks: int | None = None  # of the first search and of the ways together

    def encode(self) -> None:
        if self.job.options.levels is not None:
            raise UsageError(
                "--levels chooses one node for all records, and local recoding has one for each round",
                hint='leave --levels out, or recode = "local"',
            )
        super().encode()
        self.rounds = sql.Rounds(self.names.run)

    def decide(self) -> None:
        super().decide()
        self._recode()

    def show_search(self) -> None:
        super().show_search()
        self._recode(shown=True)

    def write(self) -> int:
        plan, chosen = self.plan, list(map(Chosen, self.encoded.quasi, self._zeros(), self.encoded.has_null))
        if plan.whole_rows:
            rows = sql.insert_rows(self.rounds, self.fresh, plan.columns, chosen)
            return self.job.engine.insert_counted(self.names, self.fresh, rows, chosen)
        repeated = bool(plan.counted)
        self.db.run(Statement("combinations", sql.combinations(self.rounds, chosen, repeated=repeated)))
        self.db.run(Statement("combination statistics", analyze(self.names.combinations)))
        return self.job.engine.insert_records(self.names, self.fresh, chosen)

    def lattice(self) -> None:
        """Rounds have nodes of their own; none is that of the release."""
        return

    def _set_up(self, options: Options) -> None:
        super()._set_up(options)
        lattice = self.looked_in.lattice
        if lattice.most_checks is None:
            return
        # no way is longer than one level after the other, in each column
        ways = _WAYS * (1 + sum(lattice.grid.highest) - sum(lattice.grid.lowest))
        usual = usual_checks(lattice.rows, len(self.encoded.quasi)) // _SHARE
        self.most_checks = usual + ways if options.checks is None else options.checks
        lattice.most_checks = max(self.most_checks - ways, self.most_checks // _LEAST, 1)

    def _recode(self, *, shown: bool = False) -> None:
        quasi, lattice, demand = self.encoded.quasi, self.looked_in.lattice, self.looked_in.demand
        weights = normalized([self.plan.policy.method.weights.get(q.name, 1.0) for q in quasi])
        if not isinstance(self.looked_in.objective, Additive) or self.looked_in.objective.name != "loss":
            self.db.run(Statement("costs", costs.cost_table(self.names, quasi)))
            self.db.run(Statement("cost statistics", analyze(self.names.costs)))
        recoding = Recoding(self.db, self.rounds, self.encoded, self.models, weights)
        if self.most_checks is not None:
            recoding.most = self.most_checks - lattice.checks
        recoded = recoding.best(self._attempts()[: 1 if shown else None], demand.budget, lattice)
        self.outcome = Classes(
            self.names.partitioned,
            len(recoded.rounds),
            tuple(q.number for q in quasi),
            suppressed=recoded.suppressed,
        )
        self.finding = RoundsFound(
            columns=tuple(q.name for q in quasi),
            rounds=recoded.rounds,
            score=recoded.score,
            checks=lattice.checks + recoding.looked,
            most_checks=self.most_checks if self.method.counts_checks else None,
            repeatable=not lattice.timed_out,
            first=self.finding,
        )

    def _attempts(self) -> list[Attempt]:
        """From the node that was found, so that it loses no more, and from the lowest levels; or that node alone."""
        lattice, objective = self.looked_in.lattice, self.looked_in.objective
        grid, nodes = lattice.grid, lattice.nodes
        ways = [
            list(way_of_labels(grid, nodes, self.node.levels)),
            list(way_of_labels(grid, nodes, grid.lowest)),
        ]
        if isinstance(objective, Additive):
            ways.append(list(way_of_costs(grid, objective.costs, grid.lowest)))
        attempts = [Attempt(way) for place, way in enumerate(ways) if way not in ways[:place]]
        return [*attempts, Attempt([self.node.levels], reference=False)]

    def _zeros(self) -> list[int]:
        return [0] * len(self.encoded.quasi)
