"""What the README and docs/ say is what the code does, as far as that can be told without a database."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import anondb
from anondb.methods.full_domain.objective import OBJECTIVES
from anondb.methods.registry import METHODS
from anondb.models.model import ClassModel
from anondb.models.registry import CLASS_MODELS
from anondb.ontology.measures import MEASURES
from anondb.policy.load import COLUMN, METHOD, PRIVACY, load, parse
from anondb.synthetic.cocoa import recipe
from anondb.synthetic.domain_file import parse as parse_domain
from tests.documentation import FILES, ROOT, blocks, links

EXAMPLE = ROOT / "examples" / "hospital"


def names(file: Path) -> str:
    return str(file.relative_to(ROOT))


def anchors(file: Path) -> set[str]:
    """The names that GitHub gives to headings."""
    titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_ci_runs_the_test_command_of_the_readme() -> None:
    [command] = [block.strip() for block in blocks("README.md", "sh") if "pytest" in block]
    assert "\n" not in command
    assert f'\ntests="{command}"\n' in (ROOT / ".ci" / "run").read_text()


def test_the_readme_installs_and_runs_the_demo_in_one_line() -> None:
    [command] = [block.strip() for block in blocks("README.md", "sh") if "anondb demo" in block]
    assert "\n" not in command


@pytest.mark.parametrize("file", FILES, ids=names)
def test_every_policy_and_every_domain_is_one(file: Path) -> None:
    for text in blocks(names(file), "toml"):
        if "[attributes." in text:
            recipe(parse_domain(text, place=file.name))
        else:
            parse(text, place=file.name, base=EXAMPLE)


def test_the_readmes_policy_is_the_examples() -> None:
    [text] = blocks("README.md", "toml")
    assert parse(text, base=EXAMPLE).sha256 == load(EXAMPLE / "admissions.toml").sha256


@pytest.mark.parametrize("file", FILES, ids=names)
def test_every_python_block_uses_names_that_exist(file: Path) -> None:
    for text in blocks(names(file), "python"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                owner = {"anondb": anondb, "db": anondb.Database, "release": anondb.Release}.get(
                    node.value.id
                )
                # what __init__ alone sets is not on the class
                assert owner is None or hasattr(owner, node.attr) or node.attr in ("connection", "result")


@pytest.mark.parametrize("file", FILES, ids=names)
def test_every_link_into_the_repository_leads_somewhere(file: Path) -> None:
    for link in links(file):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = file.parent / path if path else file
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_key_of_a_policy_is_documented() -> None:
    text = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
    assert [key for key in (*PRIVACY, *METHOD, *COLUMN) if f"`{key}`" not in text] == []
    for model in CLASS_MODELS:
        page = text + page_of(model)
        assert [key for key in model.keys if f"`{key}`" not in page] == [], model.name
        words = model.kinds[1] if model.kinds else ()
        assert [word for word in words if f'`"{word}"`' not in page] == [], model.name


def page_of(model: type[ClassModel]) -> str:
    """What docs/ says of a model in a page of its own; the older ones are told in docs/policy.md."""
    page = ROOT / "docs" / f"{model.name}.md"
    return page.read_text(encoding="utf-8") if page.exists() else ""


def test_every_word_that_a_policy_can_choose_is_documented() -> None:
    text = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
    heuristics = [word for method in METHODS.values() for word in method.options.get("heuristic", ())]
    assert [word for word in (*METHODS, *heuristics) if f'`"{word}"`' not in text] == []
    assert [word for word in OBJECTIVES if f"\n| `{word}` |" not in text] == []


def test_every_similarity_measure_is_documented() -> None:
    text = (ROOT / "docs" / "ontologies.md").read_text(encoding="utf-8")
    assert [measure for measure in MEASURES if f"\n| `{measure}` |" not in text] == []


def test_every_error_is_documented_with_its_exit_code() -> None:
    lines = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8").splitlines()
    for name in anondb.__all__:
        error = getattr(anondb, name)
        if name.endswith("Error"):
            row = f"| {error.exit_code} |"
            assert any(line.startswith(row) and f"`anondb.{name}`" in line for line in lines), name


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    listed = {(index.parent / link.partition("#")[0]).resolve() for link in links(index) if "://" not in link}
    assert {path.resolve() for path in ROOT.glob("docs/*.md")} - {index.resolve()} <= listed
