"""The rules between the tables of a policy: what the columns must be to an algorithm, a model, a weight."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from anondb.errors import did_you_mean
from anondb.methods.method import ReleaseMethod
from anondb.methods.registry import METHODS, listed
from anondb.models.model import ClassModel, SensitiveModel
from anondb.models.registry import SENSITIVE_MODELS
from anondb.policy.check import PolicyKeys, Spot, Table, instead
from anondb.policy.columns import check_columns
from anondb.policy.model import Role
from anondb.policy.names import quoted
from anondb.policy.persons import check_persons
from anondb.policy.perturbed import check_followed, check_perturbed
from anondb.policy.released import check_released

Roles = Mapping[str, Role | None]
"""The columns of a policy in its order; None where the role could not be understood."""

Models = Sequence[tuple[type[SensitiveModel], Spot, Table]]
"""The models of a policy: of which sort, where, and what it says of each."""


def check_together(spot: Spot, tables: Table, document: Table) -> None:
    """Report what is wrong between tables that may each be right."""
    if "source" in tables and tables["source"] == tables.get("target"):
        spot.at("target").report("target is the source itself", "name another table; the run makes it")
    if "columns" not in tables:
        return
    written: Table = document["columns"]
    roles: Roles = {name: tables["columns"].get(name, {}).get("role") for name in written}
    # a hierarchy that could not be read is there all the same
    with_hierarchy = {name for name in tables["columns"] if "hierarchy" in written[name]}
    method, privacy = tables.get("method", {}), tables.get("privacy", {})
    algorithm = METHODS.get(method.get("algorithm", ""))
    keys = PolicyKeys(tables["columns"], privacy, method, roles, with_hierarchy)
    if not keys.quasi and all(roles.values()):
        spot.at("columns", "").report(
            "no column is a quasi-identifier, so that there is nothing to anonymize",
            'set role = "quasi" for what could single out a person: age, zip code, occupation',
        )
    check_columns(spot, tables["columns"], algorithm, METHODS)
    check_released(spot, keys, algorithm, METHODS)
    check_perturbed(spot, keys, algorithm, METHODS)
    if tables.get("key"):
        check_followed(spot, tables["columns"])
    check_persons(spot, tables["columns"], roles, "scope" in tables)
    if algorithm:
        algorithm.check(spot, keys)
    check_models(spot, privacy, algorithm)
    _check_cells(spot, privacy, algorithm)
    _check_stars(spot, privacy)
    _check_weights(spot.at("method", "weights"), method.get("weights", {}), roles)
    _check_unit(spot.at("privacy", "unit"), privacy, roles, tables["columns"])
    _check_key(spot.at("key"), tables.get("key"), privacy, roles)
    models = [
        (model, *place_and_keys)
        for model in SENSITIVE_MODELS
        for place_and_keys in privacy.get(model.name, ())
    ]
    for _, here, keys in models:
        _check_protected(here.at("column"), keys.get("column"), roles)
    _check_hierarchies(spot, models, roles, with_hierarchy)
    _check_generalized(spot, models, roles, with_hierarchy)


def _check_key(spot: Spot, key: Sequence[str] | None, privacy: Table, roles: Roles) -> None:
    """What names a record is a column of the policy; and where persons are counted, they are what is followed."""
    for name in key or ():
        if name not in roles:
            _report_unknown(spot, "key", name, roles)
    if key and "unit" in privacy:
        spot.report(
            f"unit names the person already: {quoted(str(privacy['unit']))}, and the releases are compared by it",
            "leave key out",
        )


def check_models(spot: Spot, privacy: Table, algorithm: ReleaseMethod | None) -> None:
    """A model that a method cannot see to would fail only when its release is verified."""
    if algorithm is None:
        return
    for model in SENSITIVE_MODELS:
        if model.name in privacy and model not in algorithm.models:
            able = listed(method for method in METHODS.values() if model in method.models)
            spot.at("privacy", model.name).report(
                algorithm.without_model(model), f"choose an algorithm that does: {able}"
            )


def _check_stars(spot: Spot, privacy: Table) -> None:
    """What a star counts as is asked where there are stars; where it matches anything there are no classes to judge."""
    if "stars" in privacy and privacy.get("suppress", "remove") != "cells":
        spot.at("privacy", "stars").report(
            "stars says how suppressed cells are counted, and no cells are suppressed",
            'set suppress = "cells", or leave stars out',
        )
    elif privacy.get("stars") == "match":
        for model in SENSITIVE_MODELS:
            if model.name in privacy:
                spot.at("privacy", model.name).report(
                    f"{model.title} is judged in classes, and where stars match anything a record is in no class",
                    "leave stars out: a star is a value of its own then; or leave the model out",
                )


def _check_cells(spot: Spot, privacy: Table, algorithm: ReleaseMethod | None) -> None:
    """Single cells are suppressed by some methods, and under models that look at a class alone."""
    if algorithm is None or privacy.get("suppress") != "cells":
        return
    if not algorithm.suppresses_cells:
        able = listed(method for method in METHODS.values() if method.suppresses_cells)
        spot.at("privacy", "suppress").report(
            f"{algorithm.name} makes classes of all records, each with values of its own, and suppresses no cells",
            f'choose an algorithm that does: {able}; or leave whole records out: suppress = "remove"',
        )
    for model in SENSITIVE_MODELS:
        if model.name in privacy and issubclass(model, ClassModel) and model.is_relative:
            spot.at("privacy", model.name).report(
                f"{model.title} compares classes with all that is released, which each suppressed cell may change",
                'leave whole records out: suppress = "remove"',
            )


def _check_weights(spot: Spot, weights: Mapping[str, float], roles: Roles) -> None:
    for name in weights:
        if name not in roles:
            _report_unknown(spot.at(name), spot.key, name, roles)
        elif (role := roles[name]) not in (Role.QUASI, None):
            spot.at(name).report(
                f"{role} column {quoted(name)} has a weight, but only quasi-identifiers are generalized",
                instead(role, "the weight"),
            )
    quasi = [name for name, role in roles.items() if role is Role.QUASI]
    if quasi and all(weights.get(name) == 0 for name in quasi):
        hint = "give one column a weight above 0; a column that is not named weighs 1"
        spot.report(
            "every quasi-identifier has the weight 0, so that all releases would be equally good", hint
        )


def _check_unit(spot: Spot, privacy: Table, roles: Roles, columns: Table) -> None:
    unit = privacy.get("unit")
    if unit is None:
        return
    if unit not in roles:
        _report_unknown(spot, spot.key, unit, roles)
    elif roles[unit] is Role.QUASI:
        spot.report(
            f"unit {quoted(unit)} is a quasi-identifier, which persons share by design",
            'name the column that tells persons apart, mostly one with role = "identifier"',
        )
    elif (role := roles[unit]) in (Role.SENSITIVE, Role.OTHER) and "keep" not in columns[unit]:
        spot.report(
            f"unit {quoted(unit)} names the persons, and as {role} it would be released as it is",
            f'set role = "identifier" for {quoted(unit)}, or keep = "identifying" if it may be published',
        )


def _check_protected(spot: Spot, column: str | None, roles: Roles) -> None:
    """What a model protects is a sensitive column."""
    if column is None:
        return
    if column not in roles:
        _report_unknown(spot, spot.key, column, roles)
    elif (role := roles[column]) is Role.QUASI:
        spot.report(
            f"{spot.key} {quoted(column)} would be a sensitive column that is also quasi",
            "name a column that is released as it is; a quasi-identifier is generalized already",
        )
    elif role not in (Role.SENSITIVE, None):
        hint = f'set role = "sensitive" for {quoted(column)}'
        spot.report(
            f"{spot.key} {quoted(column)} has the role {role}, and only sensitive columns are protected",
            "name another column: what is left out needs no model" if role is Role.IDENTIFIER else hint,
        )


def _check_hierarchies(spot: Spot, models: Models, roles: Roles, with_hierarchy: Collection[str]) -> None:
    for model, _, keys in models:
        column = keys.get("column", "")
        needed = model.needs_hierarchy(keys) and roles.get(column) is Role.SENSITIVE
        if needed and column not in with_hierarchy:
            why, hint = model.without_hierarchy
            spot.at("columns", column, "hierarchy").report(
                f"sensitive column {quoted(column)} has no hierarchy, and {why}", hint
            )


def _check_generalized(spot: Spot, models: Models, roles: Roles, with_hierarchy: Collection[str]) -> None:
    """A hierarchy that nobody reads is a mistake."""
    measured = {keys.get("column") for model, _, keys in models if model.uses_hierarchy(keys)}
    # whoever misspelt a model may have meant this column
    unclear = spot.at("privacy").faulty
    for name in with_hierarchy:
        here, role = spot.at("columns", name, "hierarchy"), roles[name]
        if role is Role.SENSITIVE and name not in measured and not unclear:
            here.report(
                f"sensitive column {quoted(name)} has a hierarchy that no model uses",
                'leave it out, or measure t_closeness with distance = "ordered" or "hierarchical"',
            )
        elif role not in (Role.QUASI, Role.SENSITIVE, None):
            here.report(
                f"{role} column {quoted(name)} has a hierarchy, but only quasi-identifiers are generalized",
                instead(role, "the hierarchy"),
            )


def _report_unknown(spot: Spot, what: str, name: str, roles: Roles) -> None:
    hint = did_you_mean(name, roles) or "name a column as [columns] does"
    spot.report(f"{what}: [columns] has no column {quoted(name)}", hint)
