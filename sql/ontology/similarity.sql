-- Similarity of concepts, always in [0, 1]; the distance is 1 - similarity.
--
-- A measure is one function here, named similarity_<measure>: it takes two arrays and gives the
-- similarity of each pair first[i], second[i]. No other function has to know of it.

-- Whatever was remembered came from the functions as they were before.
delete from anondb.concept_similarity;

create function anondb.generalizations(first int[], second int[])
returns table (concept int, ancestor int, distance int, min_depth int, max_depth int)
language sql stable parallel safe
begin atomic
    -- offset 0 makes it a lookup for each concept; the planner would read the whole closure for some hundreds
    select t.descendant, t.ancestor, t.distance, c.min_depth, c.max_depth
    from (select u.id from unnest(first) as u (id) union select u.id from unnest(second) as u (id)) as k
    cross join lateral (
        select l.descendant, l.ancestor, l.distance from anondb.concept_closure as l
        where l.descendant = k.id offset 0) as t
    join anondb.concept as c on c.id = t.ancestor;
end;
comment on function anondb.generalizations(int[], int[]) is
'All generalizations of these concepts, each with its own depths; a concept is among its own, at distance 0.';

create function anondb.wup_of_several(first int[], second int[])
returns table (a int, b int, similarity double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Wu and Palmer 1994, link form, whatever the graph is like. Not in SQL, so that it is planned only if needed.
begin
    if first is null then
        return;
    end if;
    return query
        with common as materialized (
            select p.a, p.b, x.ancestor, x.distance + y.distance as links
            from unnest(first, second) as p (a, b)
            join anondb.concept_closure as x on x.descendant = p.a
            join anondb.concept_closure as y on y.descendant = p.b and y.ancestor = x.ancestor
        ), lowest as (
            -- all that lies between two common subsumers is common too, so looking one link down is enough
            select k.a, k.b, k.ancestor, k.links from common as k
            except
            select k.a, k.b, k.ancestor, k.links
            from common as below
            join anondb.concept_edge as e on e.child = below.ancestor and e.kind in ('isa', 'instance')
            join common as k on k.a = below.a and k.b = below.b and k.ancestor = e.parent
        ), best as (
            select distinct on (l.a, l.b) l.a, l.b, l.links, c.min_depth
            from lowest as l join anondb.concept as c on c.id = l.ancestor
            order by l.a, l.b, c.min_depth desc, l.links  -- what is equal in both gives the same similarity
        )
        select p.a, p.b,
               case when s.a is not null then 2.0::double precision * s.min_depth / (s.links + 2 * s.min_depth)
                    -- WordNet's concepts meet in its virtual root, at depth 1, if nowhere else; others do not
                    when o.root_depth > 0 then 2.0::double precision / (ca.min_depth + cb.min_depth)
                    else 0 end
        from unnest(first, second) as p (a, b)
        join anondb.concept as ca on ca.id = p.a
        join anondb.concept as cb on cb.id = p.b
        join anondb.ontology as o on o.id = ca.ontology
        left join best as s on s.a = p.a and s.b = p.b;
end $$;
comment on function anondb.wup_of_several(int[], int[]) is
'Wu-Palmer similarity of pairs of different concepts that may have several lowest common subsumers, or none.';

create function anondb.similarity_wup(first int[], second int[])
returns table (a int, b int, similarity double precision)
language sql stable parallel safe
begin atomic
    -- Wu and Palmer 1994, link form: 2 N3 / (N1 + N2 + 2 N3). The least common subsumer is, of those
    -- without another one below them, the deepest by its shortest way; ties by N1 + N2.
    with pair as materialized (
        select distinct p.a, p.b from unnest(first, second) as p (a, b)
    ), up as materialized (
        select g.concept, g.ancestor, g.distance, g.min_depth, g.max_depth
        from anondb.generalizations(first, second) as g
    ), met as materialized (
        select p.a, p.b, count(*) as subsumers,
               max(array[x.max_depth, x.ancestor, x.min_depth, x.distance + y.distance]) as deepest
        from pair as p
        join up as x on x.concept = p.a
        join up as y on y.concept = p.b and y.ancestor = x.ancestor
        group by p.a, p.b
    ), size as materialized (
        select t.descendant as concept, count(*) as generalizations
        from anondb.concept_closure as t
        where t.descendant in (select m.deepest[2] from met as m)
        group by t.descendant
    ), one as materialized (
        -- The deepest by its longest way has nothing common below it. If all common ones are its own
        -- generalizations, then it is the only such; so it is for nearly all pairs, and this is fast.
        select m.a, m.b,
               case when m.a = m.b then 1
                    else 2.0::double precision * m.deepest[3] / (m.deepest[4] + 2 * m.deepest[3]) end as similarity
        from met as m
        join size as s on s.concept = m.deepest[2] and s.generalizations = m.subsumers
    ), other as (
        select array_agg(p.a) as a, array_agg(p.b) as b
        from (select p.a, p.b from pair as p except select o.a, o.b from one as o) as p
    )
    select o.a, o.b, o.similarity from one as o
    union all
    select w.a, w.b, w.similarity from other as o cross join lateral anondb.wup_of_several(o.a, o.b) as w;
end;
comment on function anondb.similarity_wup(int[], int[]) is
'Wu-Palmer similarity of pairs of concepts, counted in links to the least common subsumer.';

create function anondb.similarity_wup_depth(first int[], second int[])
returns table (a int, b int, similarity double precision)
language sql stable parallel safe
begin atomic
    -- Wu and Palmer 1994, depth form, as the WS4J library has it: 2 D(lcs) / (D(a) + D(b)), D on the
    -- longest way to the root, the lcs the common subsumer of greatest D.
    with pair as materialized (
        select distinct p.a, p.b from unnest(first, second) as p (a, b)
    ), up as materialized (
        select g.concept, g.ancestor, g.distance, g.min_depth, g.max_depth
        from anondb.generalizations(first, second) as g
    ), own as (
        -- the least deep generalization is a root; WordNet has a virtual one above it
        select u.concept, max(u.max_depth) as depth, greatest(min(u.min_depth) - 1, 0) as root_depth
        from up as u group by u.concept
    ), met as (
        select p.a, p.b, max(x.max_depth) as depth
        from pair as p
        join up as x on x.concept = p.a
        join up as y on y.concept = p.b and y.ancestor = x.ancestor
        group by p.a, p.b
    )
    select p.a, p.b,
           case when p.a = p.b then 1
                else coalesce(2.0::double precision * coalesce(m.depth, x.root_depth) / nullif(x.depth + y.depth, 0), 0)
                end
    from pair as p
    join own as x on x.concept = p.a
    join own as y on y.concept = p.b
    left join met as m on m.a = p.a and m.b = p.b;
end;
comment on function anondb.similarity_wup_depth(int[], int[]) is
'Wu-Palmer similarity of pairs of concepts by their depths on the longest way, as WS4J counts.';

create function anondb.path_lengths(first int[], second int[]) returns table (a int, b int, links int)
language sql stable parallel safe
begin atomic
    with pair as materialized (
        select distinct p.a, p.b from unnest(first, second) as p (a, b)
    ), up as materialized (
        select g.concept, g.ancestor, g.distance, g.min_depth from anondb.generalizations(first, second) as g
    ), own as (
        -- links to the virtual root above the roots of WordNet; other ontologies have none
        select u.concept, case when min(u.min_depth) > 0
                               then max(u.min_depth) filter (where u.distance = 0) - min(u.min_depth) + 1 end as links
        from up as u group by u.concept
    ), met as (
        select p.a, p.b, min(x.distance + y.distance) as links
        from pair as p
        join up as x on x.concept = p.a
        join up as y on y.concept = p.b and y.ancestor = x.ancestor
        group by p.a, p.b
    )
    select p.a, p.b, coalesce(m.links, x.links + y.links)
    from pair as p
    join own as x on x.concept = p.a
    join own as y on y.concept = p.b
    left join met as m on m.a = p.a and m.b = p.b;
end;
comment on function anondb.path_lengths(int[], int[]) is
'Links on the shortest way from one concept to the other through something that subsumes both; NULL if there is none.';

create function anondb.similarity_path(first int[], second int[])
returns table (a int, b int, similarity double precision)
language sql stable parallel safe
begin atomic
    -- Rada et al. 1989
    select l.a, l.b, coalesce(1.0::double precision / (1 + l.links), 0)
    from anondb.path_lengths(first, second) as l;
end;
comment on function anondb.similarity_path(int[], int[]) is
'1 / (1 + links on the shortest way) for pairs of concepts.';

create function anondb.similarity_lch(first int[], second int[])
returns table (a int, b int, similarity double precision)
language sql stable parallel safe
begin atomic
    -- Leacock and Chodorow 1998: -ln(Np / 2D), divided by its greatest value ln(2D)
    select l.a, l.b,
           coalesce(greatest(0, 1 - ln(1.0::double precision + l.links) / ln(2.0::double precision * o.depth)), 0)
    from anondb.path_lengths(first, second) as l
    join anondb.concept as c on c.id = l.a
    join anondb.ontology as o on o.id = c.ontology;
end;
comment on function anondb.similarity_lch(int[], int[]) is
'Leacock-Chodorow similarity of pairs of concepts, divided by its greatest value.';

create function anondb.similarity_shared(first int[], second int[])
returns table (a int, b int, similarity double precision)
language sql stable parallel safe
begin atomic
    -- Batet et al. 2014, eq. 1: the share of generalizations (each concept among its own) that are in common
    with pair as materialized (
        select distinct p.a, p.b from unnest(first, second) as p (a, b)
    ), up as materialized (
        select t.descendant as concept, t.ancestor
        from anondb.concept_closure as t
        where t.descendant in (select p.a from pair as p union select p.b from pair as p)
    ), size as (
        select u.concept, count(*) as n from up as u group by u.concept
    ), common as (
        select p.a, p.b, count(*) as n
        from pair as p
        join up as x on x.concept = p.a
        join up as y on y.concept = p.b and y.ancestor = x.ancestor
        group by p.a, p.b
    )
    select p.a, p.b, coalesce(k.n, 0)::double precision / (x.n + y.n - coalesce(k.n, 0))
    from pair as p
    join size as x on x.concept = p.a
    join size as y on y.concept = p.b
    left join common as k on k.a = p.a and k.b = p.b;
end;
comment on function anondb.similarity_shared(int[], int[]) is
'Share of their generalizations that pairs of concepts have in common: 1 - delta of Batet et al.';

create function anondb.check_measure(measure text) returns text
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_known text;
begin
    if to_regprocedure(format('anondb.%I(int[], int[])', 'similarity_' || coalesce(measure, ''))) is null then
        select string_agg(substr(p.proname, 12), ', ' order by p.proname) into v_known
        from pg_proc as p
        where p.pronamespace = 'anondb'::regnamespace and p.proname like 'similarity\_%'
          and p.proargtypes = '1007 1007'::oidvector;
        raise exception 'there is no similarity measure "%"', measure
            using errcode = 'SA133', hint = format('There are: %s.', v_known);
    end if;
    return measure;
end $$;
comment on function anondb.check_measure(text) is 'Gives the measure''s name back. Raises SA133 if there is none of it.';

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
            using errcode = 'SA134', hint = 'Concepts are numbered in anondb.concept; give as many first as second ones.';
    end if;
    if v_apart is not null then
        raise exception '% are of different ontologies', (
            select string_agg(format('%s (%s)', c.key, o.name), ' and ' order by c.id)
            from anondb.concept as c join anondb.ontology as o on o.id = c.ontology where c.id = any(v_apart))
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
        'select s.a, s.b, s.similarity from anondb.%I($1, $2) as s', 'similarity_' || anondb.check_measure(measure))
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
        'select s.similarity from anondb.%I(array[$1], array[$2]) as s', 'similarity_' || anondb.check_measure(measure))
        into strict v_similarity using anondb.find_concept(a, ontology), anondb.find_concept(b, ontology);
    return v_similarity;
end $$;
comment on function anondb.similarity(text, text, text, text) is
'Similarity of two terms (dog, dog#1), keys (dog.n.01) or ids in [0, 1], by a measure: wup, path, shared and others. '
'anondb.check_measure knows them all.';

create function anondb.remember_similarities(first int[], second int[], measure text = 'wup') returns bigint
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_a int[];
    v_b int[];
    v_rows bigint;
begin
    select array_agg(p.a), array_agg(p.b) into v_a, v_b
    from (select distinct least(u.a, u.b) as a, greatest(u.a, u.b) as b from unnest(first, second) as u (a, b)) as p
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
'Computes the similarities of pairs that concept_similarity does not have yet, and keeps them there; returns how many.';

create function anondb.remember_all_pairs(concepts int[], measure text = 'wup') returns bigint
language sql volatile parallel unsafe
begin atomic
    select anondb.remember_similarities(array_agg(x.c), array_agg(y.c), measure)
    from unnest(concepts) as x (c) cross join unnest(concepts) as y (c) where x.c <= y.c;
end;
comment on function anondb.remember_all_pairs(int[], text) is
'Keeps the similarities of all pairs of these concepts in concept_similarity; returns how many were new.';
