"""Ontologies from files: WordNet, OBO, CSV."""
