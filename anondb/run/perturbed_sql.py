"""Kept columns that are released changed: what becomes of a value, and what has to be measured before.

What noise is drawn from is a keyed hash of the whole record as the source has it: equal values of different records get
different noise, and nobody can take it back without the key.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    minus,
    named,
    null,
    number,
    query,
    star,
    string,
    subquery,
    table,
    times,
    under,
)
from anondb.sqltree.released import Noise, Rounded
from anondb.sqltree.tables import Relation, Scratch, SourceColumn

_BOUNDS = {
    "int2": ("-32768", "32767"),
    "int4": ("-2147483648", "2147483647"),
    "int8": ("-9223372036854775808", "9223372036854775807"),
    "float4": ("-3.4028234e38", "3.4028234e38"),
    "float8": ("-1.79769313486231e308", "1.79769313486231e308"),
}
_LEAST = {"float4": "1e-5", "float8": "1e-14"}
"""The part of a value that a type of so many digits surely tells from none."""


def noisy(column: SourceColumn, form: Noise, of: str, key: Sequence[exp.Expr], row: str) -> exp.Expr:
    """A number with noise; `key` and what was measured are in the one-row table `row`."""
    deviation = times(col(form.deviation, row), cast(string(form.share), "numeric"))
    changed = call(
        "anondb.noisy",
        _number(column, of),
        record_hash(column.name, of, key),
        deviation,
        col(form.digits, row),
        cast(string(_LEAST.get(column.base, "0")), "numeric"),
        *_bounds(column),
    )
    return cast(changed, column.compared_as or column.type)


def rounded(column: SourceColumn, form: Rounded, of: str) -> exp.Expr:
    """A number as a multiple, or a date as the first moment of a unit; moments are those of UTC."""
    type_ = column.compared_as or column.type
    if not column.is_date:
        step = cast(string(form.step), "numeric")
        return cast(call("anondb.rounded", _number(column, of), step, *_bounds(column)), type_)
    moment = cast(col(column.name, of), type_)
    if column.base == "timestamptz":
        start = call("date_trunc", string(form.step), call("timezone", string("UTC"), moment))
        return call("timezone", string("UTC"), start)
    return cast(call("date_trunc", string(form.step), cast(moment, "timestamp")), type_)


def record_hash(purpose: str, of: str, key: Sequence[exp.Expr]) -> exp.Expr:
    """A keyed hash of a record of the source, of each column its own."""
    record = cast(call("row", cast(string(purpose), "text"), star(of)), "text")
    return call("anondb.keyed_hash", *key, call("anondb.text_bytes", record))


def measures(names: Scratch, source: Relation, columns: Sequence[SourceColumn]) -> exp.Create:
    """How far the finite values of these columns lie apart, and how many digits they have behind the point.

    By exact numbers, so that the order of the rows says nothing.
    """
    measured: list[exp.Expr] = []
    for column in columns:
        form = column.form
        assert isinstance(form, Noise)
        value = _number(column, "s")
        finite = exp.Where(this=under(call("abs", value), cast(string("Infinity"), "numeric")))
        apart = exp.Filter(this=call("stddev_samp", value.copy()), expression=finite)
        scale = call("max", call("scale", call("trim_scale", value.copy())))
        digits = exp.Filter(this=scale, expression=finite.copy())
        measured += [
            named(call("coalesce", apart, number(0)), form.deviation),
            named(call("coalesce", digits, number(0)), form.digits),
        ]
    return create_scratch(names.measures, query(measured, table(source.name, source.schema, "s")))


def moved(
    source: Relation, column: SourceColumn, keys: exp.Expr, key: Sequence[exp.Expr], row: str
) -> exp.Select:
    """The mean square of what the source's values move by, by twice their variance; `keys` has the name `row`."""
    assert isinstance(column.form, Noise | Rounded)
    value = cast(col(column.name, "s"), "numeric")
    if isinstance(column.form, Noise):
        changed = noisy(column, column.form, "s", key, row)
    else:
        changed = rounded(column, column.form, "s")
    pairs = exp.select(named(value, "own"), named(cast(changed, "numeric"), "changed"))
    pairs = pairs.from_(table(source.name, source.schema, "s"))
    pairs = pairs.where(under(call("abs", value.copy()), cast(string("Infinity"), "numeric")))
    if isinstance(column.form, Noise):
        pairs.append("joins", exp.Join(this=keys, kind="CROSS"))  # with what was measured for it
    apart = minus(col("changed", "p"), col("own", "p"), grouped=True)
    squares = call("avg", times(apart, apart.copy()))
    twice = times(
        exp.Literal.number(2), call("nullif", call("var_pop", col("own", "p")), exp.Literal.number(0))
    )
    share = cast(exp.Div(this=squares, expression=exp.paren(twice)), "float8")
    return query([call("least", exp.Literal.number(1), share)], subquery(pairs, "p"))


def _number(column: SourceColumn, of: str) -> exp.Expr:
    return cast(col(column.name, of), "numeric")


def _bounds(column: SourceColumn) -> list[exp.Expr]:
    ends = _BOUNDS.get(column.base)
    return [cast(null() if ends is None else string(end), "numeric") for end in ends or ("", "")]
