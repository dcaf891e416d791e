"""Reports to look at: a release of a hospital's admissions, a comparison of algorithms, and hostile names."""

from __future__ import annotations

import random
from itertools import product

from anondb.hierarchies.forms import VghTable
from anondb.hierarchies.tree import Node
from anondb.report.metrics import reported
from anondb.report.model import (
    ClassSizes,
    ColumnReport,
    ComparedRun,
    Comparison,
    LatticeNode,
    LatticeReport,
    PrivacyModel,
    ReportData,
    RunSummary,
    Statement,
    Suppression,
)

JOBS = {
    "health professional": ["surgeon", "nurse", "midwife", "dentist", "pharmacist"],
    "teaching professional": ["math teacher", "lecturer", "tutor"],
    "craft worker": ["carpenter", "plumber", "mason", "smith"],
    "driver": ["bus driver", "taxi driver"],
}
GROUPS = {
    "health professional": "professional",
    "teaching professional": "professional",
    "craft worker": "manual worker",
    "driver": "manual worker",
}
OCCUPATION = VghTable(tuple((job, kind, GROUPS[kind], "*") for kind, jobs in JOBS.items() for job in jobs))
LOSSES: dict[Node, float | None] = {
    (1, "health professional"): 0.11, (1, "teaching professional"): 0.08, (1, "craft worker"): 0.21,
    (1, "driver"): 0.05, (2, "professional"): 0.34, (2, "manual worker"): 0.47, (3, "*"): 1.0,
}  # fmt: skip
AGES = VghTable(
    tuple(
        (str(age), f"[{age // 5 * 5}, {age // 5 * 5 + 5})", f"[{age // 20 * 20}, {age // 20 * 20 + 20})", "*")
        for age in range(20, 100)
    )
)

POLICY = """source = "hospital.admissions"
target = "share.admissions"

[privacy]
k = 5
suppression = 0.02
l_diversity = { column = "diagnosis", l = 3, kind = "distinct" }
t_closeness = { column = "diagnosis", t = 0.25 }

[method]
algorithm = "incognito"

[columns]
name      = { role = "identifier" }
age       = { role = "quasi", hierarchy = { widths = [5, 20] } }
sex       = { role = "quasi", hierarchy = { mask = "all" } }
zip       = { role = "quasi", hierarchy = { mask = "right" } }
job       = { role = "quasi", hierarchy = "occupation" }
diagnosis = { role = "sensitive" }
visited   = { role = "other" }
"""

QUASI = ("age", "sex", "zip", "job")
HEIGHTS = (3, 1, 2, 3)
CHOSEN = (1, 0, 2, 1)


