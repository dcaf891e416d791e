"""The file of an ARX project: a zip of XML and CSV, of which nothing is trusted."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from xml.parsers import expat

from anondb.errors import UsageError

_MOST_MEMBERS = 20_000
_LARGEST_TEXT = 1 << 26  # bytes of an XML file or a hierarchy
_GROWTH = 200  # how many times its packed size a table may have; ARX's own have up to 30 times
_SMALL = 1 << 26  # bytes up to which any growth is possible
_CHUNK = 1 << 20
_DEEPEST = 50
_HINT = "save the project again with ARX 3, from File > Save"


@dataclass
class Element:
    """An element of XML: its name, its text, and what is in it."""

    name: str
    text: str = ""
    inside: list[Element] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Element]:
        """The elements of this name, however deep."""
        for element in self.inside:
            if element.name == name:
                yield element
            yield from element.all(name)

    def get(self, name: str) -> str | None:
        """The text of the first element of this name that is directly in this one."""
        return next((element.text for element in self.inside if element.name == name), None)


class Archive:
    """A project file that is open, and has the names that it should have."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self.path, self._file = path, file
        members = file.infolist()
        if len(members) > _MOST_MEMBERS:
            raise self._fault(f"holds {len(members):,} files")
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in members:
            self._check(member)
            self._members[member.filename] = member

    def _check(self, member: zipfile.ZipInfo) -> None:
        name = member.filename
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if "\0" in member.orig_filename or name.startswith(("/", "\\")) or ".." in parts or name[1:2] == ":":
            raise self._fault("holds a path that leads out of it")
        if name in self._members:
            raise self._fault("holds two files of one name")
        if member.flag_bits & 1:
            raise UsageError(f"{self.path}: is encrypted", hint="save it without a password")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self._fault("is packed in a way that ARX does not use")

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def text(self, name: str) -> str:
        """A file of the project as a whole: UTF-8, else what older systems wrote."""
        with self._open(name) as file:
            content = file.read(_LARGEST_TEXT + 1)
        if len(content) > _LARGEST_TEXT:
            raise self._fault(f"{name} has more than {_LARGEST_TEXT:,} bytes")
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return content.decode("windows-1252", "replace")

    def xml(self, name: str) -> Element:
        """An XML file; one that declares anything, entities above all, is refused."""
        root = Element("")
        path = [root]

        def start(tag: str, _: object) -> None:
            if len(path) > _DEEPEST:
                raise self._fault(f"{name} is nested too deeply")
            path[-1].inside.append(Element(tag))
            path.append(path[-1].inside[-1])

        def end(_: str) -> None:
            path.pop()

        def text(part: str) -> None:
            path[-1].text += part

        def declared(*_: object) -> None:
            raise self._fault(f"{name} declares a document type or an entity, which ARX never does")

        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = text
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = declared
        try:
            parser.Parse(self.text(name), True)
        except expat.ExpatError as error:
            raise self._fault(f"{name} is no XML (line {error.lineno})") from None
        return root

    def extract(self, name: str, target: BinaryIO) -> None:
        """Writes a table out, piece by piece."""
        member = self._members.get(name)
        if member is not None and member.file_size > max(_SMALL, _GROWTH * member.compress_size):
            raise self._fault(
                f"{name} would become {member.file_size:,} bytes, too many for what it is packed in"
            )
        with self._open(name) as file:
            while piece := file.read(_CHUNK):
                target.write(piece)

    @contextmanager
    def _open(self, name: str) -> Iterator[BinaryIO]:
        if name not in self._members:
            raise self._fault(f"lacks {name}")
        with self._file.open(self._members[name]) as file, _as_fault(self.path):
            yield file  # type: ignore[misc]

    def _fault(self, what: str) -> UsageError:
        return UsageError(f"{self.path}: {what}", hint=_HINT)


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """A project file, closed at the end."""
    try:
        with _as_fault(path), zipfile.ZipFile(path) as file:
            yield Archive(path, file)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", hint="check the file's name") from None


@contextmanager
def _as_fault(path: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        raise UsageError(
            f"{path}: is no ARX project, or is damaged: it cannot be read as a zip", hint=_HINT
        ) from None
