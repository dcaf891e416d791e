"""What methods say of keys of a policy that they do not read."""

UNREAD = {
    "heuristic": "has no heuristics",
    "objective": "has no objectives, and so no use for objective",
    "weights": "has no objectives, and so no use for weights",
    "variant": "has no variants",
    "measure": "does not compare values by their meaning",
    "seed": "draws nothing at random",
    "distance": "does not compare sets",
    "draw": "draws no terms",
    "strict": "does not partition the records",
    "bounds": "does not partition the records",
    "recode": "has no levels that rounds could differ in, or looks for one node alone",
    "split": "does not partition the records",
}
"""What is said of a key of [method] to methods that do not read it."""
