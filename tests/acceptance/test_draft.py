"""anondb draft: what it proposes, that it runs as it is, and what it says where nothing can be drafted."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from anondb.api import Database
from tests.acceptance.clinic import Clinic
from tests.conftest import Cli

PATIENTS = """
create schema clinic;
create table clinic.patients (
    id int primary key, full_name text, geburtsdatum date, gender text, plz text, phone text, contact text,
    profession text, admitted timestamptz, diagnosis text, remarks text, smoker boolean
);
insert into clinic.patients
select i, 'Secretitis ' || i, date '1940-01-01' + i * 37 % 20000, (array['f', 'm'])[1 + i % 2],
       lpad((47000 + i % 40)::text, 5, '0'), '+353 87 ' || 1000000 + i, 'hush' || i || '@example.org',
       (array['nurse', 'welder', 'teacher', 'driver', 'baker'])[1 + i * 7 % 5],
       timestamptz '2024-01-01 00:00Z' + i * interval '7 hours', (array['flu', 'gout', 'ulcer', 'asthma'])[1 + i % 4],
       'came with a friend and left again after ' || i || ' hours of waiting', i % 3 = 0
from generate_series(1, 400) as i;
"""


def drafted(cli: Cli, table: str, *options: str) -> Any:
    ended = cli("draft", table, "--json", *options)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def roles(answer: Any) -> dict[str, str]:
    return {column["name"]: column["role"] for column in answer["columns"]}


def test_a_draft_runs_as_it_is_and_says_why(cli: Cli, db: Database, tmp_path: Path) -> None:
    db.connection.execute(PATIENTS.encode())
    answer = drafted(cli, "clinic.patients", "--out", "p.toml")
    assert roles(answer) == {
        "id": "identifier",
        "full_name": "identifier",
        "geburtsdatum": "quasi",
        "gender": "quasi",
        "plz": "quasi",
        "phone": "identifier",
        "contact": "identifier",
        "profession": "quasi",
        "admitted": "quasi",
        "diagnosis": "sensitive",
        "remarks": "identifier",
        "smoker": "sensitive",
    }
    text = (tmp_path / "p.toml").read_text()
    assert text == answer["policy"]
    assert text.startswith("#:schema ")
    assert all("  # " in line for line in text.partition("[columns]")[2].splitlines() if " = " in line)
    forms = tomllib.loads(text)["columns"]
    assert forms["plz"]["hierarchy"] == {"mask": "right"}
    assert "age_at" in forms["geburtsdatum"]["hierarchy"]
    assert "dates" in forms["admitted"]["hierarchy"]
    ended = cli("run", "p.toml", "--json")
    assert ended.returncode == 0, ended.stderr
    released = json.loads(ended.stdout)
    assert released["k"] >= 5
    assert released["records"] == released["released"] == 400


CODED = """
create schema clinic;
create table clinic.patients as
select i as id, (array['DE', 'AT', 'CH', 'IT', 'FR', 'PL'])[1 + i % 6] as land,
       (array['E11.9', 'I10', 'J45.0', 'F32.1'])[1 + i % 4] as hauptdiagnose,
       (array['A10BA02', 'C09AA05', 'N02BE01'])[1 + i % 3] as c3,
       (array['DE212', 'DE300', 'AT130', 'FR101', 'PL911'])[1 + i % 5] as region,
       (array['2211', '2310', '5223', '9112'])[1 + i % 4] as isco,
       (array['62.01', '86.10', '01.11'])[1 + i % 3] as nace,
       (array['06037', '06059', '36061', '36047'])[1 + i % 4] as fips,
       (array['CA', 'AL', 'GA', 'DE', 'IN', 'MD'])[1 + i % 6] as c8,
       date '1934-01-01' + i * 97 % 30000 as born, case when i > 395 then 93 else 20 + i * 7 % 60 end as age,
       case when i % 80 = 0 then 9000 else 20 + i % 60 end as working_hours,
       47.1 + i % 97 * 0.013 as lat, 8.1 + i % 89 * 0.013 as lon, point(8 + i % 9 * 0.01, 47) as home
