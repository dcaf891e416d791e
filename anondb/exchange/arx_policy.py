"""The policy that says what an ARX project says, and the list of what has no counterpart."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from anondb.exchange.arx_project import Attribute, Project
from anondb.hierarchies.forms import VghTable
from anondb.methods.registry import best_for
from anondb.policy import toml_text

_ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "other",
}
_OBJECTIVES = (
    ("loss (", "loss"),
    ("average equivalence class size", "average_class_size"),
    ("discernab", "discernibility"),
    ("monotonic discernab", "discernibility"),
    ("non-monotonic discernab", "discernibility"),
    ("height", "height"),
)
_DEFAULT_K = 5
_NUMBER = r"(\d+(?:\.\d+)?(?:E-?\d+)?)"
_OF = r" for attribute '(.*)'"


def _whole(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() else number


# what ARX writes of a model, the key of a policy, and what the model becomes there
_MODELS: Sequence[tuple[str, str, Callable[..., dict[str, Any]]]] = (
    (rf"distinct-{_NUMBER}-diversity{_OF}", "l_diversity", lambda n, c: {"column": c, "l": _whole(n)}),
    (
        rf"shannon-entropy-{_NUMBER}-diversity{_OF}",
        "l_diversity",
        lambda n, c: {"column": c, "l": _whole(n), "kind": "entropy"},
    ),
    (
        rf"recursive-\({_NUMBER},{_NUMBER}\)-diversity{_OF}",
        "l_diversity",
        lambda c, n, column: {"column": column, "l": _whole(n), "kind": "recursive", "c": _whole(c)},
    ),
    (
        rf"{_NUMBER}-closeness with equal ground-distance{_OF}",
        "t_closeness",
        lambda t, c: {"column": c, "t": _whole(t)},
    ),
    (
        rf"{_NUMBER}-closeness with ordered distance{_OF}",
        "t_closeness",
        lambda t, c: {"column": c, "t": _whole(t), "distance": "ordered"},
    ),
    (
        rf"{_NUMBER}-closeness with hierarchical ground-distance{_OF}",
        "t_closeness",
        lambda t, c: {"column": c, "t": _whole(t), "distance": "hierarchical"},
    ),
    (rf"basic-{_NUMBER}-likeness{_OF}", "beta_likeness", lambda b, c: {"column": c, "beta": _whole(b)}),
    (
        rf"enhanced-{_NUMBER}-likeness{_OF}",
        "beta_likeness",
        lambda b, c: {"column": c, "beta": _whole(b), "kind": "enhanced"},
    ),
    (
        rf"{_NUMBER}-disclosure privacy{_OF}",
        "delta_disclosure",  # whose logarithm is the natural one, and ARX's that to the base 2
        lambda d, c: {"column": c, "delta": float(f"{float(d) * math.log(2):.6g}")},
    ),
)


@dataclass
class Drafted:
    """A policy as text, the hierarchies that it names, by file, and what it does not say."""

    text: str
    hierarchies: Mapping[str, VghTable]
    notes: tuple[str, ...]


@dataclass
class _Draft:
    project: Project
    folder: str
    notes: list[str] = field(default_factory=list)
    hierarchies: dict[str, VghTable] = field(default_factory=dict)

    def note(self, text: str) -> None:
        """On one line whatever the file says: it becomes a comment."""
        self.notes.append(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text)[:300])


def policy(project: Project, source: str, target: str, folder: str) -> Drafted:
    """The policy for the project's table, whose hierarchies will lie in a folder."""
    draft = _Draft(project, folder)
    privacy = _privacy(draft)
    ordered = {m["column"] for m in _all(privacy.get("t_closeness")) if m.get("distance") == "hierarchical"}
    columns = {each.name: _column(draft, each, each.name in ordered) for each in project.attributes}
    document = {
        "source": source,
        "target": target,
        "privacy": privacy,
        "method": _method(draft),
        "columns": columns,
    }
    head = ["# From a project of ARX.", *(f"# DECIDE: {note}" for note in draft.notes)]
    return Drafted("\n".join([*head, "", toml_text.write(document)]), draft.hierarchies, tuple(draft.notes))


