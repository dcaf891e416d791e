"""What hangs on a release and cannot go over to the next one is named, and nothing is dropped."""

from __future__ import annotations

from typing import LiteralString

import pytest

from anondb.db.connection import Connection
from tests.sql.releases import ages, refused, swap

OBSTACLES: list[tuple[str, LiteralString]] = [
    (
        "materialized view share.counted",
        "create materialized view share.counted as select age from share.admissions",
    ),
    (
        "trigger tell",
        "create trigger tell before update on share.admissions"
        " for each row execute function suppress_redundant_updates_trigger()",
    ),
    ("rule quiet", "create rule quiet as on delete to share.admissions do instead nothing"),
    (
        "rule on table public.inbox",
        "create table public.inbox (age text);"
        "create rule forward as on insert to public.inbox do also insert into share.admissions values (new.age)",
    ),
    (
        "rule on view public.outbox",
        "create view public.outbox as select 'x'::text as age;"
        "create rule forward as on insert to public.outbox do instead insert into share.admissions values (new.age)",
    ),
    (
        "rule on view share.plain",
        "create view share.plain as select age from share.admissions;"
        "create rule forward as on insert to share.plain do instead insert into share.admissions values (new.age)",
    ),
    ("row-level security admissions", "create policy mine on share.admissions using (true)"),
    ("row-level security admissions", "alter table share.admissions enable row level security"),
    (
        "policy mine on public.inbox",
        "create table public.inbox (age text);"
        "create policy mine on public.inbox using (age in (select age from share.admissions))",
    ),
    (
        "foreign key follows on public.visits",
        "alter table share.admissions add unique (stay);"
        "create table public.visits (stay int constraint follows references share.admissions (stay))",
    ),
    ("publication news", "create publication news for table share.admissions"),
    (
        "function share.counted()",
        "create function share.counted() returns bigint language sql"
        " begin atomic select count(*) from share.admissions; end",
    ),
    (
        "function share.first(share.admissions)",
        "create function share.first(share.admissions) returns text language sql return 'x'",
    ),
    (
        "function share.all_of_it()",
        "create function share.all_of_it() returns setof share.admissions language sql"
        " as 'select * from share.admissions'",
    ),
    ("table public.visits", "create table public.visits (seen share.admissions[])"),
    ("type public.stays", "create domain public.stays as share.admissions"),
    ("view share.whole", "create view share.whole as select a, age from share.admissions as a"),
    ("inheriting table share.child", "create table share.child () inherits (share.admissions)"),
    (
        "inherited table share.parent",
        "create table share.parent (age text); alter table share.admissions inherit share.parent",
    ),
]


@pytest.mark.parametrize(("obstacle", "statement"), OBSTACLES, ids=[name for name, _ in OBSTACLES])
def test_an_obstacle_is_named_and_nothing_is_dropped(
    release: Connection, obstacle: str, statement: LiteralString
) -> None:
    release.execute(statement)
    error = refused(release)
    assert error.message == f"in the way of the new release: {obstacle}"
    assert error.hint is not None


def test_all_obstacles_are_named_at_once(release: Connection) -> None:
    release.execute(
        "create materialized view share.counted as select age from share.admissions;"
        "create rule quiet as on delete to share.admissions do instead nothing"
    )
    message = refused(release).message
    assert message.endswith(": materialized view share.counted, rule quiet")


def test_a_self_reference_is_no_obstacle(release: Connection) -> None:
    release.execute(
        "alter table share.admissions add primary key (age),"
        " add constraint itself foreign key (zip) references share.admissions not valid;"
    )
    swap(release)
    assert ages(release) == {"new", "newer"}
