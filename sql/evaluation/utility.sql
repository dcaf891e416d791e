-- What a release is worth: how much of each original value its released one still tells.

create function anondb.cell_losses(
    o text[], r text[], released boolean[], n bigint[], leaves text[] = null, levels int[] = null,
    labels text[] = null)
returns table (
    value_pairs bigint, generalization double precision, entropy double precision,
    entropy_most double precision, height_share double precision)
language sql immutable parallel safe
set enable_nestloop = off set jit = off
begin atomic
    with cell as materialized (
        select c.o, c.r, c.released, c.n, quote_nullable(c.o) as o_key, quote_nullable(c.r) as r_key
        from unnest(o, r, released, n) as c (o, r, released, n)
    ), original as materialized (
        select c.o_key, min(c.o) as value, sum(c.n)::double precision as n from cell as c
        group by c.o_key
    ), kind as materialized (
        select anondb.value_kind(o) as kind
    ), whole as materialized (
        select sum(a.n) as records, count(a.value) as different, min(k.kind) as kind,
               max(anondb.as_point(a.value, k.kind))
                   - min(anondb.as_point(a.value, k.kind)) as spread,
               max(anondb.as_point(a.value, k.kind)) as highest,
               min(anondb.as_point(a.value, k.kind)) as lowest
        from original as a cross join kind as k
    ), covered as materialized (
        select quote_nullable(k.original) as o_key, quote_nullable(k.released_value) as r_key
        from anondb.cell_coverage(o, r, released, leaves, labels) as k
    ), label as materialized (
        -- of each released value: how many different originals it stands for, and in how many
        -- records
        select k.r_key, count(a.value) as different, sum(a.n) as records
        from covered as k join original as a on a.o_key = k.o_key group by k.r_key
    ), width as materialized (
        -- a range without an end takes up what the originals do
        select distinct on (w.label) quote_nullable(w.label) as r_key,
               case when w.high = 'Infinity' then greatest(h.highest, w.low) else w.high end
               - case when w.low = '-Infinity' then least(h.lowest, w.high) else w.low end as width
        from kind as k
        cross join whole as h
        cross join lateral anondb.read_ranges(array(select distinct c.r from cell as c),
                                              k.kind) as w
        order by w.label
    ), step as materialized (
        select s.leaf, s.label, min(s.level) as level
        from unnest(leaves, levels, labels) as s (leaf, level, label) group by s.leaf, s.label
    ), tree as (
        select max(s.level) as height, count(distinct s.leaf) as leaves from step as s
    ), class as (
        select quote_nullable(s.label) as r_key, count(*) as leaves from step as s group by s.label
    )
    select c.n,
           -- LeFevre et al. 2006; Iyengar 2002: the share of the column's domain that the released
           -- value takes up
           case when c.r is null and c.o is null and c.released then 0
                when not c.released or c.r is null or c.r = '*' then 1
                when x.leaves is not null
                then coalesce((x.leaves - 1) / nullif(t.leaves - 1.0, 0), 0)
                when w.width is not null then
                    case when c.o_key = c.r_key then 0
                         when w.width = 0 then 0
                         else least(1, coalesce(w.width / nullif(h.spread, 0), 1)) end
                when anondb.as_point(c.r, h.kind) is not null then 0
                else coalesce(greatest(b.different - 1, 0)
                              / nullif(case when t.leaves > 0 then t.leaves
                                            else h.different end - 1.0, 0), 0)
           end,
           -- de Waal and Willenborg 1999; Gionis and Tassa 2009: -log2 Pr(original | released)
           case when c.released and k.r_key is not null and c.r is distinct from '*'
                then ln(b.records / a.n) / ln(2.0) else ln(h.records / a.n) / ln(2.0) end,
           ln(h.records / a.n) / ln(2.0),
           -- Sweeney 2002: how far up in its hierarchy
           case when t.height is null then null
                when c.r is null and c.o is null and c.released then 0
                when not c.released or c.r is null or c.r = '*' then 1
                when s.level is not null then s.level / t.height::double precision
                -- NULL has the root's label there
                when c.o is null and x.leaves = t.leaves then 1 end
    from cell as c
    join original as a on a.o_key = c.o_key
    cross join whole as h
    cross join tree as t
    left join covered as k on k.o_key = c.o_key and k.r_key = c.r_key and c.released
    left join label as b on b.r_key = c.r_key and c.released
    left join width as w on w.r_key = c.r_key
    left join class as x on x.r_key = c.r_key
    left join step as s on s.leaf = c.o and s.label = c.r;
end;
comment on function anondb.cell_losses(text[], text[], boolean[], bigint[], text[],
                                       int[], text[]) is
'Of each pair of an original and a released value of a column, which occurs n times: its '
'generalization loss in [0, 1], the bits that are missing to tell the original, the bits if '
'nothing were released, and the share of its hierarchy''s height that it rose.';

