-- What the values of a column mean, for record fusion: their concepts, codes and spellings, and how
-- similar they are.

create function anondb.noun_of(term text, ontology int) returns text
language sql stable parallel safe
begin atomic
    -- relax is no noun, and of those of its stem relaxation is made of it in another way than a
    -- relaxer
    select l.lemma from anondb.lexeme as l
    where l.ontology = noun_of.ontology and l.pos = 'n' and l.stem = anondb.stem(noun_of.term)
    order by l.lemma ~ '(ion|ment|ing|ance|ence|al|ure|age)$' desc, length(l.lemma),
             l.lemma collate "C"
    limit 1;
end;
comment on function anondb.noun_of(text, int) is
'The noun for what a verb says, by its stem: relax, relaxation. NULL if there is none; the term is '
'a normal one.';

create function anondb.text_without_senses(text text) returns text
language sql immutable parallel safe
-- data has no #senses: an apartment#5 is not one, nor an apartment#5#12
return regexp_replace(btrim(text), '(\S)(#0*[1-9][0-9]{0,8})+$', '\1');
comment on function anondb.text_without_senses(text) is
'A text of data as it is looked up: nothing of it is taken for the number of a sense, which may '
'not exist.';

create function anondb.value_nouns(terms text[], ontology int) returns table (term text, noun text)
language sql stable parallel safe
begin atomic
    -- Who answers "relax" means the same as who answers "relaxation": the noun of the same stem, if
    -- there is one among the values themselves, and else in the ontology.
    with value as materialized (
        select u.term, anondb.text_without_senses(u.term) as bare
        from (select distinct t.term from unnest(terms) as t (term)) as u where btrim(u.term) <> ''
    ), bare as materialized (
        select v.bare, anondb.stem(anondb.normal_term(v.bare)) as stem, f.is_noun
        from (select distinct x.bare from value as x) as v
        cross join lateral (select bool_or(s.how <> 'stem' and c.pos <> 'v') as is_noun
                            from anondb.term_senses(v.bare, ontology) as s
                            join anondb.concept as c on c.id = s.concept) as f
        where f.is_noun is not null
    ), noun as (
        select b.stem, min(b.bare collate "C") as bare from bare as b where b.is_noun
        group by b.stem
    )
    select v.term, case when b.is_noun then b.bare
                        else coalesce(n.bare, anondb.noun_of(anondb.normal_term(b.bare), ontology),
                                      b.bare) end
    from value as v
    join bare as b on b.bare = v.bare
    left join noun as n on n.stem = b.stem;
end;
comment on function anondb.value_nouns(text[], int) is
'The words by which the values of a column are looked up; those that the ontology does not know '
'are left out.';

create function anondb.understood_values(terms text[], ontology int)
returns table (term text, concept int, how text, senses bigint)
language sql stable parallel safe
begin atomic
    -- Each value is understood among the others, as the leaves of a hierarchy are. Words of the
    -- same senses (sport, sports) take part once, as their glosses would only confirm each other.
    with value as materialized (
        select v.term, v.noun from anondb.value_nouns(terms, ontology) as v
    ), noun as materialized (
        select s.noun, min(s.noun collate "C") over (partition by s.senses) as alike
        from (select v.noun, (select array_agg(s.concept order by s.sense, s.concept)
                              from anondb.term_senses(v.noun, ontology) as s) as senses
              from (select distinct x.noun from value as x) as v) as s
    ), ranked as (
        select l.term, l.concept, l.how, l.senses,
               row_number() over (partition by l.term
                                  order by l.score desc, anondb.is_name(l.concept), l.sense,
                                           l.concept) as rank
        from anondb.lesk((select array_agg(distinct n.alike) from noun as n), ontology) as l
    )
    select v.term, r.concept,
           case when v.noun = anondb.text_without_senses(v.term) then r.how else 'noun' end,
           r.senses
    from value as v
    join noun as n on n.noun = v.noun
    join ranked as r on r.term = n.alike and r.rank = 1;
end;
comment on function anondb.understood_values(text[], int) is
'What the values of a column mean in one ontology, how that was found, and of how many senses it '
'was chosen; those that it does not know are left out.';

create function anondb.value_concepts(terms text[], ontologies text[] = '{wordnet}')
returns table (term text, concept int, how text, senses bigint)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_left text[] := terms;
    v_found text[];
    v_concepts int[];
    v_hows text[];
    v_senses bigint[];
    v_name text;
begin
    foreach v_name in array ontologies loop
        select array_agg(f.term), array_agg(f.concept), array_agg(f.how), array_agg(f.senses)
        into v_found, v_concepts, v_hows, v_senses
        from anondb.understood_values(v_left, anondb.find_ontology(v_name)) as f;
        return query select u.term, u.concept, u.how, u.senses
                     from unnest(v_found, v_concepts, v_hows,
                                 v_senses) as u (term, concept, how, senses);
        v_left := array(select l.term from unnest(v_left) as l (term)
                        except select f.term from unnest(v_found) as f (term));
    end loop;
end $$;
comment on function anondb.value_concepts(text[], text[]) is
'What the values of a column mean, each understood among the others, and each in the first of the '
'ontologies that knows it; how that was found, and of how many senses it was chosen. Those that '
'none of them knows are left out.';

create function anondb.code_values(
    leaves int[], terms text[], counts bigint[], ontologies text[] = '{wordnet}', k bigint = 1)
