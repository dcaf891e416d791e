"""AIKA's operations on trees: laws on random ontologies, and examples that can be followed by hand."""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.errors import UsageError
from anondb.hierarchies.build import aika, number_ranges
from anondb.hierarchies.build.aika import Branch, Concept, Options, Values, branch
from anondb.hierarchies.build.build import values_apart
from anondb.hierarchies.build.concept_table import leaf_label, understood
from anondb.hierarchies.build.ranking import read_weights
from anondb.hierarchies.csvfile import parse, write

# thing(0) > animal(1) > bird(2) mammal(3); owl(4) wren(5) below bird, cat(6) below mammal and pet(7); pet below thing
TOY = {
    0: Concept("thing", 0),
    1: Concept("animal", 1, (0,)),
    2: Concept("bird", 2, (1,)),
    3: Concept("mammal", 2, (1,)),
    4: Concept("owl", 3, (2,)),
    5: Concept("wren", 3, (2,)),
    6: Concept("cat", 2, (3, 7)),
    7: Concept("pet", 1, (0,)),
}
NAMES = {concept: [one.key] for concept, one in TOY.items()}


@st.composite
def columns(draw: st.DrawFn) -> tuple[Values, dict[int, Concept]]:
    """A random ontology, several parents a concept, and values that mean some of its concepts."""
    size = draw(st.integers(2, 14))
    parents: dict[int, list[int]] = {0: []} | {
        number: draw(st.lists(st.integers(0, number - 1), min_size=1, max_size=3, unique=True))
        for number in range(1, size)
    }
    depths: dict[int, int] = {}
    for number, above in parents.items():
        depths[number] = min((depths[parent] + 1 for parent in above), default=0)
    graph = {
        number: Concept(f"c{number:02}", depths[number], tuple(above)) for number, above in parents.items()
    }
    known = st.integers(0, size - 1) | st.none()
    concepts = draw(
        st.lists(known, min_size=2, max_size=12).filter(lambda found: any(c is not None for c in found))
    )
    counts = draw(st.lists(st.integers(1, 6), min_size=len(concepts), max_size=len(concepts)))
    return Values(tuple(concepts), tuple(counts)), graph


def above(concept: int, graph: dict[int, Concept]) -> set[int]:
    return {concept}.union(*(above(parent, graph) for parent in graph[concept].parents))


def test_the_base_of_a_toy_column_by_hand() -> None:
    values = Values((4, 5, 6, 1), (1, 1, 1, 1))  # owl, wren, cat, animal
    expected = branch(0, [branch(1, [branch(2, [0, 1]), 2, 3])])
    assert aika.base(values, TOY) == expected
    assert aika.reduce_abstractness(expected, values) == branch(1, [branch(2, [0, 1]), 2, 3])


def test_an_unknown_value_does_not_hide_where_the_known_ones_meet() -> None:
    values = Values((4, None, 5, None), (1, 1, 1, 1))  # owl, ?, wren, ?
    root = aika.base(values, TOY)
    assert root == branch(0, [branch(2, [0, 2]), 1, 3])
    assert aika.reduce_abstractness(root, values) == branch(2, [0, 1, 2, 3])


@given(columns())
def test_less_abstract_means_the_deepest_class_of_all_known_values(
    column: tuple[Values, dict[int, Concept]],
) -> None:
    values, graph = column
    root = aika.base(values, graph)
    known = {leaf for leaf, concept in enumerate(values.concepts) if concept is not None}
    holding = [node for node in aika.inner(root) if known <= set(aika.leaves(node))]
    lowest = min(holding, key=aika.height)
    reduced = aika.reduce_abstractness(root, values)
    assert reduced.concept == lowest.concept
    assert sorted(aika.leaves(reduced)) == list(range(len(values.concepts)))


def test_apart_is_what_the_lowest_class_of_nine_in_ten_values_does_not_hold() -> None:
    birds = branch(2, list(range(18)))
    assert values_apart(branch(0, [branch(1, [birds, 18]), 19])) == {18, 19}
    assert values_apart(branch(0, [branch(1, [birds, 18, 19]), 20])) == {20}  # 18 of 21 are fewer
    assert values_apart(branch(0, [branch(2, [0, 1, 2]), 3])) == set()
    assert values_apart(branch(0, [0, 1, 2])) == set()


def test_two_words_for_a_concept_lie_below_it() -> None:
    assert aika.base(Values((6, 6, 4), (1, 1, 1)), TOY) == branch(0, [branch(1, [branch(6, [0, 1]), 2])])


@given(columns())
def test_the_base_holds_every_value_once_below_its_own_generalizations(
    column: tuple[Values, dict[int, Concept]],
) -> None:
    values, graph = column
    root = aika.base(values, graph)
    assert sorted(aika.leaves(root)) == list(range(len(values.concepts)))
    for node in aika.inner(root):
        assert node is root or len(node.children) > 1
        for leaf in aika.leaves(node):
            concept = values.concepts[leaf]
            assert concept is None or node.concept in above(concept, graph)


