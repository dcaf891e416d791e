"""Which columns of many values are coded by a coarser level: where no release can have them any finer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from anondb.hierarchies.forms import Computed
from anondb.run import coarse_sql as sql
from anondb.run.encode_sql import analyze
from anondb.run.engine import Engine
from anondb.run.masks import longest_of
from anondb.run.plan import Options, Plan
from anondb.run.statement import MANY, Runner, Statement, row
from anondb.sqltree.build import null
from anondb.sqltree.equality import coarser
from anondb.sqltree.released import Typed
from anondb.sqltree.tables import Quasi, Scratch

MANY_VALUES = 10_000
"""Of a column: fewer are coded as they are, which takes no time that anybody would notice."""
_LOOKED_AT = 50_000  # rows of a source that the server knows nothing of


@dataclass(frozen=True)
class Coarse:
    """The plan with its coarse columns, and how many values and labels each of them has below its own level."""

    plan: Plan
    finer: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def coarsened(
    db: Runner, engine: Engine, plan: Plan, names: Scratch, options: Options, levels: Sequence[int] | None
) -> Coarse:
    """Looks for columns that no release can have at their finest levels, or whose `levels` are known.

    A class of the release is a part of the records with the same label of a column. So where the records of labels that
    fewer than k have are more than may be left out, no release can have that level, nor any finer one.
    """
    if not _are_possible(plan, options, levels):
        return Coarse(plan)
    quasi, finer = list(plan.quasi), {}
    for place in _varied(engine, plan, levels):
        lowest = quasi[place].min_level if levels is None else levels[place]
        made = _coarse(db, engine, plan, names, quasi[place], lowest, is_known=levels is not None)
        if made is not None:
            quasi[place], finer[made[0].name] = made
    return Coarse(replace(plan, quasi=tuple(quasi)), finer)


def _are_possible(plan: Plan, options: Options, levels: Sequence[int] | None) -> bool:
    """Not where persons are counted, texts compared or records with NULLs left out: by their values one by one."""
    privacy = plan.policy.privacy
    return (
        plan.unit is None
        and not plan.at_any_level
        and plan.distribution is None  # workers have the rows, and not our functions
        and privacy.nulls == "value"
        and privacy.suppress != "cells"
        and options.evaluate != "full"
        and not any(q.has_spellings for q in plan.quasi)
        and (levels is None or len(levels) == len(plan.quasi))
    )


def _varied(engine: Engine, plan: Plan, levels: Sequence[int] | None) -> list[int]:
    """Places of the columns that may have many values and can be coded by their labels."""
    able = [
        place for place, q in enumerate(plan.quasi) if _is_able(q, None if levels is None else levels[place])
    ]
    known = {place: plan.quasi[place].column.distinct for place in able}
    many = [place for place, distinct in known.items() if distinct is not None and distinct > MANY_VALUES]
    unknown = [place for place, distinct in known.items() if distinct is None]
    if unknown and plan.rows > MANY_VALUES:
        looks = engine.looks_varied([plan.quasi[place] for place in unknown], _LOOKED_AT)
        many += [place for place, found in zip(unknown, looks, strict=True) if found > MANY_VALUES]
    return sorted(many)


def _is_able(quasi: Quasi, known: int | None) -> bool:
    form, highest = quasi.hierarchy, quasi.max_level
    if not isinstance(form, Computed) or isinstance(quasi.column.form, Typed) or known in (0, -1):
        return False
    if form.lowest or highest == 0 or (highest is not None and highest < quasi.min_level):
        return False
    if form.by_length:
        return True  # its height is not known yet
    return coarser(replace(quasi, length=1), null(), 1) is not None if quasi.height > 1 else False


def _coarse(
    db: Runner, engine: Engine, plan: Plan, names: Scratch, quasi: Quasi, lowest: int, *, is_known: bool
) -> tuple[Quasi, tuple[int, ...]] | None:
    """A column at the finest level that a release can have, if that is not its own values."""
    if isinstance(quasi.hierarchy, Computed) and quasi.hierarchy.by_length:
        quasi = longest_of(quasi, engine.longest_value(quasi))
    if is_known and lowest == quasi.height:
        lowest -= 1  # at the root values need no codes at all
    top = quasi.height - 1 if quasi.max_level is None else min(quasi.max_level, quasi.height - 1)
    if top < max(lowest, 1) or quasi.height <= lowest or not sql.can_be_read(quasi):
        return None
    start = max(lowest, 1)
    engine.count_values(names, quasi, start)
    db.run(Statement(f"value statistics {quasi.code}", analyze(names.finest(quasi))))
    k = plan.policy.privacy.k
    records, rare, values, are_read = db.one(
        Statement(
            f"rare values {quasi.code}",
            sql.rare_values(names, quasi, k),
            answers=row(records=MANY, rare=MANY, values=MANY, read=True),
            note="the run goes on so where more than may be suppressed are in values that fewer than k have",
        )
    )
    base, finer, allowed = lowest, [values] + [0] * lowest, plan.policy.privacy.may_suppress(records)
    while not is_known and base < top:
        if base > 0:
            rare, finer[base] = db.one(
                Statement(
                    f"rare labels {quasi.code}",
                    sql.rare_labels(names, quasi, base, k),
                    answers=row(rare=0, labels=1),
                    note="the same of labels, level by level",
                )
            )
        if rare <= allowed:
            break
        base += 1
        finer.append(0)
    if base == 0 or not are_read or values <= MANY_VALUES:
        db.run(Statement(f"forget values {quasi.code}", sql.drop_finest(names, quasi)))
        return None
    coarse = replace(quasi, base=base)
    db.run(Statement(f"coarse values {quasi.code}", sql.coarse_values(names, coarse)))
    db.run(Statement(f"coarse value statistics {quasi.code}", analyze(names.values(coarse))))
    db.run(Statement(f"forget finer values {quasi.code}", sql.drop_finest(names, quasi)))
    return coarse, tuple(finer[:base])
