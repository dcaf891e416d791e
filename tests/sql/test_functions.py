"""House rules of the installed functions, as the server's own catalogue shows them."""

from __future__ import annotations

import re

import pytest

from anondb import resources
from anondb.db.connection import Connection

OURS = "from pg_proc as p join pg_language as l on l.oid = p.prolang where p.pronamespace = 'anondb'::regnamespace"


def names(connection: Connection, condition: str) -> list[object]:
    query = f"select p.oid::regprocedure::text {OURS} and ({condition}) order by 1"
    return [name for (name,) in connection.execute(query.encode())]


@pytest.mark.parametrize(
    "forbidden",
    [
        pytest.param("p.prosecdef", id="security-definer"),
        pytest.param(
            "l.lanname = 'plpgsql' and not coalesce('search_path=pg_catalog, pg_temp' = any(p.proconfig), false)",
            id="plpgsql-without-a-pinned-search-path",
        ),
        # parsed when it is made: it cannot be bent by a search path, and a missing object fails then
        pytest.param("l.lanname = 'sql' and p.prosqlbody is null", id="sql-with-a-string-for-a-body"),
        pytest.param("l.lanname not in ('sql', 'plpgsql')", id="another-language"),
        pytest.param(
            "'' = any(p.proargnames) or (p.pronargs > 0 and p.proargnames is null)", id="unnamed-argument"
        ),
        pytest.param("p.proisstrict and l.lanname = 'sql'", id="strict-sql-that-is-not-inlined"),
        pytest.param(
            "p.provolatile = 'i' and p.prosrc ~* 'anondb\\.(vgh|run|policy|install)'",
            id="immutable-that-reads-tables",
        ),
        # a table that is given may be temporary, and a parallel worker cannot read that
        pytest.param(
            "p.proparallel = 's' and 'regclass'::regtype = any (p.proargtypes::oid[])",
            id="parallel-safe-and-given-a-table",
        ),
    ],
)
def test_no_function_is(connection: Connection, forbidden: str) -> None:
    assert names(connection, forbidden) == []


def test_a_function_has_one_signature(connection: Connection) -> None:
    twice = f"select p.proname {OURS} group by p.proname having count(*) > 1"
    assert connection.execute(twice.encode()).fetchall() == []


def raised() -> list[str]:
    """The SQLSTATEs that our SQL raises, as often as it does."""
    texts = (path.read_text(encoding="utf-8") for path in resources.path("sql").rglob("*.sql"))
    return [state for text in texts for state in re.findall(r"errcode\s*=\s*'(\w+)'", text)]


def test_every_sqlstate_is_raised_once_and_says_what_kind_of_error_it_is() -> None:
    assert sorted(raised()) == sorted(set(raised()))
    # SA1.. and SA2.. are the caller's mistake, SA3.. a policy that cannot be satisfied, SA4.. a refusal, SA5.. a run
    # of somebody else
    assert all(re.fullmatch(r"SA[1-5]\d\d", state) for state in raised())


def test_every_sqlstate_is_in_the_comment_of_the_function_that_raises_it(connection: Connection) -> None:
    query = f"select p.prosrc, obj_description(p.oid, 'pg_proc') {OURS} and l.lanname = 'plpgsql'"
    functions = connection.execute(query.encode()).fetchall()
    for state in raised():
        [comment] = [text for source, text in functions if f"errcode = '{state}'" in str(source)]
        assert state in str(comment)
