"""Writes docs/sql.md, the page of the functions, from the database: their signatures and comments, by task.

`ANONDB_WRITE_SQL_PAGE=1 pytest tests/sql/test_sql_page.py` writes it; without the variable the test compares.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "docs" / "sql.md"

HEAD = """\
# What can be asked in SQL

Every public function, by task. This page is written from the comments in the database (`\\df+ anondb.*` shows them
too); a test compares the two. Functions that are given a table read it with the rights of whoever calls, change
nothing, and show no value of a person. Arguments with `=` may be left out, and any can be named:
`anondb.k_anonymity('share.admissions', quasi => array['age', 'zip'])`.

In a test of a database, with [pgTAP](https://pgtap.org):

```sql
select plan(1);
select ok(anondb.is_k_anonymous('share.admissions', array['age', 'zip'], 5), 'five look alike');
select * from finish();
```

The view `anondb.release_health` shows what `anondb.health()` tells of all targets: [Looking after
releases](operate.md). What the functions measure is defined in [Measures](measures.md), [Evaluation](evaluate.md),
[Scoring hierarchies](gsl.md) and [Ontologies](ontologies.md); what they raise in [Errors](errors.md).
"""

# a public function that is not here is missed by a test, where documentation calls it
TASKS: dict[str, str] = {
    "Does a table keep a promise?": "is_k_anonymous is_l_diverse is_t_close verify_release",
    "What does a table reach?": "k_anonymity k_persons l_diversity t_closeness beta_likeness delta_disclosure "
    "le_diversity le_figures",
    "What can be found out?": "risk risk_before_after attribute_disclosure record_linkage linked_rows "
    "identifying_columns",
    "What do two releases tell together?": "released_together overlapping_labels",
    "What is a release worth?": "utility gen_iloss sem_iloss semantic_sse non_uniform_entropy discernibility "
    "average_class_size coverage covers number_figures value_loss spread_within",
    "How are releases and runs?": "health",
    "How much meaning does a hierarchy lose?": "vgh_gsl vgh_set_gsl level_gsl trans_gsl node_gsl gsl_rating "
    "vgh_faults vgh_senses choose_sense vgh_structure vgh_aspects rank_vghs",
    "How similar are concepts?": "similarity similarities remember_all_pairs find_concept term_senses "
    "map_term set_distance drop_ontology",
    "Synthetic tables": "generate generate_recipe cocoa_domain frequency_moments",
    "The secret": "renew_secret derived_key",
}
NAMES = [name for names in TASKS.values() for name in names.split()]

QUERY = """
select p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), obj_description(p.oid, 'pg_proc')
from pg_proc as p where p.pronamespace = 'anondb'::regnamespace and p.proname = any (%s::name[])
"""


def page(connection: Any) -> str:
    """The whole page, from a database in which anondb is installed."""
    known = {name: rest for name, *rest in connection.execute(QUERY, (NAMES,)).fetchall()}
    parts = [HEAD]
    for title, names in TASKS.items():
        parts.append(f"## {title}\n")
        for name in names.split():
            arguments, result, comment = known[name]
            parts.append(f"**`anondb.{name}({_short(arguments)})`** → `{_short(result)}`  \n{comment}\n")
    return "\n".join(parts)


def _short(text: str) -> str:
    """A signature without the types of its defaults, and with the short names of types."""
    text = re.sub(r" DEFAULT ('(?:[^']|'')*'|[^,()]+)::[a-z ]+(\[\])?", r" = \1", text).replace(
        " DEFAULT ", " = "
    )
    text = text.replace("NULL", "null").replace("double precision", "float8").replace("integer", "int")
    return text.replace("timestamp with time zone", "timestamptz").replace("boolean", "bool")
