"""The second night of the demo: some come, some leave, and what a release that is made again would tell of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from anondb.api import Database
from anondb.cli.output import out, table
from anondb.db.errors import translated
from anondb.errors import UsageError
from anondb.policy.model import Name, Policy
from anondb.run.plan import Options
from anondb.run.result import Result

if TYPE_CHECKING:
    from anondb.db.together import Difference

_NAMES = ("hospital.nights", "share.nightly_kept")
_STRANGE = """
select count(*) from unnest(%s::text[]) as n (name)
where to_regclass(n.name) is not null
  and obj_description(to_regclass(n.name), 'pg_class') is distinct from 'Invented persons, made by anondb demo.'
"""
_FIRST = b"""
drop table if exists hospital.nights, share.nightly_kept;
create table hospital.nights as
select row_number() over (
           order by a.name collate "C", a.age, a.zip, a.job, a.admitted, a.diagnosis)::int as patient, a.*
from hospital.admissions as a;
alter table hospital.nights add primary key (patient);
comment on table hospital.nights is 'Invented persons, made by anondb demo.';
"""
_KEEP = b"""
create table share.nightly_kept as table share.nightly;
comment on table share.nightly_kept is 'Invented persons, made by anondb demo.';
"""
# by the values of one who is there already: so many newcomers, with diagnoses of their own; and that one leaves
_JOIN = """
insert into hospital.nights (patient, name, age, sex, zip, job, admitted, diagnosis)
select m.most + g.n, 'Newcomer ' || g.n, p.age, p.sex, p.zip, p.job, p.admitted,
       (array['Migraine', 'Asthma', 'Fracture'])[1 + g.n %% 3]
from hospital.nights as p
cross join (select max(n.patient) as most from hospital.nights as n) as m
cross join generate_series(1, %(persons)s::int) as g (n)
where p.patient = %(patient)s
"""
_LEAVE = "delete from hospital.nights as n where n.patient = %(patient)s"
_WHO = """
select n.patient from hospital.nights as n
where (n.name, n.age::text, n.sex, n.zip, n.job, n.admitted::text, n.diagnosis) = (%s, %s, %s, %s, %s, %s, %s)
order by n.patient limit 1
"""
_TOLD = {
    "entered_below_k": "newcomers, fewer than 5 in their class",
    "entered_certain": "newcomers whose diagnosis is certain",
    "left_below_k": "who left, fewer than 5 in their class",
    "left_certain": "who left, and whose diagnosis is certain",
}


def second_night(db: Database, policy: Policy, records: Sequence[tuple[str, ...]], many: int) -> None:
    """Releases twice: between the two, `many` join a class of the last record's, one joins alone, and two leave."""
    with translated("making the nights"):
        if db.session.execute(_STRANGE, (list(_NAMES),)).fetchone() != (0,):
            raise UsageError(
                f"{' or '.join(_NAMES)} is there already, and the demo has not made it",
                hint="give the demo another database, or rename that table",
            )
        db.session.execute(_FIRST)
    first = db.run(policy, options=Options(evaluate="none", restart=True)).result
    with translated("changing the persons"), db.session.transaction():
        db.session.execute(_KEEP)
        for persons, record in ((1, records[-2]), (many, records[-1])):
            [who, *_] = db.session.execute(_WHO, record).fetchone() or (None,)
            db.session.execute(_JOIN, {"persons": persons, "patient": who})
            db.session.execute(_LEAVE, {"patient": who})
    out.print(
        f"share.nightly is released: {first.released:,} records. By the next night {many} have joined one class and "
        "1 another one, and 1 of each has left. Somebody has kept the release of the first night.\n",
        soft_wrap=True,
    )
    free = db.run(
        _freely(policy), options=Options(evaluate="none", restart=True, levels=_levels(policy, first))
    )
    held = db.run(policy, options=Options(evaluate="none")).result
    _print(_told(db, free.result), _told(db, held))
    series = held.series
    out.print(
        f'\nWith a key and changes = "hold", {series["entered"]} entered together; {series["waiting"]} wait until five '
        f"look alike ({first.suppressed} of them from the first night on), and {series['departed']} who have left stay "
        "until five of them have. docs/releases.md tells the rule, and what it costs.",
        soft_wrap=True,
    )


def _freely(policy: Policy) -> Policy:
    """The same, as if there were no other release."""
    privacy = replace(policy.privacy, changes="free")
    return replace(policy, target=Name("share", "nightly_free"), privacy=privacy)


def _levels(policy: Policy, result: Result) -> tuple[int, ...]:
    return tuple(result.levels[column.name] for column in policy.quasi)


def _told(db: Database, result: Result) -> Difference:
    return db.releases.diff("share.nightly_kept", result.run)


def _print(free: Difference, held: Difference) -> None:
    shown = table("whoever has both releases can tell", '>changes = "free"', '>changes = "hold"')
    for name, words in _TOLD.items():
        column = "diagnosis" if name.endswith("certain") else None
        shown.add_row(words, *(f"{found.value(name, column):,}" for found in (free, held)))
    out.print(shown)
