"""From the text of a policy to a `Policy`: which keys there are, what each table says, the fingerprint."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from anondb.errors import NoColumnsError, PolicyError, Problem, UsageError
from anondb.hierarchies.forms.ranges import read_cap
from anondb.methods.registry import FIRST, METHODS
from anondb.models.registry import SENSITIVE_MODELS, made
from anondb.ontology.measures import MEASURES
from anondb.policy.check import (
    Key,
    Spot,
    Table,
    choice,
    instead,
    read_count,
    read_flag,
    read_level,
    read_name,
    read_number,
    read_share,
    read_table,
    read_text,
    read_texts,
    shown,
    written,
)
from anondb.policy.columns import read_items, read_ontologies, with_cap
from anondb.policy.fingerprint import fingerprint, of_classes
from anondb.policy.hierarchy_forms import read_hierarchy
from anondb.policy.linked import (
    ORPHANS,
    as_one,
    check_alone,
    check_linked,
    models_of,
    read_knows,
    read_max_rows,
    read_parent,
)
from anondb.policy.model import LAYOUTS, Column, LinkedTable, Method, Policy, Privacy, Role
from anondb.policy.names import check_part, quoted
from anondb.policy.over_time import OVER_TIME, read_against, read_key
from anondb.policy.perturbed import FORMS_OF_KEPT
from anondb.policy.released import read_release
from anondb.policy.rules import check_together
from anondb.releases.following import CHANGES, LEAVERS


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
    document = as_one(_document(text, place))
    spot = Spot(place, base or Path())
    if "table" in document:
        return _several(spot, document, text)
    keys = read_table(spot, document, TOP)
    check_together(spot, keys, document)
    check_alone(spot, keys)
    if spot.reported:
        if document.get("columns") == {} and "source" in keys:
            raise NoColumnsError(spot.problems(document), document["source"])
        raise PolicyError(spot.problems(document))
    columns = tuple(Column(name, **column) for name, column in keys["columns"].items())
    said = _parts(spot, keys, columns, document, text)
    said |= {"key": keys.get("key", ()), "target_layout": keys.get("target_layout", LAYOUTS[0])}
    return Policy(keys["source"], keys["target"], **said)


def _parts(spot: Spot, keys: Table, columns: tuple[Column, ...], document: Table, text: str) -> Table:
    """What a policy says besides its tables."""
    privacy = _privacy(keys["privacy"], METHODS[keys["method"]["algorithm"]].suppression)
    return {
        "privacy": privacy,
        "method": Method(**keys["method"]),
        "columns": columns,
        "text": text,
        "place": spot.file,
        "sha256": fingerprint(document, spot.digests),
        "scope": keys.get("scope"),
        "classes_sha256": fingerprint(of_classes(document, OVER_TIME), spot.digests),
    }


def _several(spot: Spot, document: Table, text: str) -> Policy:
    """A policy of linked tables: each is read as a policy of one is, and then they are compared."""
    keys = read_table(spot, document, TOP_LINKED)
    problems = check_linked(spot, keys, tables := keys.get("table", []))
    models, unfit = models_of(spot, keys.get("privacy", {}), tables)
    privacy = {key: value for key, value in keys.get("privacy", {}).items() if key not in {"unit", *_MODELS}}
    for number, (table, own) in enumerate(zip(tables, models, strict=True), 1):
        here = replace(spot, file=f"{spot.file} [[table]] {number}", reported=table.pop("reported"))
        method = {k: v for k, v in keys.get("method", {}).items() if k != "weights"}
        check_together(
            here, {**table, "privacy": privacy | own, "method": method}, document["table"][number - 1]
        )
        problems += here.problems(document["table"][number - 1])
    if spot.reported or problems or unfit:
        raise PolicyError([*spot.problems(document), *problems, *unfit])
    linked = [
        LinkedTable(
            table["source"],
            table["target"],
            tuple(Column(name, **column) for name, column in table["columns"].items()),
            table.get("parent"),
            made(own),
        )
        for table, own in zip(tables, models, strict=True)
    ]
    [root] = [table for table in linked if table.parent is None]
    said = _parts(spot, keys, root.columns, document, text)
    return Policy(root.source, root.target, **said, tables=tuple(linked))


def _read_tables(spot: Spot, value: object) -> list[Table]:
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        raise UsageError(
            f"{spot.key} must be an array of tables, not {shown(value)}",
            hint="write [[table]] above each of them",
        )
    read = []
    for number, one in enumerate(value, 1):
        here = Spot(f"{spot.file} [[table]] {number}", spot.base, digests=spot.digests)
        read.append(read_table(here, one, LINKED) | {"reported": here.reported})
    return read


_MODELS = frozenset(model.name for model in SENSITIVE_MODELS)


def part_as_written(text: str, part: str) -> Table:
    """What the text of a policy says in one of its tables; empty where it has none."""
    keys = _document(text, "policy").get(part, {})
    return keys if isinstance(keys, dict) else {}


def _read_privacy(spot: Spot, value: object) -> Table:
    keys = read_table(spot, value, PRIVACY)
    if spot.at("k").faulty or "k" in keys:
        return keys
    # a model may demand nothing, as t = 1 does, and one that could not be understood may demand something
    unclear = any(spot.at(model.name).faulty for model in SENSITIVE_MODELS)
    protected = any(
        model.demands(demand) for model in SENSITIVE_MODELS for _, demand in keys.get(model.name, ())
    )
    if not (unclear or protected):
        hint = "add k = 5: each released record then looks like at least four others"
        spot.at("k").report("k is missing", hint)
    elif "unit" in keys:
        hint = "add k = 5: each class then has five persons"
        spot.at("unit").report("unit names the persons that k counts, and there is no k", hint)
    return keys


def _privacy(keys: Table, suppression: float) -> Privacy:
    """What [privacy] demands, once everything is right; so much may be left out where it does not say."""
    names = {model.name for model in SENSITIVE_MODELS}
    others = {key: value for key, value in keys.items() if key not in names}
    return Privacy(**{"suppression": suppression} | others, models=made(keys))


def _read_method(spot: Spot, value: object) -> Table:
    keys = read_table(spot, value, METHOD)
    method = METHODS.get(keys.get("algorithm", ""))
    if method is None:
        return keys
    for key in [key for key in keys if key != "algorithm" and not method.reads(key)]:
        spot.at(key).report(*method.unread_key(key))
    for key, words in method.options.items():
        if key in keys:
            spot.at(key).attempt(choice(words), keys[key])
        keys.setdefault(key, words[0])
    method.read_keys(spot, keys)
    return keys


def _read_seed(spot: Spot, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise UsageError(
            f"{spot.key} must be a whole number, not {shown(value)}", hint="any will do: seed = 7"
        )
    return value


def _read_weights(spot: Spot, value: object) -> Table:
    names = value if isinstance(value, dict) else {}
    return read_table(spot, value, {name: Key(_read_weight) for name in names})


def _read_weight(spot: Spot, value: object) -> float:
    with suppress(UsageError):
        if (weight := read_number(spot, value)) >= 0:
            return float(weight)
    message = f"the weight of {quoted(spot.name)} must be a number of at least 0, not {shown(value)}"
    raise UsageError(message, hint="a column that is not named weighs 1")


def _read_columns(spot: Spot, value: object) -> Table:
    names = value if isinstance(value, dict) else {}
    return read_table(spot, value, {name: Key(_read_column) for name in names})


def _read_column(spot: Spot, value: object) -> Table:
    if not isinstance(value, dict):
        role = value if isinstance(value, str) and value in list(Role) else "quasi"
        hint = f'write {written(spot.key)} = {{ role = "{role}" }}'
        raise UsageError(f"{written(spot.key)} must be a table, not {shown(value)}", hint=hint)
    keys = read_table(spot, value, COLUMN)
    role = keys.get("role", Role.QUASI)
    for key in keys.keys() & {"min_level", "max_level"} if role is not Role.QUASI else ():
        message = f"{role} column {quoted(spot.name)} has a {key}, but only quasi-identifiers have levels"
        spot.at(key).report(message, instead(role, "the key"))
    if "keep" in keys and role not in (Role.SENSITIVE, Role.OTHER):
        message = f"{role} column {quoted(spot.name)} has a keep, but it is not released as it is"
        spot.at("keep").report(message, "leave the key out")
    if (low := keys.get("min_level", 0)) > (high := keys.get("max_level", low)):
        message = f"min_level {shown(low)} lies above max_level {shown(high)}"
        spot.at("min_level").report(message, "make min_level the smaller one, or both the same")
    check_part(spot.name)
    return with_cap(spot, keys, value)


def _read_role(spot: Spot, value: object) -> Role:
    return Role(choice(list(Role))(spot, value))


# A new key is a row here and a field of the same name in policy/model.py. Any other key is refused: a
# protection that a policy asks for and that nobody reads would be worse than an error.
COLUMN: Mapping[str, Key] = {
    "role": Key(_read_role, 'add role = "quasi" to generalize it, or role = "identifier" to leave it out'),
    "hierarchy": Key(read_hierarchy),
    "cap": Key(read_cap),
    "min_level": Key(read_level),
    "max_level": Key(read_level),
    "ontology": Key(read_ontologies),
    "unknown": Key(choice(("accept",))),
    "set": Key(read_flag),
    "items": Key(read_items),
    "stop_words": Key(read_texts),
    "keep": Key(choice(("identifying",))),
    "release": Key(read_release),
    "type": Key(choice(("uuid", "text"))),
    **FORMS_OF_KEPT,
}
PRIVACY: Mapping[str, Key] = {
    "k": Key(read_count),
    "suppression": Key(read_share),
    "suppress": Key(choice(("cells", "remove", "mask", "rows"))),
    "stars": Key(choice(("value", "match"))),
    "nulls": Key(choice(("value", "suppress"))),
    "unit": Key(read_text),
    "changes": Key(choice(CHANGES)),
    "leavers": Key(choice(LEAVERS)),
    "against": Key(read_against),
    "knows": Key(read_knows),
    "max_rows": Key(read_max_rows),
    "orphans": Key(choice(ORPHANS)),
    "suppression_rows": Key(read_share),
    **{model.name: Key(model.read) for model in SENSITIVE_MODELS},
}
METHOD: Mapping[str, Key] = {
    "algorithm": Key(choice(METHODS), f'add algorithm = "{FIRST}"'),
    "heuristic": Key(read_text),
    "objective": Key(read_text),
    "weights": Key(_read_weights),
    "recode": Key(read_text),
    "strict": Key(read_flag),
    "bounds": Key(read_text),
    "split": Key(read_text),
    "variant": Key(read_text),
    "measure": Key(choice(MEASURES)),
    "seed": Key(_read_seed),
    "distance": Key(read_text),
    "draw": Key(read_text),
}
TOP: Mapping[str, Key] = {
    "source": Key(read_name, 'add source = "schema.table" above the first [table]: what to anonymize'),
    "target": Key(read_name, 'add target = "schema.table" above the first [table]: what to release'),
    "scope": Key(read_text),
    "key": Key(read_key),
    "target_layout": Key(choice(LAYOUTS)),
    "privacy": Key(_read_privacy, "add a table [privacy] with k = 5"),
    "method": Key(_read_method, f'add a table [method] with algorithm = "{FIRST}"'),
    "columns": Key(_read_columns, 'add a table [columns] with a line for each: zip = { role = "quasi" }'),
}
LINKED: Mapping[str, Key] = {
    **{key: TOP[key] for key in ("source", "target", "columns")},
    "parent": Key(read_parent),
}
TOP_LINKED: Mapping[str, Key] = {
    **{key: TOP[key] for key in ("scope", "privacy", "method")},
    "table": Key(_read_tables),
}


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
