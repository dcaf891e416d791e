-- Record linkage: how well a released value matches an original one, by each of the matchings.

create function anondb.distance_units(distance double precision) returns bigint
language sql immutable parallel safe
-- whole numbers, so that sums in any order are equal where the distances are
return round(distance * 1000000000)::bigint;
comment on function anondb.distance_units(double precision) is 'A distance in billionths.';

create function anondb.gap_distances(
    o text[], r text[], released boolean[], leaves text[] = null, labels text[] = null)
returns table (original text, released_value text, distance double precision)
language sql immutable parallel safe
set enable_nestloop = off set jit = off
begin atomic
    -- Without a hierarchy: 0 for what a released value contains; numbers and moments by how far
    -- outside they lie; else 1.
    with kind as materialized (
        select anondb.value_kind(gap_distances.o) as kind
    ), value as materialized (
        select distinct u.o as value, anondb.as_point(u.o, k.kind) as at from unnest(o) as u (o)
        cross join kind as k
    ), label as materialized (
        select distinct u.r as label, anondb.as_point(u.r, k.kind) as at
        from unnest(r, released) as u (r, released) cross join kind as k where u.released
    ), range as materialized (
        select distinct on (w.label) w.label, w.low, w.high
        from kind as k
        cross join lateral anondb.read_ranges(array(select l.label from label as l), k.kind) as w
        order by w.label
    ), covered as materialized (
        select quote_nullable(c.original) as o_key, quote_nullable(c.released_value) as r_key
        from anondb.cell_coverage(o, r, released, leaves, labels) as c
    ), spread as (
        select nullif(max(v.at) - min(v.at), 0) as spread from value as v
    )
    select v.value, l.label,
           case when c.r_key is not null then 0
                -- the open end of a range is no part of it, though nothing lies between
                else greatest(1e-9, least(1, coalesce(
                    greatest(coalesce(w.low, l.at) - v.at,
                             v.at - coalesce(w.high, l.at)) / s.spread, 1))) end
    from value as v
    cross join label as l
    cross join spread as s
    left join range as w on w.label = l.label
    left join covered as c on c.o_key = quote_nullable(v.value)
        and c.r_key = quote_nullable(l.label);
end;
comment on function anondb.gap_distances(text[], text[], boolean[], text[], text[]) is
'The distance in [0, 1] of every original from every released value of a column without meaning or '
'hierarchy.';

create function anondb.ladder_distances(
    o text[], r text[], released boolean[], leaves text[], levels int[], labels text[])
returns table (original text, released_value text, distance double precision)
language sql immutable parallel safe
set enable_nestloop = off set jit = off
begin atomic
    -- The loss of the smallest class that holds both: that of the released value itself where it
    -- contains the original.
    with step as materialized (
        select s.leaf, s.level, s.label
        from unnest(leaves, levels, labels) as s (leaf, level, label)
    ), class as materialized (
        select s.level, s.label, (count(*) - 1)
            / nullif((select count(distinct t.leaf) from step as t) - 1.0, 0) as loss
        from step as s group by s.level, s.label
    ), label as materialized (
        select distinct on (s.label) s.label, s.level, s.leaf
        from step as s
        where s.label in (select u.r from unnest(r, released) as u (r, released) where u.released)
        order by s.label, s.level, s.leaf
    ), known as materialized (
        select x.leaf, l.label, min(coalesce(k.loss, 0)) as loss
        from label as l
        join step as m on m.leaf = l.leaf and m.level >= l.level
        join step as x on x.level = m.level and x.label = m.label
        join class as k on k.level = m.level and k.label = m.label
        group by x.leaf, l.label
    )
    -- what is no leaf, and in the class all the same, is as near to it as its leaves
    select g.original, g.released_value,
           coalesce(k.loss, case when g.distance = 0 then w.loss end, g.distance)
    from anondb.gap_distances(o, r, released, leaves, labels) as g
    left join known as k on k.leaf = g.original and k.label = g.released_value
    left join (select k.label, min(k.loss) as loss from known as k group by k.label) as w
        on w.label = g.released_value;
end;
comment on function anondb.ladder_distances(text[], text[], boolean[], text[], int[], text[]) is
'The distance in [0, 1] of every original from every released value of a column by its hierarchy: '
'the share of the leaves, less one, that the smallest class has which holds both.';

create function anondb.match_values(
    matching text, o text[], r text[], released boolean[], leaves text[], levels int[],
    labels text[], vgh text, measure text)
returns table (original text, released_value text, distance bigint)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    if matching = 'text' then
        return query select distinct c.r, c.r, 0::bigint
            from unnest(o, r, released) as c (o, r, released)
            where c.released and quote_nullable(c.r) in (select quote_nullable(u.o)
                                                         from unnest(match_values.o) as u (o));
        return;
    elsif matching = 'coverage' then
        return query select c.original, c.released_value, 0::bigint
            from anondb.cell_coverage(o, r, released, leaves, labels) as c;
        return;
    end if;
    if matching = 'semantic' and vgh is not null then
        return query
            with pair as materialized (
                select a.value, b.label
                from (select distinct u.o as value from unnest(match_values.o) as u (o)) as a
                cross join (select distinct u.r as label
                            from unnest(match_values.r, match_values.released) as u (r, released)
                            where u.released) as b
            ), apart as materialized (
                select s.original, s.released_value, s.distance
                from (select array_agg(p.value) as o, array_agg(p.label) as r,
                             array_agg(true) as released
                      from pair as p) as g
                cross join lateral anondb.semantic_cells(anondb.find_vgh(vgh), measure, g.o, g.r,
                                                         g.released) as s
            )
            select p.value, p.label, anondb.distance_units(
                coalesce(s.distance,
                         case when p.value is not distinct from p.label then 0 else 1 end))
            from pair as p
            left join apart as s
              on s.original = p.value
                  and quote_nullable(s.released_value) = quote_nullable(p.label);
    else
        return query
            select d.original, d.released_value, anondb.distance_units(d.distance)
            from anondb.ladder_distances(o, r, released, leaves, levels, labels) as d;
    end if;
end $$;
comment on function anondb.match_values(text, text[], text[], boolean[], text[], int[], text[],
                                        text, text) is
'The pairs of an original and a released value of a column that match, and how far apart they are.';
