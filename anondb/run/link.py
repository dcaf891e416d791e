"""The link between originals and what became of them: put down in the run's own tables, for all measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anondb.methods.outcome import Classes, Levels
from anondb.run import covered_sql as covering
from anondb.run import encode_sql as encode
from anondb.run import linked_sql as linked
from anondb.run.covered import covered
from anondb.run.encode import chosen_levels
from anondb.run.publish_sql import Chosen
from anondb.run.statement import Statement
from anondb.sqltree.build import Node

if TYPE_CHECKING:
    from anondb.run.evaluate import Evaluating


@dataclass(frozen=True)
class Link:
    """What has been put down of which combination became which."""

    ladder: str | None  # the table of the hierarchies from files
    covered: Sequence[Chosen] = ()  # columns without pairs of texts


def put_down(run: Evaluating, *, full: bool) -> Link:
    """Puts down which combination became which, in codes.

    Texts are put beside them for each column, and for combinations only where records are compared with each other.
    """
    quasi, names, chosen = run.encoded.quasi, run.names, None
    in_texts = full or run.by_meaning is not None
    by_codes: list[Chosen] = []
    if isinstance(run.outcome, Classes):
        run.db.run(Statement("label codes", linked.label_codes(names, quasi)))
        run.db.run(Statement("label statistics", encode.analyze(names.labels)))
        run.db.run(Statement("link", linked.of_classes(names, quasi)))
    else:
        chosen = chosen_levels(run.encoded, run.outcome)
        repeated = bool(run.encoded.counted.apart)
        if not in_texts and not run.leaves_nulls_out:
            by_codes = covered(run.db, names, run.encoded, chosen)
        link = linked.of_levels(names, chosen, repeated=repeated, covered=by_codes)
        run.db.run(Statement("link", link))
    if run.leaves_nulls_out:
        run.db.run(Statement("unseen values", linked.unseen(names, quasi)))
        run.db.run(Statement("link nulls", linked.with_nulls(names, quasi)))
    run.db.run(Statement("link statistics", encode.analyze(names.link)))
    cells = linked.cells(names, quasi, chosen, nulls=run.leaves_nulls_out, covered=by_codes)
    run.db.run(Statement("cells", cells))
    run.db.run(Statement("cell statistics", encode.analyze(names.pairs)))
    if by_codes:
        run.db.run(Statement("covered values", covering.values(names, by_codes)))
    run.db.run(Statement("released combinations", linked.released(names, quasi)))
    if in_texts:
        run.db.run(Statement("linked", linked.in_texts(names, quasi)))
        run.db.run(Statement("linked statistics", encode.analyze(names.linked)))
    ladder = linked.ladder(names, quasi)
    if ladder is None:
        return Link(None, by_codes)
    run.db.run(Statement("ladder", ladder))
    return Link(linked.temporary(names.ladder), by_codes)


def every_cell(run: Evaluating) -> Node:
    """The pairs of all columns, those too that had none."""
    assert isinstance(run.outcome, Levels)
    chosen = chosen_levels(run.encoded, run.outcome)
    return linked.cells(run.names, run.encoded.quasi, chosen, nulls=False, into=run.names.every_pair)
