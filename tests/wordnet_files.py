"""A WordNet of a dozen words, as files in WordNet's own format."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Synset:
    offset: int
    words: list[str]
    gloss: str
    pointers: list[tuple[str, int]] = field(default_factory=list)


NOUNS = [
    Synset(100, ["entity"], "that which is"),
    Synset(200, ["animal", "beast"], 'a living organism; "a dumb animal"', [("@", 100)]),
    Synset(300, ["mouse"], "a small rodent", [("@", 200)]),
    Synset(400, ["field_mouse"], "a mouse of the fields", [("@", 300)]),
    Synset(500, ["Mickey"], "a certain mouse", [("@i", 300)]),
    Synset(600, ["mouse", "computer_mouse"], "a pointing device", [("@", 100)]),
    Synset(700, ["tail"], "hangs from the back", [("@", 100), ("#p", 200)]),
    Synset(800, ["keratin"], "what hair is made of", [("@", 100), ("#s", 700)]),
]
VERBS = [Synset(100, ["move"], "change place"), Synset(200, ["mouse"], "sneak", [("@", 100)])]
LICENCE = "  1 This software and database is being provided to you\n  2 WordNet {version} Copyright 2006\n"


def write(folder: Path, *, version: str = "3.0", line_end: str = "\n", verbs: bool = True) -> Path:
    """Writes data, index and exceptions; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    files = _files("noun", "n", NOUNS, "mice mouse\n")
    if verbs:
        files |= _files("verb", "v", VERBS, "mousing mouse\n")
    for name, text in files.items():
        licence = "" if name.endswith(".exc") else LICENCE.format(version=version)
        (folder / name).write_bytes((licence + text).replace("\n", line_end).encode())
    return folder


def _files(suffix: str, pos: str, synsets: list[Synset], exceptions: str) -> dict[str, str]:
    senses: dict[str, list[int]] = defaultdict(list)
    data = []
    for synset in synsets:
        words = " ".join(f"{word} 0" for word in synset.words)
        pointers = "".join(f"{symbol} {offset:08d} {pos} 0000 " for symbol, offset in synset.pointers)
        frames = "00 " if pos == "v" else ""
        head = f"{synset.offset:08d} 03 {pos} {len(synset.words):02x} {words} {len(synset.pointers):03d} "
        data.append(f"{head}{pointers}{frames}| {synset.gloss}  \n")
        for word in synset.words:
            senses[word.lower()].append(synset.offset)
    index = "".join(
        f"{word} {pos} {len(offsets)} 0 {len(offsets)} 0 {' '.join(f'{o:08d}' for o in offsets)}  \n"
        for word, offsets in sorted(senses.items())
    )
    return {f"data.{suffix}": "".join(data), f"index.{suffix}": index, f"{suffix}.exc": exceptions}
