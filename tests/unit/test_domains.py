"""Domain files: what they may say, what is refused, and the order in which attributes are drawn."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import pytest

from anondb.errors import UsageError
from anondb.sqltree import expression
from anondb.synthetic import distributions
from anondb.synthetic.cocoa import levels, possible, recipe
from anondb.synthetic.diversity import principal_components
from anondb.synthetic.domain_file import NAMES, load, parse

IRISH = (
    "given_name family_name age gender marital_status education county economic_status industrial_group"
    " field_of_study_area field_of_study native_country"
)
INSURANCE = (
    "gender age age_range occupation workplace activity place years_of_experience salary risk_of_accident"
    " salary_class risk_class"
)

NUMBER = '[attributes.n]\ntype = "integer"\nfrequencies = { "1..2" = 1 }\n'


def entries(text: str, distribution: str | None = None, sort: str | None = None) -> dict[str, dict[str, Any]]:
    made = recipe(parse(text), distribution, sort)
    return {entry["name"]: entry for entry in made["attributes"]}


class TestBuiltIn:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("distribution", distributions.DISTRIBUTIONS)
    def test_it_has_a_recipe_for_every_distribution(self, name: str, distribution: str) -> None:
        assert recipe(load(name), distribution)["attributes"]

    def test_columns_are_those_of_the_literature_in_their_order(self) -> None:
        assert " ".join(load("irish_census").columns) == IRISH
        assert " ".join(load("insurance").columns) == INSURANCE
        assert (len(load("adult").columns), len(load("german_credit").columns)) == (9, 21)

    def test_names_are_of_the_country_and_the_gender(self) -> None:
        attributes = {attribute.name: attribute.generator for attribute in load("irish_census").attributes}
        countries = {str(value) for value in attributes["native_country"].weights}  # type: ignore[union-attr]
        given, family = attributes["given_name"].rows, attributes["family_name"].rows  # type: ignore[union-attr]
        named = {country for (country,) in family}
        assert named - {"*"} <= countries
        assert "*" in named  # countries that few were born in share a list of names
        assert set(given) == {(gender, country) for gender in ("Male", "Female") for country in named}
        assert not any(given["Male", country].keys() & given["Female", country].keys() for country in named)

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            (
                "irish_census",
                "age 70 marital_status 7 education 10 county 34 economic_status 9 industrial_group 22 "
                "field_of_study 48 native_country 56",
            ),
            ("insurance", "occupation 60 workplace 29 activity 40 place 32"),
            ("adult", "marital_status 7 native_country 41 occupation 14"),
            ("german_credit", "purpose 12 class 2"),
        ],
    )
    def test_attributes_have_as_many_values_as_those_of_the_literature(
        self, name: str, expected: str
    ) -> None:
        domain, words = load(name), expected.split()
        counted = {column: len(possible(domain, column) or ()) for column in words[::2]}
        assert counted == dict(zip(words[::2], map(int, words[1::2]), strict=True))

    def test_german_employment_by_age_keeps_the_published_totals(self) -> None:
        """62 are unemployed, then 172, 339, 174 and 253; 190 are at most 25 years old."""
        attributes = {attribute.name: attribute.generator for attribute in load("german_credit").attributes}
        rows = [list(row.values()) for row in attributes["employment"].rows.values()]  # type: ignore[union-attr]
        assert list(map(sum, rows)) == [190, 398, 412]
        assert list(map(sum, zip(*rows, strict=True))) == [62, 172, 339, 174, 253]

    def test_the_irish_census_counts_3550246_adults(self) -> None:
        """CSO, census of 2011; the published rows of marital status sum to their age groups."""
        attributes = {attribute.name: attribute.generator for attribute in load("irish_census").attributes}
        assert sum(attributes["age"].weights.values()) == 3550246  # type: ignore[union-attr]
        marital = attributes["marital_status"].rows  # type: ignore[union-attr]
        assert list(marital[("15-19",)].values()) == [282106, 836, 4, 3, 55, 8, 7]
        assert list(marital[("80-84",)].values()) == [11898, 25133, 565, 209, 699, 308, 31301]
        assert sum(sum(row.values()) for row in marital.values()) == 3550246
        words = ("Single", "Married", "Re-married", "Separated", "Divorced", "Widowed")
        assert all(str(value).startswith(words) for value in marital[("15-19",)])

    def test_every_attribute_parameter_is_written_in_the_domain(self) -> None:
        for name in NAMES:
            assert load(name).distributions.keys() == distributions.PARAMETERS.keys()


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "no attributes"),
            ("x = [", "not TOML"),
            ("[attributes]\na = 1", "an attribute is a table"),
            ("[attributes.a]\nfrequencies = { x = -1, y = 2 }", "a weight is negative"),
            ("[attributes.a]\nfrequencies = { x = 0, y = 0.0 }", "all weights are 0"),
            ("[attributes.a]\nfrequencies = { x = nan }", "not a number"),
            ("[attributes.a]\nfrequencies = { x = true }", "not a number"),
            ("[attributes.a]\nfrequencies = {}", "no values"),
            ('[attributes.a]\ntype = "integer"\nfrequencies = { "1.5" = 1 }', "not of type integer"),
            ('[attributes.a]\ntype = "integer"\nfrequencies = { "9..1" = 1 }', "ends before it begins"),
            ('[attributes.a]\ntype = "time"\nfrequencies = { x = 1 }', "no such type"),
            ('[attributes.a]\ntype = "date"\nfrequencies = { "2023-02-29" = 1 }', "no date"),
            ('[attributes.a]\ntype = "date"\nfrequencies = { "2024-02-29..2024-01-01" = 1 }', "ends before"),
            ('[attributes.a]\nfrequencies = { x = 1 }\ndistribution = "nromal"', 'did you mean "normal"'),
            ("[attributes.a]\nfrequencies = { x = 1 }\nexpression = '1'", "generated in one way"),
            ('[attributes.a]\ngiven = ["b"]\ntable.x = { y = 1 }', 'no attribute "b"'),
            ("[attributes.a]\ntable.x = { y = 1 }", "does not say which"),
            ('[attributes.a]\ngiven = ["a"]\ntable.x = 1', "there are no values"),
            ("[attributes.a]\nexpression = 'agee'\n[attributes.age]\nexpression = '1'", 'did you mean "age"'),
            ("[distributions]\nnormal = { mean = 0 }\n[attributes.a]\nfrequencies = { x = 1 }", "parameters"),
            ("[attributes.a]\nfrequency = { x = 1 }", 'no key "frequency"'),
            ('[attributes.a]\nfrequencies = { x = 1 }\ngiven = ["b"]', "means nothing beside frequencies"),
            ("[attributes.a]\nexpression = '1'\nsort = 'alpha'", "means nothing beside expression"),
            ("[attributes.a]\nfrequencies = { x = 1 }\nhidden = 'no'", "true or false"),
            (f"[attributes.a]\nfrequencies = {{ x = 1{'0' * 400} }}", "too large"),
            (f'[attributes.a]\ntype = "number"\nfrequencies = {{ "1{"0" * 400}" = 1 }}', "too large"),
            ("distributions = 1\n[attributes.a]\nfrequencies = { x = 1 }", "the parameters of distributions"),
            (NUMBER + '[attributes.b]\ngiven = ["n"]\ntable = { "1..2" = { x = 1 } }', "not named by one"),
            (NUMBER + '[attributes.b]\ngiven = ["n"]\nlookup = { one = 1 }', "not named by one"),
            (NUMBER + '[attributes.b]\ngiven = ["n"]\nlookup = { 3000000000 = 1 }', "not named by one"),
            (NUMBER + '[attributes.b]\ngiven = ["n"]\nlookup = { "1.5" = 1 }', "not named by one"),
            (NUMBER + '[attributes.b]\ngiven = ["n"]\nlookup = { 1 = { x = 1 } }', "one value for each"),
            ("[attributes.xmin]\nfrequencies = { x = 1 }", "cannot be the name of a column"),
            (f"[attributes.{'a' * 64}]\nfrequencies = {{ x = 1 }}", "cannot be the name of a column"),
            ("".join(f"[attributes.a{n}]\nexpression = '1'\n" for n in range(1601)), "1 to 1,600 columns"),
            ("[attributes.a]\nexpression = '1'\nhidden = true", "1 to 1,600 columns"),
            ("[distributions]\nlogarithmic = { p = 0.9999999999 }\n" + NUMBER, "p is at most"),
            ("x = " + "[" * 50_000, "not TOML"),
            (
                f"{NUMBER}[attributes.b]\ngiven = {['n'] * 2000}\ntable.{'.'.join('1' * 2000)} = {{ x = 1 }}",
                "more than 20 attributes",
            ),
            (
                NUMBER + '[attributes.b]\ngiven = ["n"]\nlookup = { 1 = 1, "01" = 2 }',
                "two rows for this number",
            ),
        ],
    )
    def test_a_wrong_domain_is_told_where_and_why(self, text: str, told: str) -> None:
        with pytest.raises(UsageError) as caught:
            parse(text)
        assert told in str(caught.value)

    def test_all_mistakes_are_told_at_once(self) -> None:
        with pytest.raises(UsageError) as caught:
            parse("[attributes.a]\nfrequencies = { x = -1 }\n[attributes.b]\nfrequencies = {}")
        assert "attributes.a" in str(caught.value)
        assert "attributes.b" in str(caught.value)

    def test_an_unknown_domain_distribution_or_sort_is_told(self) -> None:
        with pytest.raises(UsageError, match='did you mean "irish_census"'):
            load("irish_cencus")
        for arguments in (("nromal", None), (None, "sideways")):
            with pytest.raises(UsageError, match="there is no"):
                recipe(load("insurance"), *arguments)

    def test_a_circle_of_dependencies_is_told(self) -> None:
        text = "[attributes.a]\nexpression = 'b'\n[attributes.b]\nexpression = 'c'\n[attributes.c]\nexpression = 'a'"
        with pytest.raises(UsageError, match=r"in a circle: .*→"):
            levels(parse(text))

    def test_combinations_cannot_be_multiplied_until_time_ends(self) -> None:
        names = [f"a{n}" for n in range(20)]
        text = "".join(f"[attributes.{name}]\nfrequencies = {{ x = 1, y = 1 }}\n" for name in names)
        text += f"[attributes.b]\ngiven = {names}\ntable" + ".'*'" * 20 + " = { x = 1 }"
        with pytest.raises(UsageError, match="more than 200,000 combinations"):
            recipe(parse(text))


class TestExpressions:
    @pytest.mark.parametrize(
        "text",
        [
            "(select 1)",
            "pg_sleep(1)",
            "age; drop table x",
            "age::regclass",
            "current_user",
            "t.age",
            "age in (select 1)",
            "version()",
            "coalesce(age, 1)",
            "case when age > 1 then 2 end",
            "repeat('x', 1000000000)",
            "1e300",
            "*",
            "$1",
            "age -- comment\n; select 1",
            "",
            "((((",
            "(" * 1900 + "1" + ")" * 1900,
            "+".join(["age"] * 101),
            "age in (1)" + " in (true)" * 200,
            "cast(age as regclass)",
            "pg_catalog.lower(age)",
            "public.abs(age)",
            "age operator(public.+) 1",
            "generate_series(1, age)",
            "unnest(array[age])",
            "format('%s', age)",
            "age between symmetric 1 and 2",
            "age in (1, null)",
            "age = any(array[1])",
            "age like 'x'",
            "age ~ 'x'",
            'age collate "C"',
            "age is null",
            "sum(age) over ()",
            "lower(distinct age)",
            "ceil(age, 2)",
            "round(age, 1, 2)",
            "floor(age to day)",
            "age as b",
            "age, age",
            "age union select 1",
            "row(age)",
            "age[1]",
            "e'\\x41'",
            "$$x$$",
            "U&'\\0041'",
            "x'ff'",
            "date 'tomorrow'",
            "try_cast('2020-01-01' as date)",
            "'2020-01-01'::timestamp",
            "age::date",
            "%s",
            "?",
            "@age",
        ],
    )
    def test_what_is_not_on_the_allow_list_is_refused(self, text: str) -> None:
        with pytest.raises(UsageError):
            expression.parse(text, {"age"})

    def test_what_is_read_is_known(self) -> None:
        tree = expression.parse("case when a > 1 then round(b * 2, 1) else least(a, c) end", {"a", "b", "c"})
        assert sorted(set(expression.used(tree))) == ["a", "b", "c"]

    def test_texts_cannot_be_doubled_until_memory_ends(self) -> None:
        doubling = "".join(f"[attributes.a{n + 1}]\nexpression = 'a{n} || a{n}'\n" for n in range(40))
        with pytest.raises(UsageError, match="more than 10,000 characters"):
            recipe(parse("[attributes.a0]\nfrequencies = { x = 1 }\n" + doubling))


class TestWeights:
    def test_bounds_are_cumulated_shares_and_zero_weights_take_no_room(self) -> None:
        made = entries("[attributes.x]\nfrequencies = { a = 1, b = 0, c = 3, d = 0 }")
        assert made["x"]["table"] == [{"given": [], "bounds": [0.25, 0.25, 1.0], "low": ["a", "b", "c", "d"]}]

    @pytest.mark.parametrize(("sort", "order"), [("alpha", "abc"), ("reverse", "cba"), ("none", "cab")])
    def test_values_are_sorted_as_asked(self, sort: str, order: str) -> None:
        made = entries("[attributes.x]\nfrequencies = { c = 1, a = 1, b = 1 }", "exponential", sort)
        [row] = made["x"]["table"]
        assert row["low"] == list(order)

    def test_numbers_are_sorted_as_numbers_and_ranges_one_by_one_under_a_distribution(self) -> None:
        text = '[attributes.x]\ntype = "integer"\nfrequencies = { "9..11" = 1, "2" = 1 }'
        [row] = entries(text, "uniform")["x"]["table"]
        assert row["low"] == [2, 9, 10, 11]
        assert row["bounds"] == pytest.approx([0.25, 0.5, 0.75])

    def test_a_distribution_lies_over_what_a_condition_leaves_possible(self) -> None:
        text = """
        [attributes.a]
        frequencies = { x = 1, y = 3 }
        [attributes.b]
        given = ["a"]
        table = { x = { c = 9, d = 1, e = 0 }, y = { d = 1 } }
        """
        made = entries(text, "uniform")
        assert made["b"]["table"] == [
            {"given": ["x"], "bounds": [0.5], "low": ["c", "d"]},
            {"given": ["y"], "bounds": [], "low": ["d"]},
        ]
        assert entries(text, "original")["b"] == entries(text)["b"]

    def test_each_attribute_can_have_a_distribution_of_its_own(self) -> None:
        text = (
            "[attributes.a]\nfrequencies = { x = 1, y = 3 }\n[attributes.b]\nfrequencies = { x = 1, y = 3 }"
        )
        assert [entries(text, "b=uniform")[name]["table"][0]["bounds"] for name in "ab"] == [[0.25], [0.5]]
        assert entries(text, "uniform, a = original") == entries(text, "b=uniform")

    @pytest.mark.parametrize(
        ("asked", "told"),
        [
            ("c=uniform", 'no attribute "c"'),
            ("a=nromal", 'did you mean "normal"'),
            ("a=uniform,a=normal", "two distributions"),
            ("uniform,normal", "for all attributes"),
            ("", "no distribution"),
        ],
    )
    def test_a_distribution_that_cannot_be_is_told(self, asked: str, told: str) -> None:
        with pytest.raises(UsageError) as caught:
            entries("[attributes.a]\nfrequencies = { x = 1 }", asked)
        assert told in f"{caught.value.message} {caught.value.hint}"

    def test_days_are_taken_one_by_one_under_a_distribution(self) -> None:
        text = (
            '[attributes.x]\ntype = "date"\nfrequencies = { "2024-02-28..2024-03-01" = 1, "2023-12-31" = 1 }'
        )
        [row] = entries(text, "uniform")["x"]["table"]
        assert row["low"] == ["2023-12-31", "2024-02-28", "2024-02-29", "2024-03-01"]

    @pytest.mark.parametrize("name", distributions.PARAMETERS)
    @pytest.mark.parametrize("count", [1, 2, 68])
    def test_every_distribution_weighs_every_value(self, name: str, count: int) -> None:
        found = distributions.weights(name, distributions.PARAMETERS[name], count)
        assert len(found) == count
        assert all(math.isfinite(weight) and weight > 0 for weight in found)

    def test_no_two_distributions_are_one(self) -> None:
        """Chi-square and gamma can be, and geometric and exponential are close at many parameters."""
        found = [distributions.weights(name, said, 9) for name, said in distributions.PARAMETERS.items()]
        for one, other in combinations(found, 2):
            assert max(abs(x - y) for x, y in zip(one, other, strict=True)) > 0.02

    def test_parameters_that_give_no_density_are_told(self) -> None:
        with pytest.raises(UsageError, match="no density"):
            distributions.weights("chi", {"df": 1e-9}, 5)

    def test_weights_are_the_density_between_two_quantiles(self) -> None:
        """By hand: the exponential distribution's 0.1 % and 99.9 % quantiles are 0.0010005 and 6.9077553."""
        middle = math.exp(-(6.9077553 - 0.0010005) / 2)
        found = distributions.weights("exponential", {"rate": 1.0}, 3)
        assert found == pytest.approx([1, middle, middle**2], rel=1e-5)

    def test_a_row_for_the_rest_stands_for_values_without_their_own(self) -> None:
        text = """
        [attributes.a]
        frequencies = { x = 1, y = 1 }
        [attributes.b]
        given = ["a"]
        table = { x = { one = 1 }, "*" = { two = 1 } }
        """
        assert [(row["given"], row["low"]) for row in entries(text)["b"]["table"]] == [
            (["x"], ["one"]),
            (["y"], ["two"]),
        ]

    def test_the_rest_of_a_case_expression_is_what_else_it_can_give(self) -> None:
        text = """
        [attributes.n]
        type = "integer"
        frequencies = { "1..9" = 1 }
        [attributes.size]
        expression = "case when n < 4 then 'small' when n < 7 then 'middle' else 'large' end"
        [attributes.price]
        given = ["size"]
        lookup = { large = "dear", "*" = "cheap" }
        """
        assert {row["given"][0]: row["low"] for row in entries(text)["price"]["table"]} == {
            "small": ["cheap"],
            "middle": ["cheap"],
            "large": ["dear"],
        }
        with pytest.raises(UsageError, match="cannot be told beforehand"):
            recipe(parse(text.replace("else 'large'", "else 'size ' || n")))


def test_principal_components_of_points_on_a_line_show_all_on_one_axis() -> None:
    found = principal_components([[1.0, 2.0, 5.0], [2.0, 4.0, 5.0], [3.0, 6.0, 5.0]])
    assert found.explained == pytest.approx((1, 0))
    assert [x for x, _ in found.points] == pytest.approx([-math.sqrt(5), 0, math.sqrt(5)])
