"""What a policy says, as one number: the same however it is laid out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from anondb.policy.check import Table


def fingerprint(document: Table, digests: Mapping[str, str]) -> str:
    """SHA-256 of what the policy says and of the files it refers to, however it is laid out."""
    # the release has its columns in the order of the policy, so their order is part of what it says
    keys = dict(document)
    if "table" in document:
        keys["table"] = [{**table, "columns": list(table["columns"].items())} for table in document["table"]]
    else:
        keys["columns"] = list(document["columns"].items())
    # a model is the same in a table and in an array of one
    keys["privacy"] = {
        key: [value] if isinstance(value, dict) else value for key, value in keys["privacy"].items()
    }
    return hashlib.sha256(json.dumps([_plain(keys), digests], sort_keys=True).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """The same value in JSON's terms; numbers written out, so that 5, 5.0 and 0.5e1 are one."""
    match value:
        case bool() | str():
            return value
        case int() | Decimal():
            digits = format(Decimal(value), "f")
            digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
            return {"number": "0" if digits == "-0" else digits}
        case date():
            return {"day": value.isoformat()}
        case dict():
            return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value]


def of_classes(document: Table, others: Collection[str]) -> Table:
    """What a policy says without what it says of other releases: as long as it is the same, levels stay."""
    privacy = {key: value for key, value in document["privacy"].items() if key not in others}
    return {key: value for key, value in document.items() if key not in ("key", "target_layout")} | {
        "privacy": privacy
    }
