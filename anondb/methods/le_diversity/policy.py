"""What a policy must say of (l, e)-diversity, and what it then cannot say."""

from __future__ import annotations

from anondb.models.le_diversity import LeDiversity
from anondb.policy.check import PolicyKeys, Spot
from anondb.policy.model import Role
from anondb.policy.names import quoted


def check(method: str, spot: Spot, policy: PolicyKeys) -> None:
    """The model belongs to one sensitive column with a hierarchy."""
    here = spot.at("privacy", LeDiversity.name)
    models = policy.privacy.get(LeDiversity.name, ())
    if not models:
        if policy.privacy and not here.faulty:
            here.report(f"{method} needs to know what to protect", f"add {LeDiversity.example}")
        return
    for key, reason in _NOT_WITH.items():
        if key in policy.privacy and (key != "suppress" or policy.privacy[key] != "remove"):
            hint = "leave the key out" if key == "suppress" else "choose another algorithm, such as optimal"
            spot.at("privacy", key).report(f"{method} {reason}", hint)
    [(_, keys)] = models
    column = keys.get("column", "")
    sensitive = [name for name, role in policy.roles.items() if role is Role.SENSITIVE]
    for name in sensitive:
        if column in sensitive and name != column:
            spot.at("columns", name, "role").report(
                f"{method} protects one sensitive column, and {quoted(name)} is another",
                f'leave it out of the release: {name} = {{ role = "identifier" }}',
            )
    if column in sensitive and column not in policy.with_hierarchy:
        spot.at("columns", column, "hierarchy").report(
            f"sensitive column {quoted(column)} has no hierarchy, and e counts its levels",
            'add hierarchy = { csv = "…" } or the name of a stored one',
        )


_NOT_WITH = {
    "suppress": "has nothing to mask: what is suppressed is left out",
    "unit": "counts records, not persons",
}
