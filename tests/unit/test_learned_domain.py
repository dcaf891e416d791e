"""What a learned domain tells of a table: which column depends on which, and counts that nobody can subtract."""

from __future__ import annotations

from anondb.synthetic.learned_domain import Counts, balanced, choose_parents, safe_marginal


def test_a_column_depends_on_the_earlier_one_that_tells_most_and_never_in_a_circle() -> None:
    shares = {("a", "b"): 0.3, ("a", "c"): 0.2, ("b", "c"): 0.5}
    assert choose_parents("abc", shares, {}, 0.1) == {"b": ("a",), "c": ("b",)}
    assert choose_parents("abc", shares, {"a": ("b",)}, 0.1) == {"a": ("b",), "c": ("b",)}
    assert choose_parents("abc", shares, {}, 0.4) == {"c": ("b",)}


class TestCountsThatAreTold:
    """By hand, with a threshold of 10."""

    def test_few_missing_records_are_counted_to_the_most_frequent_value(self) -> None:
        assert balanced({"flu": 60, "cold": 35}, 100, 10) == {"flu": 65, "cold": 35}
        assert balanced({"flu": 60, "cold": 30}, 100, 10) == {"flu": 60, "cold": 30}
        assert balanced({}, 9, 10) == {}

    def test_a_row_that_tells_of_more_records_than_there_are_said_to_be_tells_less(self) -> None:
        assert balanced({"flu": 30, "cold": 12}, 37, 10) == {"flu": 25, "cold": 12}
        assert balanced({"flu": 10, "cold": 10}, 11, 10) == {"flu": 11}

    def test_a_value_is_told_as_often_as_its_combinations_if_few_others_are_missing(self) -> None:
        conditional: Counts = {("old", "flu"): 25, ("young", "flu"): 12, ("old", "cold"): 10}
        marginal: Counts = {("flu",): 40, ("cold",): 20, ("rare",): 10}
        assert safe_marginal(marginal, conditional, 10) == {("flu",): 37, ("cold",): 20, ("rare",): 10}
