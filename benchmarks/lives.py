"""Lives: night after night some persons join and some leave; who waits, is withheld, or is published though gone."""

from __future__ import annotations

from contextlib import closing
from statistics import mean
from typing import Any

from anondb.api.database import connect
from anondb.db.connection import Connection, Door
from anondb.errors import UsageError
from anondb.run.plan import Options as RunOptions
from benchmarks import machine
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

MODELS: dict[str, dict[str, Any]] = {
    "k = 5": {},
    "k = 5, l = 3": {"l_diversity": {"column": "occupation", "l": 3}},
}
COLUMNS = ("age", "sex", "race", "marital_status", "education", "occupation")
_TABLE = """
create table bench.persons as
select null::bigint as person, a.age, a.sex, a.race, a.marital_status, a.education, a.occupation
from bench.adult as a limit 0
"""
# everybody is like somebody of the census: the first ones each like another, those who join like some of them
_ORDER = """
create table bench.likeness as
select row_number() over (order by hashtextextended(t::text, 1), t::text) as nth, t.* from bench.adult as t
"""
_JOIN = """
insert into bench.persons
select i.i, a.age, a.sex, a.race, a.marital_status, a.education, a.occupation
from (select i, case when i <= n.n then i else 1 + abs(hashint8extended(i, 2)) %% n.n end as nth
      from generate_series(%s::bigint, %s) as i cross join (select count(*) as n from bench.likeness) as n) as i
join bench.likeness as a on a.nth = i.nth
"""
_LEAVE = """
delete from bench.persons where person in (
    select p.person from bench.persons as p order by hashint8extended(p.person, %s) limit %s)
"""


def run(options: Options) -> dict[str, Any]:
    """Persons of whom half of the given share leave each night, and as many join."""
    if not 0 < options.changed <= 1:
        raise UsageError("--changed must be above 0 and at most 1", hint="0.01 is one row in a hundred")
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        connection.execute("create schema bench")
        with closing(connect(conninfo)) as db:
            db.tables.load("builtin:adult", "bench.adult")
        connection.execute('alter table bench.adult rename column "marital-status" to marital_status')
        connection.execute(_ORDER)
        cases = [
            _lived(conninfo, connection, options, rows, demands, leavers)
            for rows in options.rows
            for demands in MODELS
            for leavers in ("delay", "drop")
        ]
        return {"benchmark": "lives", "machine": machine.facts(connection), "cases": cases}


def policy(demands: str, leavers: str) -> dict[str, Any]:
    return {
        "source": "bench.persons",
        "target": "bench.released_persons",
        "privacy": {"k": 5, "suppression": 0.05, "changes": "hold", "leavers": leavers} | MODELS[demands],
        "method": {"algorithm": "datafly"},
        "columns": {
            "person": {"role": "identifier"},
            "age": {"role": "quasi", "hierarchy": {"start": 0, "widths": [5, 10, 20, 40]}},
            **{name: {"role": "quasi", "hierarchy": {"mask": "all"}} for name in COLUMNS[1:-1]},
            "occupation": {"role": "sensitive"},
        },
    }


def _lived(
    conninfo: str, connection: Connection, options: Options, rows: int, demands: str, leavers: str
) -> dict[str, Any]:
    connection.execute("drop table if exists bench.persons, bench.released_persons")
    connection.execute("delete from anondb.series")
    connection.execute("truncate anondb.member")
    connection.execute(_TABLE)
    connection.execute("alter table bench.persons add primary key (person)")
    connection.execute(_JOIN.encode(), (1, rows))
    each, last, nights = max(round(rows * options.changed / 2), 1), rows, []
    with closing(connect(conninfo)) as db:
        for night in range(options.nights):
            connection.execute("analyze bench.persons")
            told = RunOptions(evaluate="none", allow_empty=True)
            result = db.run(policy(demands, leavers), options=told).result
            nights.append(dict(result.series) | {"released": result.released, "classes": result.classes})
            connection.execute(_LEAVE.encode(), (night, each))
            connection.execute(_JOIN.encode(), (last + 1, last + each))
            last += each
            if night % 20 == 19:
                say(f"{demands}, {leavers}, night {night + 1}: {nights[-1]}")
    end = nights[-1]
    return {
        "rows": rows,
        "models": demands,
        "leavers": leavers,
        "nights": len(nights),
        "each_night": each,
        "classes": nights[0]["classes"],
        "waiting_mean": round(mean(n["waiting"] for n in nights) / rows, 4),
        "waiting_most": round(max(n["waiting"] for n in nights) / rows, 4),
        **{
            f"{what}_at_end": round(end[what] / rows, 4)
            for what in ("released", "departed", "withheld", "failed")
        },
        "fewest": min(n["fewest"] for n in nights),
    }