returns table (leaf int, code int, concept int, spelling text, is_rare boolean, n bigint)
language sql stable parallel safe
begin atomic
    with value as (
        select u.leaf, u.term collate "C" as term, u.n, m.concept,
               coalesce(m.concept::text, anondb.normal_term(u.term)) as meaning,
               m.concept is null as is_unknown
        from unnest(leaves, terms, counts) as u (leaf, term, n)
        left join anondb.value_concepts(terms, ontologies) as m on m.term = u.term
    ), spelt as (
        select v.leaf, min(v.leaf) over same as code, v.concept, v.n,
               first_value(v.term) over best as spelling, first_value(v.n) over best as records
        from value as v
        window same as (partition by v.is_unknown, v.meaning),
               best as (partition by v.is_unknown, v.meaning order by v.n desc, v.term)
    )
    -- what only a few have written is theirs: its concept says the same in nobody's words, and no
    -- concept says nothing
    select s.leaf, s.code, s.concept,
           case when s.spelling is null or s.records >= code_values.k then s.spelling
                else coalesce(c.label, '*') end,
           s.spelling is not null and s.records < code_values.k, s.n
    from spelt as s left join anondb.concept as c on c.id = s.concept;
end;
comment on function anondb.code_values(int[], text[], bigint[], text[], bigint) is
'Values of a column, each with a code that it shares with those of the same concept (or, unknown, '
'of the same normal form), and the most frequent spelling among them. If that is rare, of fewer '
'than k records, the label of the concept stands for it, or * if there is none. NULL is a value of '
'its own.';

create function anondb.concept_likeness(codes int[], concepts int[], measure text, whole int)
returns table (a int, b int, likeness int)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    return query
        with known as materialized (
            select u.code, u.concept, c.ontology
            from unnest(codes, concepts) as u (code, concept)
            join anondb.concept as c on c.id = u.concept
        ), pair as materialized (
            select x.code as a, y.code as b, x.concept as first, y.concept as second
            from known as x join known as y on x.concept < y.concept and x.ontology = y.ontology
        ), found as materialized (
            select s.a, s.b, round(s.similarity * whole)::int as likeness
            from anondb.similarities((select array_agg(p.first) from pair as p),
                                     (select array_agg(p.second) from pair as p), measure) as s
        )
        select e.a, e.b, f.likeness
        from pair as p join found as f on f.a = p.first and f.b = p.second
        cross join lateral (values (p.a, p.b), (p.b, p.a)) as e (a, b)
        where f.likeness > 0;
end $$;
comment on function anondb.concept_likeness(int[], int[], text, int) is
'The similarity of every two different concepts of one ontology, in both directions, in parts of a '
'whole; those of none are left out.';

create function anondb.texts_of(source regclass, source_column name)
returns table (text text, records bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_is_array boolean;
begin
    select t.typcategory = 'A' into v_is_array
    from pg_attribute as a join pg_type as t on t.oid = a.atttypid
    where a.attrelid = source and a.attname = source_column and not a.attisdropped;
    return query execute format(
        case when v_is_array
             then 'select u.text::text, count(*) from %s as t cross join unnest(t.%I) as u (text) '
                  'where u.text is not null group by 1'
             else 'select t.%2$I::text, count(*) from %1$s as t where t.%2$I is not null '
                  'group by 1' end,
        source, source_column);
end $$;
comment on function anondb.texts_of(regclass, name) is
'The different texts of a column, each with its records; of an array, those in it.';

create function anondb.review_values(source regclass, source_column name,
                                     ontologies text[] = '{wordnet}')
returns table (
    value text, records bigint, ontology text, concept text, label text, gloss text, how text,
    senses bigint)
language sql stable parallel restricted
begin atomic
    with said as materialized (
        select t.text, t.records from anondb.texts_of(source, source_column) as t
    ), meant as materialized (
        select m.term, m.concept, m.how, m.senses
        from anondb.value_concepts((select array_agg(s.text) from said as s), ontologies) as m
    )
    select s.text, s.records, o.name, c.key, c.label, c.gloss, m.how, m.senses
    from said as s
    left join meant as m on m.term = s.text
    left join anondb.concept as c on c.id = m.concept
    left join anondb.ontology as o on o.id = c.ontology;
end;
comment on function anondb.review_values(regclass, name, text[]) is
'What the values of a column would mean to a run: in which ontology, which concept with its gloss, '
'how it was found, and of how many senses it was chosen; NULL for what none of them knows.';

create function anondb.review_phrases(texts text[], phrases text[],
                                      variadic ontologies text[] = '{wordnet}')
returns table (value text, phrase text, ontology text, concept text, label text, gloss text)
language sql stable parallel safe
begin atomic
    select p.text, p.phrase, o.name, c.key, c.label, c.gloss
    from unnest(texts, phrases) as p (text, phrase)
    left join anondb.preferred_senses(
        array(select u.phrase from unnest(phrases) as u (phrase)
              where anondb.text_without_senses(u.phrase) = btrim(u.phrase)),
        ontologies) as s on s.term = p.phrase
    left join anondb.concept as c on c.id = s.concept
    left join anondb.ontology as o on o.id = c.ontology;
end;
comment on function anondb.review_phrases(text[], text[], text[]) is
'What the phrases of texts mean: each with the first of the ontologies that knows it, its concept '
'there, the best known one, and its gloss; NULL for what is unknown.';
