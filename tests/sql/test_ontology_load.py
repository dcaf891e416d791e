"""An ontology is loaded as a whole or not at all, under its name, beside others."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.db import ontology, vgh
from anondb.db.connection import Connection
from anondb.db.install.upgrade import upgrade
from anondb.errors import DatabaseError, UsageError
from anondb.hierarchies.forms import VghTable
from anondb.ontology.csvfile import parse
from anondb.ontology.model import Ontology

TABLES = (
    "ontology",
    "concept",
    "concept_edge",
    "concept_closure",
    "lexeme",
    "term_mapping",
    "concept_similarity",
    "vgh_sense",
    "vgh_pair",
)
ANIMALS = parse(
    "dog,mammal\ncat,mammal\nbat,mammal\nbat,flyer\nmammal,animal\nflyer,animal\n", place="animals.csv"
)
MORE = parse("dog,mammal\nmammal,animal\nwren,animal\n", place="animals.csv")


def counts(connection: Connection) -> dict[str, int]:
    """How many rows each of our tables has."""
    counts = {}
    for table in TABLES:
        query = sql.SQL("select count(*) from {}").format(sql.Identifier("anondb", table))
        [(rows,)] = connection.execute(query).fetchall()
        counts[table] = cast(int, rows)
    return counts


def everything(connection: Connection) -> list[tuple[object, ...]]:
    """What an ontology is, row for row, without the numbers that a database gives."""
    query = """
    select o.name, c.key, c.label, c.gloss, c.min_depth, c.max_depth,
           array(select row(p.key, t.distance) from anondb.concept_closure as t
                 join anondb.concept as p on p.id = t.ancestor where t.descendant = c.id
                 order by p.key)::text,
           array(select row(p.key, e.kind) from anondb.concept_edge as e
                 join anondb.concept as p on p.id = e.parent where e.child = c.id order by p.key)::text,
           array(select row(l.lemma, l.sense) from anondb.lexeme as l where l.concept = c.id
                 order by l.lemma)::text
    from anondb.concept as c join anondb.ontology as o on o.id = c.ontology order by o.name, c.key
    """
    return connection.execute(query).fetchall()


def test_the_closure_has_every_generalization_at_its_shortest_distance(connection: Connection) -> None:
    text = "d,c\nc,b\nb,a\nd,b\nd,x\nx,a\n"
    ontology.store(connection, "small", parse(text, place="small.csv"))
    rows = connection.execute(
        """
        select p.key, t.distance from anondb.concept_closure as t
        join anondb.concept as c on c.id = t.descendant and c.key = 'd'
        join anondb.concept as p on p.id = t.ancestor order by p.key
        """
    ).fetchall()
    assert rows == [("a", 2), ("b", 1), ("c", 1), ("d", 0), ("x", 1)]
    depths = connection.execute(
        "select c.key, c.min_depth, c.max_depth from anondb.concept as c order by c.key"
    )
    assert depths.fetchall() == [("a", 0, 0), ("b", 1, 1), ("c", 2, 2), ("d", 2, 3), ("x", 1, 1)]


def test_the_catalogue_knows_what_was_loaded(connection: Connection) -> None:
    loaded = ontology.store(connection, "animals", ANIMALS)
    assert loaded.outcome == "new"
    assert ontology.catalogue(connection) == [loaded.info]
    assert (loaded.info.kind, loaded.info.concepts, loaded.info.depth) == ("csv", 6, 3)


def test_loading_the_same_again_changes_nothing(connection: Connection) -> None:
    first = ontology.store(connection, "animals", ANIMALS)
    before = counts(connection)
    again = ontology.store(connection, "animals", ANIMALS)
    assert (again.outcome, again.info) == ("unchanged", first.info)
    assert counts(connection) == before


def test_another_one_of_the_same_name_replaces_the_old_as_if_it_had_never_been(
    connection: Connection,
) -> None:
    ontology.store(connection, "animals", MORE)
    alone, rows = everything(connection), counts(connection)
    ontology.drop(connection, "animals")
    ontology.store(connection, "animals", ANIMALS)
    assert ontology.store(connection, "animals", MORE).outcome == "replaced"
    assert everything(connection) == alone
    assert counts(connection) == rows


def test_a_dropped_ontology_leaves_nothing_behind_and_the_other_whole(connection: Connection) -> None:
    ontology.store(connection, "kept", MORE)
    kept, rows = everything(connection), counts(connection)
    ontology.store(connection, "animals", ANIMALS)
    vgh.store(connection, "pets", VghTable((("dog", "mammal"), ("cat", "mammal"))))
    connection.execute("update anondb.vgh set ontology = 'animals'")
    connection.execute("select anondb.map_term('hound', 'dog', 'animals'), anondb.vgh_gsl('pets')")
    connection.execute(
        "select anondb.remember_all_pairs(array[c.id]) from anondb.concept as c where c.key = 'dog'"
    )
    assert counts(connection)["vgh_pair"] == 2
    ontology.drop(connection, "animals")
    assert everything(connection) == kept
    assert counts(connection) == rows | {"concept_similarity": 1}


def test_an_unknown_ontology_is_told_with_those_that_there_are(connection: Connection) -> None:
    with pytest.raises(UsageError, match='no ontology "animal"') as caught:
        ontology.drop(connection, "animal")
    assert "anondb ontology load wordnet" in str(caught.value.hint)
    ontology.store(connection, "animals", ANIMALS)
    for act in (ontology.drop, lambda c, name: ontology.senses(c, "dog", name)):
        with pytest.raises(UsageError, match='no ontology "animal"') as caught:
            act(connection, "animal")
        assert caught.value.hint == "There are: animals."


@pytest.mark.parametrize("name", ["", "  "])
def test_an_ontology_needs_a_name(connection: Connection, name: str) -> None:
    with pytest.raises(UsageError, match="needs a name"):
        ontology.store(connection, name, ANIMALS)


def test_any_name_and_any_label_can_be_stored(connection: Connection) -> None:
    odd = 'a "b"; drop table x; --\t\\N %s'
    found = parse('"x\\N",' + '"it\'s ""%s"" {}"\n', place="odd.csv")
    ontology.store(connection, odd, found)
    assert [info.name for info in ontology.catalogue(connection)] == [odd]
    assert [row[1] for row in everything(connection)] == ['it\'s "%s" {}', "x\\N"]


# What can end a load: the statement that fails, and the error that comes of it.
FAULTS = {
    "concepts": "create trigger t before insert on anondb.concept for each row execute function pg_temp.fail()",
    "edges": "create trigger t after insert on anondb.concept_edge for each row execute function pg_temp.fail()",
    "words": "create trigger t after insert on anondb.lexeme for each row execute function pg_temp.fail()",
    "closure": "create trigger t after insert on anondb.concept_closure for each row execute function pg_temp.fail()",
}


@pytest.fixture
def failing(connection: Connection) -> Connection:
    connection.execute(
        """
        create function pg_temp.fail() returns trigger language plpgsql as $$
        begin raise exception using errcode = '53100', message = 'could not extend file'; end $$
        """
    )
    return connection


@pytest.mark.parametrize("place", FAULTS)
def test_a_load_that_fails_anywhere_leaves_the_old_ontology(failing: Connection, place: str) -> None:
    ontology.store(failing, "animals", MORE)
    before, rows = everything(failing), counts(failing)
    failing.execute(FAULTS[place].encode())
    with pytest.raises(DatabaseError, match="could not extend file"):
        ontology.store(failing, "animals", ANIMALS)
    assert everything(failing) == before
    assert counts(failing) == rows


def test_a_load_that_fails_at_first_leaves_nothing_and_can_be_done_again(failing: Connection) -> None:
    nothing = counts(failing)
    failing.execute(FAULTS["closure"].encode())
    for _ in range(2):
        with pytest.raises(DatabaseError):
            ontology.store(failing, "animals", ANIMALS)
    assert counts(failing) == nothing
    failing.execute("drop trigger t on anondb.concept_closure")
    assert ontology.store(failing, "animals", ANIMALS).outcome == "new"


def interrupted(found: Ontology, act: Callable[[], None]) -> Ontology:
    """An ontology in the middle of whose words something happens."""

    class Words(list):  # type: ignore[type-arg]
        def __iter__(self) -> Iterator[object]:
            for number, word in enumerate(super().__iter__()):
                if number == 3 and watched:
                    act()
                yield word

    watched: list[bool] = []
    words = Words(found.lexemes)
    broken = Ontology(found.kind, found.version, found.root_depth, found.concepts, found.edges, words)
    broken.sha256  # noqa: B018 (reads the words once before)
    watched.append(True)
    return broken


def test_ctrl_c_in_the_middle_leaves_nothing(connection: Connection) -> None:
    def press() -> None:
        raise KeyboardInterrupt

    nothing = counts(connection)
    broken = interrupted(ANIMALS, press)
    with pytest.raises(KeyboardInterrupt):
        ontology.store(connection, "animals", broken)
    assert counts(connection) == nothing
    assert ontology.store(connection, "animals", ANIMALS).outcome == "new"


def test_a_connection_that_is_killed_in_the_middle_leaves_nothing(connection: Connection, dsn: str) -> None:
    nothing = counts(connection)
    with psycopg.connect(dsn, autocommit=True) as other:
        pid = other.info.backend_pid

        def kill() -> None:
            connection.execute("select pg_terminate_backend(%s, 5000)", (pid,))

        with pytest.raises(DatabaseError):
            ontology.store(other, "animals", interrupted(ANIMALS, kill))
    assert counts(connection) == nothing
    assert ontology.store(connection, "animals", ANIMALS).outcome == "new"


def test_readers_see_the_old_ontology_until_the_new_one_is_whole(connection: Connection, dsn: str) -> None:
    ontology.store(connection, "animals", MORE)
    seen: list[list[tuple[object, ...]]] = []
    before = everything(connection)

    def look() -> None:
        with psycopg.connect(dsn, autocommit=True) as reader:
            seen.append(everything(reader))
            reader.execute("select anondb.similarity('dog', 'wren', 'path', 'animals')")

    ontology.store(connection, "animals", interrupted(ANIMALS, look))
    assert seen
    assert all(rows == before for rows in seen)


def test_loads_of_one_name_at_once_leave_one_whole_ontology(connection: Connection) -> None:
    conninfo = make_conninfo(connection.info.dsn, password=connection.info.password or None)
    gate = threading.Barrier(4)

    def load(found: Ontology) -> str:
        with psycopg.connect(conninfo, autocommit=True) as other:
            gate.wait()
            return ontology.store(other, "animals", found).outcome

    with ThreadPoolExecutor(4) as pool:
        outcomes = sorted(pool.map(load, [ANIMALS] * 4))
    assert outcomes == ["new", "unchanged", "unchanged", "unchanged"]
    assert counts(connection)["concept"] == 6


def test_two_loads_fit_into_a_transaction_of_the_callers(connection: Connection) -> None:
    with connection.transaction(force_rollback=True):
        ontology.store(connection, "a", ANIMALS)
        ontology.store(connection, "b", MORE)
        assert len(ontology.catalogue(connection)) == 2
    assert ontology.catalogue(connection) == []


def test_what_users_said_outlives_a_new_version_of_the_ontology(connection: Connection) -> None:
    ontology.store(connection, "animals", ANIMALS)
    vgh.store(connection, "pets", VghTable((("rex", "mammal"), ("tom", "mammal"))))
    connection.execute("update anondb.vgh set ontology = 'animals'")
    connection.execute(
        """
        select anondb.map_term('hound', 'dog', 'animals'), anondb.map_term('kitten', 'cat', 'animals'),
               anondb.choose_sense('pets', 'rex', 'dog'), anondb.choose_sense('pets', 'tom', 'cat')
        """
    )
    loaded = ontology.store(connection, "animals", MORE)  # has no cat
    assert loaded.forgotten == 2
    assert [(m.term, m.key) for m in ontology.mappings(connection, "animals")] == [("hound", "dog")]
    chosen = connection.execute(
        "select n.label from anondb.vgh_sense as s join anondb.vgh_node as n using (vgh, node) where s.chosen"
    )
    assert chosen.fetchall() == [("rex",)]


def test_the_same_word_means_something_else_in_another_ontology(connection: Connection) -> None:
    ontology.store(connection, "animals", ANIMALS)
    ontology.store(connection, "sports", parse("bat,equipment\nball,equipment\n", place="sports.csv"))
    for name, parents in (("animals", ["flyer", "mammal"]), ("sports", ["equipment"])):
        [sense] = ontology.senses(connection, "bat", name)
        assert sense.parents == parents
    assert ontology.similarity(connection, "bat", "dog", "path", "animals") == pytest.approx(1 / 3)
    with pytest.raises(UsageError, match='"sports" has no concept for "dog"'):
        ontology.similarity(connection, "bat", "dog", "path", "sports")


def test_the_catalogue_is_found_whatever_the_search_path(connection: Connection) -> None:
    connection.execute("create schema decoy; create table decoy.concept (id int); set search_path = decoy")
    ontology.store(connection, "animals", ANIMALS)
    assert ontology.similarity(connection, "dog", "cat", "wup", "animals") == 0.5


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1", "UTF8"])
def test_databases_of_any_encoding_find_words_without_their_accents(server: str, encoding: str) -> None:
    name = sql.Identifier(f"anondb_test_{uuid.uuid4().hex[:12]}")
    make = sql.SQL("create database {} template template0 encoding {} lc_collate 'C' lc_ctype 'C' {}")
    with psycopg.connect(server, autocommit=True) as admin:
        # a server whose own collations are not the C library's knows UTF-8 alone
        libc = sql.SQL("locale_provider libc" if admin.info.server_version >= 150000 else "")
        admin.execute(make.format(name, sql.Literal(encoding), libc))
        conninfo = make_conninfo(server, dbname=name.as_string().strip('"'), client_encoding="UTF8")
        try:
            with psycopg.connect(conninfo, autocommit=True) as connection:
                upgrade(connection)
                ontology.store(connection, "any", parse("Ménière,disease\n", place="any.csv"))
                for term in ("Ménière", "meniere", "MENIERE", "bad Meniere"):
                    assert [sense.key for sense in ontology.senses(connection, term, "any")] == ["Ménière"]
        finally:
            admin.execute(sql.SQL("drop database {} with (force)").format(name))


def test_wordnet_is_loaded_with_its_synsets_senses_and_both_depths(wordnet_connection: Connection) -> None:
    found = wordnet_connection.execute(
        """
        select (select count(*) from anondb.concept),
               (select count(*) from anondb.lexeme as l where l.kind = 'lemma'),
               (select o.depth from anondb.ontology as o),
               (select array[c.min_depth, c.max_depth] from anondb.concept as c where c.key = 'entity.n.01'),
               (select array[c.min_depth, c.max_depth] from anondb.concept as c where c.key = 'dog.n.01')
        """
    ).fetchone()
    assert found == (82_115, 146_312, 20, [2, 2], [10, 15])
