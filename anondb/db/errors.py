"""What PostgreSQL reports, in our words: which exit code, what to do, and never a value of a row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from anondb.errors import (
    AnondbError,
    BusyError,
    DatabaseError,
    EndedError,
    LockedError,
    UnsatisfiableError,
    UsageError,
)

# Primary messages of these SQLSTATE classes name objects, settings and limits, not data. All others
# ("invalid input syntax for type numeric: …", a user's own RAISE in a view) may quote a row.
_SPEAKS_OF_OBJECTS = (
    "08",
    "0A",
    "25",
    "26",
    "28",
    "2B",
    "3D",
    "3F",
    "40",
    "42",
    "53",
    "54",
    "55",
    "57",
    "58",
    "SA",
)

_OURS: dict[str, type[AnondbError]] = {
    "1": UsageError,
    "2": UsageError,
    "3": UnsatisfiableError,
    "5": BusyError,
}

TWO_CONNECTIONS = (
    "a run needs two connections; close some, or raise max_connections or the role's or the database's limit"
)

# Who comes in by `set role` has the settings of the role that has logged in.
_RAISE = (
    "raise {0} for the role: alter role session_user set {0} = '2h'; if the database or the connection sets it,"
    " raise it there; the old release is untouched"
)
# Refused before there is a SQLSTATE, so that only the words tell; in another language the hint is the general one.
_FULL = (
    "too many connections",
    "too many clients",
    "remaining connection slots",
    "no more connections allowed",
)

_HINTS = {
    "25006": "the server is a standby, or default_transaction_read_only is on: connect to the primary, or reset it",
    "25P03": _RAISE.format("idle_in_transaction_session_timeout"),
    "25P04": _RAISE.format("transaction_timeout"),
    "28P01": "check the user and the password (~/.pgpass, PGPASSWORD)",
    "3D000": "check the database's name, or create it",
    "42501": "a run needs SELECT on the source, CREATE on the target's schema, and more: see the GRANTs in the README",
    "53100": "free space on the server, or point temp_tablespaces somewhere larger; the old release is untouched",
    "53200": "lower work_mem, or free memory on the server",
    "53300": TWO_CONNECTIONS,
    "53400": "an administrator raises it for the role, alter role … set temp_file_limit = '20GB'; or give"
    " a run a larger --work-mem; the old release is untouched",
    "40P01": "two sessions waited for each other: try again; the old release is untouched",
    "55P03": "something holds the table: try again later, or wait longer with --lock-timeout",
    "57014": "an administrator or another program ended it; the old release is untouched",
    "57P01": "the server is going down, or an administrator ended the session; the old release is untouched",
    "57P05": _RAISE.format("idle_session_timeout"),
    "57P03": "the server is starting or stopping; try again in a moment",
}
# What a value can be that nothing is computed of; the server's own words may quote it.
_VALUES = {
    "22003": (
        "a number is out of the range of its type",
        "numbers at the ends of their type: make them NULL in a view",
    ),
    "22008": (
        "a date or time is out of the range of a timestamp, in which dates are computed",
        "make days after the year 294276 NULL in a view of the source",
    ),
    "22023": (
        "a setting or an argument is out of its range",
        "look for numbers that are far too large, as in --work-mem",
    ),
}
_OTHERWISE = "nothing was changed; the server's log may say more"


def translate(error: psycopg.Error, doing: str = "") -> AnondbError:
    """Our error for one of psycopg's."""
    state = error.sqlstate
    where = f" ({doing})" if doing else ""
    if state is None:
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return EndedError(
                f"the connection to the database failed{where}: {_first_line(error)}",
                hint=TWO_CONNECTIONS
                if any(words in str(error) for words in _FULL)
                else "is the server running, and are --dsn, ANONDB_DSN or PGHOST right?",
            )
        if isinstance(error, psycopg.DataError):  # psycopg refuses to send a NUL
            return UsageError(
                f"a text has a NUL character{where}", hint="no text in PostgreSQL has one: take it out"
            )
        return DatabaseError(
            f"the database driver failed{where}: {type(error).__name__}", hint="please report this"
        )
    message = error.diag.message_primary or _first_line(error)
    if state.startswith("SA"):
        kind = _OURS.get(state[2], DatabaseError)
        return kind(message, hint=error.diag.message_hint)
    if state == "42501" and "row-level security" in message:
        return DatabaseError(
            f"row-level security hides rows from this role{where}: {message}",
            hint="k would be counted wrongly; run as a role with BYPASSRLS, or as one that no policy filters",
        )
    if state in _VALUES:
        message, hint = _VALUES[state]
        return UsageError(f"{message}{where}", hint=hint)
    if state[:2] not in _SPEAKS_OF_OBJECTS:
        return DatabaseError(
            f"the database reported {type(error).__name__} (SQLSTATE {state}){where}",
            hint="its message may quote data, so it is not shown; the server's log has it",
        )
    kind = UsageError if state[:2] == "42" and state != "42501" else DatabaseError
    if state[:2] in ("08", "57") or state in ("25P03", "25P04"):
        kind = EndedError
    if state in ("40P01", "55P03"):
        kind = LockedError
    return kind(f"{message}{where}", hint=_hint(state, message, doing))


def _hint(state: str, message: str, doing: str) -> str:
    if state == "57014" and "statement timeout" in message:
        return _RAISE.format("statement_timeout")
    if state == "55P03" and "lock timeout" in message and not doing.startswith("step "):
        return "something holds the table: try again later; or " + _RAISE.format("lock_timeout")
    return _HINTS.get(state, _OTHERWISE)


@contextmanager
def translated(doing: str = "") -> Iterator[None]:
    """Turns psycopg's errors into ours."""
    try:
        yield
    except psycopg.Error as error:
        raise translate(error, doing) from None


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
