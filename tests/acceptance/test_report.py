"""The HTML report in a real browser: nothing leaves the file, it fits phone and desktop, light, dark and paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import report_samples
from tests.acceptance import chromium
from tests.acceptance.chromium import Chromium

pytest.importorskip("jinja2", reason="reports come with the extra `report`")
pytest.importorskip("matplotlib", reason="the charts come with the extra `report`")

from anondb.report import html

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(
        chromium.installed() is None, reason="Chromium is not installed: apt-get install chromium"
    ),
]

NAMES = ["release", "comparison", "hostile"]
PHONE, DESKTOP = 375, 1280

# every text that can be seen, with its contrast to what lies behind it, and the size that it is read at
READ = """
(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).slice(0, 3).map((c) => c / 255)
      .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const box = element.closest("g")?.querySelector(":scope > rect");  // of a tree's node
    if (box) return getComputedStyle(box).fill;
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (colour !== "transparent" && parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility({visibilityProperty: true})) continue;
    if (element.closest("title, desc, style, .unseen")) continue;
    const svg = element.closest("svg");
    const style = getComputedStyle(element);
    const [one, other] = [light(svg ? style.fill : style.color), light(behind(element))].sort((a, b) => b - a);
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const text = walker.currentNode.data.trim().slice(0, 40);
    found.push([text, (one + 0.05) / (other + 0.05), parseFloat(style.fontSize) * scale]);
  }
  return found;
})()
"""

OUTSIDE = """
(() => [...document.querySelectorAll("main *")].filter((element) => {
  const box = element.getBoundingClientRect();
  const visible = element.checkVisibility({visibilityProperty: true}) && !element.closest(".unseen, .tip");
  return visible && !element.parentElement.closest(".scroll, svg") && (box.right > innerWidth + 1 || box.left < -1);
}).map((element) => element.outerHTML.slice(0, 80)))()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(chromium.installed() or "", tmp_path_factory.mktemp("chromium")) as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    for name in NAMES:
        html.write(getattr(report_samples, name)(), folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_report_opens_without_a_complaint_and_asks_for_nothing(
    browser: Chromium, pages: dict[str, Path], name: str
) -> None:
    browser.window(DESKTOP)
    browser.open(pages[name])
    assert browser.complaints() == []
    assert browser.requests() == [pages[name].as_uri()]
    assert browser.value("document.scripts.length + document.images.length") == 0


def test_a_page_that_complains_or_asks_would_be_found(browser: Chromium, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text('<script>console.error("x"); undefined.x</script><img src="nowhere.png">')
    browser.open(page)
    assert len(browser.complaints()) >= 2
    assert len(browser.requests()) == 2


@pytest.mark.parametrize("width", [320, PHONE, 768, DESKTOP])
@pytest.mark.parametrize("name", NAMES)
def test_a_report_fits_the_width_of_the_window(
    browser: Chromium, pages: dict[str, Path], name: str, width: int
) -> None:
    browser.window(width, phone=width < 500)
    browser.open(pages[name])
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value(OUTSIDE) == []


@pytest.mark.parametrize(
    ("width", "dark"), [(PHONE, False), (DESKTOP, False), (PHONE, True), (DESKTOP, True)]
)
@pytest.mark.parametrize("name", NAMES)
def test_every_text_can_be_read_on_light_and_on_dark_screens(
    browser: Chromium, pages: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    browser.window(width, dark=dark, phone=width < 500)
    browser.open(pages[name])
    browser.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    texts = browser.value(READ)
    assert len(texts) > 50
    assert [(text, ratio) for text, ratio, _ in texts if ratio < 4.5] == []  # WCAG AA
    assert [(text, size) for text, _, size in texts if size < 9] == []


def test_dark_screens_get_a_dark_page(browser: Chromium, pages: dict[str, Path]) -> None:
    colours = []
    for dark in (False, True):
        browser.window(DESKTOP, dark=dark)
        browser.open(pages["release"])
        colours.append(browser.value("getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(246, 247, 249)", "rgb(18, 22, 28)"]


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_the_charts_are_there_and_a_screen_reader_finds_them(
    browser: Chromium, pages: dict[str, Path], width: int
) -> None:
    browser.window(width, phone=width < 500)
    browser.open(pages["release"])
    sizes = browser.value(
        "[...document.querySelectorAll('.plot')].map((one) => one.getBoundingClientRect())"
        ".map((box) => [box.width, box.height])"
    )
    assert len(sizes) == 6
    assert all(wide > 280 and high > 100 for wide, high in sizes)
    marks = "document.querySelectorAll('.plot path, .plot use').length"
    assert browser.value(marks) > 50
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    names = [node["name"]["value"] for node in tree if node.get("role", {}).get("value") in ("image", "img")]
    for title in (
        "Records by the size of their class",
        "Risk before and after",
        "The lattice of generalizations",
    ):
        assert any(name.startswith(title) for name in names)


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_a_definition_shows_on_hover_and_on_focus_within_the_window(
    browser: Chromium, pages: dict[str, Path], width: int
) -> None:
    browser.window(width, phone=width < 500)
    browser.open(pages["release"])
    first = "document.querySelector('.term')"
    shown = f"getComputedStyle({first}.querySelector('.tip')).visibility"
    browser.value(f"{first}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    assert browser.value(shown) == "hidden"
    x, y = browser.value(
        f"(() => {{ const b = {first}.getBoundingClientRect(); return [b.x + 5, b.y + 5]; }})()"
    )
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert browser.value(shown) == "visible"
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    assert browser.value(shown) == "hidden"
    edges = browser.value(
        "[...document.querySelectorAll('.term')].map((term) => { term.focus(); const tip = term.querySelector('.tip');"
        " const box = tip.getBoundingClientRect(); return [getComputedStyle(tip).visibility, box.left, box.right]; })"
    )
    assert all(state == "visible" and left >= 0 and right <= width for state, left, right in edges)
    assert browser.value("document.documentElement.scrollWidth") <= width


def test_the_keyboard_reaches_everything_and_the_way_past_the_menu_is_first(
    browser: Chromium, pages: dict[str, Path]
) -> None:
    browser.window(DESKTOP)
    browser.open(pages["release"])
    browser.press("Tab")
    assert browser.value("document.activeElement.className") == "skip"
    assert browser.value("document.activeElement.getBoundingClientRect().top") >= 0
    reached = set()
    for _ in range(90):
        browser.press("Tab")
        reached.add(browser.value("document.activeElement.className || document.activeElement.localName"))
    assert {"a", "term", "summary"} <= reached
    assert any("scroll" in name for name in reached)


def test_paper_is_white_and_has_no_menu(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.window(DESKTOP, dark=True)
    browser.open(pages["release"])
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    browser.call("Emulation.setEmulatedMedia", media="print", features=[dark])
    try:
        assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert browser.value("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
        assert browser.value("getComputedStyle(document.querySelector('nav')).display") == "none"
        assert browser.pdf().startswith(b"%PDF-")
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")
