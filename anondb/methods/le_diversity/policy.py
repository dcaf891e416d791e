"""What a policy must say of (l, e)-diversity, and what it then cannot say."""

from __future__ import annotations

from anondb.models.le_diversity import GROUPED, LeDiversity
from anondb.policy.check import PolicyKeys, Spot
from anondb.policy.model import Role
from anondb.policy.names import quoted


def check(method: str, spot: Spot, policy: PolicyKeys) -> None:
    """The model belongs to one sensitive column."""
    here = spot.at("privacy", LeDiversity.name)
    models = policy.privacy.get(LeDiversity.name, ())
    if not models:
        if policy.privacy and not here.faulty:
            here.report(f"{method} needs to know what to protect", f"add {LeDiversity.example}")
        return
    if len(models) > 1:
        # Buckets are of one column: l values of it that are strangers may have one value of another column in
        # common, and an assignment that keeps both apart is another problem.
        here.report(
            f"{method} makes its classes of the values of one sensitive column, and cannot keep those of another "
            "apart in them",
            "protect one and leave the others out, or choose an algorithm that holds its classes to several "
            "models, such as optimal",
        )
        return
    for key, reason in _NOT_WITH.items():
        if key in policy.privacy and (key != "suppress" or policy.privacy[key] != "remove"):
            hint = "leave the key out" if key == "suppress" else "choose another algorithm, such as optimal"
            spot.at("privacy", key).report(f"{method} {reason}", hint)
    [(where, keys)] = models
    if keys.get("kind") == GROUPED:
        where.at("kind").report(
            f"{method} makes classes in which no two values are relatives",
            "leave kind out, or choose an algorithm that generalizes",
        )
    column = keys.get("column", "")
    sensitive = [name for name, role in policy.roles.items() if role is Role.SENSITIVE]
    for name in sensitive:
        if column in sensitive and name != column:
            spot.at("columns", name, "role").report(
                f"{method} protects one sensitive column, and {quoted(name)} is another",
                f'leave it out of the release: {name} = {{ role = "identifier" }}',
            )


_NOT_WITH = {
    "suppress": "has nothing to mask: what is suppressed is left out",
    "unit": "counts records, not persons",
}
