-- What a class of mdav may say: of its centroid, who is one person, only what k records have.

create function anondb.mdav_words(k bigint, ontologies text[] = null) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
begin
    drop table if exists mdav_word;
    -- a record has a concept if it has one below it
    create temporary table mdav_word as
    select h.concept, h.records, coalesce(m.terms, '{}') as terms, m.shares
    from (select t.ancestor as concept, count(distinct i.record) as records
          from mdav_item as i join anondb.concept_closure as t on t.descendant = i.concept
          group by t.ancestor
          having count(distinct i.record) >= mdav_words.k
             and bool_or(i.record in (select m.centroid from mdav_class as m))) as h
    left join (select s.concept, array_agg(s.phrase::text order by s.phrase) as terms,
                      array_agg(s.share order by s.phrase) as shares
               from (select t.concept, t.phrase,
                            sum(t.records) over (partition by t.concept
                                                 order by t.phrase)::bigint as share
                     from mdav_term as t where t.records >= mdav_words.k) as s
               group by s.concept) as m on m.concept = h.concept;
    create unique index on mdav_word (concept);
    -- the concept's own term is nobody's text, unless a few have written just that
    with own as materialized (
        select o.concept, o.term, anondb.normal_term(o.term) collate "C" as written
        from (select w.concept, anondb.term_of_concept(w.concept, ontologies) as term
              from mdav_word as w where w.terms = '{}' offset 0) as o
    )
    update mdav_word as w set terms = array[o.term], shares = '{1}'
    from own as o left join mdav_said as s on s.term = o.written
    where w.concept = o.concept and o.term is not null
      and coalesce(s.records, mdav_words.k) >= mdav_words.k;
    delete from mdav_word as w where w.terms = '{}';
    analyze mdav_word;
end $$;
comment on function anondb.mdav_words(bigint, text[]) is
'Makes mdav_word: the concepts of the centroids of mdav_class and those above them, if k records '
'or more have them or what is below them, each with the terms that may stand for it, phrases of k '
'records, else its own if fewer have not written it; and with shares, how many records have each '
'of these terms or one before it.';

create function anondb.mdav_centroids(k bigint, ontologies text[] = null) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
begin
    perform anondb.mdav_words(k, ontologies);
    drop table if exists mdav_centroid;
    create temporary table mdav_centroid as
    select distinct i.record, n.concept
    from mdav_item as i
    join (select distinct on (t.descendant) t.descendant, t.ancestor as concept
          from mdav_word as w
          join anondb.concept_closure as t on t.ancestor = w.concept
          join anondb.concept as c on c.id = w.concept
          where t.descendant in (select o.concept from mdav_item as o)
          -- of those that are as near, the one that says most
          order by t.descendant, t.distance, w.records,
                   c.key collate "C") as n on n.descendant = i.concept
    where i.record in (select m.centroid from mdav_class as m);
    analyze mdav_centroid;
end $$;
comment on function anondb.mdav_centroids(bigint, text[]) is
'Makes mdav_centroid: what the classes of mdav_class are released with. Each concept of a '
'centroid, or the nearest one above it that is in mdav_word; those without are left out. With k of '
'1 centroids are released as they are.';

create function anondb.mdav_rare_terms(release regclass, set_column name, k bigint,
                                       variadic ontologies text[])
returns bigint
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- From the rows that were written: what their terms mean is looked up again.
declare
    v_rare bigint;
begin
    execute format(
        'with had as materialized (
             select t.ancestor as concept, count(distinct i.record) as records
             from mdav_item as i join anondb.concept_closure as t on t.descendant = i.concept
             group by t.ancestor
         ), term as materialized (
             select x.term, anondb.normal_term(x.term) collate "C" as written, s.concept
             from (select distinct u.term collate "C" as term
                   from %1$s as t cross join unnest(t.%2$I::text[]) as u (term)) as x
             left join anondb.preferred_senses(array(
                 select distinct u.term from %1$s as t
                 cross join unnest(t.%2$I::text[]) as u (term)), $1) as s
               on s.term collate "C" = x.term
         )
         select count(*) from term as t
         left join had as h on h.concept = t.concept
         left join mdav_said as s on s.term = t.written
         where coalesce(h.records, 0) < $2 or s.records < $2',
        release, set_column)
    using ontologies, k into v_rare;
    return v_rare;
end $$;
comment on function anondb.mdav_rare_terms(regclass, name, bigint, text[]) is
'How many terms of a release are texts of fewer than k records of mdav_said, or mean what fewer '
'than k of mdav_item have; 0 is as it should be.';
