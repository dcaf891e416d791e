"""Expressions of a domain file: parsed by sqlglot, and taken only if every part is on the allow-list.

A domain file may come from anywhere, so nothing of its text goes to the server: what is handed on is a tree of
our own, of which `anondb.cocoa_expression` makes SQL again, by an allow-list of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from anondb.errors import UsageError, did_you_mean

LONGEST = 4000
"""Characters of an expression."""
DEEPEST = 100
"""Parts within parts: a file cannot exhaust the stack of whoever reads it, here or on the server."""

_OPERATORS: Mapping[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.And: "and",
    exp.Or: "or",
}
_FUNCTIONS: Mapping[type[exp.Expr], str] = {
    exp.Abs: "abs",
    exp.Ceil: "ceil",
    exp.Floor: "floor",
    exp.Round: "round",
    exp.Sqrt: "sqrt",
    exp.Exp: "exp",
    exp.Ln: "ln",
    exp.Greatest: "greatest",
    exp.Least: "least",
    exp.Lower: "lower",
    exp.Upper: "upper",
}
# What a part may say of itself; what sqlglot notes besides (`symmetric`, `distinct`, a join mark) would be lost.
_OPERANDS = {"this", "expression", "expressions", "low", "high", "ifs", "true", "default", "decimals"}
_NOTED = {"quoted", "is_string", "typed", "safe", "ignore_nulls"}
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_ALLOWED = (
    f"+ - * / % || comparisons, and, or, not, in, between, case, {', '.join(sorted(_FUNCTIONS.values()))}"
)

Tree = dict[str, Any]


def parse(text: str, attributes: Collection[str]) -> Tree:
    """The tree of an expression over these attributes."""
    if len(text) > LONGEST:
        raise UsageError(f"the expression has more than {LONGEST} characters", hint="shorten it")
    try:
        parsed = sqlglot.parse(text, dialect="postgres")
        if len(parsed) != 1 or parsed[0] is None:
            raise UsageError("this is not one expression", hint="for example: salary / 12")
        return _tree(parsed[0], attributes, 1)
    except (SqlglotError, RecursionError):
        raise UsageError("this is not an expression of SQL", hint="for example: salary / 12") from None


def used(tree: Tree) -> Iterator[str]:
    """The attributes that a tree reads, as often as it does."""
    for key, part in tree.items():
        if key == "attribute":
            yield part
        elif isinstance(part, dict):
            yield from used(part)
        elif isinstance(part, list):
            for one in part:
                for tree_ in one if isinstance(one, list) else [one]:
                    yield from used(tree_)


def _tree(node: exp.Expr, attributes: Collection[str], depth: int) -> Tree:
    def of(part: Any) -> Tree:
        return _tree(part, attributes, depth + 1)

    if depth > DEEPEST:
        raise UsageError(
            f"the expression is nested more than {DEEPEST} deep", hint="put a hidden attribute between"
        )
    if (day := _day(node)) is not None:
        return {"date": day}
    if not {key for key, value in node.args.items() if value} <= _OPERANDS | _NOTED:
        raise _refused()
    match node:
        case exp.Paren():
            return of(node.this)
        case exp.Column() if isinstance(node.this, exp.Identifier):
            return {"attribute": _attribute(node.name, attributes)}
        case exp.Literal():
            return _literal(node)
        case exp.Boolean():
            return {"truth": bool(node.this)}
        case exp.Neg():
            return _applied("-", of(node.this))
        case exp.Not():
            return _applied("not", of(node.this))
        case exp.Between():
            return _applied("between", *map(of, (node.this, node.args["low"], node.args["high"])))
        case exp.In() if node.expressions:
            return _applied("in", of(node.this), *map(of, node.expressions))
        case exp.Case() if node.args.get("default") is not None:
            # an operand is compared by the server: written out, it would be there again for each case
            operand = {} if node.this is None else {"operand": of(node.this)}
            cases = [[of(branch.this), of(branch.args["true"])] for branch in node.args["ifs"]]
            return operand | {"cases": cases, "otherwise": of(node.args["default"])}
        case exp.Round():
            decimals = node.args.get("decimals")
            return _called("round", *map(of, [node.this] if decimals is None else [node.this, decimals]))
    if sign := _OPERATORS.get(type(node)):
        return _applied(sign, of(node.this), of(node.expression))
    if (name := _FUNCTIONS.get(type(node))) and node.args.get("decimals") is None:
        return _called(name, *map(of, [node.this, *node.expressions]))
    raise _refused()


def _refused() -> UsageError:
    return UsageError("the expression has a part that is not allowed", hint=f"allowed are {_ALLOWED}")


def _called(name: str, *arguments: Tree) -> Tree:
    return {"function": name, "arguments": list(arguments)}


def _applied(sign: str, *arguments: Tree) -> Tree:
    return {"operator": sign, "arguments": list(arguments)}


def _day(node: exp.Expr) -> str | None:
    """The day of a constant like date '2024-02-29'; no other cast is taken."""
    if type(node) is not exp.Cast or {key for key, value in node.args.items() if value} != {"this", "to"}:
        return None
    is_text = isinstance(node.this, exp.Literal) and node.this.is_string
    is_day = is_text and node.to.this is exp.DType.DATE and _ISO.fullmatch(node.this.name)
    return str(node.this.name) if is_day else None


def _literal(node: exp.Literal) -> Tree:
    if node.is_string:
        if "\0" in node.name:
            raise UsageError(
                "a text of the expression has a NUL character", hint="no text in PostgreSQL has one"
            )
        return {"text": node.name}
    if not node.name.replace(".", "", 1).isdecimal() or node.name.startswith(".") or node.name.endswith("."):
        raise UsageError("a number of the expression is not a plain one", hint="write 1250 or 0.75")
    return {"number": node.name}


def _attribute(name: str, attributes: Collection[str]) -> str:
    if name not in attributes:
        raise UsageError(
            f'there is no attribute "{name[:80]}"',
            hint=did_you_mean(name, attributes) or "an expression reads attributes of its own domain",
        )
    return name
