"""How a policy asks for (l, e)-diversity, and what it then must and cannot say."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from anondb.methods.method import ReleaseMethod
from anondb.models.le_diversity import LeDiversity
from anondb.models.model import Tables
from anondb.models.registry import CLASS_MODELS
from anondb.policy.check import Spot, Table
from anondb.policy.model import Role
from anondb.policy.names import quoted


def check_le_diversity(
    spot: Spot,
    said: Table,
    roles: Mapping[str, Role | None],
    with_hierarchy: Collection[str],
    algorithm: ReleaseMethod | None,
) -> None:
    """The model and its algorithm belong together, and to one sensitive column with a hierarchy."""
    privacy = said.get("privacy", {})
    here = spot.at("privacy", "le_diversity")
    model: Tables = privacy.get(LeDiversity.name, ())
    own = algorithm is not None and bool(algorithm.suffixes())  # it releases them apart from their records
    if algorithm is None or not (own or model):
        return
    if not own:
        here.report(
            f"{algorithm.name} does not look at (l, e)-diversity",
            'set algorithm = "le_diversity", or ask for l_diversity',
        )
        return
    if not model:
        if "privacy" in said and not here.faulty:
            here.report(f"{algorithm.name} needs to know what to protect", f"add {LeDiversity.example}")
        return
    for key, reason in _NOT_WITH.items():
        if key in privacy and (key != "suppress" or privacy[key] != "remove"):
            hint = "leave the key out" if key == "suppress" else "choose another algorithm, such as optimal"
            spot.at("privacy", key).report(f"{algorithm.name} {reason}", hint)
    column = model[0][1].get("column", "")
    sensitive = [name for name, role in roles.items() if role is Role.SENSITIVE]
    for name in sensitive:
        if column in sensitive and name != column:
            spot.at("columns", name, "role").report(
                f"{algorithm.name} protects one sensitive column, and {quoted(name)} is another",
                f'leave it out of the release: {name} = {{ role = "identifier" }}',
            )
    if column in sensitive and column not in with_hierarchy:
        spot.at("columns", column, "hierarchy").report(
            f"sensitive column {quoted(column)} has no hierarchy, and e counts its levels",
            'add hierarchy = { csv = "…" } or the name of a stored one',
        )


_NOT_WITH = {
    "suppress": "has nothing to mask: what is suppressed is left out",
    "unit": "counts records, not persons",
    **{model.name: "sees to (l, e)-diversity alone" for model in CLASS_MODELS},
}
