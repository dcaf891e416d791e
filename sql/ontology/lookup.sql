-- What many terms mean, by one statement: as anondb.term_senses says of each, which walks through
-- its ways one by one.

create function anondb.first_senses(terms text[], ontology int)
returns table (term text, concept int)
language sql stable parallel safe set search_path = pg_catalog, pg_temp rows 1000
begin atomic
    with given as materialized (
        select g.term, n.bare, n.normal,
               case when n.normal ~ '[-/]' then anondb.normal_term(translate(n.normal, '-/', '  '))
                    else n.normal end as apart
        from (select distinct u.term collate "default" as term from unnest(terms) as u (term)
              where u.term is not null) as g
        cross join lateral (select anondb.label_without_sense(btrim(g.term)) as bare) as b
        -- offset: each is computed once, however often it is used
        cross join lateral (select b.bare, anondb.normal_term(b.bare) as normal offset 0) as n
        where btrim(g.term) !~ '\S#0*[1-9][0-9]{0,8}$' and n.bare <> '*'
    ), named as materialized (
        -- before all words: what users have mapped, then the keys of concepts
        select distinct on (m.term) m.term, m.concept
        from (select g.term, m.concept, 1 as way, '' as key from given as g
              join anondb.term_mapping as m on m.ontology = first_senses.ontology
                  and m.term = g.normal
              union all
              select g.term, c.id, case when c.key = g.bare then 2 else 3 end, c.key from given as g
              cross join lateral (values (g.bare), (lower(g.bare)), (upper(g.bare))) as k (key)
              join anondb.concept as c on c.ontology = first_senses.ontology and c.key = k.key) as m
        order by m.term, m.way, m.key collate "C"
    ), whole as materialized (
        select g.term, p.place, p.phrase from given as g
        -- tooth brush; only of two words, as longer ones give words by chance
        cross join lateral (values (1, g.normal), (2, g.apart),
            (3, case when g.apart ~ '^[[:alpha:]]{2,} [[:alpha:]]{2,}$'
                     then replace(g.apart, ' ', '') end)) as p (place, phrase)
        where p.phrase is not null and (p.place <> 2 or g.apart <> g.normal)
          and g.term not in (select n.term from named as n)
    ), spelt as materialized (
        select distinct on (w.term) w.term, w.concept
        from (select w.term, w.place, 0 as way, l.pos, l.sense, l.concept from whole as w
              join anondb.lexeme as l on l.ontology = first_senses.ontology and l.lemma = w.phrase
              union all
              select w.term, w.place, s.place::int, l.pos, l.sense, l.concept from whole as w
              cross join lateral unnest(anondb.singulars(w.phrase)) with ordinality
                  as s (lemma, place)
              join anondb.lexeme as l on l.ontology = first_senses.ontology
                  and l.lemma = s.lemma) as w
        order by w.term, w.place, w.way, w.pos, w.sense
    ), left_over as materialized (
        select g.term, g.normal, g.apart from given as g
        where g.term not in (select n.term from named as n)
          and g.term not in (select s.term from spelt as s)
    ), head as materialized (
        -- the whole by its stem after its other spellings; a head is a noun, not a participle with
        -- its stem
        select h.term, min(h.place) as place, h.phrase, h.place = 0
            or position(' ' in h.phrase) > 0 as stems
        from (select o.term, 0 as place, o.apart as phrase from left_over as o
              union all
              select o.term, s.place::int, s.phrase from left_over as o
              cross join lateral unnest(anondb.phrase_heads(o.normal) ||
                  case when o.apart <> o.normal then anondb.phrase_heads(o.apart) else '{}' end)
                  with ordinality as s (phrase, place)
              -- what was looked up as a whole is not looked up again
              where s.phrase not in (o.normal, o.apart)
                and not exists (select from whole as w
                                where w.term = o.term and w.place = 3 and w.phrase = s.phrase)) as h
        group by h.term, h.phrase, h.place = 0
    ), headed as materialized (
        select distinct on (h.term) h.term, h.concept
        from (select h.term, h.place, 0 as way, l.pos, 0 as length, l.lemma, l.sense, l.concept
              from head as h
              join anondb.lexeme as l on l.ontology = first_senses.ontology and l.lemma = h.phrase
              where h.place > 0
              union all
              select h.term, h.place, s.place::int, l.pos, 0, l.lemma, l.sense, l.concept
              from head as h
              cross join lateral unnest(anondb.singulars(h.phrase)) with ordinality
                  as s (lemma, place)
              join anondb.lexeme as l on l.ontology = first_senses.ontology and l.lemma = s.lemma
              where h.place > 0
              union all
              select h.term, h.place, 9, l.pos, length(l.lemma), l.lemma, l.sense, l.concept
              from head as h
              join anondb.lexeme as l on l.ontology = first_senses.ontology
                  and l.stem = anondb.stem(h.phrase)
              -- a stop word has no stem, and otherness is not what "other" means
              where h.stems
                and ts_lexize('pg_catalog.english_stem', h.phrase) is distinct from '{}') as h
        -- what is about fields is about no W. C. Fields, unless nothing else is found
        order by h.term, h.place > 0
            and anondb.is_name(anondb.best_known(first_senses.ontology, h.lemma, h.pos)),
                 h.place, h.way, h.pos, h.length, h.lemma collate "C", h.sense
    )
    select n.term, n.concept from named as n
    union all select s.term, s.concept from spelt as s
    union all select h.term, h.concept from headed as h
    union all
    -- few terms name a sense, or anything
    select o.term, s.concept
    from (select distinct u.term collate "default" as term from unnest(terms) as u (term)
          where btrim(u.term) ~ '\S#0*[1-9][0-9]{0,8}$'
            or anondb.label_without_sense(btrim(u.term)) = '*') as o
    cross join lateral (select t.concept from anondb.term_senses(o.term, first_senses.ontology) as t
                        order by t.sense limit 1) as s;
end;
comment on function anondb.first_senses(text[], int) is
'The concept of each of many terms, its best known sense by anondb.term_senses; terms without a '
'concept are left out. Raises SA131 for a sense that does not exist.';

create function anondb.preferred_senses(terms text[], ontologies text[])
returns table (term text, concept int)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp rows 1000 as $$
declare
    v_left text[] := terms;
    v_found text[];
    v_concepts int[];
    v_name text;
begin
    foreach v_name in array ontologies loop
        select array_agg(f.term), array_agg(f.concept) into v_found, v_concepts
        from anondb.first_senses(v_left, anondb.find_ontology(v_name)) as f;
        return query select u.term, u.concept from unnest(v_found, v_concepts) as u (term, concept);
        v_left := array(select l.term from unnest(v_left) as l (term)
                        except select f.term from unnest(v_found) as f (term));
    end loop;
end $$;
comment on function anondb.preferred_senses(text[], text[]) is
'The concept of each of many terms in the first of the ontologies that knows it; those that none '
'of them knows are left out.';