create function anondb.covered_losses(covered regclass) returns text
language sql stable parallel restricted
begin atomic
    -- as anondb.cell_losses has them: what a label covers are the values that have it
    select case when covered is null
        then 'select null::int, null::bigint, null::float8, null::float8, null::float8, '
             'null::float8 where false'
        else format(
        'select t.i, c.n, case when not c.released then 1 when t.is_null and not t.at_root then 0
                               else coalesce(t.share, greatest(t.different - 1, 0)
                                             / nullif(t.all_different - 1.0, 0), 0) end,
                greatest(0, ln(case when c.released and not t.at_root then t.records
                                    else t.all_records end) - t.own) / ln(2.0),
                greatest(0, ln(t.all_records) - t.own) / ln(2.0),
                case when not c.released then 1 when t.is_null and not t.at_root then 0
                     else t.rise end
         from (select k.i, k.is_null, k.at_root, k.share, k.rise, k.kept, k.lost, k.own,
                      sum(k.kept + k.lost) over (partition by k.i, k.label)::float8 as records,
                      sum(k.values) filter (where not k.is_null)
                          over (partition by k.i, k.label)::float8 as different,
                      sum(k.kept + k.lost) over (partition by k.i)::float8 as all_records,
                      sum(k.values) filter (where not k.is_null)
                          over (partition by k.i)::float8 as all_different
               from %s as k) as t
         cross join lateral (values (true, t.kept), (false, t.lost)) as c (released, n)
         where c.n > 0', covered) end;
end;
comment on function anondb.covered_losses(regclass) is
'A query for what anondb.cell_losses says, with the column i, of a relation that has, of each '
'label of a column, the records kept and lost, the number of its values, and the mean logarithm of '
'how many records share the value of one (own); none for NULL.';

create function anondb.semantic_cells(vgh int, measure text, o text[], r text[], released boolean[])
returns table (original text, released_value text, is_released boolean, distance double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp set jit = off as $$
-- A value and its ancestor are as far apart as GSL says; two values of which neither lies above the
-- other, as their concepts. Whatever has no concept has no distance; of a record that is not
-- released, and of a *, nothing of the meaning is left.
begin
    return query
        with cell as materialized (
            select distinct c.o, c.r, c.released from unnest(o, r, released) as c (o, r, released)
            where c.o is not null
        ), leaf as materialized (
            select l.node, anondb.label_without_sense(l.label) as label, s.concept
            from anondb.vgh_node as l
            join anondb.vgh_sense as s on s.vgh = l.vgh and s.node = l.node
            where l.vgh = semantic_cells.vgh and l.level = 0 and s.concept is not null
        ), node as materialized (
            select distinct on (1) anondb.label_without_sense(t.label) as label, s.concept
            from anondb.vgh_node as t
            join anondb.vgh_sense as s on s.vgh = t.vgh and s.node = t.node
            where t.vgh = semantic_cells.vgh and s.concept is not null order by 1, t.node
        ), step as materialized (
            select p.leaf, anondb.label_without_sense(t.label) as label, min(p.level) as level
            from anondb.vgh_path as p join anondb.vgh_node as t on t.vgh = p.vgh and t.node = p.node
            where p.vgh = semantic_cells.vgh group by 1, 2
        ), known as materialized (
            select c.o, c.r, c.released, l.concept, l.node, s.level, k.loss,
                   case when s.level is null then t.concept end as other
            from cell as c
            join leaf as l on l.label = c.o
            left join step as s on s.leaf = l.node and s.label = c.r
            left join anondb.vgh_loss as k on k.vgh = semantic_cells.vgh
                and k.measure = semantic_cells.measure
             and k.leaf = l.node and k.level = s.level
            left join node as t on t.label = c.r
        ), alike as materialized (
            select distinct m.a, m.b, m.similarity
            from (select array_agg(p.concept) as a, array_agg(p.other) as b
                  from (select distinct k.concept, k.other from known as k
                        where k.other <> k.concept) as p) as q
            cross join lateral anondb.similarities(q.a, q.b, semantic_cells.measure) as m
            where q.a is not null
        )
        select k.o, k.r, k.released,
               case when not k.released or k.r is null then 1
                    when k.level = 0 or k.other = k.concept then 0
                    when k.level > 0 then k.loss
                    when k.other is not null then 1 - a.similarity
                    when k.r = '*' then 1 end
        from known as k
        left join alike as a on a.a = k.concept and a.b = k.other;
end $$;
comment on function anondb.semantic_cells(int, text, text[], text[], boolean[]) is
'The semantic distance of each pair of an original and a released value, by a stored hierarchy '
'whose losses are kept; NULL where one has no concept.';

create function anondb.semantic_obstacle(vgh text, measure text) returns text
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_obstacle text;
begin
    if vgh is null then
        return 'no stored hierarchy';
    end if;
    perform anondb.prepare_gsl(vgh, measure, 'skip');
    return null;
-- a role that may not look up or keep meanings, or a standby, still has all other measures
exception when sqlstate 'SA130' or sqlstate 'SA141' or sqlstate 'SA142' or sqlstate 'SA401'
               or insufficient_privilege or read_only_sql_transaction then
    get stacked diagnostics v_obstacle = message_text;
    return v_obstacle;
end $$;
comment on function anondb.semantic_obstacle(text, text) is
'Why semantic measures do not apply to a column of this hierarchy; NULL where they do, and its '
'losses are then kept.';
