"""Fixtures of the hostile tests: the acceptance tests' hospital."""

from __future__ import annotations

from tests.acceptance.conftest import clinic, open_folder

__all__ = ["clinic", "open_folder"]
