"""Random tables whose values have several spellings: what a run counted is counted again by GROUP BY."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from anondb.api import Database
from anondb.errors import UnsatisfiableError
from anondb.policy.load import parse
from tests.properties.examples import laws

SPELLINGS = {
    "numeric": ("1", "1.0", "1.00", "2", "2.0", "3"),
    "float8": ("0", "-0", "1", "1e0", "2", "3"),
    "interval": ("1 mon", "30 days", "720 hours", "1 day", "24 hours", "0"),
    "jsonb": ("1", "1.0", '{"a": [1, null]}', '{"a": [1.0, null]}', '"1"', "null"),
    "numrange": ("[1,5)", "[1.0,5)", "[1,5]", "[1,5.0]", "empty", "(,)"),
    "numeric[]": ("{1,2}", "{1.0,2}", "{}", "{NULL}", "{{1,2}}", "[0:1]={1,2}"),
    "clinic.pair": ("(1,a)", "(1.0,a)", '(1,"a ")', "(,)", "(1,)", "(1.0,)"),
    "clinic.share": ("0", "0.0", "5", "5.0", "6", "7"),
    "bpchar": ("a", "a  ", "A", "", " ", " a"),
}
TYPES = """
drop schema if exists clinic cascade; create schema clinic; create schema if not exists share;
create type clinic.pair as (x numeric, y text); create domain clinic.share as numeric check (value >= 0);
"""
METHODS = (
    'algorithm = "datafly"',
    'algorithm = "incognito"',
    'algorithm = "optimal"',
    'algorithm = "mondrian"',
    'algorithm = "mondrian"\nstrict = false',
)
# the label of a value that did not rise is a spelling of it; GROUP BY finds one group then, not two
COUNTED = """
select count(*), min(c.n), min(c.persons), min(c.diverse) from (
    select count(*) as n, count(distinct t.u) + (count(*) > count(t.u))::int as persons,
           count(distinct t.s) + (count(*) > count(t.s))::int as diverse
    from share.t as t group by t.q, t.x) as c
"""


@dataclass(frozen=True)
class Example:
    types: tuple[str, str, str]  # of a quasi-identifier x, a sensitive s and the person u
    rows: tuple[tuple[int, str | None, str | None, str | None], ...]
    k: int
    l: int  # noqa: E741 - its name in the literature
    method: str
    persons: bool

    @property
    def policy(self) -> str:
        x = "" if "mondrian" in self.method else ', hierarchy = { mask = "all" }'
        return "\n".join([
            'source = "clinic.t"\ntarget = "share.t"\n[privacy]',
            f"k = {self.k}\nsuppression = 0.3" if x else f"k = {self.k}",
            'unit = "u"' if self.persons else "",
            f'l_diversity = {{ column = "s", l = {self.l} }}',
            f"[method]\n{self.method}\n[columns]",
            f'q = {{ role = "quasi"{x} }}\nx = {{ role = "quasi"{x} }}',
            's = { role = "sensitive" }\nu = { role = "other", keep = "identifying" }\nr = { role = "other" }',
        ])  # fmt: skip


@st.composite
def examples(draw: st.DrawFn) -> Example:
    types = draw(st.tuples(*[st.sampled_from(sorted(SPELLINGS))] * 3))
    values = [st.none() | st.sampled_from(SPELLINGS[type_]) for type_ in types]
    rows = draw(st.lists(st.tuples(st.integers(1, 2), *values), min_size=4, max_size=30))
    method = draw(st.sampled_from(METHODS))
    persons = "mondrian" not in method and draw(st.booleans())
    return Example(types, tuple(rows), draw(st.integers(2, 3)), draw(st.integers(2, 3)), method, persons)


@given(example=examples())
@laws
def test_every_class_has_k_persons_and_l_values_by_the_equality_of_their_types(
    db: Database, tmp_path: Path, example: Example
) -> None:
    db.connection.execute(TYPES)
    columns = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(type_))
        for name, type_ in zip("xsu", example.types, strict=True)
    )
    db.connection.execute(sql.SQL("create table clinic.t (q int, {}, r int)").format(columns))
    with db.connection.cursor() as cursor:
        cursor.executemany(
            "insert into clinic.t values (%s, %s, %s, %s, %s)",
            [(*row, number) for number, row in enumerate(example.rows)],
        )
    try:
        levels = db.run(parse(example.policy, base=tmp_path)).result.levels or {}
    except UnsatisfiableError:
        return
    [counted] = db.connection.execute(COUNTED).fetchall()
    classes, smallest, persons, diverse = cast(tuple[int, int, int, int], counted)
    if classes:
        assert smallest >= example.k
        assert diverse >= example.l
        assert not example.persons or persons >= example.k
    if levels.get("x") == 0:
        same = sql.SQL(
            "select count(*) from share.t as t join clinic.t as o on o.r = t.r"
            " where t.x is distinct from o.x::text and array[t.x::{}] is distinct from array[o.x]"
        )
        assert db.connection.execute(same.format(sql.SQL(example.types[0]))).fetchall() == [(0,)]
    kept = (
        "select count(*) from share.t as t join clinic.t as o on o.r = t.r"
        " where (t.s::text, t.u::text) is distinct from (o.s::text, o.u::text)"
    )
    assert db.connection.execute(kept.encode()).fetchall() == [(0,)]
