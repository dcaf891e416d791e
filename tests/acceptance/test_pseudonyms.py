"""Persons under other names: pseudonyms are keyed codes, the same within a scope, and dates move with their person."""

from __future__ import annotations

import hashlib
import hmac
from datetime import date, datetime
from typing import Any

import pytest

from anondb.api import Database
from anondb.db.connection import Connection
from anondb.errors import AnondbError, PolicyError, UsageError
from anondb.policy.model import Policy

SECRET = hashlib.sha256(b"a secret that everybody knows").digest()
HOSPITAL = """
create schema hospital;
create schema share;
create table hospital.visits (
    patient int, card text, zip text, sex text, came date, seen timestamp, checked timestamptz, diagnosis text);
insert into hospital.visits
select i % 40, 'C' || i % 40, 'Z90' || i % 2, (array['f', 'm'])[1 + i % 2], date '2024-01-01' + i,
       timestamp '2024-01-01 10:00' + i * interval '31 hours', timestamptz '2024-03-01 00:30+00' + i * interval '1 day',
       (array['flu', 'ulcer'])[1 + i % 2]
from generate_series(1, 120) as i;
insert into hospital.visits values (null, 'C1', 'Z900', 'f', '2024-02-01', '2024-02-01', '2024-02-01', 'flu');
"""
MASK = {"role": "quasi", "hierarchy": {"mask": "all"}}
LEFT_OUT = {"role": "identifier"}
MOVED = {"role": "other", "shift": {"by": "patient", "days": 30}, "keep": "identifying"}
COLUMNS: dict[str, Any] = {
    "patient": {"role": "pseudonym"},
    "card": LEFT_OUT,
    "zip": MASK,
    "sex": MASK,
    "came": MOVED,
    "seen": MOVED,
    "checked": MOVED,
    "diagnosis": {"role": "sensitive"},
}


def key(purpose: str, scope: str) -> bytes:
    return hmac.new(SECRET, f"{{{purpose},{scope}}}".encode(), "sha256").digest()


def code(scope: str, value: object) -> str:
    """The pseudonym of a value by its definition."""
    return hmac.new(key("pseudonym", scope), str(value).encode(), "sha256").digest()[:16].hex()


def days(scope: str, person: object, most: int) -> int:
    """By how many days a person's dates move, by the definition."""
    text = "{NULL}" if person is None else f"{{{person}}}"
    drawn = int.from_bytes(hmac.new(key("shift", scope), text.encode(), "sha256").digest()[:8]) & (2**63 - 1)
    return drawn % (2 * most + 1) - most


def policy(columns: dict[str, Any] = COLUMNS, *, target: str = "share.visits", **top: Any) -> dict[str, Any]:
    method = top.pop("method", {"algorithm": "datafly"})
    privacy = top.pop("privacy", {"k": 5, "unit": "patient"})
    return {
        "source": "hospital.visits", "target": target, **top,
        "privacy": {"changes": "free"} | privacy, "method": method, "columns": columns,
    }  # fmt: skip


@pytest.fixture
def hospital(db: Database, connection: Connection) -> Database:
    connection.execute(HOSPITAL.encode())
    return db


def rows(connection: Connection, query: str) -> list[tuple[Any, ...]]:
    connection.execute("set timezone = 'UTC'")
    return connection.execute(query.encode()).fetchall()


def expected(connection: Connection, scope: str, most: int = 30) -> list[tuple[Any, ...]]:
    """The released rows by a naive program."""
    from datetime import timedelta

    found = []
    for patient, came, seen, checked in rows(
        connection, "select v.patient, v.came, v.seen, v.checked from hospital.visits as v"
    ):
        moved = timedelta(days=days(scope, patient, most))
        pseudonym = None if patient is None else code(scope, patient)
        found.append((pseudonym, came + moved, seen + moved, checked + moved))
    return sorted(found, key=str)


RELEASED = "select replace(v.patient::text, '-', ''), v.came, v.seen, v.checked from share.visits as v"


@pytest.mark.parametrize("type_", ["uuid", "text"])
def test_pseudonyms_and_moved_dates_are_those_of_the_definition(
    hospital: Database, connection: Connection, type_: str
) -> None:
    columns = COLUMNS | {"patient": {"role": "pseudonym", "type": type_}}
    result = hospital.run(policy(columns)).result
    assert sorted(rows(connection, RELEASED), key=str) == expected(connection, '"share.visits"'.strip('"'))
    [(kind,)] = rows(connection, "select pg_typeof(v.patient)::text from share.visits as v limit 1")
    assert kind == type_
    [linked] = result.linked
    assert (linked.persons, linked.several, linked.most) == (40, 40, 3)
    assert "links the rows of 40 of 40 persons" in linked.sentence
    assert result.as_json()["pseudonyms"][0]["rare"] == linked.rare


