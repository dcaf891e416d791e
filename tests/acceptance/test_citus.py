# ruff: noqa: S608 -- names of the test itself
"""Releases of a source that Citus has distributed, against those of the same rows in one place.

ANONDB_CITUS_DSN names a database of a coordinator with at least two workers; what the tests make in it is dropped.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import sql

from anondb.api import Database
from anondb.db.citus import pulled
from anondb.db.connection import Connection, Door
from anondb.db.execute import Executor, Step
from anondb.db.install.upgrade import upgrade
from anondb.errors import AnondbError, DatabaseError, PolicyError, UsageError
from anondb.policy.load import parse
from anondb.policy.model import Policy
from anondb.run.plan import Options
from anondb.run.statement import Statement
from anondb.sqltree.render import render

DSN = os.environ.get("ANONDB_CITUS_DSN", "")
pytestmark = pytest.mark.skipif(not DSN, reason="ANONDB_CITUS_DSN names no cluster")

ROWS = """
select i / 2 as patient, 20 + i * 7919 % 60 as age, nullif('Z' || i * 31 % 40, 'Z7') as zip,
       (array['m', 'f'])[1 + i % 2] as sex, 'D' || i * 13 % 7 as ill, 'n' || i * 7 % 400 as note,
       timestamptz '2024-01-01 22:00+00' + i % 90 * interval '5 hours' as seen, interval '1 day' * (i % 5) as stay
