"""The part of the library that loads ontologies and asks them."""

from __future__ import annotations

from pathlib import Path

from anondb.db import ontology as stored
from anondb.db.install import upgrade
from anondb.db.ontology import Loaded, OntologyInfo, Sense, TermMapping
from anondb.db.session import Session
from anondb.ontology import load as ontology_files
from anondb.ontology.model import Progress, split


class Ontologies:
    """The ontologies of a database."""

    session: Session

    def load_ontology(
        self,
        source: Path | str,
        *,
        name: str | None = None,
        verbs: bool = False,
        skip_broken: bool = False,
        progress: Progress | None = None,
    ) -> Loaded:
        """Stores `"wordnet"`, or the ontology in an OBO or CSV file; the same once more changes nothing."""
        upgrade.require_current(self.session)
        chosen = ontology_files.name_of(source, name)
        reading, storing = split(progress, 0.3)
        found = ontology_files.read(source, verbs=verbs, skip_broken=skip_broken, progress=reading)
        return stored.store(self.session, chosen, found, storing)

    def ontologies(self) -> list[OntologyInfo]:
        """All stored ontologies."""
        upgrade.require_current(self.session)
        return stored.catalogue(self.session)

    def drop_ontology(self, name: str) -> None:
        upgrade.require_current(self.session)
        stored.drop(self.session, name)

    def senses(self, term: str, ontology: str = "wordnet") -> list[Sense]:
        """What a term can mean, best known sense first."""
        upgrade.require_current(self.session)
        return stored.senses(self.session, term, ontology)

    def similarity(self, a: str, b: str, measure: str = "wup", ontology: str = "wordnet") -> float:
        """The similarity in [0, 1] of two terms, keys or ids."""
        upgrade.require_current(self.session)
        return stored.similarity(self.session, a, b, measure, ontology)

    def map_term(self, term: str, concept: str | None, ontology: str = "wordnet") -> None:
        """Says what a term means, for all hierarchies that use the ontology; None forgets it."""
        upgrade.require_current(self.session)
        stored.map_term(self.session, term, concept, ontology)

    def mappings(self, ontology: str = "wordnet") -> list[TermMapping]:
        """What users said that terms mean."""
        upgrade.require_current(self.session)
        return stored.mappings(self.session, ontology)
