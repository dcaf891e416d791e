-- The two edges of mdav: from texts of records to their concepts, and from classes to synthetic
-- records.
--
-- In: the temporary tables mdav_text (record, text), each pair once. The phrases of texts that the
-- ontology does not know as they stand are put into mdav_phrase (text, phrase) by the driver,
-- between the first two functions. Both tables have collation "C"; what is looked up in the
-- catalogue takes its collation, or no index would serve.

create function anondb.mdav_unknown_texts(variadic ontologies text[]) returns setof text
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
declare
    v_ontologies int[] := array(select anondb.find_ontology(o.name)
                                from unnest(ontologies) as o (name));
begin
    drop table if exists mdav_phrase;
    create temporary table mdav_phrase (text text collate "C" not null,
                                        phrase text collate "C" not null);
    -- a text that is a term as a whole needs no grammar: bill of rights
    insert into mdav_phrase (text, phrase)
    select t.text, t.term
    from (select distinct i.text, anondb.normal_term(i.text collate "default") as term
          from mdav_text as i) as t
    where t.term !~ '#[0-9]+$'
      and (exists (select from anondb.lexeme as l
                   where l.ontology = any(v_ontologies) and l.lemma = t.term)
           or exists (select from anondb.term_mapping as m
                      where m.ontology = any(v_ontologies) and m.term = t.term));
    return query
        select distinct i.text from mdav_text as i
        where not exists (select from mdav_phrase as p where p.text = i.text)
        order by i.text;
end $$;
comment on function anondb.mdav_unknown_texts(text[]) is
'Makes mdav_phrase with the texts of mdav_text that one of the ontologies knows as they stand; '
'returns the others, each once.';

create function anondb.mdav_items(variadic ontologies text[])
returns table (mapped bigint, unmapped bigint, unmapped_distinct bigint)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
begin
    drop table if exists mdav_said, mdav_term, mdav_item;
    create temporary table mdav_said as
    select s.term, count(distinct s.record) as records
    from (select i.record, p.phrase as term from mdav_text as i
          join mdav_phrase as p on p.text = i.text
          union all
          select i.record, anondb.normal_term(i.text collate "default") collate "C"
          from mdav_text as i) as s
    group by s.term;
    analyze mdav_said;
    create temporary table mdav_term as
    select s.term collate "C" as phrase, s.concept, w.records
    from anondb.preferred_senses(array(select distinct p.phrase from mdav_phrase as p),
                                 ontologies) as s
    join mdav_said as w on w.term = s.term collate "C";
    analyze mdav_term;
    create temporary table mdav_item as
    select distinct i.record, m.concept
    from mdav_text as i
    join mdav_phrase as p on p.text = i.text
    join mdav_term as m on m.phrase = p.phrase;
    analyze mdav_item;
    return query
        select count(k.text), count(*) - count(k.text),
               count(distinct i.text) filter (where k.text is null)
        from mdav_text as i
        left join (select distinct p.text from mdav_phrase as p
                   join mdav_term as m on m.phrase = p.phrase) as k
          on k.text = i.text;
end $$;
comment on function anondb.mdav_items(text[]) is
'Makes mdav_said, how many records have a text or a phrase of one; mdav_term, the concept of each '
'phrase, in the first of the ontologies that knows it, and how many records have it; and '
'mdav_item, the concepts of each record. Returns how many texts of records have a concept, how '
'many have none, and how many different ones those are.';

