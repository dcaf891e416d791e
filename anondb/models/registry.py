"""The privacy models that a policy can demand, in the order in which people read them."""

from __future__ import annotations

from collections.abc import Iterable

from anondb.models.beta_likeness import BetaLikeness
from anondb.models.delta_disclosure import DeltaDisclosure
from anondb.models.k_anonymity import KAnonymity
from anondb.models.l_diversity import LDiversity
from anondb.models.le_diversity import LeDiversity
from anondb.models.model import ClassModel, PrivacyModel, SensitiveModel
from anondb.models.star_matches import StarMatches
from anondb.models.t_closeness import TCloseness
from anondb.policy.check import Table

SENSITIVE_MODELS: tuple[type[SensitiveModel], ...] = (
    LDiversity,
    TCloseness,
    BetaLikeness,
    DeltaDisclosure,
    LeDiversity,
)
"""A new model is a file of this room and a line here."""

CLASS_MODELS = tuple(model for model in SENSITIVE_MODELS if issubclass(model, ClassModel))
_ALL: tuple[type[PrivacyModel], ...] = (KAnonymity, StarMatches, *SENSITIVE_MODELS)
MODELS = {model.name: model for model in _ALL}


def without_k(kept: Iterable[tuple[str, str | None]]) -> str:
    """What is said of a release that has no k, known by its models, or their metrics, and the variants of these."""
    told = list(kept)
    return next(
        (model.without_k for model in SENSITIVE_MODELS if any(model.gives_no_k(*one) for one in told)), ""
    )


def made(privacy: Table) -> tuple[SensitiveModel, ...]:
    """The models that a table [privacy] demands, once everything is right."""
    return tuple(model.made(keys) for model in SENSITIVE_MODELS for _, keys in privacy.get(model.name, ()))
