"""anondb plan of policies with every model and objective: what it prints is what a run at those levels sends."""

from __future__ import annotations

import re

import pytest

from tests.acceptance.clinic import IDENTIFIER, SENSITIVE, Clinic, quasi
from tests.acceptance.test_plan import BY_PROCESSES, squeezed

# Eight records of each combination, of eight persons, each diagnosis twice: every model holds at the lowest levels.
STAYS = """
create table hospital.stays as
select i as patient, 1 + i / 16 as x, 'v' || i / 8 % 2 as y, (array['flu', 'cold', 'ulcer', 'burn'])[1 + i % 4] as ill,
       i % 2 as score, i as note
from generate_series(0, 31) as i union all select 0, 1, 'v0', 'flu', 0, 99;
"""
# Two classes of four persons that fail, but not together.
STRAYS = """
insert into hospital.stays select 100 + i, 8 + i / 4, 'v0', (array['flu', 'cold', 'ulcer', 'burn'])[1 + i % 4], i % 2, 0
from generate_series(0, 7) as i;
"""
ILL = "flu;lung;any\ncold;lung;any\nulcer;stomach;any\nburn;any\n"
DIVERSE = """\
l_diversity = [
    { column = "ill", l = 3 },
    { column = "ill", l = 3.5, kind = "entropy" },
    { column = "score", l = 2, kind = "recursive", c = 2 },
]"""
CLOSE = """\
t_closeness = [
    { column = "score", t = 0.3 },
    { column = "score", t = 0.3, distance = "ordered" },
    { column = "ill", t = 0.3, distance = "hierarchical" },
]"""
LIKE = """\
beta_likeness = [{ column = "ill", beta = 1 }, { column = "score", beta = 1, kind = "enhanced" }]
delta_disclosure = { column = "score", delta = 0.5 }"""
UNIT = 'unit = "patient"'
NUMBERED = '{ role = "other", keep = "identifying" }'


@pytest.mark.parametrize(
    ("privacy", "objective", "suppressed"),
    [
        ([DIVERSE], "classes", 0),
        ([CLOSE, "suppression = 0.1"], "semantic", 0),
        ([LIKE, "suppression = 0.1"], "loss", 0),
        ([UNIT, LIKE, 'suppression = 0.3\nsuppress = "mask"'], "classes", 8),
        ([UNIT, DIVERSE, CLOSE, "suppression = 0.3"], "loss", 8),
        ([UNIT, CLOSE, 'suppression = 0.3\nsuppress = "mask"'], "discernibility", 8),
    ],
)
def test_every_statement_of_a_run_is_in_the_plan_whatever_the_models(
    clinic: Clinic, privacy: list[str], objective: str, suppressed: int
) -> None:
    clinic.execute(STAYS)
    if suppressed:
        clinic.execute(STRAYS)
    (clinic.folder / "y.csv").write_text("v0;*\nv1;*\n")
    (clinic.folder / "ill.csv").write_text(ILL)
    ranked = CLOSE in privacy
    columns = {
        "patient": IDENTIFIER,
        "x": quasi("{ start = 1, widths = [2] }"),
        "y": quasi('{ csv = "y.csv" }'),
        "ill": '{ role = "sensitive", hierarchy = { csv = "ill.csv" } }' if ranked else SENSITIVE,
        "score": SENSITIVE,
        "note": NUMBERED,
    }
    policy = clinic.policy(
        columns,
        source="hospital.stays",
        privacy="\n".join(["k = 8", *privacy]),
        method=f'algorithm = "optimal"\nobjective = "{objective}"',
    )
    planned = clinic.cli("plan", policy)
    assert (planned.returncode, planned.stderr) == (0, "")
    assert clinic.publish(policy, "--levels", "0,0")["suppressed"] == suppressed
    plan = without_counts(planned.stdout)
    steps = clinic.execute(
        "select s.stage, s.sql from anondb.run_step as s where s.stage <> 'prepare' order by s.seq"
    )
    missing = [statement for _, statement in steps if without_counts(statement) not in plan]
    assert missing == []
    # begin and commit; and where records are written one by one, how several processes would
    assert plan.count(";") == len(steps) + 2 + BY_PROCESSES * ("has_schema_privilege" in plan)


def without_counts(text: str) -> str:
    """How many values and records there are is known when they have been read."""
    return re.sub(r"\d+", "N", squeezed(text))
