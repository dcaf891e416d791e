-- Distances for clustering: how far apart the values of a column lie, among the originals and in
-- the release.
--
-- Records are clustered outside the database, where nothing is known of them but codes and
-- distances. What has no distance to another value (NULL, a suppressed record, a * without
-- hierarchy) is 1 from all but itself. An item is a value or a label, and is told by its place in
-- an array.

create function anondb.label_concepts(vgh int) returns table (label text, concept int)
language sql stable parallel safe
begin atomic
    -- An ancestor can mean something else for each leaf: here it is what most of them say.
    select distinct on (m.label) m.label, m.concept
    from (select anondb.label_without_sense(n.label) collate "C" as label, s.concept,
                 case when n.level = 0 then 0 else 2 end as turn, 1 as votes
          from anondb.vgh_node as n join anondb.vgh_sense as s on s.vgh = n.vgh and s.node = n.node
          where n.vgh = label_concepts.vgh and s.concept is not null
          union all
          select anondb.label_without_sense(n.label) collate "C", p.concept, 1, count(*)
          from anondb.vgh_pair as p
          join anondb.vgh_path as t on t.vgh = p.vgh and t.leaf = p.leaf and t.level = p.level
          join anondb.vgh_node as n on n.vgh = t.vgh and n.node = t.node
          where p.vgh = label_concepts.vgh group by 1, 2) as m
    join anondb.concept as c on c.id = m.concept
    order by m.label, m.turn, m.votes desc, c.key collate "C";
end;
comment on function anondb.label_concepts(int) is
'The concept of each label, as it is released, of a hierarchy whose meanings are known: that of a '
'leaf, and of an ancestor the one that it has for most leaves.';

