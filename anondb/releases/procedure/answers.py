"""What a refresh does with the answers of its statements: the decisions of a run, as far as they are not SQL yet."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import inf

from anondb.models.model import TOLERANCE, ClassModel, SensitiveModel
from anondb.releases.following import REFUSE, RESTART, Followed
from anondb.releases.procedure.marks import MarkBook, dollar_quoted
from anondb.releases.procedure.steps import Answered, refuse_if
from anondb.run.plan import Plan
from anondb.run.statement import Statement
from anondb.sqltree.build import string
from anondb.sqltree.render import render

FOLLOWED = {f.name: f"v_{f.name}" for f in fields(Followed)}
"""The variables that have what became of those whom the ledger knows."""
ANEW = "run the policy, and write the procedure anew: anondb run POLICY, anondb procedure POLICY --name …"
REPORT = "nothing was published; please report this"
_NOT_SENT = ("look", "lock", "columns now", "obstacles", "wait shortly")


@dataclass
class Answering:
    """Of one writing: the variables, and the marks by which later statements name them."""

    plan: Plan
    marks: MarkBook
    heights: tuple[int, ...]  # of the quasi-identifiers, in the last release
    with_nulls: bool  # what is written for quasi-identifiers that hold NULLs
    variables: dict[str, str] = field(default_factory=dict)  # besides those of all procedures: name → type
    reached: dict[str, str] = field(default_factory=dict)  # of each model: its metric and column → variable

    def answer(self, stage: str, name: str, statement: Statement) -> Answered | None:
        word, _, code = name.rpartition(" ")
        if stage == "swap" and name in _NOT_SENT:
            return Answered(left_out=True)
        by_name = {
            "keys": self._keys,
            "key": self._key,
            "records": self._records,
            "shares": self._shares,
            "merge shares": self._merge,
            "count": self._count,
            "count classes": self._classes,
            "compare members": self._members,
            "kept columns": self._kept,
            "rows now": self._rows_now,
            "replace rows": self._replaced,
            "comment": self._comment,
        }
        if name in by_name:
            return by_name[name]()
        if name == "compare with ledger" and statement.answers.columns:
            return self._strange()
        if word == "values of shares":
            return Answered(only_if="v_shares > 0")
        if word == "judge shares":
            return Answered(before=self._loop())
        if word == "longest":
            return self._longest(code)
        if word == "labels":
            return self._labels(code, len(statement.answers.columns))
        return self._model(word, code)

    def _keys(self) -> Answered:
        message = dollar_quoted("this installation has no secret")
        return Answered(after=refuse_if("v_rows = 0", "fit", message, "make one: anondb secret renew"))

    def _key(self) -> Answered:
        after = refuse_if(
            "v_a > 0",
            "fit",
            f"{dollar_quoted('the key is NULL in records of the source: ')} || v_a",
            "fill it, or leave these records out in a view of the source",
        )
        if not self.plan.followed.several:
            after += refuse_if(
                "v_b > 0",
                "fit",
                f"{dollar_quoted('values of the key that several records have: ')} || v_b",
                "see which: the key names a person, and a person has one record",
            )
        return Answered(("v_a", "v_b"), after, ((0, 0),))

    def _records(self) -> Answered:
        source = dollar_quoted(f"source {self.plan.policy.source} is empty")
        suppresses = self.plan.policy.privacy.nulls == "suppress"
        after: tuple[str, ...] = refuse_if(
            "v_records = 0", "fit", source, "is it the right table? anondb run --allow-empty"
        )
        if not suppresses:
            after += ("v_with_null := 0;",)
        row = (self.marks.number("v_records"), self.marks.number("v_with_null") if suppresses else 0)
        return Answered(("v_records", "v_with_null"), after, (row,))

    def _longest(self, code: str) -> Answered:
        height = self.heights[int(code[1:]) - 1] if code.startswith("q") else 1
        message = dollar_quoted(
            f"the longest value of {code} is not as long as in the last release: {height} characters"
        )
        condition = f"greatest(v_a, 1) <> {height}"
        return Answered(("v_a",), refuse_if(condition, "fit", message, ANEW), ((height,),))

    def _labels(self, code: str, columns: int) -> Answered:
        coded = next(c for c in (*self.plan.quasi, *self.plan.sensitive) if c.code == code)
        message = dollar_quoted(f'column "{coded.name}": distinct values outside the hierarchy: ')
        after = refuse_if(
            "v_outside > 0",
            "fit",
            f"{message} || v_outside",
            "see them: anondb run POLICY --show-values; then add them to the hierarchy",
        )
        levels = ["v_a" if level == 0 else "v_b" for level in range(columns - 2)]
        if code.startswith("s"):
            variable = f"v_{code}"
            self.variables[variable] = "bigint"
            after += (f"{variable} := coalesce(v_a, 0) - coalesce(v_has_null, false)::int;",)
            row = (self.marks.number(variable), *[1] * (columns - 3), False, 0)
        else:
            after += ("v_nulls := v_nulls or coalesce(v_has_null, false);",)
            row = (*[1] * (columns - 2), self.with_nulls, 0)
        return Answered((*levels, "v_has_null", "v_outside"), after, (row,))

    def _shares(self) -> Answered:
        """Those who enter a class together are parted, if they are many, and shares that fail are merged again."""
        after = refuse_if(
            "v_batch is null", "fit", dollar_quoted("the series of this release has no batch"), ANEW
        )
        return Answered(("v_shares",), after, ((1,),))

    def _loop(self) -> tuple[str, ...]:
        """Before the first statement of the loop."""
        begun, self._in_loop = self._in_loop, True
        return () if begun else ("while v_shares > 0 loop",)

    def _merge(self) -> Answered:
        before, self._in_loop = self._loop(), False
        return Answered(("v_shares",), (), ((0,),), before=before, at_last=("end loop;",))

    def _count(self) -> Answered:
        followed = tuple(FOLLOWED.values())
        after: tuple[str, ...] = ("v_suppressed := v_waiting + v_withheld + v_with_null;",)
        privacy = self.plan.policy.privacy
        if self.plan.followed.changes == REFUSE:
            may = f"floor((v_records - v_with_null) * {privacy.suppression!r}::numeric)"
            after += refuse_if(
                f"v_departed > 0 or v_withheld <> v_failed or v_waiting + v_failed > {may}",
                "unsatisfiable",
                dollar_quoted("the source has changed, and persons could be told by the change: ")
                + " || v_persons",
                'set changes = "hold" to let them wait until they are enough, or changes = "free"',
            )
        row = tuple(self.marks.number(variable) for variable in followed)
        return Answered(followed, after, (row,))

    def _classes(self) -> Answered:
        """The figures of the release, against what was written, the ledger, and k."""
        k = self.plan.policy.privacy.k
        after = refuse_if(
            "v_there <> v_written or v_there <> v_published",
            "verify",
            "v_published || ' records were to be released, ' || v_written || ' were written and ' || v_there"
            " || ' are there'",
            REPORT,
        )
        smallest = "v_smallest" if self.plan.unit is None else "v_fewest"
        after += refuse_if(
            f"v_there > 0 and {smallest} < {k}",
            "verify",
            f"'the smallest class has ' || {smallest} || ' records, fewer than k = {k}'",
            REPORT,
        )
        after += refuse_if(
            "v_there = 0",
            "unsatisfiable",
            dollar_quoted("every record would be suppressed"),
            "anondb run --allow-empty publishes an empty release",
        )
        into = ("v_there", "v_class_count", "v_smallest", "v_largest", "v_squares")
        return Answered(into, after, ((1, 1, 1, 1, 1),))

    def _strange(self) -> Answered:
        return Answered(("v_strange", "v_b"), (), ((0, self.marks.number("v_there")),))

    def _members(self) -> Answered:
        message = (
            "v_strange || ' classes of the last release do not have the rows that the ledger knows, and ' || v_strays"
            " || ' cohorts not their members: something was changed by hand, or restored from a backup alone'"
        )
        hint = f"restore the release and the ledger from one backup, or {RESTART}"
        after = refuse_if("v_strange > 0 or v_strays > 0", "fit", message, hint)
        k = self.plan.policy.privacy.k
        few = f"'a cohort of the ledger has ' || v_fewest || ' persons, below k = {k}'"
        after += refuse_if(f"v_b > 0 and v_fewest < {k}", "verify", few, REPORT)
        return Answered(("v_strays",), after, ((0,),))

    def _kept(self) -> Answered:
        """A column that has come to tell persons apart ends a refresh, as it ends a run."""
        accepted = [column.name for column in self.plan.policy.columns if column.keep is not None]
        natural = [column.name for column in self.plan.policy.sensitive]
        lists = [
            "array[" + ", ".join(render(string(name)) for name in names) + "]::text[]"
            for names in (accepted, natural)
        ]
        self.variables["v_kept"] = "record"
        message = (
            dollar_quoted('column "') + " || v_kept.of_column || "
            + dollar_quoted('" would be released as it is, and tells persons apart')
        )  # fmt: skip
        condition = (
            f"cardinality(v_kept.reasons) > 0 and v_kept.of_column <> all ({lists[0]}) and not "
            f"(v_kept.of_column = any ({lists[1]}) and v_kept.kind in ('number', 'date', 'time'))"
        )
        loop = (
            "for v_kept in execute v_sql loop",
            *[
                f"    {line}"
                for line in refuse_if(condition, "fit", message, "change its role in the policy")
            ],
            "end loop;",
        )
        return Answered((), loop, ())

    def _rows_now(self) -> Answered:
        return Answered(("v_a",), (), ((1,),))

    def _replaced(self) -> Answered:
        message = dollar_quoted("rows of the release were changed by another session meanwhile")
        return Answered(
            ("v_b",),
            refuse_if("v_a <> v_b", "busy", message, "nothing was published; call it again"),
            ((1,),),
        )

    def _comment(self) -> Answered:
        return Answered(only_if="not v_commented")

    def _model(self, word: str, code: str) -> Answered | None:
        judged = [
            model
            for model in self.plan.policy.privacy.models
            if isinstance(model, ClassModel)
            and model.step == word
            and any(s.code == code and s.name == model.column for s in self.plan.sensitive)
        ]
        if not judged:
            return None
        # of several models of one kind and column, in the order in which a run asks for them
        asked = [model for model in judged if self._key_of(model) not in self._asked]
        if not asked:
            self._asked.clear()
            asked = judged
        model = asked[0]
        self._asked.append(self._key_of(model))
        variable = self.reached.setdefault(self._key_of(model), f"v_reached_{len(self.reached) + 1}")
        self.variables[variable] = "double precision"
        message = dollar_quoted(
            f'at the levels of the last release {model.name} of "{model.column}" is not kept: '
        )
        hint = "search for other levels: anondb run POLICY --replan"
        after = refuse_if(fails(model, variable), "unsatisfiable", f"{message} || {variable}", hint)
        return Answered((variable,), after, ((model.demanded,),))

    _asked: list[str] = field(default_factory=list)
    _in_loop: bool = False

    @staticmethod
    def _key_of(model: SensitiveModel) -> str:
        return f"{model.metric}:{model.column}"


def fails(model: SensitiveModel, variable: str) -> str:
    """The condition that a release has reached too little, or too much, of a model: what `failure` says of figures."""
    demanded = float(model.demanded)
    at_most = model.failure(inf) is not None
    less = "<" if at_most else ">"
    slack = TOLERANCE if model.failure(demanded + (0.5 if at_most else -0.5) * TOLERANCE) is None else 0.0
    limit = demanded + slack if at_most else demanded - slack
    kept = less if model.failure(demanded) is not None else f"{less}="
    return f"{variable} is null or not {variable} {kept} {limit!r}::double precision"
