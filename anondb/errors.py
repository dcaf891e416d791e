"""The errors of anondb: each has a message, often a hint, and the exit code that the command line gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches


class AnondbError(Exception):
    """What went wrong and what to do next; never a value of a person's row."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  hint: {self.hint}"


@dataclass(frozen=True)
class Problem:
    """One mistake in a policy: where, what, what next."""

    place: str
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}"
        return text if self.hint is None else f"{text}\n  hint: {self.hint}"


class UsageError(AnondbError):
    """The call or the policy is wrong, or does not fit the database."""

    exit_code = 2


class PolicyError(UsageError):
    """Everything that is wrong with a policy, in one error."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class NoColumnsError(PolicyError):
    """[columns] is there and empty: whoever reaches the database can say which columns `source` has."""

    def __init__(self, problems: Sequence[Problem], source: str) -> None:
        super().__init__(problems)
        self.source = source


class UnsatisfiableError(AnondbError):
    """No release can satisfy the policy."""

    exit_code = 3


class DatabaseError(AnondbError):
    """The database could not be reached, or refused."""

    exit_code = 4


class LockedError(DatabaseError):
    """A lock was not to be had: not in time, or not without a deadlock."""


class EndedError(DatabaseError):
    """The connection, or the statement that ran on it, was ended from outside: there is no going on."""


class BusyError(AnondbError):
    """Another run holds the target."""

    exit_code = 5


class VerificationError(AnondbError):
    """The release that was written does not satisfy the policy; it is rolled back, never published."""


class Terminated(KeyboardInterrupt):
    """SIGTERM: unwinds as Ctrl-C does (psycopg cancels the running statement), with its own exit code."""

    exit_code = 143
    word = "terminated"


class HungUp(Terminated):
    """SIGHUP: the terminal is gone."""

    exit_code = 129
    word = "hung up"


def did_you_mean(name: str, names: Iterable[str]) -> str | None:
    """A hint with the closest name, if one is close; capitals do not count."""
    by_folded = {other.casefold(): other for other in names}
    close = get_close_matches(name[:80].casefold(), by_folded, n=1)
    return f'did you mean "{by_folded[close[0]]}"?' if close else None