create function anondb.meaning_distances(concepts int[], measure text)
returns table (a int, b int, distance double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
set enable_nestloop = off set jit = off as $$
begin
    return query
        with item as materialized (
            select u.place::int as place, u.concept, c.ontology
            from unnest(concepts) with ordinality as u (concept, place)
            join anondb.concept as c on c.id = u.concept
        ), alike as materialized (
            select m.a, m.b, m.similarity
            from (select array_agg(p.a) as a, array_agg(p.b) as b
                  from (select distinct least(x.concept, y.concept) as a,
                                        greatest(x.concept, y.concept) as b
                        from item as x
                        join item as y on x.place < y.place and x.concept <> y.concept
                            and x.ontology = y.ontology) as p) as q
            cross join lateral anondb.similarities(q.a, q.b, meaning_distances.measure) as m
            where q.a is not null
        )
        select x.place, y.place, case when x.concept = y.concept then 0
                                      when x.ontology = y.ontology then 1 - s.similarity end
        from item as x
        join item as y on x.place < y.place
        left join alike as s on s.a = least(x.concept, y.concept)
            and s.b = greatest(x.concept, y.concept);
end $$;
comment on function anondb.meaning_distances(int[], text) is
'The semantic distance of every two items, told by their concepts; those without one are left out.';

create function anondb.concept_distances(items text[], vgh int, measure text)
returns table (a int, b int, distance double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
set enable_nestloop = off set jit = off as $$
begin
    return query
        with item as materialized (
            select u.place::int as place, u.label, c.concept
            from unnest(items) with ordinality as u (label, place)
            left join anondb.label_concepts(concept_distances.vgh) as c on c.label = u.label
        ), apart as materialized (
            select d.a, d.b, d.distance
            from anondb.meaning_distances((select array_agg(i.concept order by i.place)
                                           from item as i),
                                          concept_distances.measure) as d
        ), lost as materialized (
            -- from a leaf to what lies above it: as in GSL
            select least(x.place, y.place) as a, greatest(x.place, y.place) as b,
                   min(k.loss) as loss
            from item as x
            join anondb.vgh_node as l on l.vgh = concept_distances.vgh and l.level = 0
             and anondb.label_without_sense(l.label) = x.label
            join anondb.vgh_loss as k on k.vgh = l.vgh and k.measure = concept_distances.measure
                and k.leaf = l.node
            join anondb.vgh_path as p on p.vgh = k.vgh and p.leaf = k.leaf and p.level = k.level
            join anondb.vgh_node as n on n.vgh = p.vgh and n.node = p.node
            join item as y on y.label = anondb.label_without_sense(n.label) and y.place <> x.place
            group by 1, 2
        )
        select d.a, d.b, coalesce(k.loss, d.distance)
        from apart as d left join lost as k on k.a = d.a and k.b = d.b;
end $$;
comment on function anondb.concept_distances(text[], int, text) is
'The semantic distance of every two items that have concepts in a stored hierarchy whose losses '
'are kept.';

create function anondb.class_distances(items text[], leaves text[], levels int[], labels text[])
returns table (a int, b int, distance double precision)
language sql immutable parallel safe
set enable_nestloop = off set jit = off
begin atomic
    with step as materialized (
        select s.leaf collate "C" as leaf, s.level, s.label collate "C" as label
        from unnest(leaves, levels, labels) as s (leaf, level, label)
    ), class as materialized (
        select s.level, s.label,
               coalesce((count(*) - 1) / nullif((select count(distinct t.leaf)
                                                 from step as t) - 1.0, 0), 0) as loss
        from step as s group by s.level, s.label
    ), item as materialized (
        -- a label that occurs at several levels is taken at its lowest
        select distinct on (u.place) u.place::int as place, s.level, s.leaf
        from unnest(items) with ordinality as u (label, place) join step as s on s.label = u.label
        order by u.place, s.level, s.leaf
    ), upward as materialized (
        select i.place, m.level, m.label, k.loss
        from item as i
        join step as m on m.leaf = i.leaf and m.level >= i.level
        join class as k on k.level = m.level and k.label = m.label
    )
    select x.place, y.place, min(x.loss)
    from upward as x join upward as y on y.level = x.level and y.label = x.label
        and x.place < y.place
    group by x.place, y.place;
end;
comment on function anondb.class_distances(text[], text[], int[], text[]) is
'The distance of every two items of a hierarchy: the share of the leaves, less one, that their '
'lowest common ancestor has.';

create function anondb.point_distances(items text[], kind text, spread numeric)
returns table (a int, b int, distance double precision)
language sql immutable parallel safe
set jit = off
begin atomic
    with item as materialized (
        select u.place::int as place,
               coalesce(anondb.as_point(u.label, point_distances.kind), (w.low + w.high) / 2) as at
        from unnest(items) with ordinality as u (label, place)
        left join (select distinct on (r.label) r.label, r.low, r.high
                   from anondb.read_ranges(items, point_distances.kind) as r
                   order by r.label, r.low, r.high) as w
          on w.label = u.label
    )
    -- rounded, because a number can be too small to be read as double precision
    select x.place, y.place,
           case when x.at = y.at then 0
                else round(least(1, coalesce(abs(x.at - y.at) / nullif(spread, 0), 1)),
                           15) end::double precision
    from item as x join item as y on x.place < y.place
    where x.at is not null and y.at is not null;
end;
comment on function anondb.point_distances(text[], text, numeric) is
'The difference, as a share of the spread, and at most 1, of every two items that are numbers or '
'moments, or ranges of them, which lie at their midpoints.';

create function anondb.item_distances(
    items text[], concepts text[], kind text, spread numeric, leaves text[], levels int[],
    labels text[], vgh text, measure text)
returns table (a int, b int, distance double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from unnest(concepts) as u (list) where cardinality(u.list::int[]) > 1) then
        return query select d.a, d.b, d.distance from anondb.set_distances(concepts, measure) as d;
    elsif concepts is not null then
        return query
            select d.a, d.b, d.distance
            from anondb.meaning_distances(
                array(select (u.list::int[])[1]
                      from unnest(concepts) with ordinality as u (list, place) order by u.place),
                measure) as d;
    elsif vgh is not null then
        return query select d.a, d.b, d.distance
        from anondb.concept_distances(items, anondb.find_vgh(vgh), measure) as d;
    elsif kind <> 'other' then
        return query select d.a, d.b, d.distance
        from anondb.point_distances(items, kind, spread) as d;
    else
        return query select d.a, d.b, d.distance
        from anondb.class_distances(items, leaves, levels, labels) as d;
    end if;
end $$;
comment on function anondb.item_distances(text[], text[], text, numeric, text[], int[], text[],
                                          text, text) is
'The distances, as far as there are any, of every two items of a column: by their sets of concepts '
'if they are given or it has a vgh, as numbers or moments if it is of that kind, else by their '
'hierarchy.';

create function anondb.distance_kind(o text[], leaves text[], labels text[]) returns text
language sql immutable parallel safe
begin atomic
    -- digits can be codes: a hierarchy that makes no ranges of them says so
    with kind as materialized (
        select anondb.value_kind(o) as kind
    ), label as materialized (
        select l.label, count(distinct l.leaf) as leaves
        from unnest(leaves, labels) as l (leaf, label) group by l.label
    )
    select case when exists (
        select from label as l
        where anondb.as_point(l.label, k.kind) is null
          and l.leaves < (select max(m.leaves) from label as m)
          and l.label not in (
              select r.label
              from anondb.read_ranges(array(select m.label from label as m), k.kind) as r))
        then 'other' else k.kind end
    from kind as k;
end;
comment on function anondb.distance_kind(text[], text[], text[]) is
'How the values of a column are compared: number or moment, if all originals are of that kind and '
'all labels of its hierarchy, but for the root, are ranges of it; else other.';

create function anondb.sampled_records(width int) returns text
language sql immutable parallel safe
begin atomic
    -- Combinations in the order of a hash stand in a row, as long as they have records, and every
    -- so manieth record of it is taken: so each has its share of the sample, give or take one
    -- record.
    select format(
        ', sampled as materialized (
             select row_number() over (
                        order by t.o collate "C", t.r collate "C", t.released) as place,
                    t.o, t.r, t.released, t.taken::bigint as n
             from (select h.o, h.r, h.released,
                          div(h.up_to * h.size, h.total)
                          - div((h.up_to - h.n) * h.size, h.total) as taken
                   from (select p.o, p.r, p.released, p.n, sum(p.n) over () as total,
                                least(sum(p.n) over (), $4) as size,
                                sum(p.n) over (order by p.hash, p.o collate "C",
                                               p.r collate "C", p.released
                                               rows unbounded preceding) as up_to
                         from (select g.o, g.r, g.released, g.n,
                                      sha256(convert_to(
                                          concat_ws('' '', $5, g.o, g.r, g.released), ''UTF8''
                                      )) as hash
                               from (select array[%s] as o, array[%s] as r, l.released,
                                            sum(l.n) as n
                                     from linked as l group by 1, 2, 3) as g) as p) as h) as t
             where t.taken > 0
         )',
        string_agg(format('l.o%s collate "C"', g.i), ', ' order by g.i),
        string_agg(format('l.r%s collate "C"', g.i), ', ' order by g.i))
    from generate_series(1, sampled_records.width) as g (i);
end;
comment on function anondb.sampled_records(int) is
'The part of a query that samples the records of a linked relation of so many columns; its fourth '
'parameter is the size, its fifth the seed. The same whatever the order of the rows.';

create function anondb.linked_distances(
    linked text, quasi name[], vghs text[] = null, measure text = 'wup', ladder regclass = null,
    sample int = 1000, seed bigint = 0, meanings regclass = null)
returns table (
    column_number int, of_release boolean, codes int[], distances double precision[],
    sampled bigint[], records bigint)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, YMD' set timezone = 'UTC' set enable_nestloop = off set jit = off as $$
declare
    v_vghs text[] := coalesce(vghs, array_fill(null::text, array[cardinality(quasi)]));
    v_meant text[];
begin
    perform anondb.check_vghs(quasi, v_vghs);
    perform anondb.check_measure(measure);
    select array_agg(case when anondb.semantic_obstacle(h.name, measure) is null then h.name end
                     order by h.i)
    into v_meant from unnest(v_vghs) with ordinality as h (name, i);
    return query execute anondb.linked_parts(linked, v_vghs, ladder)
        || anondb.sampled_records(cardinality(quasi))
        || format(', meaning (i, label, concept) as materialized (%s)',
               case when meanings is null then 'select null::int, null::text, null::int where false'
                    else format('select m.i, m.label, m.concept from %s as m', meanings) end) || '
        , item as materialized (
            select t.i, t.of_release, s.place, t.value,
                   dense_rank() over (partition by t.i, t.of_release order by t.present desc,
                                      t.value collate "C")::int as code
            from sampled as s
            cross join lateral (
                select u.i::int, false as of_release, true as present, u.value
                from unnest(s.o) with ordinality as u (value, i)
                union all
                select u.i::int, true, s.released, u.value
                from unnest(s.r) with ordinality as u (value, i)) as t
        ), side as materialized (
            select c.i, c.of_release, c.codes, v.items, v.concepts
            from (select t.i, t.of_release, array_agg(t.code - 1 order by t.place) as codes
                  from item as t group by t.i, t.of_release) as c
            join (select d.i, d.of_release, array_agg(d.value order by d.code) as items,
                         case when count(m.i) > 0
                              then array_agg(m.concepts order by d.code) end as concepts
                  from (select distinct t.i, t.of_release, t.code, t.value from item as t) as d
                  left join (select m.i, m.label,
                                    array_agg(m.concept order by m.concept)::text as concepts
                             from meaning as m where m.concept is not null
                             group by m.i, m.label) as m
                    on m.i = d.i and m.label collate "C" = d.value collate "C"
                  group by d.i, d.of_release) as v on v.i = c.i and v.of_release = c.of_release
        ), compared as materialized (
            select g.i, k.kind,
                   max(anondb.as_point(u.o, k.kind)) - min(anondb.as_point(u.o, k.kind)) as spread
            from gathered as g
            cross join lateral anondb.distance_kind(g.o, g.leaves, g.labels) as k (kind)
            cross join lateral unnest(g.o) as u (o)
            group by g.i, k.kind
        )
        select s.i, s.of_release, s.codes,
               array(select coalesce(d.distance, 1)
                     from generate_series(1, cardinality(s.items)) as x (a)
                     cross join lateral generate_series(x.a + 1, cardinality(s.items)) as y (b)
                     left join anondb.item_distances(
                         s.items, s.concepts, c.kind, c.spread, g.leaves, g.levels, g.labels,
                         ($2)[s.i], $3) as d
                       on d.a = x.a and d.b = y.b
                     order by x.a, y.b),
               array(select t.n from sampled as t order by t.place),
               (select sum(l.n)::bigint from linked as l)
        from side as s
        join gathered as g on g.i = s.i
        join compared as c on c.i = s.i
        order by s.i, s.of_release'
    using v_vghs, v_meant, measure, sample, seed;
end $$;
comment on function anondb.linked_distances(text, name[], text[], text, regclass, int, bigint,
                                            regclass) is
'A sample of the records of a linked relation, as codes, and the distances of the codes: a row for '
'each column, of the originals and of the release. codes[t] is the value, from 0, of the t-th '
'combination of values, which sampled[t] records have; distances are those of values 0 and 1, 0 '
'and 2, .., 1 and 2, ... records are all that there are. meanings is a relation (i int, label '
'text, concept int) of the columns whose values mean concepts without a hierarchy.';
