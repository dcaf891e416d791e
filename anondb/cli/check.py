"""anondb check and schema: what there is to say of a policy before it runs, and what editors complete by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from anondb.api import connect
from anondb.api.drafts import Checked, check_file
from anondb.cli.options import Dsn, Json, Public
from anondb.cli.output import echo_json, out, plain, report_warning, write
from anondb.cli.policies import read_policy
from anondb.db.connection import is_named
from anondb.errors import PolicyError
from anondb.policy.load import load

SCHEMA = Path(__file__).parents[1] / "policy" / "schema.json"


def check(
    policies: Annotated[
        list[Path], typer.Argument(metavar="POLICY.toml…", help="Policies.", show_default=False)
    ],
    drift: Annotated[
        bool, typer.Option("--drift", help="Look at columns that came and went, and at types that changed.")
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Look at the files alone, also where a database is named.")
    ] = False,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Check policies before they run: for editors, for pre-commit, for CI.

    Without a database the files alone; where --dsn or the environment names one, also against its tables,
    of which no row is read. --drift tells columns that a policy does not know of.

    Examples:

      anondb check admissions.toml

      anondb check policies/*.toml --drift --dsn service=clinic

    Exit codes: 0 nothing wrong (there may be warnings), 2 something is.
    """
    reach = drift or (is_named(dsn) and not offline)
    found = [(file, _checked(file, dsn, reach=reach, drift=drift)) for file in policies]
    problems = [problem for _, checked in found for problem in checked.problems]
    if as_json:
        echo_json([_as_json(file, checked, reach=reach) for file, checked in found])
    else:
        for file, checked in found:
            for warning in checked.warnings:
                report_warning(f"{warning.place}: {warning.message}", warning.hint or "")
            if not checked.problems:
                what = "nothing has changed" if drift else "fits its tables" if reach else "the file is right"
                out.print(f"{plain(str(file))}: {what}", soft_wrap=True)
    if as_json and problems:
        raise typer.Exit(PolicyError.exit_code)
    if problems:
        raise PolicyError(problems)


def _checked(file: Path, dsn: str | None, *, reach: bool, drift: bool) -> Checked:
    try:
        policy = read_policy(file, dsn) if reach else load(file)
    except PolicyError as error:
        return Checked(error.problems)
    alone = check_file(policy)
    if not reach:
        return alone
    with connect(dsn) as db:
        checked = db.check(policy, drift=drift)
    return Checked(checked.problems or alone.problems, checked.warnings)


def _as_json(file: Path, checked: Checked, *, reach: bool) -> dict[str, object]:
    def told(problems: Sequence[object]) -> list[dict[str, object]]:
        return [asdict(problem) for problem in problems]  # type: ignore[call-overload]

    return {
        "policy": str(file),
        "database": reach,
        "problems": told(checked.problems),
        "warnings": told(checked.warnings),
    }


def schema(
    file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.json", help="Where to write it; else it is printed.")
    ] = None,
    public: Public = False,
) -> None:
    """Print the JSON schema of policies, by which editors complete and check them.

    Drafted policies name it in their first line.

    Example: anondb schema --out anondb-policy.schema.json
    """
    write(SCHEMA.read_text(encoding="utf-8"), file)
