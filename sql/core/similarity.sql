-- Similarity of concepts, always in [0, 1]; the distance is 1 - similarity.
--
-- A measure is one function here, named similarity_<measure>: it takes two arrays and gives the
-- similarity of each pair first[i], second[i]. Nothing else has to know of it.

-- Whatever was remembered came from the functions as they were before.
delete from anondb.concept_similarity;

create function anondb.meet_at_virtual_root(a int, b int) returns double precision
language sql stable parallel safe
begin atomic
    -- without a common subsumer WordNet's concepts meet in the virtual root, at depth 1; others do not meet
    select coalesce((
        select case when o.root_depth = 0 then 0
                    else 2.0::double precision / (x.min_depth - 1 + y.min_depth - 1 + 2) end
        from anondb.concept as x
        join anondb.concept as y on y.id = meet_at_virtual_root.b and y.ontology = x.ontology
        join anondb.ontology as o on o.id = x.ontology
        where x.id = meet_at_virtual_root.a), 0);
end;
comment on function anondb.meet_at_virtual_root(int, int) is
'Wu-Palmer similarity of two concepts that have no subsumer in common.';

create function anondb.similarity_wup(first int[], second int[])
returns table (a int, b int, similarity double precision)
language sql stable parallel safe
begin atomic
    -- Wu and Palmer 1994, link form: 2 N3 / (N1 + N2 + 2 N3). The least common subsumer is, of those
    -- without another one below them, the deepest by its shortest way; ties by N1 + N2, then by key.
    with pair as materialized (
        select distinct p.a, p.b from unnest(first, second) as p (a, b)
    ), common as materialized (
        select p.a, p.b, x.ancestor, x.distance + y.distance as links
        from pair as p
        join anondb.concept_closure as x on x.descendant = p.a
        join anondb.concept_closure as y on y.descendant = p.b and y.ancestor = x.ancestor
        where p.a <> p.b
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
        order by l.a, l.b, c.min_depth desc, l.links, c.key collate "C"
    )
    select p.a, p.b,
           case when p.a = p.b then 1
                when s.a is not null then 2.0::double precision * s.min_depth / (s.links + 2 * s.min_depth)
                else anondb.meet_at_virtual_root(p.a, p.b) end
    from pair as p left join best as s on s.a = p.a and s.b = p.b;
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
    ), deepest as (
        select p.a, p.b, max(c.max_depth) as depth
        from pair as p
        join anondb.concept_closure as x on x.descendant = p.a
        join anondb.concept_closure as y on y.descendant = p.b and y.ancestor = x.ancestor
        join anondb.concept as c on c.id = x.ancestor
        where p.a <> p.b
        group by p.a, p.b
    )
    select p.a, p.b,
           case when p.a = p.b then 1
                -- not in [0, 1] by itself: a longest way may pass below its own concept
                else least(1, coalesce(2.0::double precision * d.depth / nullif(ca.max_depth + cb.max_depth, 0),
                     case when o.root_depth = 0 then 0 else 2.0 / (ca.max_depth + cb.max_depth) end)) end
    from pair as p
    join anondb.concept as ca on ca.id = p.a
    join anondb.concept as cb on cb.id = p.b
    join anondb.ontology as o on o.id = ca.ontology
    left join deepest as d on d.a = p.a and d.b = p.b;
end;
comment on function anondb.similarity_wup_depth(int[], int[]) is
'Wu-Palmer similarity of pairs of concepts by their depths on the longest way, as WS4J counts.';

create function anondb.path_lengths(first int[], second int[]) returns table (a int, b int, links int)
language sql stable parallel safe
begin atomic
    select p.a, p.b, min(x.distance + y.distance)
    from (select distinct u.a, u.b from unnest(first, second) as u (a, b)) as p
    join anondb.concept_closure as x on x.descendant = p.a
    join anondb.concept_closure as y on y.descendant = p.b and y.ancestor = x.ancestor
    group by p.a, p.b
    union all
    -- through the virtual root of WordNet, where nothing else is common
    select p.a, p.b, (ca.min_depth - 1) + (cb.min_depth - 1)
    from (select distinct u.a, u.b from unnest(first, second) as u (a, b)) as p
    join anondb.concept as ca on ca.id = p.a
    join anondb.concept as cb on cb.id = p.b and cb.ontology = ca.ontology
    join anondb.ontology as o on o.id = ca.ontology and o.root_depth > 0
    where not exists (
        select from anondb.concept_closure as x
        join anondb.concept_closure as y on y.ancestor = x.ancestor and y.descendant = p.b
        where x.descendant = p.a);
