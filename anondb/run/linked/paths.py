"""What a node leaves out where one row at most is known and k alone is demanded: paths, not choices, are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.run.linked import choices_sql, places_sql
from anondb.run.linked import paths_sql as sql
from anondb.run.linked.left_out import UNTIL, LeftOut
from anondb.run.statement import MANY, Statement, row, touched

if TYPE_CHECKING:
    from anondb.run.linked.choices import Choices, Levels
    from anondb.run.linked.plan import TablePlan


def can_count(choices: Choices, levels: Levels) -> bool:
    """Whether a path of labels is a number, and nothing but the number of persons is asked of it."""
    plain = choices.models is None and not choices.lower and not choices.by_rows
    tables = choices.linked.tables
    return (
        plain
        and choices.privacy.knows in (0, 1)
        and all(choices_sql.is_packed(choices.linked, choices.encoded.words, one, levels) for one in tables)
    )


def left_out(choices: Choices, levels: Levels, *, whole: bool) -> LeftOut:
    """Who is left out of a node; at least so many, where that is too many already."""
    db, names, linked, words = choices.db, choices.names, choices.linked, choices.encoded.words
    k, knows, most = choices.privacy.k, int(choices.privacy.knows), choices.most_persons
    choices.make(choices_sql.nobody(names), names.gone, "persons left out")
    known = linked.tables if knows else linked.tables[:1]
    if not whole:
        for one in known:
            sure = _quickly(choices, one, levels)
            if sure > most:
                return LeftOut(sure, exact=False, sure=sure)
    choices.make(sql.paths(names, linked, words, known, levels, k), names.paths, "paths")
    for one in known if not whole else ():
        question = Statement(
            f"rare paths {one.label}", sql.surely_lost(names, one, k), answers=row(persons=0)
        )
        [sure] = db.one(question)
        if sure > most:
            return LeftOut(sure, exact=False, sure=sure)
    db.run(Statement("path statistics", places_sql.analyze(names, names.paths)))
    listed = sql.doubtful(names, linked, words, levels, knows, 1)
    choices.make(listed, names.doubtful, "persons of paths that might have too few")
    persons, since, out = 0, 1, [0] * len(linked.lower)
    while last := choices.make(sql.too_few(names, k), names.last, "persons of paths that have too few"):
        persons += last
        if persons > most and not whole:
            return LeftOut(persons, exact=False, sure=persons)
        db.run(Statement("note persons", choices_sql.note_persons(names), note=UNTIL))
        db.run(Statement("person statistics", places_sql.analyze(names, names.last)))
        choices.make(sql.lost(names, linked, words, levels, knows), names.lost, "paths that lose persons")
        if linked.lower:
            answers = row(**{f"t{table.number}": MANY for table in linked.lower})
            fewer = Statement("rows of persons left out", sql.rows_lost(names, linked), answers=answers)
            out = [before + n for before, n in zip(out, db.one(fewer), strict=True)]
        db.run(Statement("leave persons out", choices_sql.without_persons(names, names.doubtful), note=UNTIL))
        db.run(Statement("fewer persons", sql.less(names), note=UNTIL))
        since += 1
        fewer = Statement(
            "paths that might have too few now", sql.newly_listed(names, k, since), answers=touched(0)
        )
        if db.run(fewer):
            more = sql.doubtful(names, linked, words, levels, knows, since, into=names.touched)
            choices.make(more, names.touched, "persons of these paths")
            db.run(Statement("list them too", sql.list_too(names), note=UNTIL))
    return LeftOut(persons, sum(out), sure=persons, tables=(persons, *out))


def _quickly(choices: Choices, one: TablePlan, levels: Levels) -> int:
    """So many persons at least are left out for rows of a table, as far as that is soon known."""
    names, linked, words, k = choices.names, choices.linked, choices.encoded.words, choices.privacy.k
    if one.parent is None:
        question = choices_sql.rare_rows(names, linked, words, one, levels, k)
    elif _many_paths(choices, one, levels):
        question = sql.surely_lost_of_sample(names, linked, words, one, levels, k)
    else:
        return 0
    [sure] = choices.db.one(Statement(f"rare rows {one.label}", question, answers=row(persons=0)))
    return int(sure)


def _many_paths(choices: Choices, one: TablePlan, levels: Levels) -> bool:
    """Whether there may be so many paths that most have fewer than k rows."""
    most = 1
    for above in choices.linked.path(one):
        for q in above.plan.quasi:
            most *= choices.encoded.columns[q.number].nodes[0][levels[q.number - 1]]
    return most * choices.privacy.k > choices.encoded.tables[one.number].rows
