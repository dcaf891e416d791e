-- (l, e)-diversity: which sensitive values are close relatives, and which of them share a bucket.
--
-- A run has the tables `paths` (value int, path text[]: the labels of a sensitive value from the
-- leaf to the root) and `counts` (value int, n bigint: how often each occurs).

create function anondb.le_rounds(sizes bigint[], l int) returns bigint
language sql immutable parallel safe
begin atomic
    -- A bucket gives a class one record. Of t classes, the a largest buckets fill t places each at
    -- most, and all others together must fill the rest: (l - a) * t. That bound is reached
    -- (McNaughton 1959). More than all buckets there are not, however large l is.
    select min(div(r.rest, le_rounds.l - r.larger))::bigint
    from (select a.larger, coalesce(sum(s.size) filter (where s.place > a.larger), 0) as rest
          from generate_series(0,
                               least(le_rounds.l - 1, cardinality(le_rounds.sizes))) as a (larger)
          left join (select u.size, row_number() over (order by u.size desc) as place
                     from unnest(le_rounds.sizes) as u (size)) as s on true
          group by a.larger) as r;
end;
comment on function anondb.le_rounds(bigint[], int) is
'How many times one record can be taken from each of the l largest of these buckets before fewer '
'than l are left.';

create function anondb.le_families(paths regclass, counts regclass, e double precision,
                                   portion int = 1)
