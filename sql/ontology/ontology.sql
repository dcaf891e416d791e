-- Ontologies: closure, depths, and the way from a term to its concepts.

create function anondb.stem(term text) returns text
language sql immutable parallel safe
-- english_stem is the Porter stemmer in its revised form; it gives nothing for stop words, which
-- stay
return (select string_agg(coalesce((ts_lexize('english_stem', w.word))[1], w.word),
                          ' ' order by w.position)
        from regexp_split_to_table(term, '[ -]+') with ordinality as w (word, position));
comment on function anondb.stem(text) is 'The stems of a term''s words, as English has them.';

create function anondb.gloss_words(gloss text) returns text[]
language sql immutable parallel safe
return tsvector_to_array(to_tsvector('pg_catalog.english'::regconfig, gloss));
comment on function anondb.gloss_words(text) is
'The stems of a gloss''s words, without stop words.';

create function anondb.normal_term(term text) returns text
language sql stable parallel safe
-- As normal_term in anondb/ontology/model.py. Accents, and the many dashes and apostrophes, are
-- told apart by nobody who types a term; taking them off needs Unicode.
return btrim(regexp_replace(translate(lower(
    case when getdatabaseencoding() = 'UTF8'
         then regexp_replace(regexp_replace(regexp_replace(
              normalize(term, nfkd), '[\u0300-\u036f]', '', 'g'),
              '[\u2010-\u2015]', '-', 'g'), '[\u2018\u2019\u02bc]', '''', 'g')
         else term end),
    '_', ' '), '\s+', ' ', 'g'));
comment on function anondb.normal_term(text) is
'A term as lexemes are written: lower case, single spaces, no underscores, no accents.';

create function anondb.find_ontology(name text) returns int
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_id int;
    v_known text;
begin
    select o.id into v_id from anondb.ontology as o where o.name = find_ontology.name;
    if v_id is null then
        select string_agg(o.name, ', ' order by o.name) into v_known from anondb.ontology as o;
        raise exception 'there is no ontology "%"', name
            using errcode = 'SA130', hint = coalesce('There are: ' || v_known || '.',
                'Load it first: anondb ontology load wordnet');
    end if;
    return v_id;
end $$;
comment on function anondb.find_ontology(text) is
'The id of an ontology by its name. Raises SA130 if there is none.';

create function anondb.build_closure(ontology int) returns bigint
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_depth int;
    v_rows bigint;
begin
    -- no way is longer than the ontology is deep; the bound also ends the recursion if there is a
    -- cycle
    select o.depth into v_depth from anondb.ontology as o where o.id = build_closure.ontology;
    insert into anondb.concept_closure (descendant, ancestor, distance)
    with recursive up (descendant, ancestor, distance) as (
        select c.id, c.id, 0 from anondb.concept as c where c.ontology = build_closure.ontology
        union
        select u.descendant, e.parent, u.distance + 1
        from up as u
        join anondb.concept_edge as e on e.child = u.ancestor and e.kind in ('isa', 'instance')
        where u.distance < v_depth
    )
    select u.descendant, u.ancestor, min(u.distance)
    from up as u
    group by u.descendant, u.ancestor
    -- as the primary key has them, which is then built at its end
    order by u.descendant, u.ancestor;
    get diagnostics v_rows = row_count;
    return v_rows;
end $$;
comment on function anondb.build_closure(int) is
'Fills concept_closure for an ontology whose concepts and edges are loaded; returns its rows.';

create function anondb.drop_ontology(name text) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_ontology int := anondb.find_ontology(name);
begin
    delete from anondb.concept_closure as t
    using anondb.concept as c where c.id = t.descendant and c.ontology = v_ontology;
    delete from anondb.concept_edge as e
    using anondb.concept as c where c.id = e.child and c.ontology = v_ontology;
    delete from anondb.ontology as o where o.id = v_ontology;
end $$;
comment on function anondb.drop_ontology(text) is
'Forgets an ontology, with the similarities and meanings that come from it. Raises SA130 if there '
'is none.';
