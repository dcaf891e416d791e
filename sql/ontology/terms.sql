-- From a term to its concepts: by mapping, key, word, plural, stem, or the head of a phrase.

create function anondb.singulars(term text) returns text[]
language sql immutable parallel safe
-- the detachment rules for nouns of WordNet's morphy, and -oes and -ves, which it keeps as
-- exceptions; other irregular plurals are lexemes of their own
return array_remove(array[
    case when term like '%ies' then left(term, -3) || 'y' end,
    case when term like '%men' then left(term, -2) || 'an' end,
    case when term ~ '(s|x|z|ch|sh|o)es$' then left(term, -2) end,
    case when term like '%ves' then left(term, -3) || 'f' end,
    case when term like '%ves' then left(term, -3) || 'fe' end,
    case when term like '%s' and term not like '%ss' then left(term, -1) end], null);
comment on function anondb.singulars(text) is 'What a term may be the plural of.';

create function anondb.is_name(concept int) returns boolean
language sql stable parallel safe
return exists (select from anondb.concept_edge as e
               where e.child = is_name.concept and e.kind = 'instance');
comment on function anondb.is_name(int) is
'Whether a concept is one thing with a name of its own: a person, a place, a single event.';

create function anondb.best_known(ontology int, lemma text, pos text) returns int
language sql stable parallel safe
return (select l.concept from anondb.lexeme as l
        where l.ontology = best_known.ontology and l.lemma = best_known.lemma
          and l.pos = best_known.pos
        order by l.sense limit 1);
comment on function anondb.best_known(int, text, text) is
'The first sense of a word as a noun or a verb.';

create function anondb.word_senses(term text, ontology int, stems boolean = true,
                                   names boolean = true)
returns table (concept int, sense int, how text)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp rows 4 as $$
-- The first way that finds anything wins, and nouns go before verbs: hierarchies are made of
-- things.
declare
    v_lemma text := term;
    v_pos text;
    v_how text;
begin
    select l.pos into v_pos from anondb.lexeme as l
    where l.ontology = word_senses.ontology and l.lemma = term
      and (names or not anondb.is_name(anondb.best_known(l.ontology, l.lemma, l.pos)))
    order by l.pos limit 1;
    if v_pos is null then
        v_how := 'plural';
        select l.lemma, l.pos into v_lemma, v_pos
        from unnest(anondb.singulars(term)) with ordinality as s (lemma, place)
        join anondb.lexeme as l on l.ontology = word_senses.ontology and l.lemma = s.lemma
        where names or not anondb.is_name(anondb.best_known(l.ontology, l.lemma, l.pos))
        order by s.place, l.pos limit 1;
    end if;
    if v_pos is null and stems then
        v_how := 'stem';
        select l.lemma, l.pos into v_lemma, v_pos
        from anondb.lexeme as l
        where l.ontology = word_senses.ontology and l.stem = anondb.stem(term)
          -- a stop word has no stem, and otherness is not what "other" means
          and ts_lexize('english_stem', term) is distinct from '{}'
          and (names or not anondb.is_name(anondb.best_known(l.ontology, l.lemma, l.pos)))
        order by l.pos, length(l.lemma), l.lemma collate "C" limit 1;
    end if;
    return query
        select l.concept, l.sense,
               coalesce(v_how, case l.kind when 'irregular' then 'plural' else l.kind end)
        from anondb.lexeme as l
        where l.ontology = word_senses.ontology and l.lemma = v_lemma and l.pos = v_pos
        order by l.sense;
end $$;
comment on function anondb.word_senses(text, int, boolean, boolean) is
'The senses of a word or a known phrase in an ontology: as it stands, as a plural, or, if asked '
'for, by its stem; also where it is best known as the name of a person or a place, unless told.';