def _privacy(draft: _Draft) -> dict[str, Any]:
    sensitive = {each.name for each in draft.project.attributes if each.role == "SENSITIVE_ATTRIBUTE"}
    privacy: dict[str, Any] = {}
    for criterion in draft.project.criteria:
        if found := re.fullmatch(r"(\d+)-anonymity", criterion):
            privacy["k"] = int(found[1])
        elif (model := _model(criterion)) is not None and model[1]["column"] in sensitive:
            privacy.setdefault(model[0], []).append(model[1])
        elif criterion == "Inclusion":
            draft.note("a research subset was chosen in ARX; this policy takes all records of the table")
        else:
            draft.note(f"the privacy model {criterion} has no counterpart")
    if "delta_disclosure" in privacy:
        draft.note(
            "delta-disclosure is stricter here: every class needs every value, also those that it lacks in ARX"
        )
    if not privacy:
        privacy["k"] = _DEFAULT_K
        draft.note(
            f"no privacy model of the project has a counterpart, so that k = {_DEFAULT_K} stands in their place"
        )
    models = {
        key: value[0] if isinstance(value, list) and len(value) == 1 else value
        for key, value in privacy.items()
    }
    return {**models, "suppression": min(draft.project.suppression, 1.0)}


def _model(criterion: str) -> tuple[str, dict[str, Any]] | None:
    for pattern, key, made in _MODELS:
        if found := re.fullmatch(pattern, criterion, re.DOTALL):
            return key, made(*found.groups())
    return None


def _all(model: Any) -> Sequence[Mapping[str, Any]]:
    return [] if model is None else model if isinstance(model, list) else [model]


def _method(draft: _Draft) -> dict[str, Any]:
    project = draft.project
    quasi = [each for each in project.attributes if each.role == "QUASI_IDENTIFYING_ATTRIBUTE"]
    algorithm, has_objective = best_for(prod(each.height + 1 for each in quasi), len(quasi))
    method: dict[str, Any] = {"algorithm": algorithm}
    if not has_objective:
        draft.note(
            f"there are too many combinations of levels to look for the best one: {algorithm} finds a good one"
        )
        return method
    objective = next((ours for start, ours in _OBJECTIVES if project.metric.lower().startswith(start)), None)
    if objective is None:
        draft.note(
            f"the quality model {project.metric} has no counterpart: the least information loss is looked for"
        )
    method["objective"] = objective or "loss"
    names = {each.name for each in quasi}
    weights = {name: weight for name, weight in project.weights.items() if weight != 1 and name in names}
    if weights and method["objective"] in ("loss", "height"):
        method["weights"] = weights
    return method


def _column(draft: _Draft, attribute: Attribute, by_hierarchy: bool) -> dict[str, Any]:
    role = _ROLES.get(attribute.role)
    if role is None:
        role = "identifier"
        draft.note(f"{attribute.name} has no role in ARX, and is left out")
    column: dict[str, Any] = {"role": role}
    if role == "sensitive" and by_hierarchy and attribute.hierarchy is not None:
        column["hierarchy"] = {"csv": _file(draft, attribute)}
    if role != "quasi":
        return column
    if attribute.aggregated:
        draft.note(f"{attribute.name} is aggregated in ARX ({attribute.aggregated}); here it is generalized")
    if attribute.hierarchy is None:
        draft.note(
            f"{attribute.name} has no hierarchy in ARX, and is released as it is; its values still count for k"
        )
        return {**column, "hierarchy": {"mask": "all"}, "max_level": 0}
    column["hierarchy"] = {"csv": _file(draft, attribute)}
    levels = len(attribute.hierarchy.rows[0]) - 1
    most = attribute.height if attribute.most is None else min(attribute.most, attribute.height)
    if attribute.least:
        column["min_level"] = min(attribute.least, most)
    if most < levels:
        column["max_level"] = most
    return column


def _file(draft: _Draft, attribute: Attribute) -> str:
    """A file name that is one whatever the column is called."""
    plain = re.sub(r"\W+", "_", attribute.name)[:40].strip("_").encode("ascii", "ignore").decode() or "column"
    name = f"{len(draft.hierarchies) + 1:02}_{plain}.csv"
    assert attribute.hierarchy is not None
    draft.hierarchies[name] = attribute.hierarchy
    return f"{draft.folder}/{name}"
