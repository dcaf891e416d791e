"""Faults, load and fuzz, with a table of what was tried: `pytest -m campaign`, and `--campaign long` for all of it."""
