"""What is struck in the middle: runs of every kind, and the other commands that write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

HOSPITAL = """
create schema hospital;
create schema share;
create table hospital.patients (id int primary key, name text, age int, zip text, reason text, disease text);
insert into hospital.patients
select i, 'Person' || i, 20 + i % 12, 'Z907' || i % 4,
       (array['swimming', 'windsurfing', 'tennis', 'reading'])[1 + i % 4],
       (array['flu', 'cancer', 'gastritis'])[1 + i % 3]
from generate_series(1, 48) as i;
create view hospital.wishes as
select p.id, p.name, p.age, p.zip, array[p.reason] as reason, p.disease from hospital.patients as p;
create table hospital.visits (visit int primary key, patient int, ward text, disease text);
insert into hospital.visits
select i, 1 + i % 48, (array['a', 'b'])[1 + i / 48 % 2], (array['flu', 'cancer', 'gastritis'])[1 + i % 3]
from generate_series(1, 96) as i;
"""
# what is there on the next night: four more of each age that some have
NEXT_NIGHT = """
insert into hospital.patients
select 1000 + i, 'Newcomer' || i, 20 + i % 4, 'Z907' || i % 2, 'tennis',
       (array['flu', 'cancer', 'gastritis'])[1 + i % 3]
from generate_series(1, 24) as i;
"""
DISEASE_CSV = "flu;infection;any\ncancer;tumour;any\ngastritis;stomach;any\n"
LEISURE_CSV = (
    "child,parent\nsport,leisure\nwater sport,sport\nswimming,water sport\nwindsurfing,water sport\n"
    "tennis,sport\nreading,leisure\n"
)

_COLUMNS = """
[columns]
id = { role = "identifier" }
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { start = 0, widths = [5, 10, 20] } }
zip = { role = "quasi", hierarchy = { mask = "right" } }
reason = { role = "other" }
disease = { role = "sensitive" }
"""
_MEANT = """
[columns]
id = { role = "identifier" }
name = { role = "identifier" }
age = { role = "other" }
zip = { role = "other" }
reason = { role = "quasi", ontology = "leisure", unknown = "accept"SET }
disease = { role = "sensitive" }
"""
_DEALT = _COLUMNS.replace(", hierarchy = { start = 0, widths = [5, 10, 20] }", "").replace(
    ', hierarchy = { mask = "right" }', ""
)


def _policy(method: str, columns: str = _COLUMNS, privacy: str = "k = 3\nsuppression = 0.2") -> str:
    return (
        'source = "hospital.patients"\ntarget = "share.patients"\n'
        f"[privacy]\n{privacy}\n[method]\n{method}\n{columns}"
    )


_LINKED = """
[privacy]
k = 3
unit = "id"
suppression = 0.5
[method]
algorithm = "datafly"
[[table]]
source = "hospital.patients"
target = "share.patients"
[table.columns]
id = { role = "pseudonym" }
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { start = 0, widths = [5, 10, 20] } }
zip = { role = "quasi", hierarchy = { mask = "right" } }
reason = { role = "other" }
disease = { role = "sensitive" }
[[table]]
source = "hospital.visits"
target = "share.visits"
parent = { table = "share.patients", key = { patient = "id" } }
[table.columns]
visit = { role = "identifier" }
patient = { role = "pseudonym" }
ward = { role = "quasi", hierarchy = { mask = "all" } }
disease = { role = "sensitive" }
"""


@dataclass(frozen=True)
class Case:
    """A command that is struck, what is there before it, and what of the database it may change."""

    name: str
    command: Sequence[str]
    files: dict[str, str] = field(default_factory=dict)
    first: Sequence[Sequence[str]] = ()
    """Commands that have been run before."""
    then: str = ""
    """What happens to the tables before the command is struck."""
    changes: str = "free"
    """As ANONDB_CHANGES says it."""
    looks: str = ""
    """What tells how far the command came; for runs the released tables are looked at."""
    is_once: bool = False
    """Where the command came to its end, it refuses to do the same again."""
    is_drawn: bool = False
    """What the command leaves is never the same."""


def _run(name: str, policy: str, *, changes: str = "free") -> Case:
    """A run of a policy where a release stands, from a source that has changed."""
    files = {"policy.toml": policy, "disease.csv": DISEASE_CSV, "leisure.csv": LEISURE_CSV}
    first = [
        ("vgh", "load", "disease", "disease.csv"),
        ("ontology", "load", "leisure.csv"),
        ("run", "policy.toml"),
    ]
    return Case(name, ("run", "policy.toml"), files, first, NEXT_NIGHT, changes)


RUNS = (
    _run("datafly", _policy('algorithm = "datafly"')),
    _run("refresh", _policy('algorithm = "datafly"'), changes="hold"),
    _run("linked", _LINKED),
    _run("optimal", _policy('algorithm = "optimal"')),
    _run("local", _policy('algorithm = "optimal"\nrecode = "local"')),
    _run("cells", _policy('algorithm = "datafly"', privacy='k = 3\nsuppression = 1\nsuppress = "cells"')),
    _run("incognito", _policy('algorithm = "incognito"')),
    _run("mondrian", _policy('algorithm = "mondrian"')),
    _run("fusion", _policy('algorithm = "fusion"', _MEANT.replace("SET", ""))),
    _run(
        "mdav",
        _policy(
            'algorithm = "mdav"', _MEANT.replace(', unknown = "accept"SET', ", set = true"), "k = 3"
        ).replace("hospital.patients", "hospital.wishes"),
    ),
    _run(
        "le_diversity",
        _policy(
            'algorithm = "le_diversity"',
            _DEALT.replace('"sensitive" }', '"sensitive", hierarchy = "disease" }'),
            'le_diversity = { column = "disease", l = 2, e = 1 }\nsuppression = 1',
        ),
    ),
)

_LOADED = {
    "leisure.csv": LEISURE_CSV,
    "disease.csv": DISEASE_CSV,
    "other.csv": DISEASE_CSV.replace("any", "all"),
}
_REFRESH = next(case for case in RUNS if case.name == "refresh")
OTHERS = (
    Case(
        "db upgrade",
        ("db", "upgrade"),
        then="update anondb.install set functions_sha256 = repeat('0', 64)",
        looks="select i.functions_sha256, count(p.oid) from anondb.install as i, pg_proc as p"
        " where p.pronamespace = 'anondb'::regnamespace group by 1",
    ),
    Case(
        "ontology load",
        ("ontology", "load", "leisure.csv"),
        _LOADED,
        looks="select l.stem, count(c.ancestor) from anondb.lexeme as l"
        " left join anondb.concept_closure as c on c.descendant = l.concept group by 1 order by 1",
    ),
    Case(
        "vgh load --replace",
        ("vgh", "load", "disease", "other.csv", "--replace"),
        _LOADED,
        [("vgh", "load", "disease", "disease.csv")],
        looks="select n.label, count(*) from anondb.vgh as v join anondb.vgh_node as n on n.vgh = v.id"
        " group by 1 order by 1",
    ),
    Case(
        "generate",
        ("generate", "irish_census", "--rows", "200", "--table", "share.people", "--seed", "7"),
        is_once=True,
        looks="select c.relname from pg_class as c where c.relnamespace = 'share'::regnamespace and c.relkind = 'r'",
    ),
    Case(
        "draft",
        ("draft", "hospital.patients", "--out", "drafted.toml", "--force"),
        looks="select count(*) from hospital.patients",
    ),
    Case(
        "secret renew",
        ("secret", "renew", "--yes"),
        looks="select s.key from anondb.secret as s",
        is_drawn=True,
    ),
    Case(
        "releases forget",
        ("releases", "forget", "share.patients", "--all", "--yes"),
        _REFRESH.files,
        _REFRESH.first,
        changes="hold",
        looks="select (select count(*) from anondb.series), (select count(*) from anondb.member),"
        " (select count(*) from anondb.cohort)",
    ),
)
