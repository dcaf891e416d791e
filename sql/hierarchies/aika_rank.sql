-- AIKA (Ayala-Rivera): hierarchies judged on four sides, all of them at once, and ranked for a
-- purpose.

create function anondb.vgh_shape(vghs int[])
returns table (vgh int, node int, parent int, leaf boolean, depth int, leaves bigint)
language sql stable parallel safe
begin atomic
    with class as (
        -- A class whose only child has its own label is there to balance its branch. Labels differ
        -- within a level, so that any other class has a child of another label.
        select distinct n.vgh, n.node
        from anondb.vgh_node as c
        join anondb.vgh_node as n on n.vgh = c.vgh and n.node = c.parent
        where c.vgh = any (vghs) and n.vgh = any (vghs) and c.label <> n.label
    ), placed as (
        select p.vgh, p.node, p.level,
               row_number() over up as place, lag(p.node) over up as parent
        from anondb.vgh_path as p
        left join class as c on c.vgh = p.vgh and c.node = p.node
        where p.vgh = any (vghs) and (p.level = 0 or c.node is not null)
        window up as (partition by p.vgh, p.leaf order by p.level desc)
    )
    select t.vgh, t.node, t.parent, t.level = 0, t.place::int - 1, count(*)
    from placed as t group by t.vgh, t.node, t.parent, t.level, t.place;
end;
comment on function anondb.vgh_shape(int[]) is
'The nodes of hierarchies without those that only balance a branch: the node above, the depth '
'below the root, and how many leaves lie below (a leaf is below itself).';

create function anondb.vgh_structure(vghs text[])
returns table (vgh text, leaves bigint, ancestors bigint, figure text,
    mean double precision, deviation double precision, minimum bigint, maximum bigint)
language sql stable parallel safe
set enable_nestloop = off set jit = off  -- as for anondb.judge_vghs
begin atomic
    with asked as (
        select u.name, u.place, anondb.find_vgh(u.name) as id
        from unnest(vghs) with ordinality as u (name, place)
    ), shape as materialized (
        select s.vgh, s.node, s.parent, s.leaf, s.depth
        from anondb.vgh_shape((select array_agg(a.id) from asked as a)) as s
    ), figure as (
        select s.vgh, 'depth' as figure, s.depth::bigint as x from shape as s where s.leaf
        union all
        select s.vgh, 'branching', count(*) from shape as s where s.parent is not null
        group by s.vgh, s.parent
        union all
        select s.vgh, 'breadth', count(*) from shape as s group by s.vgh, s.depth
    ), size as (
        select s.vgh, count(*) filter (where s.leaf) as leaves,
               count(*) filter (where not s.leaf) as ancestors
        from shape as s group by s.vgh
    )
    select a.name, z.leaves, z.ancestors, f.figure,
           avg(f.x)::double precision, stddev_pop(f.x)::double precision, min(f.x), max(f.x)
    from asked as a
    join size as z on z.vgh = a.id
    join figure as f on f.vgh = a.id
    group by a.place, a.name, z.leaves, z.ancestors, f.figure
    order by a.place, f.figure;
end;
comment on function anondb.vgh_structure(text[]) is
'How hierarchies are built, one row a figure: the depth of their leaves, the children of their '
'inner nodes (branching), the nodes of each depth (breadth).';

create function anondb.prepare_meaning(vgh text, measure text) returns boolean
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    perform anondb.prepare_gsl(vgh, measure, 'skip');
    return true;
exception when sqlstate 'SA141' or sqlstate 'SA130' then
    return false;  -- ranges of numbers mean nothing, and are judged by the other aspects
end $$;
comment on function anondb.prepare_meaning(text, text) is
'Whether a hierarchy means anything; if so, its semantic losses are there afterwards.';