create function anondb.phrase_heads(term text) returns text[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- English has the head of a phrase at its right (senior software engineer, software engineer,
-- engineer), but before a preposition (cancer of the lung), a comma (pneumonia, bacterial), a
-- bracket, or a number (grade 12).
declare
    v_plain text := split_part(regexp_replace(term, '[(\[][^)\]]*[)\]]?|;', ',', 'g'), ',', 1);
    v_words text[] :=
        array_remove(regexp_split_to_array(coalesce(nullif(v_plain, ''), term), '[ ,/&+]+'), '');
    v_last int := cardinality(v_words);
    v_before int;
    v_heads text[] := '{}';
begin
    while v_last > 0 and (v_words[v_last] !~ '[^0-9[:punct:]]{2}'
                          or v_words[v_last] ~ '^[ivx]+$') loop
        v_last := v_last - 1;
    end loop;
    -- diabetes mellitus type 2 is a diabetes, and no type
    if v_last between 2 and cardinality(v_words) - 1
       and v_words[v_last] = any('{type,grade,stage,class,level,phase,category,degree,group,form,'
                                 'kind,no,nr,number,version}') then
        v_last := v_last - 1;
    end if;
    select min(w.place) - 1 into v_before
    from unnest(v_words) with ordinality as w (word, place)
    where w.place between 2 and v_last - 1
      and w.word = any('{of,in,for,with,without,at,on,upon,from,to,by,under,due,during,against,'
                       'after,before,not,de,am}');
    for v_first in 1 .. coalesce(v_before, v_last, 0) loop
        v_heads := v_heads || array_to_string(v_words[v_first:v_last], ' ');
    end loop;
    for v_first in 1 .. coalesce(v_before, 0) loop
        v_heads := v_heads || array_to_string(v_words[v_first:v_before], ' ');
    end loop;
    return v_heads;
end $$;
comment on function anondb.phrase_heads(text) is
'What a phrase is about, the longest first: senior nurse, nurse. The term is a normal one.';

create function anondb.term_senses(term text, ontology int, ids boolean = false)
returns table (concept int, sense int, how text)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp rows 4 as $$
declare
    v_sense int := substring(btrim(term) from '\S#0*([1-9][0-9]{0,8})$')::int;
    v_bare text := anondb.label_without_sense(btrim(term));
    v_term text := anondb.normal_term(v_bare);
    v_apart text := case when v_term ~ '[-/]' then anondb.normal_term(translate(v_term, '-/', '  '))
                         else v_term end;
    -- tooth brush; only of two words, as longer ones give words by chance
    v_joined text := case when v_apart ~ '^[[:alpha:]]{2,} [[:alpha:]]{2,}$'
                          then replace(v_apart, ' ', '') end;
    v_phrases text[] := array[v_term, v_apart, v_joined, v_apart];
    v_phrase text;
    v_place int := 0;
    v_heads text[];
    v_stems boolean;
    v_names boolean;
    v_senses int;
begin
    if v_sense is null then
        return query
            select m.concept, 1, 'mapping' from anondb.term_mapping as m
            where m.ontology = term_senses.ontology and m.term = v_term;
        if found then return; end if;
        return query
            select c.id, 1, 'key' from anondb.concept as c
            where c.ontology = term_senses.ontology
              and c.key in (v_bare, lower(v_bare), upper(v_bare))
            order by c.key = v_bare desc, c.key collate "C" limit 1;
        if found then return; end if;
        if ids and v_bare ~ '^[1-9][0-9]{0,8}$' then
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
                where c.ontology = term_senses.ontology and c.pos = 'n'
                  and c.min_depth = o.root_depth
                having count(*) = 1;
            return;
        end if;
    end if;
    loop
        v_place := v_place + 1;
        if v_place = 5 then
            -- what is about fields is about no W. C. Fields, unless nothing else is found
            v_heads := anondb.phrase_heads(v_term) || anondb.phrase_heads(v_apart);
            v_phrases := v_phrases || v_heads || v_heads;
        end if;
        exit when v_place > cardinality(v_phrases);
        v_phrase := v_phrases[v_place];
        -- the whole by its stem after its other spellings; a head is a noun, not a participle with
        -- its stem
        v_stems := v_place = 4 or v_place > 4 and position(' ' in v_phrase) > 0;
        v_names := v_place <= 4 or v_sense is not null or v_place > 4 + cardinality(v_heads);
        continue when v_phrase is null
            or v_place <> 4 and v_phrase = any(v_phrases[:least(v_place - 1, 4)])
            or v_place > 4 and v_phrase = any(v_phrases[
                case when v_names and v_sense is null then 5 + cardinality(v_heads)
                     else 5 end:v_place - 1]);
        return query
            select w.concept, w.sense, case when v_place > 4 then 'head' else w.how end
            from anondb.word_senses(v_phrase, ontology, v_stems, v_names) as w
            where v_sense is null or w.sense = v_sense;
        if found then return; end if;
        select count(*) into v_senses
        from anondb.word_senses(v_phrase, ontology, v_stems) where v_sense is not null;
        if v_senses > 0 then
            raise exception '"%" has no sense %', v_phrase, v_sense
                using errcode = 'SA131', hint = format('It has %s in this ontology.', v_senses);
        end if;
    end loop;
end $$;
comment on function anondb.term_senses(text, int, boolean) is
'All concepts that a term can mean, best known sense first, with how they were found: mapping, '
'key, lemma, synonym, plural, stem, head (the longest known right-hand part), root for *, or id if '
'ids are asked for. Raises SA131 for a sense that does not exist.';

create function anondb.find_concept(term text, ontology text = 'wordnet') returns int
language plpgsql stable strict parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_concept int;
begin
    select s.concept into v_concept
    from anondb.term_senses(term, anondb.find_ontology(ontology), ids => true) as s
    order by s.sense limit 1;
    if v_concept is null then
        raise exception 'ontology "%" has no concept for "%"', ontology, term
            using errcode = 'SA132',
            hint = format('Say what it means: select anondb.map_term(%L, ''a '
                          'term that it has'', %L)', term, ontology);
    end if;
    return v_concept;
end $$;
comment on function anondb.find_concept(text, text) is
'The concept of a term (dog, dog#1), a key (dog.n.01) or an id; a bare term means its first sense. '
'Raises SA132 for an unknown term.';

create function anondb.map_term(term text, concept text, ontology text = 'wordnet') returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- Hierarchies that use the ontology are understood anew when they are scored next.
declare
    v_ontology int := anondb.find_ontology(ontology);
    v_term text := anondb.normal_term(term);
begin
    if v_term is null or v_term in ('', '*') or anondb.label_without_sense(v_term) <> v_term then
        raise exception '"%" is no term that can be mapped', term
            using errcode = 'SA136', hint = 'A mapping is for a word or a phrase, without #sense.';
    end if;
    if concept is null then
        delete from anondb.term_mapping as m where m.ontology = v_ontology and m.term = v_term;
    else
        insert into anondb.term_mapping as m (ontology, term, concept)
        values (v_ontology, v_term, anondb.find_concept(concept, ontology))
        on conflict on constraint term_mapping_pkey do update set concept = excluded.concept;
    end if;
    perform anondb.forget_meanings(v.id) from anondb.vgh as v where v.ontology = map_term.ontology;
end $$;
comment on function anondb.map_term(text, text, text) is
'Says what a term means, for all hierarchies that use the ontology: map_term(''GP'', '
'''doctor#1''); with NULL for the concept, forgets it. Raises SA136 for what is no term.';

create function anondb.lesk(terms text[], ontology int)
returns table (term text, concept int, sense int, how text, score bigint, senses bigint)
language sql stable parallel safe
begin atomic
    -- Banerjee and Pedersen 2002, adapted: a sense scores the words that its gloss, and those of
    -- its direct hypernyms and hyponyms, share with the senses of the other terms.
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
        -- the words of general concepts are many: they are read only if there is anything to choose
        where (select count(*) > count(distinct s.term) from sense as s)
    ), shared as (
        select w.word from sense as s join word as w on w.concept = s.concept
        group by w.word having count(distinct s.term) > 1
    ), score as (
        select w.concept, count(*) as n from word as w join shared as h on h.word = w.word
        group by w.concept
    )
    select s.term, s.concept, s.sense, s.how, coalesce(k.n, 0), count(*) over (partition by s.term)
    from sense as s left join score as k on k.concept = s.concept;
end;
comment on function anondb.lesk(text[], int) is
'Every sense of every term with its adapted Lesk score among the others; the highest score wins, '
'ties go to the lower sense. Without any term of several senses all scores are 0.';