returns table (members int[], depth int, portions bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    return query execute format(
        'with ladder as (
            select c.value, c.n, a.level, coalesce(a.label, '''') as label, a.below
            from %s as c join %s as p on p.value = c.value
            cross join lateral anondb.path_ladder(p.path) as a
         ), leaf as (
            select s.value, s.n, max(s.below) as depth,
                   max(s.level) filter (where s.below = 1) as level,
                   (array_agg(s.label
                              order by s.level desc) filter (where s.below = 1))[1] as parent
            from ladder as s group by s.value, s.n
         )
         select array_agg(f.value order by f.value), f.depth, sum(f.n / $2)::bigint
         from leaf as f
         group by f.depth, f.level, f.parent, case when $1 < 1 then f.value end', counts, paths)
    using e, portion;
end $$;
comment on function anondb.le_families(regclass, regclass, double precision, int) is
'Values that are e-similar to each other and to the same other values, as siblings are from e = 1 '
'on; how deep they lie below the root, and how many portions of so many records of one value they '
'have.';

create function anondb.le_settle(sizes bigint[], starts int[], near int[], l int) returns int[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- In a tree the deepest leaf is a relative only of leaves that are all relatives of each other: of
-- two relatives that are none of each other, one is deeper than their go-between. So taking the
-- deepest leaf, and no relative of one that is taken, takes as many as there can be (Gavril 1972).
-- Each of these founds a bucket, but for those that have no portion to give.
declare
    v_n constant int := coalesce(cardinality(sizes), 0);
    v_in int[] := array_fill(null::int, array[v_n]);       -- the bucket of each family
    v_held bigint[] := array_fill(0::bigint, array[v_n]);  -- the portions of each bucket
    v_waiting int[];
    v_bridges int[] := '{}';
    v_trial bigint[];
    v_met int[];
    v_classes bigint;
    v_tried bigint;
    i int;
begin
    for i in 1 .. v_n loop
        if sizes[i] > 0 and anondb.le_met(v_in, starts, near, i) = '{}' then
            v_in[i] := i;
            v_held[i] := sizes[i];
        else
            v_waiting := v_waiting || i;
        end if;
    end loop;
    foreach i in array coalesce(array(select w.i from unnest(v_waiting) as w (i)
                                      order by sizes[w.i] desc, w.i), '{}')
    loop
        v_met := anondb.le_met(v_in, starts, near, i);
        if cardinality(v_met) <= 1 then
            v_in[i] := coalesce(v_met[1], i);
            v_held[v_in[i]] := v_held[v_in[i]] + sizes[i];
        else
            v_bridges := v_bridges || i;
        end if;
    end loop;
    if v_bridges = '{}' then
        return v_in;
    end if;
    -- a bridge makes one bucket of several, which pays where it has many records itself
    v_classes := anondb.le_rounds(v_held, l);
    foreach i in array v_bridges loop
        continue when sizes[i] = 0;
        v_met := anondb.le_met(v_in, starts, near, i);
        v_trial := v_held;
        v_trial[v_met[1]] := sizes[i] + (select sum(v_held[m.bucket])
                                         from unnest(v_met) as m (bucket));
        for j in 2 .. cardinality(v_met) loop
            v_trial[v_met[j]] := 0;
        end loop;
        v_tried := anondb.le_rounds(v_trial, l);
        continue when v_tried < v_classes;
        v_classes := v_tried;
        v_held := v_trial;
        v_in[i] := v_met[1];
        for j in 1 .. v_n loop
            if v_in[j] = any (v_met) then
                v_in[j] := v_met[1];
            end if;
        end loop;
    end loop;
    if array_position(v_in, null) is null then
        return v_in;
    end if;
    -- with no value set aside, chains of relatives share a bucket
    v_met := anondb.le_chains(starts, near);
    v_trial := array(
        select coalesce(sum(sizes[c.i]), 0)
        from unnest(v_met) with ordinality as c (chain, i) group by c.chain);
    return case when anondb.le_rounds(v_trial, l) > v_classes then v_met else v_in end;
end $$;
comment on function anondb.le_settle(bigint[], int[], int[], int) is
'The buckets of families of so many portions each, the deepest first; relatives of family i are '
'near[starts[i]] to near[starts[i + 1] - 1]. Families of different buckets are no relatives. NULL '
'for those that are set aside, because the buckets would make fewer classes of l with them.';

create function anondb.le_met(buckets int[], starts int[], near int[], family int) returns int[]
language sql immutable parallel safe
return array(
    select distinct buckets[near[p.place]] as bucket
    from generate_series(starts[family], starts[family + 1] - 1) as p (place)
    where buckets[near[p.place]] is not null order by 1);
comment on function anondb.le_met(int[], int[], int[], int) is
'The buckets that hold a relative of a family.';

create function anondb.le_chains(starts int[], near int[]) returns int[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- union-find: v_up leads to the first of a chain
declare
    v_up int[];
    v_a int;
    v_b int;
begin
    for i in 1 .. coalesce(cardinality(starts), 1) - 1 loop
        v_up[i] := i;
        for p in starts[i] .. starts[i + 1] - 1 loop
            continue when near[p] > i;
            v_a := i;
            v_b := near[p];
            while v_up[v_a] <> v_a loop
                v_up[v_a] := v_up[v_up[v_a]];
                v_a := v_up[v_a];
            end loop;
            while v_up[v_b] <> v_b loop
                v_up[v_b] := v_up[v_up[v_b]];
                v_b := v_up[v_b];
            end loop;
            v_up[greatest(v_a, v_b)] := least(v_a, v_b);
        end loop;
    end loop;
    -- what leads to a place leads down, so that a place is read after those that it leads to
    for i in 1 .. coalesce(cardinality(v_up), 0) loop
        v_up[i] := v_up[v_up[i]];
    end loop;
    return v_up;
end $$;
comment on function anondb.le_chains(int[], int[]) is
'The chains of relatives: families that are relatives, also by way of others, have the same '
'number.';

create function anondb.le_relatives(
    paths regclass, counts regclass, e double precision, portion int,
    out members int[], out families int[], out sizes bigint[], out starts int[], out near int[])
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_family record;
    v_first int[] := '{}';  -- the least value of each family, by which it is looked up
    v_n int := 0;
begin
    members := '{}';
    families := '{}';
    sizes := '{}';
    for v_family in
        select f.members, f.portions from anondb.le_families(paths, counts, e, portion) as f
        order by f.depth desc, f.portions desc, f.members[1]
    loop
        v_n := v_n + 1;
        v_first[v_n] := v_family.members[1];
        sizes[v_n] := v_family.portions;
        members := members || v_family.members;
        families := families || array_fill(v_n, array[cardinality(v_family.members)]);
    end loop;
    with family as (
        select f.first, f.place::int as place
        from unnest(v_first) with ordinality as f (first, place)
    ), pair as materialized (
        select a.place as a, b.place as b
        from anondb.le_similar(paths, e, v_first) as s
        join family as a on a.first = s.a join family as b on b.first = s.b
    )
    select array(select p.b from pair as p order by p.a, p.b),
           array(select 1 + coalesce(sum(n.pairs) over (order by f.place), 0)::int
                 from (select 0 as place union all select g.place from family as g) as f
                 left join (select p.a, count(*) as pairs from pair as p group by p.a) as n
                     on n.a = f.place
                 order by f.place)
    into near, starts;
end $$;
comment on function anondb.le_relatives(regclass, regclass, double precision, int) is
'The families of sensitive values, the deepest first, as anondb.le_settle takes them: sizes, '
'starts and near; and all values (members), each with the number of its family.';

create function anondb.le_buckets(
    paths regclass, counts regclass, l int, e double precision, portion int = 1)
returns table (value int, bucket int)
language sql stable parallel restricted
begin atomic
    -- materialized, as it would else be settled anew for each value
    with settled as materialized (
        select r.members, r.families,
               anondb.le_settle(r.sizes, r.starts, r.near, le_buckets.l) as buckets
        from anondb.le_relatives(le_buckets.paths, le_buckets.counts, le_buckets.e,
                                 le_buckets.portion) as r
    )
    -- a bucket is called by its least value
    select m.value, case when m.bucket is not null
                         then min(m.value) over (partition by m.bucket) end
    from (select v.value, s.buckets[v.family] as bucket
          from settled as s
          cross join lateral unnest(s.members, s.families) as v (value, family)) as m;
end;
comment on function anondb.le_buckets(regclass, regclass, int, double precision, int) is
'Buckets of sensitive values, so that values of different buckets are more than e apart; of the '
'buckets that can be made so, those of which many classes of l values come. NULL for values that '
'are set aside, as they are near to values of several buckets.';

create function anondb.le_first_left(
    paths regclass, counts regclass, l int, e double precision, portion int = 1,
    out classes bigint, out records bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    execute format(
        'select coalesce(anondb.le_rounds(array_agg(b.size), $1), 0), coalesce(sum(b.n), 0)
         from (select case when b.bucket is not null then sum(c.n / $2)::bigint else 0 end as size,
                      sum(c.n) as n
               from anondb.le_buckets(%1$L::regclass, %2$L::regclass, $1, $3, $2) as b
               join %2$s as c on c.value = b.value group by b.bucket) as b', paths, counts)
    into classes, records using l, portion, e;
    records := records - classes * l * portion;
end $$;
comment on function anondb.le_first_left(regclass, regclass, int, double precision, int) is
'How many classes maximal-bucket-first makes of values that occur so often, and how many records '
'it leaves. Of these some may join a class later: it never leaves more.';

create function anondb.le_feasible(
    paths regclass, counts regclass, l int, e double precision, k bigint, may_leave bigint)
returns table (feasible_l int, feasible_e double precision)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_records bigint;
    v_values int;
    v_height int;
    v_e double precision;
    v_portion bigint;
    v_known bigint;  -- the portion that the families were counted by
    v_of record;
    v_classes bigint;
    v_best int := 1;
begin
    execute format('select coalesce(sum(c.n), 0), count(*) from %s as c', counts)
    into v_records, v_values;
    execute format('select max(cardinality(p.path)) - 1 from %s as p', paths) into v_height;
    -- values are multiples of one half apart, and different ones at least 1
    v_e := floor(2 * least(e, v_height)) / 2;
    loop
        v_e := case when v_e < 1 then 0 else v_e end;
        v_known := null;
        for v_l in reverse least(l, v_values) .. v_best + 1 loop
            v_portion := greatest(1, ceil(k::numeric / v_l));
            if v_known is distinct from v_portion then
                select r.* into v_of
                from anondb.le_relatives(paths, counts, v_e, v_portion::int) as r;
                v_known := v_portion;
            end if;
            continue when v_l > cardinality(v_of.sizes);
            select anondb.le_rounds(array_agg(b.size), v_l) into v_classes
            from (select sum(v_of.sizes[s.family])::bigint as size
                  from unnest(anondb.le_settle(v_of.sizes, v_of.starts, v_of.near, v_l))
                      with ordinality as s (bucket, family)
                  where s.bucket is not null group by s.bucket) as b;
            if v_classes > 0 and v_records - v_classes * v_l * v_portion <= may_leave then
                v_best := v_l;
                feasible_l := v_l;
                feasible_e := v_e;
                return next;
                exit;
            end if;
        end loop;
        exit when v_e = 0 or v_best >= l;
        v_e := v_e - 0.5;
    end loop;
end $$;
comment on function anondb.le_feasible(regclass, regclass, int, double precision, bigint, bigint) is
'The largest l and e, up to these, with which maximal-bucket-first leaves no more records than may '
'be left: for the largest e the largest l, then each smaller e that allows a larger l. A bound '
'that is certain: what joins a class later is not counted.';
