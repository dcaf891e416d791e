"""The part of the library that stores hierarchies and tells what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anondb.db import gsl, vgh
from anondb.db.install import upgrade
from anondb.db.session import Session
from anondb.db.vgh import VghInfo
from anondb.hierarchies import csvfile
from anondb.hierarchies.forms import VghTable
from anondb.hierarchies.score import Method, NodeSense, Score, ScoreSet
from anondb.hierarchies.tree import Node


class Hierarchies:
    """The stored hierarchies of a database."""

    session: Session

    def load_vgh(
        self, name: str, file: Path | str, *, replace: bool = False, ontology: str | None = None
    ) -> VghInfo:
        """Stores a hierarchy from a CSV file: one row a leaf, `leaf;level1;…;root`; its terms are WordNet's."""
        upgrade.require_current(self.session)
        return vgh.store(self.session, name, csvfile.read(Path(file)), replace=replace, ontology=ontology)

    def vgh(self, name: str) -> VghTable:
        """A stored hierarchy."""
        upgrade.require_current(self.session)
        return vgh.fetch(self.session, name)

    def vghs(self) -> list[VghInfo]:
        """All stored hierarchies."""
        upgrade.require_current(self.session)
        return vgh.catalogue(self.session)

    def drop_vgh(self, name: str) -> None:
        upgrade.require_current(self.session)
        vgh.drop(self.session, name)

    def score(
        self,
        name: str,
        *,
        measure: str = Method.measure,
        aggregate: str = Method.aggregate,
        weights: str | Sequence[float] = Method.weights,
        table: str | None = None,
        column: str | None = None,
        unmapped: str = Method.unmapped,
    ) -> Score:
        """How much meaning a hierarchy loses (GSL), level by level, and what is wrong with it; print it."""
        upgrade.require_current(self.session)
        return gsl.score(self.session, name, Method(measure, aggregate, weights, table, column, unmapped))

    def score_set(
        self,
        names: Sequence[str],
        method: Method | None = None,
        *,
        preferences: Sequence[float] | None = None,
    ) -> ScoreSet:
        """Several hierarchies side by side, best first, with the score of the set."""
        upgrade.require_current(self.session)
        return gsl.score_set(self.session, names, method or Method(), preferences)

    def node_losses(
        self, name: str, *, measure: str = "wup", aggregate: str = "avg"
    ) -> dict[Node, float | None]:
        """The loss of each node (level, label) of a hierarchy, over the leaves below it."""
        upgrade.require_current(self.session)
        return gsl.node_losses(self.session, name, measure, aggregate)

    def vgh_senses(self, name: str) -> list[NodeSense]:
        """What every node of a hierarchy means, how that was found, and how sure it is."""
        upgrade.require_current(self.session)
        return gsl.senses(self.session, name)

    def choose_sense(self, name: str, label: str, concept: str | None) -> None:
        """Says what a label of a hierarchy means, as `bat#1`; None takes the choice back."""
        upgrade.require_current(self.session)
        gsl.choose_sense(self.session, name, label, concept)
