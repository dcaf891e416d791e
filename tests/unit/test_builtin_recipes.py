"""sql/synthetic/cocoa_domains.sql has the recipes of the built-in domains; ANONDB_WRITE_RECIPES=1 writes it anew."""

from __future__ import annotations

import json
import os
from pathlib import Path

from anondb.synthetic.cocoa import recipe
from anondb.synthetic.domain_file import NAMES, load

FILE = Path(__file__).parents[2] / "sql" / "synthetic" / "cocoa_domains.sql"

HEAD = """\
-- The built-in domains as recipes, so that SQL alone can generate them. This file is written, not edited: the figures
-- stand in anondb/synthetic/builtin, with their sources, and a test compares the two.

create function anondb.cocoa_domain(domain text) returns jsonb
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $body$
begin
    case domain
"""
TAIL = """\
        else
            raise exception 'there is no built-in domain of this name'
                using errcode = 'SA252',
                      hint = 'There are {names}; for any other, anondb generate --print writes the statement.';
    end case;
end $body$;
comment on function anondb.cocoa_domain(text) is
'The recipe of a built-in domain: {names}. Raises SA252 for any other name.';
"""


def written() -> str:
    """The file as it should be; plain ASCII, so that it installs in a database of any encoding."""
    cases = []
    for name in NAMES:
        entries = ",\n".join(
            json.dumps(entry, separators=(",", ":")) for entry in recipe(load(name))["attributes"]
        )
        cases.append(
            f"        when '{name}' then\n            return $json${{\"attributes\":[\n{entries}]}}$json$::jsonb;\n"
        )
    assert "$json$" not in "".join(map(json.dumps, map(recipe, map(load, NAMES))))
    return HEAD + "".join(cases) + TAIL.replace("{names}", ", ".join(NAMES))


def test_the_recipes_in_sql_are_those_of_the_domains() -> None:
    if os.environ.get("ANONDB_WRITE_RECIPES"):
        FILE.write_text(written(), encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == written()
