"""From the text of a policy to a `Policy`: which keys there are, the rules between them, the fingerprint."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from anondb.algorithms.registry import ALGORITHMS
from anondb.errors import PolicyError, Problem, UsageError
from anondb.policy.check import (
    Key,
    Spot,
    Table,
    choice,
    read_count,
    read_flag,
    read_hierarchy,
    read_name,
    read_share,
    read_table,
    read_text,
    shown,
    written,
)
from anondb.policy.model import Column, Method, Policy, Privacy, Role
from anondb.policy.names import check_part, quoted


def load(path: Path | str) -> Policy:
    """The policy in a file."""
    path = Path(path)
    place = path.name or str(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise _fault(place, "there is no such file", f"check the path {quoted(str(path))}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or "its name is not possible"
        raise _fault(place, f"the file cannot be read: {reason}", f"check {quoted(str(path))}") from None
    try:
        text = content.decode("utf-8-sig")  # some editors put a byte order mark first
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _fault(f"{place} line {line}", "the text is not UTF-8", "save the file in UTF-8") from None
    return parse(text, place=place, base=path.parent)


def parse(text: str, *, place: str = "policy", base: Path | None = None) -> Policy:
    """The policy that a text says; relative paths in it start at `base`. All its problems are one error."""
    document = _document(text, place)
    spot = Spot(place, base or Path())
    said = read_table(spot, document, TOP)
    _check_together(spot, said, document)
    if spot.found:
        raise PolicyError(spot.problems(document))
    return Policy(
        source=said["source"],
        target=said["target"],
        privacy=Privacy(**said["privacy"]),
        method=Method(**said["method"]),
        columns=tuple(Column(name, **column) for name, column in said["columns"].items()),
        text=text,
        place=place,
        sha256=_fingerprint(document, spot.digests),
    )


def _read_privacy(spot: Spot, value: object) -> Table:
    return read_table(spot, value, PRIVACY)


def _read_method(spot: Spot, value: object) -> Table:
    said = read_table(spot, value, METHOD)
    algorithm = ALGORITHMS.get(said.get("algorithm", ""))
    if algorithm and algorithm.heuristics:
        if "heuristic" in said:
            spot.at("heuristic").attempt(choice(algorithm.heuristics), said["heuristic"])
        said.setdefault("heuristic", algorithm.heuristics[0])
    elif algorithm and "heuristic" in said:
        spot.at("heuristic").report(f"{algorithm.name} has no heuristics", "leave the key out")
    if algorithm and not algorithm.partitions and "strict" in said:
        spot.at("strict").report(f"{algorithm.name} does not partition the records", "leave the key out")
    return said


def _read_columns(spot: Spot, value: object) -> Table:
    names = value if isinstance(value, dict) else {}
    return read_table(spot, value, {name: Key(_read_column) for name in names})


def _read_column(spot: Spot, value: object) -> Table:
    if not isinstance(value, dict):
        role = value if isinstance(value, str) and value in list(Role) else "quasi"
        hint = f'write {written(spot.key)} = {{ role = "{role}" }}'
        raise UsageError(f"{written(spot.key)} must be a table, not {shown(value)}", hint=hint)
    said = read_table(spot, value, COLUMN)
    name, role = spot.path[-1], said.get("role", Role.QUASI)
    if "hierarchy" in value and role is not Role.QUASI:
        spot.at("hierarchy").report(
            f"{role} column {quoted(name)} has a hierarchy, but only quasi-identifiers are generalized",
            'leave the hierarchy out, or set role = "quasi"',
        )
    check_part(name)
    return said


def _read_role(spot: Spot, value: object) -> Role:
    return Role(choice(list(Role))(spot, value))


# A new key is a row here and a field of the same name in policy/model.py. Any other key is refused: a
# protection that a policy asks for and that nobody reads would be worse than an error.
COLUMN: Mapping[str, Key] = {
    "role": Key(_read_role, f'add role = "quasi", or one of {", ".join(Role)}'),
    "hierarchy": Key(read_hierarchy),
}
PRIVACY: Mapping[str, Key] = {
    "k": Key(read_count, "add k = 5: each released record then looks like at least four others"),
    "suppression": Key(read_share),
    "suppress": Key(choice(("remove", "mask"))),
    "nulls": Key(choice(("value", "suppress"))),
}
METHOD: Mapping[str, Key] = {
    "algorithm": Key(choice(ALGORITHMS), 'add algorithm = "datafly"'),
    "heuristic": Key(read_text),
    "strict": Key(read_flag),
}
TOP: Mapping[str, Key] = {
    "source": Key(read_name, 'add source = "schema.table" above the first [table]: what to anonymize'),
    "target": Key(read_name, 'add target = "schema.table" above the first [table]: what to release'),
    "privacy": Key(_read_privacy, "add a table [privacy] with k = 5"),
    "method": Key(_read_method, 'add a table [method] with algorithm = "datafly"'),
    "columns": Key(_read_columns, 'add a table [columns] with a line for each: zip = { role = "quasi" }'),
}


def _check_together(spot: Spot, said: Table, document: Table) -> None:
    """The rules between the tables."""
    if "source" in said and said["source"] == said.get("target"):
        spot.at("target").report("target is the source itself", "name another table; the run makes it")
    if "columns" not in said:
        return
    columns: Table = said["columns"]
    quasi = [name for name, column in columns.items() if column.get("role") is Role.QUASI]
    algorithm = ALGORITHMS.get(said.get("method", {}).get("algorithm", ""))
    if algorithm and algorithm.needs_hierarchies:
        for name in quasi:
            # a hierarchy that could not be read is there all the same
            if "hierarchy" not in document["columns"][name]:
                spot.at("columns", name, "hierarchy").report(
                    f"quasi-identifier {quoted(name)} has no hierarchy, and {algorithm.name} needs one",
                    'add hierarchy = { mask = "right" }, or set role = "other"',
                )
    all_roles_known = all("role" in columns.get(name, {}) for name in document["columns"])
    if not quasi and all_roles_known:
        spot.at("columns", "").report(
            "no column is a quasi-identifier, so that there is nothing to anonymize",
            'set role = "quasi" for what could single out a person: age, zip code, occupation',
        )


def _document(text: str, place: str) -> Table:
    try:
        text.encode()
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        reason, _, position = str(error).partition(" (at ")
        line = re.match(r"line (\d+), column (\d+)", position)
        where = f"{place} line {line[1]}" if line else place
        column = f" at column {line[2]}" if line else ""
        hint = "texts stand in quotes, and each key and table may appear once"
        raise _fault(where, f"this is not TOML: {reason}{column}", hint) from None
    except UnicodeEncodeError:
        raise _fault(place, "the text is not Unicode", "save the file in UTF-8") from None
    except (ValueError, ArithmeticError, RecursionError):
        # tomllib leaves what int, datetime and Decimal refuse, and Python's stack, to its caller
        hint = "look for numbers or nested lists that are far too long"
        raise _fault(place, "a number or a nesting is beyond all bounds", hint) from None


def _fault(place: str, message: str, hint: str) -> PolicyError:
    return PolicyError([Problem(place, message, hint)])


def _fingerprint(document: Table, digests: Mapping[str, str]) -> str:
    """SHA-256 of what the policy says and of the files it refers to, however it is laid out."""
    # the release has its columns in the order of the policy, so their order is part of what it says
    said = {**document, "columns": list(document["columns"].items())}
    return hashlib.sha256(json.dumps([_plain(said), digests], sort_keys=True).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """The same value in JSON's terms; numbers written out, so that 5, 5.0 and 0.5e1 are one."""
    match value:
        case bool() | str():
            return value
        case int() | Decimal():
            digits = format(Decimal(value), "f")
            digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
            return {"number": "0" if digits == "-0" else digits}
        case dict():
            return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value]
