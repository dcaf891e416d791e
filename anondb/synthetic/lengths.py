"""How long the texts of a domain can get: a file may come from anywhere, and thirty doublings make a gigabyte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anondb.errors import UsageError
from anondb.synthetic.domain import Attribute, Conditional, Domain, Expression, Frequencies

LONGEST = 10_000
"""Characters of a text that is put together."""
_NUMBER = 40
"""Characters of a number, in a plain one's text."""
_OF_TEXTS = {"lower", "upper", "greatest", "least"}


def check_lengths(domain: Domain, order: Iterable[str]) -> None:
    """Refuses an expression whose text could be too long; `order` is that of the dependencies."""
    attributes = {attribute.name: attribute for attribute in domain.attributes}
    lengths: dict[str, int] = {}
    for name in order:
        lengths[name] = _longest(attributes[name], lengths)
        if lengths[name] > LONGEST and isinstance(attributes[name].generator, Expression):
            raise UsageError(
                f'the text of attribute "{name}" could have more than {LONGEST:,} characters',
                hint="put fewer texts together",
            )


def _longest(attribute: Attribute, lengths: Mapping[str, int]) -> int:
    match attribute.generator:
        case _ if attribute.kind != "text":
            return _NUMBER
        case Frequencies(weights):
            return max(len(value) for value in weights if isinstance(value, str))
        case Conditional(_, rows):
            return max(len(value) for row in rows.values() for value in row if isinstance(value, str))
        case Expression(_, tree, _):
            return _of_tree(tree, lengths)


def _of_tree(tree: Mapping[str, Any], lengths: Mapping[str, int]) -> int:
    if "attribute" in tree:
        return lengths[tree["attribute"]]
    if "text" in tree:
        return len(tree["text"])
    if "cases" in tree:
        results = [*(result for _, result in tree["cases"]), tree["otherwise"]]
        return max(_of_tree(result, lengths) for result in results)
    within = [_of_tree(part, lengths) for part in tree.get("arguments", ())]
    if tree.get("operator") == "||":
        return sum(within)
    return max(within) if tree.get("function") in _OF_TEXTS else _NUMBER