@pytest.mark.parametrize("method", ["datafly", "optimal", "mondrian"])
@pytest.mark.parametrize("distinct", [True, False], ids=["read twice", "counted whole"])
def test_every_way_of_writing_gives_the_same_forms(
    hospital: Database, connection: Connection, method: str, distinct: bool
) -> None:
    """Statistics decide whether rows are counted as a whole, or read a second time."""
    if distinct:
        connection.execute("analyze hospital.visits")
    unit = {} if method == "mondrian" else {"unit": "patient"}
    hospital.run(policy(method={"algorithm": method}, privacy={"k": 5, **unit}))
    assert sorted(rows(connection, RELEASED), key=str) == expected(connection, "share.visits")


def test_methods_that_copy_records_give_the_same_forms(hospital: Database, connection: Connection) -> None:
    columns = COLUMNS | {
        "zip": LEFT_OUT,
        "diagnosis": {"role": "sensitive", "hierarchy": "disease"},
        "sex": {"role": "quasi"},
    }
    hospital.hierarchies.load("disease", _file("flu;lung;*\nulcer;stomach;*\n"))
    hospital.run(
        policy(
            columns,
            method={"algorithm": "le_diversity"},
            privacy={"le_diversity": {"column": "diagnosis", "l": 2, "e": 0.1}, "suppression": 1},
        )
    )
    released = rows(connection, RELEASED.replace("share.visits", "share.visits_quasi"))
    assert released
    assert set(released) <= set(expected(connection, "share.visits"))


def _file(text: str) -> str:
    import tempfile
    from pathlib import Path

    path = Path(tempfile.mkdtemp()) / "disease.csv"
    path.write_text(text)
    return str(path)


def test_a_pseudonym_is_the_same_in_every_type_of_its_value(
    hospital: Database, connection: Connection
) -> None:
    """Foreign keys hold between released tables whose sources spell the key differently."""
    connection.execute(b"""
        create view hospital.spelled as
        select v.patient as i, v.patient::bigint as b, v.patient::numeric(10, 2) as n, v.patient::text as t,
               v.patient::varchar(9) as v, v.patient::char(9) as c, v.patient::float8 as f, v.zip
        from hospital.visits as v
    """)
    columns = {name: {"role": "pseudonym"} for name in "ibntvcf"} | {"zip": MASK}
    hospital.run(policy(columns, privacy={"k": 5}) | {"source": "hospital.spelled"})
    assert rows(connection, "select count(*) from share.visits as v where num_nulls(i, b, n, t, v, c, f) = 0 and "
                            "not (i = all (array[b, n, t, v, c, f]))") == [(0,)]  # fmt: skip


def test_scopes_share_no_pseudonym(hospital: Database, connection: Connection) -> None:
    hospital.run(policy(target="share.a", scope="one study"))
    hospital.run(policy(target="share.b"))
    connection.execute(b"select 1")
    joined = "select count(*) from share.a as a join share.b as b on a.patient = b.patient"
    assert rows(connection, joined) == [(0,)]


def test_a_scope_of_another_release_is_refused(hospital: Database, connection: Connection) -> None:
    hospital.run(policy(target="share.a", scope="study"))
    with pytest.raises(
        UsageError, match=r"the scope study is used by .*share.*a.*, which this policy does not"
    ):
        hospital.run(policy(target="share.b", scope="study"))
    with pytest.raises(UsageError, match="which this policy does not release"):
        hospital.run(policy(target="share.b", scope="share.visits") | {"scope": "study"})
    assert rows(connection, "select to_regclass('share.b')") == [(None,)]
    hospital.run(policy(target="share.a", scope="study"))  # the same release, again
    hospital.run(policy(target="share.b", scope="share.b"))


def test_a_trial_uses_no_scope(hospital: Database, connection: Connection) -> None:
    hospital.compare(Policy.from_dict(policy(scope="study")), algorithms=["datafly"])
    assert rows(connection, "select count(*) from anondb.pseudonym_scope") == [(0,)]


def test_a_lattice_is_listed_with_pseudonyms(hospital: Database) -> None:
    assert hospital.lattice(policy(method={"algorithm": "optimal"})).best is not None


