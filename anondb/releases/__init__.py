"""Releases over time: the ledger of who was published with whom, and what follows from it."""
