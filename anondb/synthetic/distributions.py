"""Named distributions over sorted values: the density at equally spaced points between two quantiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anondb.errors import UsageError, did_you_mean

ORIGINAL = "original"
TAIL = 0.001
"""The points lie between the 0.1 % and the 99.9 % quantile."""

MOST_LOGARITHMIC = 0.9999
"""The quantiles are sought step by step, and their number grows without bound as p comes near to 1."""

PARAMETERS: Mapping[str, Mapping[str, float]] = {
    "normal": {"mean": 0.0, "deviation": 1.0},
    "beta": {"a": 2.0, "b": 5.0},
    "chi": {"df": 3.0},
    "chi_square": {"df": 4.0},
    "exponential": {"rate": 1.0},
    "gamma": {"shape": 7.5, "scale": 1.0},  # 2 would be chi-square again
    "geometric": {"p": 0.7},
    "logarithmic": {"p": 0.7},
    "poisson": {"mean": 4.0},
    "student_t": {"df": 5.0},
    "uniform": {"low": 0.0, "high": 1.0},
}
"""The parameters of each distribution, unless the domain has its own."""

DISTRIBUTIONS = (ORIGINAL, *PARAMETERS)

# The three that are over whole numbers, as functions of a real one: between them lie as many points as there
# are values, and a probability that is 0 between whole numbers would leave most values out. Constant factors cancel.
_OVER_WHOLE_NUMBERS: Mapping[str, Callable[[float, Mapping[str, float]], float]] = {
    "geometric": lambda x, parameters: x * math.log1p(-parameters["p"]),
    "logarithmic": lambda x, parameters: x * math.log(parameters["p"]) - math.log(x),
    "poisson": lambda x, parameters: x * math.log(parameters["mean"]) - math.lgamma(x + 1),
}


def known(name: str) -> str:
    """The name of a distribution, however its words are joined."""
    folded = name.strip().lower().replace("-", "_").replace(" ", "_")
    if folded not in DISTRIBUTIONS:
        raise UsageError(
            f'there is no distribution "{name[:80]}"',
            hint=did_you_mean(folded, DISTRIBUTIONS) or f"there are {', '.join(DISTRIBUTIONS)}",
        )
    return folded


def by_attribute(text: str | None, attributes: Sequence[str]) -> dict[str, str]:
    """The distribution of each attribute that has one: `normal` for all, `age=normal,gender=uniform` for some.

    Both together: the one without a name is for all that are not named.
    """
    if text is None:
        return {}
    rest: str | None = None
    chosen: dict[str, str] = {}
    for part in text.split(","):
        attribute, equals, name = (piece.strip() for piece in part.rpartition("="))
        if not equals:
            if rest is not None:
                raise UsageError(
                    "two distributions are for all attributes",
                    hint="name the attributes: age=normal,gender=uniform",
                )
            rest = known(name)
            continue
        if attribute not in attributes:
            raise UsageError(
                f'there is no attribute "{attribute[:80]}" to distribute',
                hint=did_you_mean(attribute, attributes) or f"there are {', '.join(attributes)}",
            )
        if attribute in chosen:
            raise UsageError(f'"{attribute}" has two distributions', hint="name each attribute once")
        chosen[attribute] = known(name)
    return chosen if rest is None else dict.fromkeys(attributes, rest) | chosen


def check(name: str, parameters: Mapping[str, float]) -> str | None:
    """What is wrong with the parameters of a distribution."""
    expected = PARAMETERS[name]
    if set(parameters) != set(expected):
        return f"{name} has the parameters {', '.join(expected)}"
    if not all(math.isfinite(value) for value in parameters.values()):
        return "a parameter is not a number"
    if "p" in parameters and not 0 < parameters["p"] < 1:
        return "p lies between 0 and 1"
    if name == "logarithmic" and parameters["p"] > MOST_LOGARITHMIC:
        return f"p is at most {MOST_LOGARITHMIC}"
    if name == "uniform" and parameters["low"] >= parameters["high"]:
        return "low is below high"
    free = {"p", "low", "high"} | ({"mean"} if name == "normal" else set())
    if any(value <= 0 for key, value in parameters.items() if key not in free):
        return "its parameters are above 0"
    return None


def weights(name: str, parameters: Mapping[str, float], count: int) -> list[float]:
    """The weights of `count` values in their order; the greatest is 1."""
    frozen = _frozen(name, parameters)
    low, high = (float(frozen.ppf(share)) for share in (TAIL, 1 - TAIL))
    step = (high - low) / max(count - 1, 1)
    points = [low + step * place for place in range(count)]
    shape = _OVER_WHOLE_NUMBERS.get(name)
    logs = [float(frozen.logpdf(x)) if shape is None else shape(x, parameters) for x in points]
    top = max(logs)
    if not math.isfinite(top) or any(math.isnan(log) for log in logs):
        raise UsageError(
            f"the distribution {name} has no density that can be computed",
            hint="its parameters in [distributions] are too small or too large",
        )
    return [math.exp(log - top) for log in logs]


def _frozen(name: str, parameters: Mapping[str, float]) -> Any:
    from scipy import stats

    match name:
        case "normal":
            return stats.norm(parameters["mean"], parameters["deviation"])
        case "beta":
            return stats.beta(parameters["a"], parameters["b"])
        case "chi":
            return stats.chi(parameters["df"])
        case "chi_square":
            return stats.chi2(parameters["df"])
        case "exponential":
            return stats.expon(scale=1 / parameters["rate"])
        case "gamma":
            return stats.gamma(parameters["shape"], scale=parameters["scale"])
        case "geometric":
            return stats.geom(parameters["p"])
        case "logarithmic":
            return stats.logser(parameters["p"])
        case "poisson":
            return stats.poisson(parameters["mean"])
        case "student_t":
            return stats.t(parameters["df"])
    return stats.uniform(parameters["low"], parameters["high"] - parameters["low"])