create function anondb.term_of_concept(concept int, ontologies text[] = null) returns text
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
-- The label of a concept can be better known for another one: then it needs its sense (cricket#2),
-- or the key. What an ontology before its own knows is looked up there, with whatever sense.
declare
    v_ontology int;
    v_before int[];
    v_term text;
    v_found int;
begin
    select c.ontology into v_ontology from anondb.concept as c where c.id = term_of_concept.concept;
    v_before := array(select anondb.find_ontology(o.name) from unnest(ontologies) as o (name));
    v_before := v_before[: coalesce(array_position(v_before, v_ontology), 1) - 1];
    for v_term in
        select t.term from (
            select c.label as term, 1 as place, 0 as sense from anondb.concept as c
            where c.id = term_of_concept.concept
            union all
            select l.lemma || '#' || l.sense, 2, l.sense
            from anondb.lexeme as l
            where l.concept = term_of_concept.concept and l.kind <> 'irregular'
              -- term_senses takes the sense for one of the first part of speech
              and not exists (select from anondb.lexeme as o
                              where o.ontology = l.ontology and o.lemma = l.lemma and o.pos < l.pos)
            union all
            select c.key, 3, 0 from anondb.concept as c where c.id = term_of_concept.concept) as t
        order by t.place, t.sense, t.term collate "C"
    loop
        continue when exists (
            select from unnest(v_before) as b (ontology)
            cross join lateral anondb.term_senses(anondb.label_without_sense(v_term), b.ontology));
        select s.concept into v_found from anondb.term_senses(v_term, v_ontology) as s
        order by s.sense limit 1;
        if v_found = concept then
            return v_term;
        end if;
    end loop;
    return null;
end $$;
comment on function anondb.term_of_concept(int, text[]) is
'A term that means this concept and no other: its label, a word with its sense, or its key; where '
'there are several ontologies, one that none before its own knows. NULL if there is no such term.';

create function anondb.mdav_synthetic(seed bigint, each text = 'class') returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
-- Records are numbered in the order of their texts or keys. By a seed alone, whoever knows it could
-- tell by the terms of a released record which number it had, and so whose it is: the
-- installation's secret decides with it.
begin
    if each is null or each not in ('class', 'record') then
        raise exception 'terms are drawn for each class or each record, not for each %',
            coalesce(each, 'NULL')
            using errcode = 'SA194', hint = 'There are class and record.';
    end if;
    drop table if exists mdav_synthetic;
    create temporary table mdav_synthetic as
    with key as materialized (
        select k.inner_key, k.outer_key from anondb.derived_key('draw', seed::text) as k
    )
, drawn as materialized (
        -- who draws: each record for itself, or for all of its class the centroid
        select w.drawer, array_agg(d.term order by d.term collate "C") as terms
        from (select distinct case when each = 'class' then c.centroid else c.record end as drawer,
                              c.centroid
              from mdav_class as c) as w
        join mdav_centroid as i on i.record = w.centroid
        join mdav_word as t on t.concept = i.concept
        join anondb.concept as o on o.id = i.concept
        cross join key as k
        -- a draw depends on the secret, the seed, the drawer and the concept, not on the order of
        -- the draws
        cross join lateral (
            select anondb.keyed_hash(k.inner_key, k.outer_key,
                                     convert_to(format('%s %s', w.drawer, o.key),
                                                'UTF8')) as drawn) as h
        -- a term of twice as many records is drawn twice as often: shares[n] is how many have one
        -- of the first n
        cross join lateral (
            select t.terms[1 + width_bucket(
                ('x' || left(encode(h.drawn, 'hex'), 15))::bit(60)::bigint
                % t.shares[cardinality(t.shares)], t.shares)] as term) as d
        group by w.drawer
    )
    select c.record, d.terms
    from mdav_class as c
    join drawn as d on d.drawer = case when each = 'class' then c.centroid else c.record end;
    analyze mdav_synthetic;
end $$;
comment on function anondb.mdav_synthetic(bigint, text) is
'Makes mdav_synthetic: for each record of mdav_class a term for every concept that mdav_centroid '
'has for its class, drawn from mdav_word as often as records have it, by the seed and the secret '
'of the installation; once for each class, or for each record. Raises SA194 for anything else.';

create function anondb.mdav_loss() returns double precision
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
-- Always by meaning, however the classes were made. Only concepts of a class are compared with
-- those of its centroid.
declare
    v_loss double precision;
    v_lost bigint;
begin
    -- of a class that is released with nothing, all is lost
    select count(*) into v_lost from mdav_class as m
    where m.centroid not in (select i.record from mdav_centroid as i);
    create temporary table mdav_sized on commit drop as
    select u.concept, u.size, u.above
    from anondb.mdav_above(array(select i.concept from mdav_item as i
                                 union select i.concept from mdav_centroid as i)) as u;
    analyze mdav_sized;
    with own as materialized (
        select m.record, m.centroid, c.concept, c.size, c.above
        from mdav_class as m join mdav_item as i on i.record = m.record
        join mdav_sized as c on c.concept = i.concept
    ), told as materialized (
        select i.record as centroid, c.concept, c.size, c.above
        from mdav_centroid as i join mdav_sized as c on c.concept = i.concept
    ), far as (
        select o.record, sum(p.far)::double precision / anondb.mdav_unit() / count(*) as far
        from own as o join told as t on t.centroid = o.centroid
        cross join lateral (
            select case when o.concept = t.concept then 0
                        else anondb.mdav_apart(s.shared, o.size, t.size) end as far
            from (select bit_count(o.above & t.above)::int as shared offset 0) as s) as p
        group by o.record
    )
    select coalesce(sum(power(f.far, 2) order by f.record), 0) into v_loss from far as f;
    drop table mdav_sized;
    return v_lost + v_loss;
end $$;
comment on function anondb.mdav_loss() is
'The information loss of mdav_class: the sum over records of the squared average distance to what '
'mdav_centroid has for their class, always by common generalizations; 1 where it has nothing.';

create function anondb.concept_set_sizes(release regclass, set_column name,
                                         variadic ontologies text[] = '{wordnet}')
returns table (size bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- A term without a concept stands for itself: it can only make classes smaller.
begin
    return query execute format(
        'with released as materialized (
             select row_number() over () as number, t.%1$I::text[] as terms from %2$s as t
         ), term as materialized (
             select x.term, coalesce(s.concept::text, ''no concept '' || x.term) as concept
             from (select distinct u.term collate "C" as term from released as r
                   cross join unnest(r.terms) as u (term)
                   where u.term is not null) as x
             left join anondb.preferred_senses(array(
                 select distinct u.term from released as r
                 cross join unnest(r.terms) as u (term)), $1) as s
               on s.term collate "C" = x.term
         ), class as (
             select r.number, array_agg(distinct m.concept) as concepts
             from released as r left join unnest(r.terms) as u (term) on true
             left join term as m on m.term = u.term
             group by r.number
         )
         select count(*) from class as c group by c.concepts', set_column, release)
    using ontologies;
end $$;
comment on function anondb.concept_set_sizes(regclass, name, text[]) is
'The sizes of the classes of a release whose records have the same set of concepts in a column of '
'terms (text[]), each looked up in the first of the ontologies that knows it; the smallest is '
'its k.';
