-- Ontologies: closure, depths, and the way from a term to its concepts.

create function anondb.stem(term text) returns text
language sql immutable parallel safe
-- english_stem is the Porter stemmer in its revised form; it gives nothing for stop words, which stay
return (select string_agg(coalesce((ts_lexize('english_stem', w.word))[1], w.word), ' ' order by w.position)
        from regexp_split_to_table(term, '[ -]+') with ordinality as w (word, position));
comment on function anondb.stem(text) is 'The stems of a term''s words, as English has them.';

create function anondb.gloss_words(gloss text) returns text[]
language sql immutable parallel safe
return tsvector_to_array(to_tsvector('pg_catalog.english'::regconfig, gloss));
comment on function anondb.gloss_words(text) is 'The stems of a gloss''s words, without stop words.';

create function anondb.normal_term(term text) returns text
language sql immutable parallel safe
return btrim(regexp_replace(translate(lower(term), '_', ' '), '\s+', ' ', 'g'));
comment on function anondb.normal_term(text) is
'A term as lexemes are written: lower case, single spaces, no underscores.';

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
comment on function anondb.find_ontology(text) is 'The id of an ontology by its name. Raises SA130 if there is none.';

create function anondb.build_closure(ontology int) returns bigint
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- Breadth first, one statement a round: the first distance that is found is the shortest.
declare
    v_round int := 0;
    v_rows bigint;
    v_all bigint := 0;
begin
    insert into anondb.concept_closure (ontology, descendant, ancestor, distance)
    select c.ontology, c.id, c.id, 0 from anondb.concept as c where c.ontology = build_closure.ontology;
    loop
        get diagnostics v_rows = row_count;
        v_all := v_all + v_rows;
        exit when v_rows = 0;
        insert into anondb.concept_closure (ontology, descendant, ancestor, distance)
        select distinct t.ontology, t.descendant, e.parent, v_round + 1
        from anondb.concept_closure as t
        join anondb.concept_edge as e on e.child = t.ancestor and e.kind in ('isa', 'instance')
        where t.ontology = build_closure.ontology and t.distance = v_round
        on conflict do nothing;
        v_round := v_round + 1;
    end loop;
    return v_all;
end $$;
comment on function anondb.build_closure(int) is
'Fills concept_closure for an ontology whose concepts and edges are loaded; returns its rows.';
