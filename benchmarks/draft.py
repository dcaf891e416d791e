"""A draft of a large table: all that it looks at, and where the time goes."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from anondb.api import Database
from anondb.db.connection import Door
from benchmarks import machine
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

COLUMNS = 30
_TABLE = """
create table bench.people as
select i as id, 'P' || i % 400000 as patient, 'Name ' || i as full_name, 'user' || i || '@example.org' as email,
       date '1930-01-01' + i * 37 % 30000 as birth_date, (array['f', 'm'])[1 + i % 2] as sex,
       lpad((10000 + i * 7 % 80000)::text, 5, '0') as zip, 'Town ' || i % 3000 as city,
       (array['DE', 'AT', 'CH', 'FR', 'IT', 'PL', 'NL'])[1 + i % 7] as country,
       (array['2211', '2310', '5223', '9112'])[1 + i % 4] as isco,
       timestamp '2020-01-01' + i * interval '97 s' as admitted,
       (array['E11.9', 'I10', 'J45.0', 'F32.1', 'S72.0'])[1 + i % 5] as diagnosis,
       50 + i % 60 + (i % 10) * 0.1 as weight, 150 + i % 45 as height, 90 + i % 80 as systolic,
       1000 + i * 13 % 90000 as income, 'note ' || i || ' of the ward' as remark,
       i % 9 as answer_1, i % 7 as answer_2, i % 5 as answer_3, i % 11 as answer_4, i % 3 = 0 as smoker,
       round((random() * 100)::numeric, 2) as score, i % 400 as department,
       (array['single', 'married', 'widowed'])[1 + i % 3] as marital,
       47 + (i % 900) * 0.001 as lat, 8 + (i % 1100) * 0.001 as lon, md5(i::text) as token,
       (i % 255)::text || '.1.2.3' as ip, 'A' || i % 50 as ward
from generate_series(1, {rows}) as i
"""


def run(options: Options) -> dict[str, Any]:
    """At every size that was asked for."""
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Database(Door(conninfo)) as db:
        db.connection.execute("create schema bench")
        cases = [_measure(db, rows, options.repeat) for rows in options.rows]
        return {"benchmark": "draft", "machine": machine.facts(db.connection), "cases": cases}


def _measure(db: Database, rows: int, repeat: int) -> dict[str, Any]:
    db.connection.execute("drop table if exists bench.people")
    db.connection.execute(_TABLE.replace("{rows}", str(int(rows))).encode())
    db.connection.execute("analyze bench.people")
    seconds, client = [], []
    for _ in range(repeat):
        began, of_client = time.perf_counter(), time.process_time()
        drafted = db.draft("bench.people")
        seconds.append(round(time.perf_counter() - began, 2))
        client.append(round(time.process_time() - of_client, 2))
    assert len(drafted.proposals) == COLUMNS
    say(f"{rows:,} rows × {COLUMNS}: {median(seconds)} s")
    return {
        "rows": rows,
        "columns": COLUMNS,
        "seconds": median(seconds),
        "client_cpu_seconds": median(client),
        "looked_at": drafted.table.looked_at,
    }
