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
    -- offset 0 makes it a lookup for each concept; the planner would read the whole closure for
    -- some hundreds
    select t.descendant, t.ancestor, t.distance, c.min_depth, c.max_depth
    from (select u.id from unnest(first) as u (id)
          union select u.id from unnest(second) as u (id)) as k
    cross join lateral (
        select l.descendant, l.ancestor, l.distance from anondb.concept_closure as l
        where l.descendant = k.id offset 0) as t
    join anondb.concept as c on c.id = t.ancestor;
end;
comment on function anondb.generalizations(int[], int[]) is
'All generalizations of these concepts, each with its own depths; a concept is among its own, at '
'distance 0.';

create function anondb.wup_of_several(first int[], second int[])
returns table (a int, b int, similarity double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Wu and Palmer 1994, link form, whatever the graph is like. Not in SQL, so that it is planned only
-- if needed.
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
            -- all that lies between two common subsumers is common too, so looking one link down is
            -- enough
            select k.a, k.b, k.ancestor, k.links from common as k
            except
            select k.a, k.b, k.ancestor, k.links
            from common as below
            join anondb.concept_edge as e on e.child = below.ancestor
                and e.kind in ('isa', 'instance')
            join common as k on k.a = below.a and k.b = below.b and k.ancestor = e.parent
        ), best as (
            select distinct on (l.a, l.b) l.a, l.b, l.links, c.min_depth
            from lowest as l join anondb.concept as c on c.id = l.ancestor
            -- what is equal in both gives the same similarity
            order by l.a, l.b, c.min_depth desc, l.links
        )
        select p.a, p.b,
               case when s.a is not null
                    then 2.0::double precision * s.min_depth / (s.links + 2 * s.min_depth)
                    -- WordNet's concepts meet in its virtual root, at depth 1, if nowhere else;
                    -- others do not
                    when o.root_depth > 0 then 2.0::double precision / (ca.min_depth + cb.min_depth)
                    else 0 end
        from unnest(first, second) as p (a, b)
        join anondb.concept as ca on ca.id = p.a
        join anondb.concept as cb on cb.id = p.b
        join anondb.ontology as o on o.id = ca.ontology
        left join best as s on s.a = p.a and s.b = p.b;
end $$;
comment on function anondb.wup_of_several(int[], int[]) is
'Wu-Palmer similarity of pairs of different concepts that may have several lowest common '
'subsumers, or none.';

create function anondb.similarity_wup(first int[], second int[])
returns table (a int, b int, similarity double precision)
language sql stable parallel safe
begin atomic
    -- Wu and Palmer 1994, link form: 2 N3 / (N1 + N2 + 2 N3). The least common subsumer is, of
    -- those without another one below them, the deepest by its shortest way; ties by N1 + N2.
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
        -- The deepest by its longest way has nothing common below it. If all common ones are its
        -- own generalizations, then it is the only such; so it is for nearly all pairs, and this is
        -- fast.
        select m.a, m.b,
               case when m.a = m.b then 1
                    else 2.0::double precision * m.deepest[3]
                        / (m.deepest[4] + 2 * m.deepest[3]) end as similarity
        from met as m
        join size as s on s.concept = m.deepest[2] and s.generalizations = m.subsumers
    ), other as (
        select array_agg(p.a) as a, array_agg(p.b) as b
        from (select p.a, p.b from pair as p except select o.a, o.b from one as o) as p
    )
    select o.a, o.b, o.similarity from one as o
    union all
    select w.a, w.b, w.similarity from other as o
    cross join lateral anondb.wup_of_several(o.a, o.b) as w;
end;
comment on function anondb.similarity_wup(int[], int[]) is
'Wu-Palmer similarity of pairs of concepts, counted in links to the least common subsumer.';

create function anondb.similarity_wup_depth(first int[], second int[])
returns table (a int, b int, similarity double precision)
language sql stable parallel safe
begin atomic
    -- Wu and Palmer 1994, depth form, as the WS4J library has it: 2 D(lcs) / (D(a) + D(b)), D on
    -- the longest way to the root, the lcs the common subsumer of greatest D.
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
                else coalesce(2.0::double precision * coalesce(m.depth, x.root_depth)
                              / nullif(x.depth + y.depth, 0), 0)
                end
    from pair as p
    join own as x on x.concept = p.a
    join own as y on y.concept = p.b
    left join met as m on m.a = p.a and m.b = p.b;
end;
comment on function anondb.similarity_wup_depth(int[], int[]) is
'Wu-Palmer similarity of pairs of concepts by their depths on the longest way, as WS4J counts.';

create function anondb.path_lengths(first int[], second int[])
returns table (a int, b int, links int)
language sql stable parallel safe
begin atomic
    with pair as materialized (
        select distinct p.a, p.b from unnest(first, second) as p (a, b)
    ), up as materialized (
        select g.concept, g.ancestor, g.distance, g.min_depth
        from anondb.generalizations(first, second) as g
    ), own as (
        -- links to the virtual root above the roots of WordNet; other ontologies have none
        select u.concept, case when min(u.min_depth) > 0
                               then max(u.min_depth) filter (where u.distance = 0)
                                   - min(u.min_depth) + 1 end as links
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
'Links on the shortest way from one concept to the other through something that subsumes both; '
'NULL if there is none.';

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
           coalesce(greatest(0, 1 - ln(1.0::double precision + l.links)
                             / ln(2.0::double precision * o.depth)), 0)
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
    -- Batet et al. 2014, eq. 1: the share of generalizations (each concept among its own) that are
    -- in common
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
