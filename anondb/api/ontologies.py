"""`db.ontologies`: the stored ontologies, what their terms mean, and how alike these are."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import TYPE_CHECKING

from anondb.db import ontology as stored
from anondb.db.install import upgrade
from anondb.db.ontology import Loaded, OntologyInfo, Sense, TermMapping
from anondb.db.session import Session
from anondb.ontology import load as ontology_files
from anondb.ontology.model import Progress, split

if TYPE_CHECKING:  # what only a review needs is loaded by it
    from anondb.db.senses import ReviewedValue
    from anondb.policy.accept import PolicyInput


class Ontologies:
    """The ontologies of a database.

    ```python
    with anondb.connect() as db:
        db.ontologies.load("wordnet")
        print(db.ontologies.show("bat"))
        db.ontologies.map("consultant", "doctor")
        print(db.ontologies.similarity("surgeon", "doctor"))
    ```
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def load(
        self,
        source: Path | str,
        *,
        name: str | None = None,
        verbs: bool = False,
        skip_broken: bool = False,
        progress: Progress | None = None,
    ) -> Loaded:
        """Stores `"wordnet"`, or the ontology in an OBO or CSV file; the same once more changes nothing."""
        upgrade.require_current(self._session)
        chosen = ontology_files.name_of(source, name)
        reading, storing = split(progress, 0.3)
        ontology = ontology_files.read(source, verbs=verbs, skip_broken=skip_broken, progress=reading)
        return stored.store(self._session, chosen, ontology, storing)

    def list(self) -> builtins.list[OntologyInfo]:
        """All stored ontologies."""
        upgrade.require_current(self._session)
        return stored.catalogue(self._session)

    def show(self, term: str, ontology: str = "wordnet") -> builtins.list[Sense]:
        """What a term can mean, best known sense first."""
        upgrade.require_current(self._session)
        return stored.senses(self._session, term, ontology)

    def similarity(self, a: str, b: str, measure: str = "wup", ontology: str = "wordnet") -> float:
        """The similarity in [0, 1] of two terms, keys or ids."""
        upgrade.require_current(self._session)
        return stored.similarity(self._session, a, b, measure, ontology)

    def map(self, term: str, concept: str | None, ontology: str = "wordnet") -> None:
        """Says what a term means, for all hierarchies that use the ontology; None forgets it."""
        upgrade.require_current(self._session)
        stored.map_term(self._session, term, concept, ontology)

    def mappings(self, ontology: str = "wordnet") -> builtins.list[TermMapping]:
        """What users said that terms mean."""
        upgrade.require_current(self._session)
        return stored.mappings(self._session, ontology)

    def review(self, policy: PolicyInput) -> builtins.list[ReviewedValue]:
        """What each text of a policy's columns would mean to a run; `map` says what it is to mean instead."""
        from anondb.db import senses
        from anondb.methods.meanings import ontologies
        from anondb.ontology.phrases import phrases_of
        from anondb.policy.accept import policy_from

        upgrade.require_current(self._session)
        policy = policy_from(policy)
        return senses.review(self._session, policy, ontologies(policy), phrases_of)

    def drop(self, name: str) -> None:
        """Forgets a stored ontology, with what was derived from it."""
        upgrade.require_current(self._session)
        stored.drop(self._session, name)