end;
comment on function anondb.path_lengths(int[], int[]) is
'Links on the shortest way from one concept to the other through something that subsumes both.';

create function anondb.similarity_path(first int[], second int[])
returns table (a int, b int, similarity double precision)
language sql stable parallel safe
begin atomic
    -- Rada et al. 1989
    select p.a, p.b, coalesce(1.0::double precision / (1 + l.links), 0)
    from (select distinct u.a, u.b from unnest(first, second) as u (a, b)) as p
    left join anondb.path_lengths(first, second) as l on l.a = p.a and l.b = p.b;
end;
comment on function anondb.similarity_path(int[], int[]) is
'1 / (1 + links on the shortest way) for pairs of concepts.';

create function anondb.similarity_lch(first int[], second int[])
returns table (a int, b int, similarity double precision)
language sql stable parallel safe
begin atomic
    -- Leacock and Chodorow 1998: -ln(Np / 2D), divided by its greatest value ln(2D)
    select p.a, p.b,
           case when p.a = p.b then 1
                else greatest(0, coalesce(1 - ln(1.0::double precision + l.links) / ln(2.0::double precision * o.depth), 0))
                end
    from (select distinct u.a, u.b from unnest(first, second) as u (a, b)) as p
    join anondb.concept as c on c.id = p.a
    join anondb.ontology as o on o.id = c.ontology
    left join anondb.path_lengths(first, second) as l on l.a = p.a and l.b = p.b;
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
    ), size as materialized (
        select t.descendant as concept, count(*) as n
        from anondb.concept_closure as t
        where t.descendant in (select p.a from pair as p union select p.b from pair as p)
        group by t.descendant
    ), common as (
        select p.a, p.b, count(*) as n
        from pair as p
        join anondb.concept_closure as x on x.descendant = p.a
        join anondb.concept_closure as y on y.descendant = p.b and y.ancestor = x.ancestor
        group by p.a, p.b
    )
    select p.a, p.b, coalesce(k.n, 0)::double precision / (sa.n + sb.n - coalesce(k.n, 0))
    from pair as p
    join size as sa on sa.concept = p.a
    join size as sb on sb.concept = p.b
    left join common as k on k.a = p.a and k.b = p.b;
end;
comment on function anondb.similarity_shared(int[], int[]) is
'Share of their generalizations that pairs of concepts have in common: 1 - delta of Batet et al.';

create function anondb.check_measure(measure text) returns text
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_known text;
begin
    if to_regprocedure(format('anondb.%I(int[], int[])', 'similarity_' || measure)) is null then
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

create function anondb.similarities(first int[], second int[], measure text = 'wup')
returns table (a int, b int, similarity double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    return query execute format(
        'select s.a, s.b, s.similarity from anondb.%I($1, $2) as s', 'similarity_' || anondb.check_measure(measure))
        using first, second;
end $$;
comment on function anondb.similarities(int[], int[], text) is
'The similarity of each pair of concepts first[i], second[i] by the named measure.';

create function anondb.similarity(a text, b text, measure text = 'wup', ontology text = 'wordnet')
returns double precision
language sql stable parallel safe
begin atomic
    select s.similarity
    from anondb.similarities(
        array[anondb.find_concept(a, ontology)], array[anondb.find_concept(b, ontology)], measure) as s;
end;
comment on function anondb.similarity(text, text, text, text) is
'Similarity of two terms (dog, dog#1), keys (dog.n.01) or ids in [0, 1]: measure wup, wup_depth, path, lch or shared.';

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
