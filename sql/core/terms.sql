-- From a term to its concepts: by mapping, key, word, plural, stem, or the head of a phrase.

create function anondb.singulars(term text) returns text[]
language sql immutable parallel safe
-- the detachment rules for nouns of WordNet's morphy; irregular plurals are lexemes of their own
return array_remove(array[
    case when term like '%ies' then left(term, -3) || 'y' end,
    case when term like '%men' then left(term, -2) || 'an' end,
    case when term ~ '(s|x|z|ch|sh)es$' then left(term, -2) end,
    case when term like '%s' and term not like '%ss' then left(term, -1) end], null);
comment on function anondb.singulars(text) is 'What a term may be the plural of.';

create function anondb.word_senses(term text, ontology int)
returns table (concept int, sense int, pos text, how text)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp rows 4 as $$
-- The first way that finds anything wins. Nouns go before verbs: hierarchies are made of things.
declare
    v_lemma text;
begin
    return query
        select l.concept, l.sense, l.pos, case l.kind when 'irregular' then 'plural' else l.kind end
        from anondb.lexeme as l
        where l.ontology = word_senses.ontology and l.lemma = term order by l.pos, l.sense;
    if found then return; end if;
    foreach v_lemma in array anondb.singulars(term) loop
        return query
            select l.concept, l.sense, l.pos, 'plural'
            from anondb.lexeme as l
            where l.ontology = word_senses.ontology and l.lemma = v_lemma order by l.pos, l.sense;
        if found then return; end if;
    end loop;
    select l.lemma into v_lemma
    from anondb.lexeme as l
    where l.ontology = word_senses.ontology and l.stem = anondb.stem(term)
    order by l.pos, length(l.lemma), l.lemma limit 1;
    return query
        select l.concept, l.sense, l.pos, 'stem'
        from anondb.lexeme as l
        where l.ontology = word_senses.ontology and l.lemma = v_lemma order by l.pos, l.sense;
end $$;
comment on function anondb.word_senses(text, int) is
'The senses of a word or a known phrase in an ontology: as it stands, as a plural, or by its stem.';

create function anondb.term_senses(term text, ontology int)
returns table (concept int, sense int, how text)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp rows 4 as $$
declare
    v_sense int := substring(term from '#0*([1-9][0-9]{0,8})$')::int;
    v_bare text := anondb.label_without_sense(btrim(term));
    v_term text := anondb.normal_term(v_bare);
    v_phrase text;
    v_senses int;
    v_pos text;
begin
    if v_sense is null then
        return query
            select m.concept, 1, 'mapping' from anondb.term_mapping as m
            where m.ontology = term_senses.ontology and m.term = v_term;
        if found then return; end if;
        return query
            select c.id, 1, 'key' from anondb.concept as c
            where c.ontology = term_senses.ontology and c.key = v_bare;
        if found then return; end if;
        if v_bare ~ '^[0-9]{1,9}$' then
            return query
                select c.id, 1, 'id' from anondb.concept as c
                where c.ontology = term_senses.ontology and c.id = v_bare::int;
            if found then return; end if;
        end if;
        if v_bare = '*' then
            -- "anything" is the most general concept, where there is one
            return query
                select min(c.id), 1, 'root' from anondb.concept as c
                join anondb.ontology as o on o.id = c.ontology
                where c.ontology = term_senses.ontology and c.pos = 'n' and c.min_depth = o.root_depth
                having count(*) = 1;
            return;
        end if;
    end if;
    foreach v_phrase in array array[v_term, translate(v_term, '-', ' ')] loop
        loop
            select w.pos, count(*) into v_pos, v_senses
            from anondb.word_senses(v_phrase, ontology) as w group by w.pos order by w.pos limit 1;
            if v_pos is not null then
                if v_sense > v_senses then
                    raise exception '"%" has no sense %', v_phrase, v_sense
                        using errcode = 'SA131', hint = format('It has %s in this ontology.', v_senses);
                end if;
                return query
                    select w.concept, w.sense,
                           case when v_phrase in (v_term, translate(v_term, '-', ' ')) then w.how else 'head' end
                    from anondb.word_senses(v_phrase, ontology) as w
                    where w.pos = v_pos and (v_sense is null or w.sense = v_sense);
                return;
            end if;
            -- English phrases have their head at the right: senior software engineer, software engineer, engineer
            exit when position(' ' in v_phrase) = 0;
            v_phrase := substring(v_phrase from position(' ' in v_phrase) + 1);
        end loop;
    end loop;
