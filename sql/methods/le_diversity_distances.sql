-- (l, e)-diversity: how far apart sensitive values are in their hierarchy, and which are close.

create function anondb.path_ladder(path text[]) returns table (level int, label text, below int)
language sql immutable parallel safe
begin atomic
    -- A short branch is padded with its leaf's own label; in the tree there is one node for all of
    -- them.
    select s.level::int, s.label,
           (sum(s.step)
            over (order by s.level rows between unbounded preceding and current row))::int
    from (select u.level - 1 as level, u.label,
                 (u.level > 1
                  and u.label is distinct from lag(u.label) over (order by u.level))::int as step
          from unnest(path) with ordinality as u (label, level)) as s;
end;
comment on function anondb.path_ladder(text[]) is
'The labels of a path from a leaf to the root, and at each level how many steps of the unpadded '
'tree the leaf lies below. NULL is a leaf that hangs from the root.';

create function anondb.path_distance(a text[], b text[]) returns double precision
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Wang et al.: ((h1 - hc) + (h2 - hc)) / 2, levels counted from the root of the unpadded tree
declare
    v_steps int := 0;
begin
    for i in reverse coalesce(cardinality(a), 0) - 1 .. 1 loop
        -- below the node where the two paths meet, which no longer agree from there down
        if v_steps > 0 or a[i] is distinct from b[i] then
            v_steps := v_steps + (a[i] is distinct from a[i + 1])::int
                + (b[i] is distinct from b[i + 1])::int;
        end if;
    end loop;
    return v_steps / 2.0;
end $$;
comment on function anondb.path_distance(text[], text[]) is
'How far two leaves of a hierarchy are apart, given their labels up to the root: the mean number '
'of steps up to the node where they meet, in the tree without padding. Two leaves are e-similar if '
'it is at most e.';

create function anondb.le_similar(paths regclass, e double precision, among int[] = null)
returns table (a int, b int)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    return query execute format(
        'with ladder as materialized (
            -- NULL is a label of its own, and no other one is empty
            select p.value, l.level, coalesce(l.label, '''') as label, l.below
            from %s as p cross join lateral anondb.path_ladder(p.path) as l
            where l.below <= 2 * $1 and ($2 is null or p.value = any ($2)))
         select distinct x.value, y.value
         from ladder as x join ladder as y on y.level = x.level and y.label = x.label
             and y.value <> x.value
         where x.below + y.below <= 2 * $1', paths)
    using e, among;
end $$;
comment on function anondb.le_similar(regclass, double precision, int[]) is
'The pairs of different values, of all or of these, that are at most e apart by '
'anondb.path_distance, each in both orders.';
