-- Similarities by any measure: of pairs of concepts and of terms, and those that are remembered.

create function anondb.check_measure(measure text) returns text
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_known text;
begin
    if to_regprocedure(format('anondb.%I(int[], int[])', 'similarity_' || coalesce(measure, '')))
        is null then
        select string_agg(substr(p.proname, 12), ', ' order by p.proname) into v_known
        from pg_proc as p
        where p.pronamespace = 'anondb'::regnamespace and p.proname like 'similarity\_%'
          and p.proargtypes = '1007 1007'::oidvector;
        raise exception 'there is no similarity measure "%"', measure
            using errcode = 'SA133', hint = format('There are: %s.', v_known);
    end if;
    return measure;
end $$;
comment on function anondb.check_measure(text) is
'Gives the measure''s name back. Raises SA133 if there is none of it.';

create function anondb.check_pairs(first int[], second int[]) returns void
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_unknown text;
    v_apart int[];
begin
    select min(coalesce(case when x.id is null then p.a else p.b end::text, 'NULL'))
               filter (where x.id is null or y.id is null),
           min(array[p.a, p.b]) filter (where x.ontology <> y.ontology)
    into v_unknown, v_apart
    from unnest(first, second) as p (a, b)
    left join anondb.concept as x on x.id = p.a
    left join anondb.concept as y on y.id = p.b;
    if v_unknown is not null then
        raise exception 'concept % is in no ontology', v_unknown
            using errcode = 'SA134',
            hint = 'Concepts are numbered in anondb.concept; give as many first as second ones.';
    end if;
    if v_apart is not null then
        raise exception '% are of different ontologies', (
            select string_agg(format('%s (%s)', c.key, o.name), ' and ' order by c.id)
            from anondb.concept as c join anondb.ontology as o on o.id = c.ontology
            where c.id = any(v_apart))
            using errcode = 'SA135', hint = 'Only concepts of one ontology can be compared.';
    end if;
end $$;
comment on function anondb.check_pairs(int[], int[]) is
'Raises SA134 if one of the concepts does not exist, SA135 if a pair lies in two ontologies.';

create function anondb.similarities(first int[], second int[], measure text = 'wup')
returns table (a int, b int, similarity double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    perform anondb.check_pairs(first, second);
    return query execute format(
        'select s.a, s.b, s.similarity from anondb.%I($1, $2) as s',
        'similarity_' || anondb.check_measure(measure))
        using first, second;
end $$;
comment on function anondb.similarities(int[], int[], text) is
'The similarity of each pair of concepts first[i], second[i] by the named measure.';

create function anondb.similarity(a text, b text, measure text = 'wup', ontology text = 'wordnet')
returns double precision
language plpgsql stable strict parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_similarity double precision;
begin
    execute format(
        'select s.similarity from anondb.%I(array[$1], array[$2]) as s',
        'similarity_' || anondb.check_measure(measure))
        into strict v_similarity
        using anondb.find_concept(a, ontology), anondb.find_concept(b, ontology);
    return v_similarity;
end $$;
comment on function anondb.similarity(text, text, text, text) is
'Similarity of two terms (dog, dog#1), keys (dog.n.01) or ids in [0, 1], by a measure: wup, path, '
'shared and others. anondb.check_measure knows them all.';

create function anondb.remember_similarities(first int[], second int[], measure text = 'wup')
returns bigint
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_a int[];
    v_b int[];
    v_rows bigint;
begin
    select array_agg(p.a), array_agg(p.b) into v_a, v_b
    from (select distinct least(u.a, u.b) as a, greatest(u.a, u.b) as b
          from unnest(first, second) as u (a, b)) as p
    where not exists (select from anondb.concept_similarity as k
                      where k.measure = remember_similarities.measure and k.a = p.a and k.b = p.b);
    if v_a is null then
        return 0;
    end if;
    insert into anondb.concept_similarity (measure, a, b, similarity)
    select measure, s.a, s.b, s.similarity from anondb.similarities(v_a, v_b, measure) as s
    order by s.a, s.b  -- as the primary key has them
    on conflict do nothing;
    get diagnostics v_rows = row_count;
    return v_rows;
end $$;
comment on function anondb.remember_similarities(int[], int[], text) is
'Computes the similarities of pairs that concept_similarity does not have yet, and keeps them '
'there; returns how many.';

create function anondb.remember_all_pairs(concepts int[], measure text = 'wup') returns bigint
language sql volatile parallel unsafe
begin atomic
    select anondb.remember_similarities(array_agg(x.c), array_agg(y.c), measure)
    from unnest(concepts) as x (c) cross join unnest(concepts) as y (c) where x.c <= y.c;
end;
comment on function anondb.remember_all_pairs(int[], text) is
'Keeps the similarities of all pairs of these concepts in concept_similarity; returns how many '
'were new.';
