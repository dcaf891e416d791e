"""Every command of the command line and every function, once, on a small database."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance import arx_projects

TABLES = """
create schema share;
create table public.visits (id int primary key, age int, zip text, reason text, diagnosis text);
insert into public.visits
select i, 20 + i % 12, 'Z907' || i % 4, (array['owl', 'wren', 'carp', 'pike', 'oak', 'elm'])[1 + i % 6],
       (array['flu', 'pneumonia', 'cancer', 'carcinoid', 'gastritis', 'dyspepsia'])[1 + i % 6]
from generate_series(1, 48) as i;
create table public.coded as select i.id, i.age::text, '*' as zip, i.reason, i.diagnosis from public.visits as i;
create table share.taken (zip text);
create index on share.taken (zip);
create table public.logs (id int, city text, queries text[]);
insert into public.logs
select i, 'city' || i % 3,
       (array[array['owl', 'wren'], array['carp', 'pike'], array['oak', 'elm']])[1 + i % 3 : 1 + i % 3]
from generate_series(1, 12) as i;
create table public.items as select l.id, q.item from public.logs as l, unnest(l.queries) as q (item);
create table public.told as select l.id, l.queries from public.logs as l;
create table public.buyers as select l.id, l.city from public.logs as l;
"""

# concepts, and the same as a hierarchy
KINDS = {
    "animal": {"bird": ("owl", "wren"), "fish": ("carp", "pike")},
    "plant": {"tree": ("oak", "elm"), "herb": ("mint", "sage")},
}
DISEASES = """\
flu;infection;*
pneumonia;infection;*
cancer;tumour;*
carcinoid;tumour;*
gastritis;stomach disease;*
dyspepsia;stomach disease;*
"""
QUASI = {
    "age": '{ role = "quasi", hierarchy = { widths = [5, 10] } }',
    "zip": '{ role = "quasi", hierarchy = { mask = "right" } }',
}
BARE = {"age": '{ role = "quasi" }', "zip": '{ role = "quasi" }'}
SENSITIVE = '{ role = "sensitive" }'
IDENTIFIER = '{ role = "identifier" }'


LINKED = """
[privacy]
k = 2
unit = "id"
suppression = 1
[method]
algorithm = "datafly"
[[table]]
source = "buyers"
target = "share.buyers"
[table.columns]
id = { role = "pseudonym" }
city = { role = "quasi", hierarchy = { mask = "all" } }
[[table]]
source = "items"
target = "share.items"
parent = { table = "share.buyers", key = { id = "id" } }
[table.columns]
id = { role = "pseudonym" }
item = { role = "quasi", hierarchy = { mask = "all" } }
"""


def policy(
    algorithm: str,
    columns: dict[str, str],
    source: str = "visits",
    privacy: str = "k = 3",
    target: str = "",
    method: str = "",
) -> str:
    lines = [f'source = "{source}"', f'target = "{target or "share." + algorithm}"', "[privacy]", privacy]
    lines += ["[method]", f'algorithm = "{algorithm}"', method, "[columns]"]
    return "\n".join([*lines, *(f"{name} = {said}" for name, said in columns.items())])


def write_files(folder: Path) -> None:
    """The ontology, the hierarchies and the policies that the commands name."""
    edges = [(kind, "thing") for kind in KINDS]
    leaves = []
    for kind, classes in KINDS.items():
        for name, words in classes.items():
            edges += [(name, kind), *((word, name) for word in words)]
            leaves += [f"{word};{name};{kind};thing" for word in words]
    (folder / "kinds.csv").write_text("child,parent\n" + "".join(f"{c},{p}\n" for c, p in edges))
    (folder / "reason.csv").write_text("\n".join(leaves))
    arx_projects.project(folder)
    (folder / "disease.csv").write_text(DISEASES)
    (folder / "rows.csv").write_text("age;zip;seen;weight\n30;01234;31.12.2024;72,5\n31;;1.1.2025;\n")
    known = {"id": IDENTIFIER, "diagnosis": SENSITIVE}
    reason = '{ role = "quasi", hierarchy = "reason" }'
    meant = '{ role = "quasi", ontology = "kinds" }'
    full = known | QUASI | {"reason": reason}
    tops = '{ column = "diagnosis", l = 2 }'
    models = f"k = 3\nsuppression = 0.9\nl_diversity = {tops}\n"
    models += 't_closeness = { column = "diagnosis", t = 0.9 }'
    policies = {
        "datafly": policy("datafly", full | {"id": '{ role = "pseudonym" }'}, privacy=models),
        "incognito": policy("incognito", full, privacy='k = 2\nunit = "id"\nsuppression = 0.5'),
        "optimal": policy("optimal", full, target="best"),
        "models": policy(
            "optimal",
            full | {"diagnosis": '{ role = "sensitive", hierarchy = "disease" }'},
            target="share.models",
            privacy=(
                'suppression = 0.9\nbeta_likeness = { column = "diagnosis", beta = 9, kind = "enhanced" }\n'
                'delta_disclosure = { column = "diagnosis", delta = 9 }\n'
                'le_diversity = { column = "diagnosis", l = 2, e = 0.6, kind = "grouped" }'
            ),
        ),
        "taken": policy("datafly", full, target="share.taken"),
        "mondrian": policy("mondrian", known | BARE | {"reason": reason}),
        "fusion": policy("fusion", known | BARE | {"reason": meant}),
        "le_diversity": policy(
            "le_diversity",
            {"id": IDENTIFIER, "reason": IDENTIFIER, **BARE}
            | {"diagnosis": '{ role = "sensitive", hierarchy = "disease" }'},
            privacy='le_diversity = { column = "diagnosis", l = 3, e = 0.6 }',
        ),
        "mdav": policy(
            "mdav",
            {"id": IDENTIFIER, "city": SENSITIVE}
            | {"queries": '{ role = "quasi", set = true, ontology = "kinds" }'},
            "logs",
            privacy='k = 3\nl_diversity = { column = "city", l = 2 }',
        ),
        "mdav_items": policy(
            "mdav",
            {"id": IDENTIFIER, "city": IDENTIFIER}
            | {
                "queries": '{ role = "quasi", ontology = "kinds", '
                'items = { table = "items", key = "id", item = "item" } }'
            },
            "buyers",
            target="share.mdav_items",
            method='distance = "minimum"',
        ),
        "mdav_beside": policy(
            "mdav",
            {"id": IDENTIFIER, "city": '{ role = "quasi" }'}
            | {"queries": '{ role = "quasi", set = true, ontology = "kinds" }'},
            "logs",
            target="share.mdav_beside",
        ),
    }
    held = policy("datafly", full, privacy=f'{models}\nchanges = "hold"', target="share.held")
    policies["held"] = f'key = "id"\n{held}'
    policies["beside"] = policy(
        "datafly",
        full,
        privacy='k = 2\nsuppression = 1\nagainst = ["share.mondrian"]',
        target="share.beside",
    )
    apart = policy(
        "le_diversity",
        {"id": IDENTIFIER, "reason": IDENTIFIER, **BARE}
        | {"diagnosis": '{ role = "sensitive", hierarchy = "disease" }'},
        privacy='le_diversity = { column = "diagnosis", l = 2, e = 0.6 }\nchanges = "hold"',
        target="share.apart",
    )
    policies["apart"] = f'key = "id"\n{apart}'
    policies["linked"] = LINKED
    policies["perturbed"] = policy(
        "datafly",
        {"zip": QUASI["zip"], "diagnosis": SENSITIVE, "reason": IDENTIFIER}
        | {"id": '{ role = "other", keep = "identifying", noise = 0.5 }'}
        | {"age": '{ role = "other", keep = "identifying", round = 10 }'},
        target="share.perturbed",
    )
    for name, text in policies.items():
        (folder / f"{name}.toml").write_text(text)


COMMANDS = """
    db upgrade
    db status
    db upgrade
    secret renew --yes
    secret export key
    secret import key --yes
    demo --dsn DSN
    ontology load kinds.csv
    ontology list
    ontology show owl --ontology kinds
    ontology map nightbird owl --ontology kinds
    vgh load reason reason.csv --ontology kinds
    vgh load reason reason.csv --ontology kinds --replace
    vgh load disease disease.csv
    vgh list
    load rows.csv --table loaded
    load rows.csv --table loaded --replace
    show loaded
    import-arx clinic.deid --table patients
    vgh score reason --table visits --column reason
    vgh senses reason
    vgh show reason
    vgh export reason
    vgh build built --table visits --column reason --ontology kinds --k 2 --best
    vgh build ages --table visits --column age --k 2
    vgh rank built
    draft visits --out drafted.toml
    check drafted.toml
    check drafted.toml --drift
    schema
    run drafted.toml
    plan datafly.toml
    run datafly.toml --evaluate full --report datafly.html
    run datafly.toml
    export share.datafly datafly.csv
    run taken.toml --replace
    run held.toml
    run held.toml
    run held.toml --replan
    verify share.held
    procedure held.toml --name share.refresh_held
    run apart.toml
    run apart.toml
    verify share.apart_quasi
    run linked.toml
    releases list share.held
    releases forget share.held --yes
    run perturbed.toml
    run clinic.toml
    run incognito.toml --evaluate full
    run optimal.toml --evaluate full
    run models.toml --evaluate full
    run mondrian.toml --evaluate full
    run beside.toml
    diff share.datafly share.held --quasi age,zip --sensitive diagnosis
    diff share.datafly share.held --quasi age,zip --sensitive diagnosis --source visits
    run fusion.toml --evaluate full
    ontology review fusion.toml
    run le_diversity.toml --evaluate full
    run mdav.toml
    run mdav.toml
    run mdav_items.toml
    run mdav_beside.toml
    lattice incognito.toml --full
    compare incognito.toml --k 2,3 --evaluate full
    report last --out last.html
    status
    status --prometheus
    history list
    history trim --keep 90d
    evaluate last
    evaluate --original visits --release coded --key id --quasi age,zip --sensitive diagnosis
    evaluate --original visits --release coded --quasi age,zip --population coded
    evaluate --original visits --release coded --key id --quasi age,reason --ontology reason=kinds
    evaluate --original logs --release told --key id --quasi queries --ontology queries=kinds
    generate irish_census --rows 50 --table people
    learn visits --identifier id --out learned.toml
    generate learned.toml --rows 20 --table visitors
    experiment gsl --table visits --column reason --ontology kinds --hierarchies 3 --k 2 --suppression 0.9
    experiment mdav --table logs --column queries --ontology kinds --k 2
    experiment le-diversity --table visits --quasi age --sensitive diagnosis --hierarchy disease --l 2 --records 48
