"""Reads what any version has kept of a run, and refuses what no version has written.

Unknown keys are ignored, missing ones have defaults. A role may write what it likes into its own runs, so
nothing is taken on trust: a wrong type, or numbers that do not fit together, are a clear error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from anondb.errors import UsageError
from anondb.run.account_checks import misfits
from anondb.run.kept import Kept, LinkedRows
from anondb.run.run_account import (
    VERSION,
    BranchAccount,
    ColumnAccount,
    FusionAccount,
    LatticeAccount,
    ModelAccount,
    NodeAccount,
    RoundAccount,
    RunAccount,
    SizesAccount,
    SuppressionAccount,
)

Part = TypeVar("Part")

LARGEST = 2**63 - 1  # of a number that the server counts
_COUNTS = ("records", "released", "suppressed", "classes", "k")
_FUSED = ("tuples", "rare", "fusions", "changed")
_HINT = "run its policy again; anondb evaluate --original … --release … measures what is there"


class UnreadableError(Exception):
    """Where something is wrong, and what should be there; never what is there."""


def read(kept: object, *, of: str = "the run") -> RunAccount:
    """The account of a run as the history keeps it; raises UsageError where no version has written such a thing."""
    try:
        account = parsed(kept)
        for misfit in misfits(account):
            raise UnreadableError(misfit)
    except UnreadableError as error:
        raise UsageError(f"what is kept of {of} cannot be read: {error}", hint=_HINT) from None
    return account


def parsed(kept: object) -> RunAccount:
    """The account with its types checked; of a newer version, the parts that are understood."""
    keys = _object(kept, "the result")
    version = _whole(keys.get("version", 1), "version", least=1)
    reader = _Reader(newer=version > VERSION)
    report = reader.part(keys, "report", _object, {})
    account = RunAccount(
        version=version,
        **{name: reader.part(keys, name, _whole, 0) for name in _COUNTS},
        seconds=reader.part(keys, "seconds", _mapping(_number), {}),
        notes=reader.part(keys, "notes", _mapping(_text), {}),
        kept=reader.part(keys, "kept", _list(_kept), ()),
        linked=reader.part(keys, "pseudonyms", _list(_linked), ()),
        partitions=reader.part(keys, "partitions", _whole, None),
        bounds=reader.part(keys, "bounds", _text, None),
        rounds=reader.part(keys, "rounds", _list(_round), ()),
        fused=reader.part({"": keys} if keys.keys() >= set(_FUSED) else {}, "", _fused, None),
        columns=reader.part(report, "columns", _list(_column), ()),
        models=reader.part(report, "models", _list(_model), ()),
        suppression=reader.part(report, "suppression", _suppression, None),
        lattice=reader.part(report, "lattice", _lattice, None),
        sizes=reader.part(report, "sizes", _sizes, None),
        trees=reader.part(report, "trees", _mapping(_list(_branch)), None),
    )
    return _with_others(account, keys)


class _Reader:
    def __init__(self, *, newer: bool) -> None:
        self.newer = newer

    def part(
        self, keys: Mapping[str, Any], key: str, read_it: Callable[[Any, str], Part], default: Any
    ) -> Any:
        """The part of this name, or its default; a newer version may have changed what it is."""
        if keys.get(key) is None:
            return default
        try:
            return read_it(keys[key], key)
        except UnreadableError:
            if self.newer:
                return default
            raise


def _with_others(account: RunAccount, keys: Mapping[str, Any]) -> RunAccount:
    """What no field holds stays as it was: a part that is there and empty, too."""
    held = {"version", "report", "seconds", "notes", "kept", "pseudonyms", *_COUNTS}
    held |= {name for name in ("partitions", "bounds") if getattr(account, name) is not None}
    held |= set() if account.fused is None else set(_FUSED)
    held |= {"rounds"} if account.rounds else set()
    return replace(account, others={key: value for key, value in keys.items() if key not in held})


def _refuse(at: str, wanted: str) -> NoReturn:
    raise UnreadableError(f"{at} is not {wanted}")


def _object(value: Any, at: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        _refuse(at, "an object")
    return value


def _sequence(value: Any, at: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        _refuse(at, "a list")
    return value


def _text(value: Any, at: str) -> str:
    if not isinstance(value, str):
        _refuse(at, "a text")
    return value


def _whole(value: Any, at: str, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
        _refuse(at, f"a whole number from {least}")
    return value


def _number(value: Any, at: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        _refuse(at, "a number")
    return value


def _list(read_entry: Callable[[Any, str], Part]) -> Callable[[Any, str], tuple[Part, ...]]:
    return lambda value, at: tuple(
        read_entry(entry, f"{at}[{place}]") for place, entry in enumerate(_sequence(value, at))
    )


def _mapping(read_entry: Callable[[Any, str], Part]) -> Callable[[Any, str], dict[str, Part]]:
    # keys are names of columns or stages: an error shows the place of a wrong value, and not its key
    return lambda value, at: {
        _text(key, f"a key of {at}"): read_entry(entry, f"a value of {at}")
        for key, entry in _object(value, at).items()
    }


def _optional(keys: Mapping[str, Any], key: str, at: str, read_it: Callable[[Any, str], Part]) -> Part | None:
    return None if keys.get(key) is None else read_it(keys[key], f"{at}.{key}")


def _entries(value: Any, at: str, *read_them: Callable[[Any, str], Any]) -> tuple[Any, ...]:
    """A list of as many entries as there are readers."""
    entries = _sequence(value, at)
    if len(entries) != len(read_them):
        _refuse(at, f"a list of {len(read_them)}")
    return tuple(
        read_it(entry, f"{at}[{place}]")
        for place, (entry, read_it) in enumerate(zip(entries, read_them, strict=True))
    )


def _kept(value: Any, at: str) -> Kept:
    keys = _object(value, at)
    return Kept(
        column=_text(keys.get("column"), f"{at}.column"),
        role=_text(keys.get("role", ""), f"{at}.role"),
        verdict=_text(keys.get("verdict"), f"{at}.verdict"),
        share=_optional(keys, "share", at, _number),
        reasons=_optional(keys, "reasons", at, _list(_text)) or (),
    )


def _linked(value: Any, at: str) -> LinkedRows:
    keys = _object(value, at)
    counts = (_whole(keys.get(count), f"{at}.{count}") for count in ("persons", "several", "most", "rare"))
    return LinkedRows(_text(keys.get("column"), f"{at}.column"), *counts)


def _fused(value: Any, _: str) -> FusionAccount:
    return FusionAccount(**{name: _whole(value[name], name) for name in _FUSED})


def _round(value: Any, at: str) -> RoundAccount:
    keys = _object(value, at)
    return RoundAccount(
        levels=_mapping(_whole)(keys.get("levels"), f"{at}.levels"),
        records=_whole(keys.get("records"), f"{at}.records"),
        loss=_number(keys.get("loss"), f"{at}.loss"),
    )


def _column(value: Any, at: str) -> ColumnAccount:
    keys = _object(value, at)
    return ColumnAccount(
        name=_text(keys.get("name"), f"{at}.name"),
        role=_text(keys.get("role", ""), f"{at}.role"),
        hierarchy=_optional(keys, "hierarchy", at, _text),
        height=_optional(keys, "height", at, _whole),
        level=_optional(keys, "level", at, _whole),
        release=_optional(keys, "release", at, _text),
    )


def _model(value: Any, at: str) -> ModelAccount:
    keys = _object(value, at)
    return ModelAccount(
        kind=_text(keys.get("kind"), f"{at}.kind"),
        demanded=_number(keys.get("demanded"), f"{at}.demanded"),
        reached=_number(keys.get("reached"), f"{at}.reached"),
        column=_optional(keys, "column", at, _text),
        variant=_optional(keys, "variant", at, _text),
    )


def _suppression(value: Any, at: str) -> SuppressionAccount:
    keys = _object(value, at)
    return SuppressionAccount(
        allowed=_number(keys.get("allowed", 0), f"{at}.allowed"),
        how=_text(keys.get("how", "remove"), f"{at}.how"),
        reasons=_optional(keys, "reasons", at, _mapping(_whole)) or {},
    )


def _node(value: Any, at: str) -> NodeAccount:
    return NodeAccount(*_entries(value, at, _list(_whole), _text, _score))


def _score(value: Any, at: str) -> float | None:
    return None if value is None else _number(value, at)


def _height(value: Any, at: str) -> tuple[int, str, int]:
    height, state, nodes = _entries(value, at, _whole, _text, _whole)
    return height, state, nodes


def _lattice(value: Any, at: str) -> LatticeAccount:
    keys = _object(value, at)
    return LatticeAccount(
        chosen=_list(_whole)(keys.get("chosen"), f"{at}.chosen"),
        score=_text(keys.get("score", ""), f"{at}.score"),
        nodes=_optional(keys, "nodes", at, _list(_node)),
        heights=_optional(keys, "heights", at, _list(_height)),
    )


def _size(value: Any, at: str) -> tuple[int, int]:
    size, classes = _entries(value, at, _whole, _whole)
    return size, classes


def _sizes(value: Any, at: str) -> SizesAccount:
    keys = _object(value, at)
    sizes = _list(_size)
    return SizesAccount(
        before=_optional(keys, "before", at, sizes) or (), after=_optional(keys, "after", at, sizes) or ()
    )


def _branch(value: Any, at: str) -> BranchAccount:
    leaves, *path = _sequence(value, at) or (None,)
    return BranchAccount(_whole(leaves, f"{at}[0]"), _list(_text)(path, at))