create function anondb.leaf_counts(vghs int[], source regclass = null, source_column name = null)
returns table (vgh int, leaf int, n bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- The source is read once, however many hierarchies are judged by it.
declare
    v_values text[];
    v_counts bigint[];
    v_outside bigint;
begin
    if source is null then
        return query
            select n.vgh, n.node, 1::bigint from anondb.vgh_node as n
            where n.vgh = any (vghs) and n.level = 0;
        return;
    end if;
    select array_agg(c.value), array_agg(c.n) into v_values, v_counts
    from anondb.column_values(source, source_column) as c;
    select count(*) into v_outside
    from unnest(vghs) as k (id)
    cross join unnest(v_values) as f (value)
    left join (select n.vgh, anondb.label_without_sense(n.label) collate "C" as label
               from anondb.vgh_node as n
               where n.vgh = any (vghs) and n.level = 0) as l on l.vgh = k.id and l.label = f.value
    where l.vgh is null;
    if v_outside > 0 then
        raise exception '% values of %.% are no leaves of a hierarchy that is judged by them',
            v_outside, source, quote_ident(source_column)
            using errcode = 'SA240', hint = 'Build the hierarchies anew, or name another column.';
    end if;
    return query
        select l.vgh, l.node, coalesce(f.n, 0)
        from (select n.vgh, n.node, anondb.label_without_sense(n.label) collate "C" as label
              from anondb.vgh_node as n where n.vgh = any (vghs) and n.level = 0) as l
        left join unnest(v_values, v_counts) as f (value, n) on f.value = l.label;
end $$;
comment on function anondb.leaf_counts(int[], regclass, name) is
'How often each leaf of these hierarchies occurs in a column; without one, each counts once. '
'Raises SA240, with their number, for values that are no leaves.';

create function anondb.judge_vghs(
    vghs int[], known int[], built int[], k int, measure text, aggregate text, source regclass,
    source_column name)
returns table (vgh text, semq double precision, priv double precision,
    distrn double precision, isize double precision)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp
-- candidates are a moment old: the planner takes them for a single row, and would go through all of
-- them for each
set enable_nestloop = off set jit = off as $$
begin
    return query
        with counted as materialized (
            select c.vgh, c.leaf, c.n from anondb.leaf_counts(vghs, source, source_column) as c
        ), pair as materialized (
            select p.vgh, p.leaf, p.level, p.leaf_concept, p.concept
            from anondb.built_pairs(built) as p
        ), likeness as (
            -- Computed, not kept in concept_similarity: a run that judges what it has built throws
            -- it away, and what another one keeps at the same time would be in its way.
            select s.a, s.b, s.similarity
            from (select array_agg(d.leaf_concept) as leaves, array_agg(d.concept) as concepts
                  from (select distinct p.leaf_concept, p.concept from pair as p) as d) as u
            cross join lateral anondb.similarities(u.leaves, u.concepts, judge_vghs.measure) as s
            where u.leaves is not null
        ), loss as (
            select t.vgh, t.leaf, t.level, t.loss from anondb.vgh_loss as t
            where t.vgh = any (known) and t.measure = judge_vghs.measure
            union all
            select p.vgh, p.leaf, p.level, 1 - s.similarity
            from pair as p join likeness as s on s.a = p.leaf_concept and s.b = p.concept
        ), lost as (
            select t.vgh, t.level,
                   case when aggregate = 'max' then max(t.loss) filter (where c.n > 0)
                        else sum(t.loss * c.n) / nullif(sum(c.n::double precision), 0) end as loss
            from loss as t
            join counted as c on c.vgh = t.vgh and c.leaf = t.leaf
            group by t.vgh, t.level
        ), meaning as (
            -- VghGSL with uniform weights
            select l.vgh, avg(l.loss) as semq from lost as l group by l.vgh
        ), shape as (
            -- a node and its d generalizations share only the root with it: d(c, root) = log2(1 + d
            -- / (d + 1))
            select s.vgh,
                   avg((ln(1 + s.depth / (s.depth + 1)::double precision)
                        / ln(2::double precision)) ^ 2) as priv,
                   avg(s.leaves) filter (where not s.leaf)::double precision as isize
            from anondb.vgh_shape(vghs) as s group by s.vgh
        ), held as (
            -- the sum of bigints would be numeric, and slow
            select p.vgh, p.level, p.node, sum(c.n::double precision) as n
            from anondb.vgh_path as p join counted as c on c.vgh = p.vgh and c.leaf = p.leaf
            where p.vgh = any (vghs) group by p.vgh, p.level, p.node
        ), met as (
            -- a class without records is in no release
            select h.vgh, h.level, bool_and(h.n >= judge_vghs.k) as met
            from held as h where h.n > 0 group by h.vgh, h.level
        ), lowest as (
            select m.vgh, min(m.level) filter (where m.met) as level from met as m group by m.vgh
        )
        select v.name, m.semq, s.priv,
               coalesce(d.level::double precision / v.height, 1), s.isize
        from unnest(vghs) with ordinality as i (id, place)
        join anondb.vgh as v on v.id = i.id
        join shape as s on s.vgh = i.id
        left join meaning as m on m.vgh = i.id
        left join lowest as d on d.vgh = i.id
        order by i.place;
end $$;
comment on function anondb.judge_vghs(int[], int[], int[], int, text, text, regclass, name) is
'The aspects of hierarchies, of which the known ones have their semantic losses kept, and the '
'built ones the concepts to compute them from; see anondb.vgh_aspects.';

create function anondb.vgh_aspects(
    vghs text[], k int = 5, measure text = 'wup', aggregate text = 'max',
    source regclass = null, source_column name = null)
returns table (vgh text, semq double precision, priv double precision,
    distrn double precision, isize double precision)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_ids int[];
    v_known int[];
    v_built int[];
begin
    perform anondb.check_measure(measure);
    perform anondb.check_aggregate(aggregate);
    if k is null or k < 1 or coalesce(cardinality(vghs), 0) = 0
        or (source is null) <> (source_column is null) then
        raise exception 'aspects are of one hierarchy or more, for a k from 1 on, by a table with '
                        'a column or by neither'
            using errcode = 'SA241', hint = 'vghs => array[''job.1'', ''job.2''], k => 5';
    end if;
    select array_agg(u.id order by u.place), array_agg(u.id) filter (where u.is_built),
           array_agg(u.id) filter (where not u.is_built and anondb.prepare_meaning(u.name, measure))
    into v_ids, v_built, v_known
    from (select o.name, o.place, f.id,
                 exists (select from anondb.vgh_sense as s
                         where s.vgh = f.id and s.how = 'built') as is_built
          from unnest(vghs) with ordinality as o (name, place)
          cross join lateral (select anondb.find_vgh(o.name) as id offset 0) as f) as u;
    return query
        select j.vgh, j.semq, j.priv, j.distrn, j.isize
        from anondb.judge_vghs(v_ids, v_known, v_built, k, measure, aggregate, source,
                               source_column) as j;
end $$;
comment on function anondb.vgh_aspects(text[], int, text, text, regclass, name) is
'Four sides of hierarchies, lower is better: semq, the Generalization Semantic Loss (NULL where '
'nothing means anything); priv, the semantic variance; distrn, the lowest level where every class '
'holds k records, as a share of the height (1 if none does); isize, the mean number of leaves '
'below an inner node. With a table and a column leaves count as often as they occur, else once. '
'Raises SA241 for a call that does not fit.';

create function anondb.rank_vghs(
    vghs text[], semq double precision = 25, priv double precision = 25,
    distrn double precision = 25, isize double precision = 25, k int = 5, measure text = 'wup',
    aggregate text = 'max', source regclass = null, source_column name = null)
returns table (vgh text, score double precision, rank bigint,
    semq_score double precision, semq_rank bigint, priv_score double precision, priv_rank bigint,
    distrn_score double precision, distrn_rank bigint, isize_score double precision,
    isize_rank bigint)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- E(V) = sum of w * reward; reward = candidates + 1 - rank, and ties share the better rank
begin
    if exists (select from unnest(array[semq, priv, distrn, isize]) as w (x)
               where w.x is null or w.x < 0)
        or not abs(semq + priv + distrn + isize - 100) <= 1e-6
    then
        raise exception 'the weights of the aspects do not sum to 100'
            using errcode = 'SA242',
            hint = 'For example semq 40, priv 20, distrn 20, isize 20; none below 0.';
    end if;
    return query
        with ranked as (
            -- rounded, so that figures that differ by an error of arithmetic are equal
            select a.vgh, row_number() over () as place, count(*) over () as candidates,
                   a.semq, rank() over (order by round(a.semq::numeric, 9)) as semq_rank,
                   a.priv, rank() over (order by round(a.priv::numeric, 9)) as priv_rank,
                   a.distrn, rank() over (order by round(a.distrn::numeric, 9)) as distrn_rank,
                   a.isize, rank() over (order by round(a.isize::numeric, 9)) as isize_rank
            from anondb.vgh_aspects(vghs, k, measure, aggregate, source, source_column) as a
        ), weighted as (
            select r.*,
                   -- who has no meaning has no reward for it
                   case when r.semq is null then 0
                        else rank_vghs.semq * (r.candidates + 1 - r.semq_rank) end
                   + rank_vghs.priv * (r.candidates + 1 - r.priv_rank)
                   + rank_vghs.distrn * (r.candidates + 1 - r.distrn_rank)
                   + rank_vghs.isize * (r.candidates + 1 - r.isize_rank) as score
            from ranked as r
        )
        select w.vgh, w.score, pg_catalog.rank() over (order by round(w.score::numeric, 9) desc),
               w.semq, case when w.semq is not null then w.semq_rank end,
               w.priv, w.priv_rank, w.distrn, w.distrn_rank, w.isize, w.isize_rank
        from weighted as w
        order by round(w.score::numeric, 9) desc, w.place;
end $$;
comment on function anondb.rank_vghs(
    text[], double precision, double precision, double precision, double precision, int, text, text,
    regclass, name) is
'Ranks hierarchies by the weighted rewards of their aspects (anondb.vgh_aspects), best first; '
'among equals the one that is named first. Raises SA242 for weights that do not sum to 100.';