def test_the_plan_shows_the_claim_and_no_key(hospital: Database) -> None:
    shown = hospital.plan(policy())
    assert "anondb.claim_scope" in shown
    assert "sha256(" in shown
    assert SECRET.hex() not in shown


def test_a_pseudonym_needs_no_leave_to_be_kept(hospital: Database) -> None:
    """Its values tell persons apart, which is what it is for; the summary says what that gives away."""
    result = hospital.run(policy(COLUMNS | {"came": LEFT_OUT, "seen": LEFT_OUT, "checked": LEFT_OUT})).result
    assert result.kept == ()


def test_who_has_one_row_is_linked_to_nothing(hospital: Database, connection: Connection) -> None:
    connection.execute(
        "delete from hospital.visits as v where v.came > date '2024-02-09' or v.patient is null"
    )
    [linked] = hospital.run(policy()).result.linked
    assert (linked.several, linked.most, linked.rare) == (0, 1, 0)
    assert "nobody has more than one row" in linked.sentence


def test_dates_of_all_times_move(hospital: Database, connection: Connection) -> None:
    """Infinity stays; a date that would leave its type is an error, and no value is shown."""
    connection.execute(
        "update hospital.visits as v set came = 'infinity', seen = '-infinity' where v.patient = 7"
    )
    hospital.run(policy())
    assert rows(connection, "select count(*) from share.visits as v where isfinite(v.came) = isfinite(v.seen) "
                            "and not isfinite(v.came)") == [(3,)]  # fmt: skip
    connection.execute("update hospital.visits as v set came = '5874897-12-31' where v.patient <> 7")
    with pytest.raises(AnondbError) as refused:
        hospital.run(policy())
    assert "5874897" not in str(refused.value)


def test_intervals_of_a_person_stay(hospital: Database, connection: Connection) -> None:
    hospital.run(policy())
    stays = """
        select array_agg(w.stay order by w.stay) from (
            select max(v.came) - min(v.came) as stay from {} as v where v.patient is not null group by v.patient) as w
    """
    assert rows(connection, stays.format("share.visits")) == rows(connection, stays.format("hospital.visits"))
    assert isinstance(rows(connection, "select min(v.came) from share.visits as v")[0][0], date)
    assert isinstance(rows(connection, "select min(v.seen) from share.visits as v")[0][0], datetime)


def moved(by: str = "patient", days: object = 3, **keys: Any) -> dict[str, Any]:
    return {"role": "other", "shift": {"by": by, "days": days}} | keys


UNUSED = {"patient": LEFT_OUT, "came": LEFT_OUT, "seen": LEFT_OUT, "checked": LEFT_OUT}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a type of another role": ({"patient": LEFT_OUT | {"type": "text"}}, "which is that of a pseudonym"),
    "an unknown type": ({"patient": {"role": "pseudonym", "type": "int"}}, "must be one of uuid, text"),
    "a hierarchy": ({"patient": {"role": "pseudonym", "hierarchy": {"mask": "all"}}}, "pseudonym column"),
    "a shifted quasi-identifier": ({"came": moved(role="quasi", hierarchy={"dates": True})}, "has a shift"),
    "a shift by nobody": ({"came": moved("patent")}, 'no column "patent"'),
    "a shift by what is shared": ({"came": moved("zip")}, "which persons share"),
    "a shift of no days": ({"came": moved(days=0)}, "from 1 to 36500"),
    "a shift without days": ({"came": {"role": "other", "shift": {"by": "patient"}}}, "days is missing"),
    "a shift of no date": ({"card": moved()}, "only dates and timestamps"),
    "a scope of nothing": (UNUSED, "scope means nothing"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_a_policy_cannot_say_of_persons_is_told(hospital: Database, wrong: str) -> None:
    columns, message = WRONG[wrong]
    scope = {"scope": "study"} if wrong == "a scope of nothing" else {}
    with pytest.raises(PolicyError, match=message):
        hospital.run(policy(COLUMNS | columns, **scope))


def test_values_with_several_texts_have_no_pseudonym(hospital: Database, connection: Connection) -> None:
    connection.execute("create view hospital.odd as select v.zip, v.patient * interval '1 day' as patient "
                       "from hospital.visits as v")  # fmt: skip
    columns = {"zip": MASK, "patient": {"role": "pseudonym"}}
    with pytest.raises(PolicyError, match="equal values can have several texts"):
        hospital.run(policy(columns, privacy={"k": 5}) | {"source": "hospital.odd"})
