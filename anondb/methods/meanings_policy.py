"""What a policy says to algorithms that compare values by their meaning: ontology, measure, variant, seed."""

from __future__ import annotations

from anondb.errors import UsageError
from anondb.methods.registry import ALGORITHMS, Algorithm
from anondb.policy.check import Spot, Table, choice, instead, shown
from anondb.policy.model import Role
from anondb.policy.names import quoted

MEASURES = ("wup", "wup_depth", "path", "lch", "shared")
"""Of the similarity of concepts, as the database has them."""


def read_seed(spot: Spot, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise UsageError(
            f"{spot.key} must be a whole number, not {shown(value)}", hint="any will do: seed = 7"
        )
    return value


def check_method(spot: Spot, said: Table, algorithm: Algorithm) -> None:
    """Refuses what the algorithm has no use for, and fills in what it decides itself."""
    if algorithm.variants:
        if "variant" in said:
            spot.at("variant").attempt(choice(algorithm.variants), said["variant"])
        said.setdefault("variant", algorithm.variants[0])
    elif "variant" in said:
        spot.at("variant").report(f"{algorithm.name} has no variants", "leave the key out")
    if "measure" in said and not algorithm.meanings:
        spot.at("measure").report(
            f"{algorithm.name} does not compare values by their meaning", "leave the key out"
        )
    if "seed" in said and not algorithm.draws:
        spot.at("seed").report(f"{algorithm.name} draws nothing at random", "leave the key out")


def check_columns(spot: Spot, columns: Table, algorithm: Algorithm | None) -> None:
    """An ontology is for quasi-identifiers of algorithms that read it, and stands alone."""
    for name, column in columns.items():
        if "unknown" in column and not ("ontology" in column and algorithm and algorithm.fuses):
            spot.at("columns", name, "unknown").report(
                f"{quoted(name)} is not fused by an ontology, so that no text of it is unknown to one",
                "leave the key out",
            )
        if "ontology" not in column:
            continue
        here, role = spot.at("columns", name, "ontology"), column.get("role", Role.QUASI)
        if role is not Role.QUASI:
            here.report(
                f"{role} column {quoted(name)} has an ontology, but only quasi-identifiers are compared",
                instead(role, "it"),
            )
        elif "hierarchy" in column:
            here.report(
                f"{quoted(name)} has an ontology and a hierarchy, and is compared by one of them",
                "leave one out",
            )
        elif algorithm is not None and not algorithm.meanings:
            others = [quoted(other.name) for other in ALGORITHMS.values() if other.meanings]
            here.report(
                f"{algorithm.name} does not read the ontology of {quoted(name)}",
                f"add a hierarchy instead, or set algorithm to one of {', '.join(others)}",
            )


def check_models(spot: Spot, privacy: Table, algorithm: Algorithm | None) -> None:
    """A model that an algorithm cannot see to would fail only when its release is verified."""
    if algorithm is None or algorithm.models:
        return
    for key in ("l_diversity", "t_closeness"):
        if key in privacy:
            spot.at("privacy", key).report(
                f"{algorithm.name} protects by k alone, and does not look at sensitive columns",
                "choose an algorithm that does: datafly, incognito, optimal or mondrian",
            )
