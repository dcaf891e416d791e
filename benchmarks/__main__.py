"""Runs a benchmark and prints one JSON object; says on standard error how it goes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from anondb.errors import AnondbError, DatabaseError
from anondb.methods.full_domain.method import FullDomain
from anondb.methods.registry import METHODS
from benchmarks import (
    against,
    aika,
    draft,
    full_domain,
    fusion,
    generate,
    gsl,
    le_diversity,
    linked,
    lives,
    mdav,
    meanwhile,
    measures,
    mondrian,
    nights,
    ontology,
    optimal,
    scale_out,
    values,
    whole,
)
from benchmarks.options import Options

BENCHMARKS: dict[str, Callable[[Options], dict[str, Any]]] = {
    "against": against.run,
    "aika": aika.run,
    "draft": draft.run,
    "full-domain": full_domain.run,
    "fusion": fusion.run,
    "generate": generate.run,
    "gsl": gsl.run,
    "le-diversity": le_diversity.run,
    "linked": linked.run,
    "mdav": mdav.run,
    "meanwhile": meanwhile.run,
    "measures": measures.run,
    "mondrian": mondrian.run,
    "lives": lives.run,
    "nights": nights.run,
    "ontology": ontology.run,
    "optimal": optimal.run,
    "scale-out": scale_out.run,
    "values": values.run,
    "whole": whole.run,
    "wide": whole.run_wide,
}

FULL_DOMAIN = [name for name, method in METHODS.items() if isinstance(method, FullDomain)]


def main() -> int:
    given = _parser().parse_args()
    options = Options(
        given.rows,
        given.quasi,
        given.algorithm,
        given.repeat,
        given.data,
        given.arx,
        given.changed,
        given.nights,
        given.dsn,
    )
    try:
        found = BENCHMARKS[given.benchmark](options)
    except AnondbError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except psycopg.Error as error:
        print(f"error: {error}", file=sys.stderr)
        return DatabaseError.exit_code
    print(json.dumps(found, indent=2, ensure_ascii=False))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("benchmark", choices=sorted(BENCHMARKS))
    parser.add_argument(
        "--rows", type=_numbers, default=Options.rows, metavar="N,N", help="sizes of the table"
    )
    parser.add_argument("--quasi", type=_numbers, default=Options.quasi, metavar="N,N", help="up to 8")
    parser.add_argument("--algorithm", choices=FULL_DOMAIN, help="of full-domain and whole")
    parser.add_argument("--repeat", type=int, default=Options.repeat, metavar="N", help="runs of each case")
    parser.add_argument("--data", type=Path, default=Options.data, metavar="DIR", help="where adult.csv lies")
    parser.add_argument(
        "--arx", type=Path, metavar="DIR", help="of against: ARX's jar or classes, and its libraries"
    )
    parser.add_argument(
        "--changed", type=float, default=Options.changed, metavar="SHARE", help="of nights: 0.01 is 1 %%"
    )
    parser.add_argument("--nights", type=int, default=Options.nights, metavar="N", help="of lives")
    parser.add_argument("--dsn", help="a server to make a database on; an embedded one by default")
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    numbers = tuple(int(part) for part in text.split(","))
    if min(numbers) < 1:
        raise argparse.ArgumentTypeError("numbers from 1")
    return numbers


if __name__ == "__main__":
    sys.exit(main())