from generate_series(1, 6000) as i
union all select 1, 40, 'Z20', 'm', 'D1', 'twin', '2024-01-01 00:00+00', '1 day' from generate_series(1, 3)
"""
POLICY = """
source = "{schema}.{source}"
target = "{schema}.{target}"
target_layout = "{layout}"
[privacy]
k = 20
suppression = 0.3
changes = "free"
{privacy}
[method]
algorithm = "{algorithm}"
{method}
[columns]
patient = {{ role = "identifier" }}
age = {{ role = "quasi", hierarchy = {{ start = 15, widths = [5, 10, 20] }} }}
zip = {{ role = "quasi", hierarchy = {{ mask = "right" }} }}
sex = {{ role = "quasi", hierarchy = {{ mask = "all" }} }}
ill = {{ role = "sensitive" }}
note = {{ role = "{single}", keep = "identifying" }}
seen = {{ role = "{single}", keep = "identifying" }}
stay = {{ role = "{single}", keep = "identifying" }}
"""
METHODS = {
    "datafly": {"algorithm": "datafly"},
    "optimal": {"algorithm": "optimal"},
    "incognito": {"algorithm": "incognito"},
    "mondrian": {"algorithm": "mondrian"},
    "local recoding": {"method": 'recode = "local"'},
    "masks": {"privacy": 'suppress = "mask"'},
    "nulls": {"privacy": 'nulls = "suppress"'},
    "persons": {"privacy": 'unit = "patient"'},
    "l-diversity": {"privacy": 'l_diversity = { column = "ill", l = 3 }'},
    "t-closeness": {"privacy": 't_closeness = { column = "ill", t = 0.5 }'},
    "one pass": {"single": "identifier"},
}


@dataclass
class Cluster:
    """A schema in a cluster: `apart` is distributed by the patient, `one` has the same rows in one place."""

    connection: Connection
    schema: str

    def policy(self, target: str, layout: str = "auto", *, source: str = "apart", **said: str) -> Policy:
        said = {"privacy": "", "method": "", "algorithm": "datafly", "single": "other"} | said
        text = POLICY.format(schema=self.schema, source=source, target=target, layout=layout, **said)
        if said["single"] == "identifier":
            text = text.replace('"identifier", keep = "identifying"', '"identifier"')
        return parse(text)

    def run(self, policy: Policy, listener: Any = None, **options: Any) -> None:
        with Database(Door(DSN)) as database:
            database.run(policy, options=Options(evaluate="none", **options), listener=listener)

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        """Its rows as they lie there, without the column that only a distributed release has."""
        columns = (
            "age, zip, sex, ill" if self.is_short(table) else "age, zip, sex, ill, note, seen, stay::text"
        )
        return self.execute(f"select {columns} from {self.schema}.{table}")

    def is_short(self, table: str) -> bool:
        return not self.execute(
            f"select from pg_attribute where attrelid = '{self.schema}.{table}'::regclass and attname = 'note'"
        )

    def execute(self, text: str) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(text.encode())
        return cursor.fetchall() if cursor.description else []

    def workers(self) -> list[str]:
        found = self.execute("select node_name, node_port from citus_get_active_worker_nodes() order by 1, 2")
        return [psycopg.conninfo.make_conninfo(DSN, host=host, port=port) for host, port in found]


@pytest.fixture(scope="module")
def installed() -> None:
    with psycopg.connect(DSN, autocommit=True) as connection:
        upgrade(connection)


@pytest.fixture
def cluster(installed: None) -> Iterator[Cluster]:
    with psycopg.connect(DSN, autocommit=True) as connection:
        made = Cluster(connection, f"c{uuid.uuid4().hex[:12]}")
        made.execute(f"create schema {made.schema}")
        made.execute(f"create table {made.schema}.one as {ROWS}")
        made.execute(f"create table {made.schema}.apart as select * from {made.schema}.one limit 0")
        made.execute(f"select create_distributed_table('{made.schema}.apart', 'patient', shard_count := 8)")
        made.execute(f"insert into {made.schema}.apart select * from {made.schema}.one")
        made.execute(f"analyze {made.schema}.apart")
        made.execute(f"analyze {made.schema}.one")
        yield made
        made.execute(f"drop schema {made.schema} cascade")


@pytest.mark.parametrize("method", METHODS)
def test_a_cluster_releases_the_rows_that_one_server_does(cluster: Cluster, method: str) -> None:
    said = METHODS[method]
    cluster.run(cluster.policy("here", source="one", **said))
    cluster.run(cluster.policy("brought", "local", **said))
    cluster.run(cluster.policy("there", "distributed", **said))
    here = cluster.rows("here")
    assert len(here) > 4000
    assert cluster.rows("brought") == here
    assert sorted(map(str, cluster.rows("there"))) == sorted(map(str, here))


def test_a_refresh_leaves_the_release_where_it_is(cluster: Cluster) -> None:
    for _ in range(2):
        cluster.run(cluster.policy("there", "distributed"))
    placed = f"select count(*) from pg_dist_partition as p where p.logicalrelid = '{cluster.schema}.there'::regclass"
    assert cluster.execute(placed) == [(1,)]
    left = "select count(*) from pg_class as c where c.relname like 'anondb_run_%' or c.relname ~ '^r[0-9]+_stage'"
    assert cluster.execute(left) == [(0,)]


def test_each_shard_has_its_rows_in_the_order_that_one_server_has(cluster: Cluster) -> None:
    cluster.run(cluster.policy("here", source="one"))
    cluster.run(cluster.policy("there", "distributed"))
    texts = "json_agg(row(t.age, t.zip, t.sex, t.ill, t.note, extract(epoch from t.seen), t.stay)::text)"
    [(here,)] = cluster.execute(f"select {texts} from {cluster.schema}.here as t")
    place = {text: number for number, text in reversed(list(enumerate(here)))}
    ask = f"select {texts} from %s as t"
    shards = cluster.execute(
        f"select r.result from run_command_on_shards('{cluster.schema}.there', $${ask}$$) as r"
    )
    places = [[place[text] for text in json.loads(result)] for (result,) in shards if result]
    assert len(places) > 4
    assert sum(map(len, places)) == len(here)
    assert all(found == sorted(found) for found in places)


def test_equal_rows_lie_apart_and_the_surrogate_is_no_column_of_theirs(cluster: Cluster) -> None:
    cluster.run(cluster.policy("there", "distributed"))
    twins = cluster.execute(f"select anondb_shard from {cluster.schema}.there where note = 'twin'")
    assert len(twins) == len(set(twins)) == 3
    spread = cluster.execute(f"select count(distinct anondb_shard), count(*) from {cluster.schema}.there")
    assert spread[0][0] == spread[0][1]


def test_workers_in_another_timezone_and_style_make_the_same_labels(cluster: Cluster) -> None:
    cluster.run(cluster.policy("here", source="one"))
    [(name,)] = cluster.execute("select current_database()")
    settings = {
        "timezone": "Asia/Tokyo",
        "intervalstyle": "iso_8601",
        "datestyle": "German",
        "bytea_output": "escape",
    }
    try:
        for worker in cluster.workers():
            with psycopg.connect(worker, autocommit=True) as session:
                for setting, value in settings.items():
                    change = sql.SQL("alter database {} set {} = {}")
                    session.execute("set citus.enable_ddl_propagation = off")
                    session.execute(change.format(sql.Identifier(name), sql.SQL(setting), sql.Literal(value)))
        cluster.run(cluster.policy("brought", "local"))
        cluster.run(cluster.policy("there", "distributed"))
    finally:
        for worker in cluster.workers():
            with psycopg.connect(worker, autocommit=True) as session:
                session.execute("set citus.enable_ddl_propagation = off")
                session.execute(sql.SQL("alter database {} reset all").format(sql.Identifier(name)))
    assert cluster.rows("brought") == cluster.rows("here")
    assert sorted(map(str, cluster.rows("there"))) == sorted(map(str, cluster.rows("here")))


class Between:
    """Does something once, after the step of this name."""

    def __init__(self, name: str, doing: Any) -> None:
        self.name, self.doing, self.done = name, doing, False

    def stage(self, name: str) -> None:
        pass

    def step(self, step: Step) -> None:
        if step.name == self.name and not self.done:
            self.done = True
            self.doing()


@pytest.mark.parametrize("unit", ["", 'unit = "patient"'])
@pytest.mark.parametrize("layout", ["local", "distributed"])
def test_a_shard_that_moves_between_the_passes_publishes_nothing(
    cluster: Cluster, layout: str, unit: str
) -> None:
    def move() -> None:
        [(shard, host, port, other, to)] = cluster.execute(
            "select s.shardid, s.nodename, s.nodeport, n.nodename, n.nodeport from citus_shards as s"
            " join pg_dist_node as n on n.noderole = 'primary' and n.isactive and n.shouldhaveshards"
            "  and (n.nodename, n.nodeport) <> (s.nodename, s.nodeport)"
            f" where s.table_name = '{cluster.schema}.apart'::regclass order by 1 limit 1"
        )
        cluster.execute(
            f"select citus_move_shard_placement({shard}, '{host}', {port}, '{other}', {to}, 'block_writes')"
        )

    between = Between("combinations", move)
    with pytest.raises(AnondbError):
        cluster.run(cluster.policy("there", layout, privacy=unit), between)
    assert between.done
    assert cluster.execute(f"select to_regclass('{cluster.schema}.there')") == [(None,)]


def test_persons_are_counted_from_what_was_written(cluster: Cluster) -> None:
    """Rows that change hands between the passes: who then has too few persons in a class is not published."""

    def change() -> None:
        # every row belongs to one of three persons from here on
        with psycopg.connect(DSN, autocommit=True) as other:
            other.execute(f"truncate {cluster.schema}.apart".encode())
            other.execute(
                f"insert into {cluster.schema}.apart select patient % 3, age, zip, sex, ill, note, seen, stay"
                f" from {cluster.schema}.one".encode()
            )

    policy = cluster.policy("there", "distributed", privacy='unit = "patient"')
    cluster.run(policy)
    [before] = cluster.execute(f"select count(*) from {cluster.schema}.there")
    change()
    with pytest.raises(AnondbError):  # three persons in all
        cluster.run(policy)
    assert cluster.execute(f"select count(*) from {cluster.schema}.there") == [before]


def test_a_worker_that_ends_publishes_nothing(cluster: Cluster) -> None:
    policy = cluster.policy("there", "distributed")
    cluster.run(policy)
    before = sorted(map(str, cluster.rows("there")))

    def end() -> None:
        with psycopg.connect(cluster.workers()[0], autocommit=True) as session:
            session.execute(
                "select pg_terminate_backend(a.pid) from pg_stat_activity as a"
                " where a.application_name like 'citus_internal%' and a.pid <> pg_backend_pid()"
            )

    with pytest.raises(DatabaseError):
        cluster.run(policy, Between("combinations", end))
    with psycopg.connect(DSN, autocommit=True) as session:
        cluster.connection.close()
        cluster.connection = session
        assert sorted(map(str, cluster.rows("there"))) == before
    cluster.connection = psycopg.connect(DSN, autocommit=True)


def test_no_statement_of_a_run_pulls_rows(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: dict[str, Any] = {}
    ask = Executor._execute

    def explained(self: Executor, statement: Statement) -> Any:
        text = statement.sql if isinstance(statement.sql, str) else render(statement.sql)
        wide = (f'"{cluster.schema}"', "_stage")
        is_query = text.startswith(("SELECT", "INSERT", "CREATE TEMPORARY TABLE", "CREATE TABLE"))
        if is_query and any(part in text for part in wide) and not statement.parameters:
            body = text.partition(" AS ")[2] if text.startswith("CREATE") and " AS SELECT" in text else text
            if body.startswith(("SELECT", "INSERT")) and "create_distributed_table" not in body:
                with closing(self.connection.cursor()) as cursor:
                    cursor.execute(b"explain (format json, costs off) " + body.encode())
                    plans[statement.name] = cursor.fetchall()[0][0]
        return ask(self, statement)

    monkeypatch.setattr(Executor, "_execute", explained)
    cluster.run(cluster.policy("there", "distributed", privacy='unit = "patient"'))
    assert {"frequencies", "stage", "persons", "count persons", "insert release", "count rows"} <= set(plans)
    # classes that are grouped already are compared on the coordinator: none of these is a row
    assert [name for name, plan in plans.items() if pulled(plan)] == ["compare classes"]
    assert "repartition" in json.dumps(plans["stage"])
    assert "pull" not in json.dumps(plans).lower()


def test_a_view_over_all_rows_is_refused_in_the_words_of_citus(cluster: Cluster) -> None:
    cluster.execute(
        f"create view {cluster.schema}.ranked as select a.*, row_number() over (order by a.age) as place"
        f" from {cluster.schema}.apart as a"
    )
    policy = cluster.policy("there", source="ranked")
    text = policy.text + 'place = { role = "identifier" }\n'
    with pytest.raises(UsageError) as refused:
        cluster.run(parse(text))
    assert "Citus" in refused.value.message
    assert refused.value.hint
    with pytest.raises(UsageError) as planned, Database(Door(DSN)) as database:
        database.plan(parse(text))
    assert planned.value.message == refused.value.message


def test_a_view_by_the_person_is_read_where_its_rows_lie(cluster: Cluster) -> None:
    cluster.execute(
        f"create view {cluster.schema}.seen as select a.* from {cluster.schema}.apart as a where a.age > 25"
    )
    cluster.execute(
        f"create view {cluster.schema}.seen_one as select a.* from {cluster.schema}.one as a where a.age > 25"
    )
    cluster.run(cluster.policy("here", source="seen_one"))
    cluster.run(cluster.policy("there", "distributed", source="seen"))
    assert sorted(map(str, cluster.rows("there"))) == sorted(map(str, cluster.rows("here")))


def test_a_worker_is_told_from_the_coordinator(cluster: Cluster) -> None:
    with pytest.raises(AnondbError) as refused, Database(Door(cluster.workers()[0])) as database:
        database.run(cluster.policy("there"))
    assert "coordinator" in f"{refused.value.message} {refused.value.hint}"


def test_a_local_source_of_a_cluster_is_as_any_other(cluster: Cluster) -> None:
    with pytest.raises(PolicyError):
        cluster.run(cluster.policy("there", "distributed", source="one"))


def test_single_records_are_not_followed_and_releases_are_compared(cluster: Cluster) -> None:
    text = cluster.policy("there", "distributed").text
    with pytest.raises(UsageError, match="single records"):
        cluster.run(parse(text.replace('changes = "free"', 'changes = "hold"')))
    for _ in range(2):
        cluster.run(parse(text.replace('changes = "free"', 'changes = "refuse"')))


def test_nobody_writes_to_a_locked_source(cluster: Cluster) -> None:
    def write() -> None:
        with psycopg.connect(DSN, autocommit=True) as other:
            other.execute("set lock_timeout = '200ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute(f"delete from {cluster.schema}.apart".encode())

    between = Between("frequencies", write)
    cluster.run(cluster.policy("there", "distributed"), between, lock_source=True)
    assert between.done