"""
"""Every command, in an order in which each finds what it needs."""

FAREWELL = """
    vgh drop disease
    ontology drop kinds
    db remove --yes
"""


def lines(commands: str, dsn: str) -> list[list[str]]:
    """The words of each line; DSN stands for the database."""
    return [
        [dsn if word == "DSN" else word for word in line.split()] for line in commands.strip().splitlines()
    ]


CALLS = """
call share.refresh_held();
select anondb.value_loss('visits', 'visits', 'id', 'age');
select anondb.spread_within('visits', 'age', '{zip}');
create temporary table sizes as select null::int as dropped, 3::bigint as size, 16::bigint as classes;
select anondb.sized_risk('sizes', '{age,zip}');
select anondb.k_anonymity('visits', '{age,zip}');
select anondb.is_k_anonymous('visits', '{age,zip}', 2);
select anondb.is_l_diverse('visits', '{age}', 'diagnosis', 2);
select anondb.is_t_close('visits', '{zip}', 'diagnosis', 0.5);
select h.target from anondb.release_health as h;
select anondb.l_diversity('visits', '{age}', 'diagnosis', 'recursive', 2);
select anondb.l_diversity('visits', '{age}', 'diagnosis', 'entropy');
select anondb.t_closeness('visits', '{zip}', 'age', 'ordered');
select anondb.t_closeness('visits', '{age}', 'diagnosis', 'hierarchical', 'disease');
select anondb.le_diversity('visits', '{zip}', 'diagnosis', 'disease');
select anondb.beta_likeness('visits', '{zip}', 'diagnosis', 'enhanced');
select anondb.delta_disclosure('visits', '{zip}', 'diagnosis');
create temporary table path_of as select 1 as value, '{flu,infection,*}'::text[] as path;
insert into path_of (value, path) values (2, '{cold,infection,*}'), (3, '{ulcer,stomach,*}');
create temporary table count_of as select 1 as value, 2::bigint as n;
insert into count_of (value, n) values (2, 2), (3, 1);
select anondb.le_feasible('path_of', 'count_of', 3, 1, 2, 1);
select anondb.le_chains('{1,2,3}', '{2,1}');
select anondb.concept_set_sizes('logs', 'queries', 'kinds');
select anondb.similarity('owl', 'wren', 'wup', 'kinds');
select anondb.set_distance('{owl,elm}', '{wren,elm}', 'average', 'shared', 'kinds');
select anondb.find_concept('old owls', 'kinds');
select anondb.choose_sense('reason', 'owl', 'owl');
select anondb.covers('[20, 30)', '25');
select anondb.date_bounds('2024-03');
select anondb.record_linkage('visits', 'coded', 'id', '{age,zip}', 'text');
select anondb.utility('visits', 'coded', 'id', '{age,zip}');
select anondb.discernibility('visits', '{age}');
select anondb.linked_rows('visits', 'zip', '{age}', 3);
select anondb.k_persons('{"public.visits": {"unit": "id", "quasi": ["age"]}, "public.coded": {"parent": "public.visits", "key": {"id": "id"}, "quasi": ["zip"]}}', '1');
select anondb.k_persons('{"public.visits": {"unit": "id", "quasi": ["age"]}, "public.coded": {"parent": "public.visits", "key": {"id": "id"}, "quasi": ["zip"]}}', '2');
select anondb.k_persons('{"public.visits": {"unit": "id", "quasi": ["age"]}, "public.coded": {"parent": "public.visits", "key": {"id": "id"}, "quasi": ["zip"]}}', 'all');
select anondb.known_values('{"public.visits": {"unit": "id", "quasi": ["age"]}, "public.coded": {"parent": "public.visits", "key": {"id": "id"}, "quasi": ["zip"]}}', '1', 'public.visits', 'diagnosis');
select anondb.risk('visits', '{age,zip}');
select anondb.risk('visits', '{age,zip}', unit => 'id');
select anondb.vgh_gsl('reason', source => 'visits', source_column => 'reason');
select anondb.generate('irish_census', 'public.citizens', 20);
select anondb.mutual_information('visits', '{zip,diagnosis}', '{NULL,NULL}');
select anondb.frequency_moments('visits', 'zip');
select anondb.known_names('visits', 'reason', '{owl,wren}');
select anondb.known_words('visits', 'reason', 'kinds');
select anondb.matching_values('visits', 'zip', '[{"pattern": "^Z", "scheme": "luhn"}]');
select anondb.check_digits_hold('DE89 3704 0044 0532 0130 00', 'iban');
select anondb.term_of_concept(anondb.find_concept('owl', 'kinds'));
"""  # noqa: E501
"""Calls by a user of SQL; what is in no command is called here."""

INNER = {
    "le_join_nearest",
    "le_nearest_class",
    "le_open_values",
    "likeness_row",
    "mdav_both_ways",
    "refresh_in_time",
    "refresh_refuse",
}
"""What only large or rare data makes a command call, or a server on which nobody else commits meanwhile; their path is
pinned as that of all others is."""
