"""A report is one sound HTML file whatever names are in it, and whichever parts are there."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("jinja2", reason="reports come with the extra `report`")
pytest.importorskip("matplotlib", reason="the charts come with the extra `report`")

from anondb.errors import UsageError
from anondb.report import html, lattice
from anondb.report.metrics import reported
from anondb.report.model import ColumnReport, LatticeNode, LatticeReport, ReportData, RunSummary
from tests import report_samples

VOID = {"meta", "link", "br", "img", "input", "hr"}
SAMPLES = [report_samples.release, report_samples.comparison, report_samples.hostile]


class Page(HTMLParser):
    """What is in a page; its elements must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.elements if (value := attributes.get(name)) is not None]


def check(page: Page) -> None:
    """The laws of every report."""
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "img", "iframe", "link", "object", "embed", "base", "form", "image"}
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert all(target.startswith("#") for name in ("href", "src") for target in page.values(name))
    assert not any("url(" in value.replace("url(#", "") for value in page.values("style"))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    pointed = [target[1:] for target in page.values("href")]
    pointed += [one for name in ("aria-describedby", "aria-labelledby") for one in page.values(name)]
    assert set(pointed) <= set(ids)
    levels = [int(tag[1]) for tag, _ in page.elements if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.__name__)
def test_a_report_is_sound_and_asks_for_nothing(sample: Callable[[], ReportData]) -> None:
    check(Page(html.render(sample())))


PARTS = [field.name for field in fields(ReportData) if field.name != "title"]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_can_be_alone(part: str) -> None:
    whole = replace(report_samples.release(), comparison=report_samples.comparison().comparison)
    check(Page(html.render(ReportData("One part", **{part: getattr(whole, part)}))))


@pytest.mark.parametrize("part", ["run", "models", "columns", "metrics", "suppression"])
def test_a_part_that_others_speak_of_can_be_missing(part: str) -> None:
    check(Page(html.render(replace(report_samples.release(), **{part: getattr(ReportData("x"), part)}))))


def test_a_report_of_nothing_is_a_page() -> None:
    check(Page(html.render(ReportData("Empty"))))
    check(Page(html.render(ReportData("Empty", RunSummary(1, "datafly", "a", "b", 0, 0, 0, 0, 0)))))


@given(name=st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=30))
@settings(max_examples=15, deadline=None)
def test_any_name_is_shown_and_never_read_as_markup(name: str) -> None:
    data = ReportData(
        name,
        columns=(ColumnReport(name, "quasi", 1, 2, name),),
        metrics=(reported("gen_iloss", 0.5, column=name), reported(name, 0.5)),
        policy=name,
    )
    page = Page(html.render(data))
    check(page)
    assert page.elements.count(("main", {"id": "content", "tabindex": "-1"})) == 1


def test_a_hostile_name_is_told_as_it_is() -> None:
    text = Page(html.render(report_samples.hostile())).text
    assert '</style></title><script>alert(1)</script><img src=x onerror="alert(2)">&amp; $x^2$' in text


def test_no_value_of_the_source_is_in_a_report() -> None:
    text = html.render(report_samples.release())
    leaves = [job for jobs in report_samples.JOBS.values() for job in jobs if job not in text]
    assert leaves == [job for jobs in report_samples.JOBS.values() for job in jobs]
    assert "health professional · 5 values" in text


def test_the_summary_comes_before_everything_else() -> None:
    text = Page(html.render(report_samples.release())).text
    assert text.index("looks like at least 4 others") < text.index("What the policy demands")


def test_every_measure_is_explained_where_it_stands() -> None:
    data = report_samples.release()
    page = Page(html.render(data))
    tips = [attributes for _, attributes in page.elements if attributes.get("role") == "tooltip"]
    whole = [one for one in data.metrics if one.column is None]
    assert len(tips) == len(whole) == len(page.values("aria-describedby"))
    assert all(page.text.count(one.definition) == 2 for one in whole if one.name == "marketer")


def test_every_chart_is_named_described_and_backed_by_a_table() -> None:
    page = Page(html.render(report_samples.release()))
    charts = [
        attributes for tag, attributes in page.elements if tag == "svg" and attributes.get("class") == "plot"
    ]
    assert len(charts) == 6
    assert all(one["role"] == "img" and one["aria-label"] for one in charts)
    assert [tag for tag, _ in page.elements].count("figure") == len(charts)
    assert page.text.count("The figures as a table") == len(charts)


def test_the_policy_and_the_statements_are_told_to_the_letter() -> None:
    data = report_samples.release()
    words = Page(html.render(data)).words
    assert data.policy in words
    assert all(statement.sql in words for statement in data.statements)


def test_the_same_data_gives_the_same_bytes() -> None:
    assert html.render(report_samples.release()) == html.render(report_samples.release())


def test_many_statements_are_cut_and_counted() -> None:
    [one, *_] = report_samples.STATEMENTS
    text = Page(html.render(ReportData("x", statements=(one,) * 700))).text
    assert "And 200 statements more; anondb.run_step keeps them all." in text


def test_a_report_is_written_as_utf_8(tmp_path: Path) -> None:
    html.write(ReportData("雨"), tmp_path / "report.html")
    assert "<title>雨</title>" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_a_package_that_is_missing_is_named_with_its_extra(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=f"{package}, and it is not installed(?s:.*)anondb\\[report\\]"):
        html.render(report_samples.release())


def test_heavy_packages_are_imported_when_a_report_is_made_and_not_before() -> None:
    code = "import sys, anondb.report.html; sys.exit(bool({'jinja2', 'matplotlib'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_what_has_no_figure_is_told_once_with_the_reason_and_a_note_once_for_all() -> None:
    metrics = (
        reported("rand", 0.9, note="a sample"),
        reported("nmi", 0.8, note="a sample"),
        reported("sem_iloss", note="no column has concepts"),
        reported("semantic_quality", note="no column has concepts"),
    )
    page = html.render(ReportData("x", metrics=metrics))
    assert page.count("a sample") == page.count("no column has concepts") == 1
    told = re.search(r"Not told here: (.*?) Why: no column has concepts\.", page, re.DOTALL)
    assert told is not None
    assert "Semantic loss" in told[1]
    assert "Semantic quality" in told[1]


def test_a_lattice_that_is_kept_by_heights_is_drawn_as_one_kept_by_nodes() -> None:
    nodes = tuple(
        LatticeNode((a, b), "anonymous" if a + b > 9 else "pruned") for a in range(9) for b in range(9)
    )
    whole = LatticeReport(("a", "b"), nodes, (5, 5))
    heights = LatticeReport(("a", "b"), (), (5, 5), heights=dict(whole.counts()))
    assert lattice.chart(heights) == lattice.chart(whole)