end $$;
comment on function anondb.term_senses(text, int) is
'All concepts that a term can mean, best known sense first, with how they were found: mapping, key, id, lemma, synonym, '
'plural, stem, head (the longest known right-hand part), or root for *. Raises SA131 for a sense that does not exist.';

create function anondb.find_concept(term text, ontology text = 'wordnet') returns int
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_concept int;
begin
    select s.concept into v_concept
    from anondb.term_senses(term, anondb.find_ontology(ontology)) as s order by s.sense limit 1;
    if v_concept is null then
        raise exception 'ontology "%" has no concept for "%"', ontology, term
            using errcode = 'SA132', hint = 'Map it: select anondb.map_term(''term'', ''concept''), or load another ontology.';
    end if;
    return v_concept;
end $$;
comment on function anondb.find_concept(text, text) is
'The concept of a term (dog, dog#1), a key (dog.n.01) or an id; a bare term means its first sense. Raises SA132 for an unknown term.';

create function anondb.map_term(term text, concept text, ontology text = 'wordnet') returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- Hierarchies that use the ontology are understood anew when they are scored next.
declare
    v_ontology int := anondb.find_ontology(ontology);
begin
    insert into anondb.term_mapping as m (ontology, term, concept)
    values (v_ontology, anondb.normal_term(term), anondb.find_concept(concept, ontology))
    on conflict on constraint term_mapping_pkey do update set concept = excluded.concept;
    perform anondb.forget_meanings(v.id) from anondb.vgh as v where v.ontology = map_term.ontology;
end $$;
comment on function anondb.map_term(text, text, text) is
'Says what a term means, for all hierarchies that use the ontology: map_term(''GP'', ''doctor#1'').';

create function anondb.lesk(terms text[], ontology int)
returns table (term text, concept int, sense int, how text, score bigint, senses bigint)
language sql stable parallel safe
begin atomic
    -- Banerjee and Pedersen 2002, adapted: a sense scores the words that its gloss, and those of its
    -- direct hypernyms and hyponyms, share with the senses of the other terms.
    with sense as materialized (
        select t.term, s.concept, s.sense, s.how
        from (select distinct u.term from unnest(terms) as u (term)) as t
        cross join lateral anondb.term_senses(t.term, ontology) as s
    ), near as (
        select s.concept, s.concept as near from sense as s
        union
        select s.concept, e.parent from sense as s
        join anondb.concept_edge as e on e.child = s.concept and e.kind in ('isa', 'instance')
        union
        select s.concept, e.child from sense as s
        join anondb.concept_edge as e on e.parent = s.concept and e.kind in ('isa', 'instance')
    ), word as materialized (
        select distinct n.concept, w.word
        from near as n
        join anondb.concept as c on c.id = n.near
        cross join lateral unnest(c.gloss_words) as w (word)
    ), shared as (
        select w.word from sense as s join word as w on w.concept = s.concept
        group by w.word having count(distinct s.term) > 1
    ), score as (
        select w.concept, count(*) as n from word as w join shared as h on h.word = w.word group by w.concept
    )
    select s.term, s.concept, s.sense, s.how, coalesce(k.n, 0), count(*) over (partition by s.term)
    from sense as s left join score as k on k.concept = s.concept;
end;
comment on function anondb.lesk(text[], int) is
'Every sense of every term with its adapted Lesk score among the others; the highest score wins, ties go to the lower sense.';