def lattice() -> LatticeReport:
    nodes = []
    for levels in product(*(range(height + 1) for height in HEIGHTS)):
        meets = sum(levels) > 4 or all(a >= b for a, b in zip(levels, CHOSEN, strict=True))
        known = sum(levels) < 7
        state = ("anonymous" if meets else "not anonymous") if known else "pruned"
        nodes.append(
            LatticeNode(levels, state, None if not meets or not known else 4000 // (1 + sum(levels)))
        )
    return LatticeReport(QUASI, tuple(nodes), CHOSEN, "classes")


def small_lattice() -> LatticeReport:
    """Few enough nodes to draw each of them."""
    nodes = [
        LatticeNode(
            (a, s, j), "pruned" if a + s + j > 4 else "anonymous" if a + j >= 2 else "not anonymous", 9.5
        )
        for a, s, j in product(range(4), range(2), range(3))
    ]
    return LatticeReport(("age", "sex", "job"), tuple(nodes), (1, 0, 1), "classes")


def class_sizes() -> ClassSizes:
    draw = random.Random(7)
    before = {1: 6210, 2: 2140, 3: 905, 4: 480, 5: 260, 7: 190, 11: 77, 16: 41, 24: 9, 38: 3}
    after = {size: max(1, round(draw.uniform(0.7, 1.3) * 900 / size)) for size in range(5, 160, 3)}
    return ClassSizes(after, before)


METRICS = (
    reported("gen_iloss", 0.274, before=0),
    reported("sem_iloss", 0.183, before=0),
    reported("precision", 0.612, before=1),
    reported("non_uniform_entropy", 0.351, before=0),
    reported("discernibility", 1_284_402, before=88_312),
    reported("average_class_size", 3.71),
    reported("nmi", 0.842),
    reported("rand", 0.917),
    reported("semantic_sse", note="zip has no concepts: its values are not in the ontology"),
    reported("prosecutor_max", 0.2, before=1.0),
    reported("prosecutor_mean", 0.0412, before=0.5831),
    reported("prosecutor_above_0.1", 0.0831, before=0.8714),
    reported("sample_uniques", 0, before=6210),
    reported("marketer", 0.0412, before=0.5831),
    reported("record_linkage_text", 0.0, before=58.3),
    reported("record_linkage_coverage", 4.02, before=58.3),
    reported("attribute_disclosure_max", 0.625, before=1.0, column="diagnosis"),
    reported("attribute_disclosure_mean", 0.311, before=0.774, column="diagnosis"),
    *(
        reported(name, value, column=column)
        for name, values in {
            "gen_iloss": (0.051, 0.0, 0.94, 0.104),
            "sem_iloss": (None, None, None, 0.183),
            "risk_contribution": (0.31, 0.04, 0.22, 0.43),
        }.items()
        for column, value in zip(QUASI, values, strict=True)
    ),
)

STATEMENTS = (
    Statement("encode", "frequency set", "create temporary table r42_freq as\nselect q1, q2, q3, q4, count(*) as n\n"
              "from hospital.admissions as s\ngroup by q1, q2, q3, q4", 10315, 212.4),
    Statement("search", "node 1 0 2 1", "select count(*) filter (where c.n >= $1) from r42_freq as c", 1, 18.25),
    Statement("search", "node 1 0 1 1", "select count(*) filter (where c.n >= $1) from r42_freq as c", 1, 17.9),
    Statement("publish", "insert", 'insert into share."admissions" select …', 29911, 340.0),
    Statement("verify", "k_anonymity", "select anondb.k_anonymity($1, $2)", 1, 61.5),
)  # fmt: skip


def release() -> ReportData:
    """A rich report, with every part but the comparison."""
    return ReportData(
        title="Release of hospital.admissions",
        run=RunSummary(
            42, "incognito", "hospital.admissions", "share.admissions", 30162, 29911, 251, 1612, 5,
            {"encode": 0.412, "search": 1.83, "publish": 0.644, "verify": 0.201, "evaluate": 0.951}, "2025-03-14 09:26",
        ),
        policy=POLICY,
        models=(
            PrivacyModel("k_anonymity", 5, 5),
            PrivacyModel("l_diversity", 3, 3, "diagnosis", "distinct"),
            PrivacyModel("t_closeness", 0.25, 0.2381, "diagnosis", "equal"),
        ),
        columns=(
            ColumnReport("name", "identifier"),
            ColumnReport("age", "quasi", 1, 3, "ranges of 5 and 20", AGES),
            ColumnReport("sex", "quasi", 0, 1, "masked as a whole"),
            ColumnReport("zip", "quasi", 2, 2, "masked from the right"),
            ColumnReport("job", "quasi", 1, 3, "stored: occupation", OCCUPATION, LOSSES),
            ColumnReport("diagnosis", "sensitive"),
            ColumnReport("visited", "other"),
        ),
        class_sizes=class_sizes(),
        lattice=lattice(),
        metrics=METRICS,
        suppression=Suppression(0.02, "remove", {"in classes that fail a model": 214, "with a NULL": 37}),
        statements=STATEMENTS,
        package="0.1.0",
    )  # fmt: skip


def comparison() -> ReportData:
    """Three algorithms with four k, one of which finds nothing."""
    runs = []
    for (algorithm, base), k in product(
        {"datafly": 0.41, "incognito": 0.29, "mondrian": 0.12}.items(), (2, 5, 10, 50)
    ):
        loss = base * (1 + k**0.5 / 6)
        figures = {
            "gen_iloss": loss, "prosecutor_mean": 0.6 / k, "classes": round(9000 / k / (base * 5)),
            "seconds": base * 4 + 0.1, "bytes": 2e7 * base + 1e7, "checks": None if algorithm == "mondrian" else 40,
        }  # fmt: skip
        runs.append(ComparedRun(algorithm, k, 4, figures, "age 1, sex 0, zip 2, job 1" if base > 0.2 else ""))
    runs.append(ComparedRun("incognito", 50000, 4, {}, failure="no release can satisfy the policy"))
    guidance = (
        "Mondrian loses least here, because it cuts each class by itself; where a column is very skewed, its "
        "ranges become wide for the rare values.",
        "Incognito finds the best single generalization, and costs most time: it looks at many combinations.",
    )
    return ReportData(
        "Comparison on hospital.admissions", comparison=Comparison(tuple(runs), guidance), package="0.1.0"
    )


HOSTILE = '</style></title><script>alert(1)</script><img src=x onerror="alert(2)">&amp; $x^2$ \x01\u202e雨'


def hostile() -> ReportData:
    """Every text that a user can choose is an attack."""
    table = VghTable(tuple((f"leaf {n}", f"{HOSTILE}{n % 2}", HOSTILE) for n in range(4)))
    return ReportData(
        title=HOSTILE,
        run=RunSummary(1, HOSTILE, HOSTILE, HOSTILE, 10, 9, 1, 3, 3, {HOSTILE: 1.0}, HOSTILE),
        policy=HOSTILE,
        models=(PrivacyModel(HOSTILE, 1, 1, HOSTILE, HOSTILE), PrivacyModel("l_diversity", 2, 2, HOSTILE)),
        columns=(ColumnReport(HOSTILE, "quasi", 1, 2, HOSTILE, table), ColumnReport(HOSTILE, HOSTILE)),
        class_sizes=ClassSizes({3: 3}),
        lattice=LatticeReport((HOSTILE,), (LatticeNode((0,), HOSTILE), LatticeNode((1,), "anonymous")), (1,), HOSTILE),
        metrics=(
            reported(HOSTILE, 0.5, before=0.7, note=HOSTILE),
            reported("gen_iloss", 0.5, column=HOSTILE),
            reported("risk_contribution", 0.5, column=HOSTILE),
            reported("prosecutor_max", 0.3, before=1.0),
            reported("prosecutor_mean", 0.3, before=1.0),
        ),
        suppression=Suppression(0.1, HOSTILE, {HOSTILE: 1}),
        statements=(Statement(HOSTILE, HOSTILE, HOSTILE, 1, 1.0),),
        comparison=Comparison(
            (
                ComparedRun(HOSTILE, 2, 1, {"classes": 3.0, HOSTILE: 1.0}, HOSTILE),
                ComparedRun("x", 2, 1, {}, failure=HOSTILE),
            ),
            (HOSTILE,),
        ),
        package=HOSTILE,
    )  # fmt: skip
