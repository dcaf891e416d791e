"""A connection that finds only PostgreSQL's own operators and functions, and remembers its user's search path."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import psycopg

Connection = psycopg.Connection[tuple[object, ...]]

# The first statements of a session. An operator of an exact type that lies in the user's path would be taken
# before one of pg_catalog, and run with our rights: so there is none in here, and every function is qualified.
_PATH = """
select pg_catalog.current_schemas(true), pg_catalog.current_schema(), pg_catalog.current_setting('search_path'),
       pg_catalog.pg_backend_pid()
"""
# The rest is for what the catalogue tells in words: the same in every session, whatever a role has set.
_PIN = """
select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false),
       pg_catalog.set_config('quote_all_identifiers', 'off', false),
       pg_catalog.set_config('standard_conforming_strings', 'on', false),
       pg_catalog.set_config('datestyle', 'ISO, YMD', false),
       pg_catalog.set_config('intervalstyle', 'postgres', false),
       pg_catalog.set_config('extra_float_digits', '1', false),
       pg_catalog.set_config('bytea_output', 'hex', false)
"""

TEMPORARY = "pg_temp"


class Session(psycopg.Connection[tuple[object, ...]]):
    """A connection of ours."""

    user_path: tuple[str, ...] = ()
    """The schemas in which the user finds tables that have no schema, in order."""
    user_schema: str | None = None
    """The schema in which the user makes tables that have no schema."""
    owner: str | None = None
    """The role that the user trusts with what is installed."""
    seen: str | None = None
    """The fingerprint of what is installed, once it was found to be true."""

    def pin(self, if_pooled: Callable[[], None] | None = None) -> None:
        """Before any other statement: from now on only PostgreSQL's own operators and functions are found.

        `if_pooled` looks first whether a session that a pooler has given is ours alone.
        """
        row = self.execute(_PATH).fetchone()
        path, schema, setting, process = cast(tuple[list[str], str | None, str, int], row)
        if if_pooled is not None and process != self.info.backend_pid:  # a pooler tells a number of its own
            if_pooled()
        self.execute(_PIN)
        # temporary tables come first, but where the path says where they come: as a rule at its end
        is_last = TEMPORARY in setting.lower()
        self.user_path = (*path, TEMPORARY) if is_last else (TEMPORARY, *path)
        self.user_schema = schema


def user_path(connection: Connection) -> list[str] | None:
    """Where the user of a connection finds tables; None where its own search path says it."""
    return list(connection.user_path) if isinstance(connection, Session) else None


def trusted_owner(connection: Connection) -> str | None:
    """The role that the user of a connection trusts with what is installed."""
    return connection.owner if isinstance(connection, Session) else None
