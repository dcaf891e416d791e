"""An ARX project on its way into a database: its table as a file of ours, its policy and the hierarchies beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from anondb import files
from anondb.errors import UsageError
from anondb.exchange import arx_archive, arx_policy, arx_project
from anondb.exchange.arx_policy import Drafted
from anondb.exchange.csv_table import Wishes, inspect
from anondb.hierarchies import csvfile
from anondb.policy.load import parse


@dataclass(frozen=True)
class Unpacked:
    """The table of a project in a file, how it is to be loaded, and the policy for it."""

    table: Path
    wishes: Wishes
    drafted: Drafted


@contextmanager
def unpacked(path: Path, source: str, target: str, *, folder: str) -> Iterator[Unpacked]:
    """A project, while its table lies in a folder that nobody else can read."""
    with TemporaryDirectory(prefix="anondb-") as place:
        table = Path(place) / "input.csv"
        with arx_archive.opened(path) as archive:
            project = arx_project.read(archive)
            with files.opened(table, private=True) as file:
                archive.extract(arx_project.TABLE, file)
        wishes = Wishes(nulls=arx_project.NULLS, header=True, encoding="utf-8", delimiter=project.delimiter)
        try:
            found = inspect(table, wishes)
        except UsageError as error:  # which names a file that is nobody's
            message = error.message.replace(str(table), f"{path}: {arx_project.TABLE}")
            raise UsageError(message, hint=error.hint) from None
        kinds = {column.name: column.kind.name for column in found.columns}
        if list(kinds) != [attribute.name for attribute in project.attributes]:
            raise UsageError(
                f"{path}: the columns of its table are not those that it defines",
                hint="save it again with ARX",
            )
        types = arx_project.types(project.attributes, kinds)
        wishes = Wishes(types, wishes.nulls, (), True, wishes.encoding, wishes.delimiter)
        yield Unpacked(table, wishes, arx_policy.policy(project, source, target, folder))


def folder_of(policy: Path) -> Path:
    """Where the hierarchies of a policy are written."""
    return policy.with_name(f"{policy.stem}_hierarchies")


def require_new(policy: Path, *, force: bool) -> None:
    """Nothing is written over that somebody may have worked on."""
    for place in (policy, folder_of(policy)):
        if place.exists() and not force:
            raise UsageError(
                f"{place} is there already", hint="--force writes it anew, or name another with --out"
            )


@contextmanager
def written(drafted: Drafted, policy: Path) -> Iterator[None]:
    """The policy and its hierarchies in files, which go again if what comes next fails."""
    folder, made = folder_of(policy), list[Path]()
    try:
        is_new = not folder.exists()
        folder.mkdir(exist_ok=True)
        for name, table in drafted.hierarchies.items():
            files.write(folder / name, csvfile.write(table))
            made.append(folder / name)
        parse(drafted.text, place=str(policy), base=policy.parent)
        files.write(policy, drafted.text)
        made.append(policy)
        yield
    except BaseException as error:
        for file in made:
            file.unlink(missing_ok=True)
        with suppress(OSError):
            if is_new:
                folder.rmdir()
        if isinstance(error, OSError):
            raise UsageError(
                f"{policy}: cannot be written: {error.strerror}", hint="choose another with --out"
            ) from None
        raise
    if not drafted.hierarchies:
        with suppress(OSError):
            folder.rmdir()
