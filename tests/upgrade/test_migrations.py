"""The rules of migrations/: one line of revisions, named as their files are, forward only."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from anondb import resources
from anondb.db.install.upgrade import Code
from anondb.errors import UsageError

VERSIONS = sorted((resources.path("migrations") / "versions").glob("*.py"))


@pytest.fixture
def config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(resources.path("migrations")))
    return config


def test_file_names_tell_the_line_of_revisions_that_alembic_walks(config: Config) -> None:
    scripts = ScriptDirectory.from_config(config)
    walked = [script.revision for script in scripts.walk_revisions()][::-1]
    assert walked == list(Code.read().revisions)
    assert scripts.get_heads() == [Code.read().revision]
    assert walked == [f"{number:04}" for number in range(1, len(walked) + 1)]


@pytest.mark.parametrize("path", VERSIONS, ids=lambda path: path.stem)
def test_no_migration_goes_back(path: Path) -> None:
    spec = importlib.util.spec_from_file_location("migration", path)
    assert spec is not None
    assert spec.loader is not None
    migration = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(migration)
    with pytest.raises(NotImplementedError, match="only go forward"):
        migration.downgrade()


def test_alembics_own_command_is_sent_to_ours(config: Config) -> None:
    with pytest.raises(UsageError) as refused:
        command.upgrade(config, "head")
    assert refused.value.hint == "run: anondb db upgrade"


def test_the_template_makes_a_migration_that_python_reads(migrations_dir: Path) -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations_dir).replace("%", "%%"))
    command.revision(config, message="noun phrase", rev_id="9999")
    path = migrations_dir / "versions" / "9999_noun_phrase.py"
    compile(path.read_text(), path.name, "exec")


def test_manifest_lists_every_file_once() -> None:
    folder = resources.path("sql")
    listed = [name for name, _ in Code.read().files]
    assert sorted(listed) == sorted(str(path.relative_to(folder)) for path in folder.rglob("*.sql"))


def test_sql_files_create_and_never_replace() -> None:
    # `or replace` would overwrite a user's function of the same name, and drop it at the next upgrade
    assert [
        name for name, text in Code.read().files if re.search(r"^create or replace", text, re.M | re.I)
    ] == []