@given(columns(), st.integers(1, 10), st.sampled_from([0.25, 0.5, 0.75, 1.0]), st.integers(0, 3))
def test_candidates_are_valid_hierarchies_and_differ(
    column: tuple[Values, dict[int, Concept]], k: int, levels: float, seed: int
) -> None:
    values, graph = column
    root = aika.base(values, graph)
    others = {concept: [other for other in graph if other != concept][:4] for concept in graph}
    found = aika.candidates(root, values, graph, others, Options(k, levels, 2, seed))
    assert found == aika.candidates(root, values, graph, others, Options(k, levels, 2, seed))
    assert found[0].tree == root
    assert len({candidate.tree for candidate in found}) == len(found)
    labels = [f"value {leaf}" for leaf in range(len(values.concepts))]
    names = {concept: ["class"] for concept in graph}  # all alike: labels have to be told apart
    for candidate in found:
        made = understood(candidate.tree, labels, values.concepts, names)
        assert parse(write(made.table), place="candidate") == made.table
        assert [row[0] for row in made.table.rows] == labels


@given(columns(), st.integers(0, 99))
def test_the_order_of_branches_does_not_matter(column: tuple[Values, dict[int, Concept]], seed: int) -> None:
    draw = random.Random(seed)

    def shuffled(node: Branch) -> Branch:
        children = [child if isinstance(child, int) else shuffled(child) for child in node.children]
        draw.shuffle(children)
        return branch(node.concept, children, rest=node.rest)

    root = aika.base(*column)
    assert shuffled(root) == root


@given(columns(), st.integers(1, 12))
def test_grouped_outliers_hold_k_records_and_lose_no_value(
    column: tuple[Values, dict[int, Concept]], k: int
) -> None:
    values, graph = column
    root = aika.base(values, graph)
    found = aika.reduce_outliers(root, values, graph, k)
    assert sorted(aika.leaves(found)) == sorted(aika.leaves(root))
    for node in aika.inner(found):
        if node.rest:
            assert sum(values.counts[leaf] for leaf in node.children if isinstance(leaf, int)) >= k


def test_rare_siblings_of_a_frequent_class_become_a_group_of_its_parent() -> None:
    values = Values((4, 5, 6, 3), (9, 9, 2, 3))  # cat and mammal are rare
    tree = branch(1, [branch(2, [0, 1]), 2, 3])
    grouped = branch(1, [branch(2, [0, 1]), branch(1, [2, 3], rest=True)])
    assert aika.reduce_outliers(tree, values, TOY, 5) == grouped
    assert aika.reduce_outliers(tree, values, TOY, 6) == tree  # 2 + 3 are not 6
    rows = understood(grouped, ["owl", "wren", "cat", "mammal"], values.concepts, NAMES).table.rows
    assert rows[2:] == (("cat", "other animal", "animal"), ("mammal", "other animal", "animal"))


@given(columns(), st.floats(0.01, 1))
def test_levels_are_reduced_to_their_share(column: tuple[Values, dict[int, Concept]], share: float) -> None:
    root = aika.base(*column)
    found = aika.reduce_levels(root, share)
    assert aika.height(found) <= max(1, share * aika.height(root) + 1)
    assert sorted(aika.leaves(found)) == sorted(aika.leaves(root))
    assert aika.reduce_levels(root, 1.0) == root


def test_a_value_may_look_as_if_it_named_a_sense() -> None:
    assert leaf_label("unit#2") == "unit#2#1"
    assert leaf_label("unit#") == "unit#"


@given(
    st.dictionaries(st.integers(-50, 50).map(str), st.integers(1, 9), min_size=2, max_size=30),
    st.integers(1, 20),
)
def test_ranges_contain_their_values_and_nest(values: dict[str, int], k: int) -> None:
    for table in number_ranges.hierarchies(values, k).values():
        assert parse(write(table), place="ranges") == table
        assert sorted(row[0] for row in table.rows) == sorted(values)
        for label, *ranges, root in table.rows:
            assert root == "*"
            for text in ranges:
                low, high = (Decimal(part) for part in text[1:-1].split(", "))
                assert low <= int(label)
                assert int(label) < high or (text[-1] == "]" and int(label) == high)


def test_the_ranges_of_a_few_numbers_by_hand() -> None:
    """Most records are 1 and 2: ranges of equal frequency are narrow there, those of equal width are not."""
    made = number_ranges.hierarchies({"1": 4, "2": 4, "3": 1, "4": 1, "9": 6}, 4)
    assert {way: [row[1] for row in table.rows] for way, table in made.items()} == {
        # 3 joins 4, which has fewer records than 2; both together join 2, which has fewer than 9
        "merged": ["[1, 2)", "[2, 9)", "[2, 9)", "[2, 9)", "[9, 9]"],
        "equal frequency": ["[1, 2)", "[2, 3)", "[3, 9)", "[3, 9)", "[9, 9]"],
        "equal width": ["[1, 3)", "[1, 3)", "[3, 9)", "[3, 9)", "[9, 9]"],
    }


@given(st.lists(st.integers(1, 9), min_size=2, max_size=30), st.integers(1, 20))
def test_merged_ranges_hold_k_records(counts: list[int], k: int) -> None:
    levels = number_ranges.merged(counts, k)
    assert levels[-1] == (0,)
    for level, starts in enumerate(levels):
        sizes = [sum(counts[a:b]) for a, b in pairwise([*starts, len(counts)])]
        assert len(sizes) == 1 or min(sizes) >= k * 2**level


@pytest.mark.parametrize("text", ["semq", "semq=x", "other=1", ""])
def test_weights_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_weights(text)