from generate_series(1, 400) as i;
"""


def test_the_forms_that_exist_are_proposed_where_the_values_fit_and_are_released(
    cli: Cli, db: Database
) -> None:
    db.connection.execute(CODED.encode())
    answer = drafted(cli, "clinic.patients", "--out", "p.toml")
    forms = {column["name"]: column["hierarchy"] for column in answer["columns"]}
    assert {name: forms[name] for name in ("land", "region", "isco", "nace")} == {
        "land": "builtin:iso3166",
        "region": "builtin:nuts",
        "isco": "builtin:isco08",
        "nace": "builtin:nace",
    }
    assert forms["fips"] == {"code": [2]}
    assert forms["lat"] == forms["lon"] == {"grid": [0.01, 0.1, 1]}
    assert forms["home"] == {"grid": [0.01, 0.1, 1]}
    assert set(forms["born"]) == {"age_at", "widths"}
    assert forms["c8"] is None  # states of America, which look like countries
    by_name = {column["name"]: column for column in answer["columns"]}
    assert by_name["age"]["cap"] == {"above": 89}
    assert by_name["working_hours"]["cap"] == {"above": 79}
    assert by_name["working_hours"]["release"] == "range"
    assert by_name["c3"]["role"] == by_name["hauptdiagnose"]["role"] == "sensitive"
    assert "builtin:atc" in answer["policy"]
    ended = cli("run", "p.toml", "--json")
    assert ended.returncode == 0, ended.stderr


def test_one_value_that_is_no_code_keeps_a_hierarchy_out_although_no_sample_has_it(
    cli: Cli, db: Database
) -> None:
    made = """
    create table people as
    select case when i = 77777 then 'XX' else (array['DE', 'AT', 'CH'])[1 + i % 3] end as country,
        case when i = 77777 then date '2999-01-01' else date '1950-01-01' + i % 20000 end as birth_date
    from generate_series(1, 80000) as i;
    analyze people
    """
    db.connection.execute(made.encode())
    forms = {column["name"]: column["hierarchy"] for column in drafted(cli, "people")["columns"]}
    assert forms["country"] is None
    assert "dates" in forms["birth_date"]
    db.connection.execute(b"update people set country = 'PL', birth_date = '1980-01-01' where country = 'XX'")
    forms = {column["name"]: column["hierarchy"] for column in drafted(cli, "people")["columns"]}
    assert forms["country"] == "builtin:iso3166"
    assert "age_at" in forms["birth_date"]


def test_no_value_of_a_person_is_in_a_draft(cli: Cli, db: Database) -> None:
    db.connection.execute(PATIENTS.encode())
    text = drafted(cli, "clinic.patients")["policy"]
    for secret in ("Secretitis", "hush", "47", "nurse", "flu", "1940", "2024"):
        assert secret not in text


def test_a_draft_is_the_same_each_time(cli: Cli, db: Database) -> None:
    db.connection.execute(PATIENTS.encode())
    assert cli("draft", "clinic.patients").stdout == cli("draft", "clinic.patients").stdout


def test_a_draft_changes_nothing_and_leaves_nothing(clinic: Clinic) -> None:
    with clinic.unchanged(None):
        assert clinic.cli("draft", "hospital.admissions").returncode == 0


def test_persons_with_several_records_are_counted(cli: Cli, db: Database) -> None:
    db.connection.execute(
        b"create table visits as select 1 + i % 120 as patient_id, 20 + i % 120 % 50 as age,"
        b" (array['f', 'm'])[1 + i % 120 % 2] as sex, (array['flu', 'gout', 'ulcer'])[1 + i % 3] as diagnosis"
        b" from generate_series(1, 480) as i"
    )
    answer = drafted(cli, "visits", "--out", "visits.toml")
    assert answer["unit"] == "patient_id"
    assert cli("run", "visits.toml").returncode == 0


def test_a_foreign_key_names_the_person_whatever_the_column_is_called(cli: Cli, db: Database) -> None:
    db.connection.execute(
        b"create table customer (nummer int primary key);"
        b"insert into customer select generate_series(1, 100);"
        b"create table orders (zugehoerig int references customer, age int, spent numeric);"
        b"insert into orders select 1 + i % 100, 20 + i % 100 % 40, i % 90 from generate_series(1, 500) as i"
    )
    answer = drafted(cli, "orders")
    assert (answer["unit"], roles(answer)["zugehoerig"]) == ("zugehoerig", "identifier")


def test_the_k_and_the_target_are_those_that_are_given(cli: Cli, db: Database) -> None:
    db.connection.execute(PATIENTS.encode())
    answer = drafted(cli, "clinic.patients", "--k", "11", "--target", "clinic.shared")
    policy = tomllib.loads(answer["policy"])
    assert (policy["privacy"]["k"], policy["target"]) == (11, "clinic.shared")


def test_a_file_that_exists_is_never_overwritten_without_force(
    cli: Cli, db: Database, tmp_path: Path
) -> None:
    db.connection.execute(PATIENTS.encode())
    (tmp_path / "mine.toml").write_text("# mine")
    ended = cli("draft", "clinic.patients", "--out", "mine.toml")
    assert (ended.returncode, (tmp_path / "mine.toml").read_text()) == (2, "# mine")
    assert "--force" in ended.stderr
    assert cli("draft", "clinic.patients", "--out", "mine.toml", "--force").returncode == 0
    assert (tmp_path / "mine.toml").read_text() != "# mine"


def test_a_table_that_is_not_there_is_told_with_what_is(clinic: Clinic) -> None:
    ended = clinic.cli("draft", "hospital.admision")
    assert ended.returncode == 2
    assert "admissions" in ended.stderr


def test_a_table_that_cannot_be_read_is_told_as_such(clinic: Clinic, new_role: Callable[[], str]) -> None:
    role = new_role()
    clinic.execute("grant usage on schema hospital, anondb to {role}", role=role)
    clinic.execute("grant select on anondb.install to {role}", role=role)
    [(owner,)] = clinic.execute("select current_user")
    stranger = make_conninfo(clinic.dsn, options=f"-c role={role}")
    ended = clinic.cli("draft", "hospital.admissions", ANONDB_DSN=stranger, ANONDB_OWNER=str(owner))
    assert ended.returncode == 4
    assert "permission denied" in ended.stderr


@pytest.mark.parametrize("k", ["1", "0", "-3"])
def test_a_k_that_protects_nobody_is_refused(cli: Cli, db: Database, k: str) -> None:
    db.connection.execute(PATIENTS.encode())
    ended = cli("draft", "clinic.patients", "--k", k)
    assert ended.returncode == 2
    assert "k" in ended.stderr


def test_500_columns_are_drafted(cli: Cli, db: Database) -> None:
    answers = [
        sql.SQL("(i * {0}) % {1} as {2}").format(n + 3, n % 9 + 2, sql.Identifier(f"answer_{n}"))
        for n in range(498)
    ]
    made = "create table wide as select i as id, 20 + i % 60 as age, {} from generate_series(1, 300) as i"
    db.connection.execute(sql.SQL(made).format(sql.SQL(", ").join(answers)))
    answer = drafted(cli, "wide", "--out", "wide.toml")
    assert len(answer["columns"]) == 500
    assert cli("run", "wide.toml").returncode == 0


def test_where_no_column_is_known_what_people_share_is_taken(cli: Cli, db: Database) -> None:
    db.connection.execute(
        b"create table dull as select i as ab, i % 3 as xy, i % 7 as uv from generate_series(1, 200) as i"
    )
    answer = drafted(cli, "dull", "--out", "dull.toml")
    assert roles(answer) == {"ab": "identifier", "xy": "quasi", "uv": "quasi"}
    assert "DECIDE" in answer["policy"]
    assert answer["notes"]
    assert cli("run", "dull.toml").returncode == 0


def test_a_table_in_which_every_column_is_unique_has_nothing_to_release(cli: Cli, db: Database) -> None:
    db.connection.execute(
        b"create table keys as select i as id, 'x' || i as code, md5(i::text) as h from generate_series(1, 90) as i"
    )
    ended = cli("draft", "keys")
    assert ended.returncode == 2
    assert "tells persons apart" in ended.stderr
    assert "hint" in ended.stderr


def test_an_empty_table_is_drafted_by_its_names(cli: Cli, db: Database) -> None:
    db.connection.execute(b"create table nobody (name text, age int, zip text, diagnosis text, misc text)")
    answer = drafted(cli, "nobody")
    assert roles(answer) == {
        "name": "identifier",
        "age": "quasi",
        "zip": "quasi",
        "diagnosis": "sensitive",
        "misc": "identifier",
    }
    assert "empty" in answer["policy"]
    db.connection.execute(b"create table nothing (a int, b text)")
    assert cli("draft", "nothing").returncode == 2


def test_a_view_on_a_foreign_table_is_drafted(cli: Cli, db: Database, dsn: str) -> None:
    place = conninfo_to_dict(dsn)
    db.connection.execute(PATIENTS.encode())
    made = (
        "create extension postgres_fdw; create server same foreign data wrapper postgres_fdw options "
        "(host {host}, port {port}, dbname {dbname}); create user mapping for current_user server same options "
        "(user {user}, password {password}); import foreign schema clinic from server same into public;"
        "create view seen as select p.gender, p.plz, p.diagnosis from public.patients as p"
    )
    known = {"port": "5432", "password": ""} | place
    given = {name: sql.Literal(str(known[name])) for name in ("host", "port", "dbname", "user", "password")}
    db.connection.execute(sql.SQL(made).format(**given))
    assert roles(drafted(cli, "seen")) == {"gender": "quasi", "plz": "quasi", "diagnosis": "sensitive"}


def test_other_scripts_are_read(cli: Cli, db: Database) -> None:
    db.connection.execute(
        'create table 患者 (姓名 text, 性别 text, 年龄 int, 诊断 text, "Фамилия" text, "возраст" int);'
        "insert into 患者 select '李' || i, (array['男', '女'])[1 + i % 2], 20 + i % 40,"
        " (array['a', 'b', 'c'])[1 + i % 3], 'Иванов' || i, 20 + i % 40 from generate_series(1, 200) as i".encode()
    )
    answer = drafted(cli, "患者", "--out", "p.toml")
    assert roles(answer) == {
        "姓名": "identifier",
        "性别": "quasi",
        "年龄": "quasi",
        "诊断": "sensitive",
        "Фамилия": "identifier",
        "возраст": "quasi",
    }
    assert cli("run", "p.toml").returncode == 0


def test_names_of_columns_and_types_cannot_break_out_of_the_file(cli: Cli, db: Database) -> None:
    db.connection.execute(
        b'create table odd ("age\n[privacy]\nk = 1" int, "a""b" int, "%s {x} \'; drop table odd" text);'
        b"insert into odd select 20 + i % 30, i % 4, (array['a', 'b'])[1 + i % 2] from generate_series(1, 100) as i"
    )
    policy = tomllib.loads(drafted(cli, "odd", "--out", "odd.toml")["policy"])
    assert policy["privacy"]["k"] == 5
    assert len(policy["columns"]) == 3
    assert cli("run", "odd.toml").returncode == 0


def test_values_of_every_type_can_be_looked_at(cli: Cli, db: Database) -> None:
    db.connection.execute(
        b"create table typed as select i as id, 20 + i % 50 as age, i::money as cost, i::numeric / 7 as ratio,"
        b" 'NaN'::float8 as odd, case when i = 1 then 'infinity'::float8 else i % 5 end as far,"
        b" case when i = 1 then 'infinity'::date else date '2020-01-01' + i end as day, time '10:00' as at,"
        b" i * interval '1 hour' as took, point(i, i) as spot, array[i % 3] as list,"
        b" json_build_object('a', i % 2) as doc,"
        b" ('192.168.0.' || i % 250)::inet as host, gen_random_uuid() as uid, i % 2 = 0 as flag, null::text as none,"
        b" decode('00', 'hex') as raw, 1e300::numeric * 1e300::numeric as huge, int4range(i % 4, 9) as span"
        b" from generate_series(1, 300) as i"
    )
    answer = drafted(cli, "typed")
    assert {roles(answer)[name] for name in ("id", "host", "uid")} == {"identifier"}
    assert roles(answer)["age"] == "quasi"
