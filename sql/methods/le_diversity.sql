-- (l, e)-diversity by maximal-bucket-first over Anatomy (Wang, Han, Wang): which records share a
-- class.
--
-- A run has the tables `paths` (value int, path text[]: the labels of a sensitive value from the
-- leaf to the root), `buckets` (value int, bucket int; NULL for a value that is set aside) and
-- `records` (rid bigint, value int, class bigint and whatever a distance of two records o and r is
-- computed from).

create function anondb.le_first_classes(
    records regclass, buckets regclass, l int, portion int = 1, seed bigint = 0)
returns table (rid bigint, class bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- Maximal bucket first: as long as l buckets are not empty, each of the l largest gives a portion.
-- The loop would come to as many classes and leave as many records as is known from the sizes
-- alone: a bucket that is larger than the number t of classes gives t portions, and all others give
-- theirs, but for at most l - 1. Laid out one bucket after the other, portion p goes to class p mod
-- t: no class gets two of a bucket.
declare
    -- of a value; a portion of one record goes by the number of its record, which nothing has to be
    -- sorted for
    v_number text := case when portion = 1 then 'r.rid' else
        '(row_number() over (partition by r.value '
        'order by hashint8extended(r.rid, $3), r.rid) - 1) / $2' end;
begin
    return query execute format(
        'with counted as (
            select r.value, count(*) / $2 as portions from %1$s as r group by r.value
        ), bucket as (
            select b.bucket, sum(c.portions)::bigint as size
            from counted as c join %2$s as b on b.value = c.value
            where b.bucket is not null group by b.bucket
        ), round as materialized (
            select anondb.le_rounds(array_agg(b.size), $1) as t from bucket as b
        ), spare as (
            select r.t, sum(least(b.size, r.t)) - $1 * r.t as n from bucket as b
            cross join round as r group by r.t
        ), gift as (
            -- what is too much for whole classes stays with the largest of the buckets that could
            -- give all
            select b.bucket, s.t, least(b.size, s.t)
                - (b.size <= s.t and row_number() over (
                    partition by b.size <= s.t order by b.size desc, b.bucket) <= s.n)::int as given
            from bucket as b cross join spare as s
        ), line as (
            select g.bucket, g.t, g.given, sum(g.given) over (order by g.bucket) - g.given as start
            from gift as g
        ), ranked as (
            select r.rid, r.value, %3$s as number from %1$s as r
        ), placed as (
            -- a portion has its place in the bucket, and its records share it; an incomplete one
            -- comes last
            select k.rid, b.bucket, dense_rank() over (
                partition by b.bucket
                order by ($2 > 1 and k.number >= c.portions),
                    hashint8extended((k.value::bigint << 32) + k.number, $3), k.value,
                    k.number) - 1 as place
            from ranked as k join counted as c on c.value = k.value
            join %2$s as b on b.value = k.value
        )
        select p.rid, case when p.place < l.given then ((l.start + p.place) %% l.t)::bigint end
        from placed as p left join line as l on l.bucket = p.bucket', records, buckets, v_number)
    using l, portion, seed;
end $$;
comment on function anondb.le_first_classes(regclass, regclass, int, int, bigint) is
'Every record with the class, from 0, that maximal-bucket-first puts it into; NULL for those that '
'are left over. Each class has a portion of records of one value from each of l buckets.';

create function anondb.le_open_values(records regclass, paths regclass, e double precision)
returns table (value int, remaining bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- Many classes are made of the same values, and are looked at once.
begin
    return query execute format(
        'with kind as materialized (
            select k.id, k.held, k.classes
            from (select row_number() over () as id, c.held, count(*) as classes
                  from (select array_agg(distinct r.value) as held from %1$s as r
                        where r.class is not null group by r.class) as c
                  group by c.held) as k
        ), blocked as (
            select b.value, sum(b.classes) as classes
            from (select distinct s.b as value, k.id, k.classes
                  from kind as k cross join lateral unnest(k.held) as h (value)
                  join (select s.a, s.b from anondb.le_similar(%2$L::regclass, $1) as s
                        union all select p.value, p.value
                        from %2$s as p) as s on s.a = h.value) as b
            group by b.value
        )
        select r.value, count(*) from %1$s as r left join blocked as b on b.value = r.value
        where r.class is null and coalesce(b.classes, 0) < (select sum(k.classes) from kind as k)
        group by r.value', records, paths)
    using e;
end $$;
comment on function anondb.le_open_values(regclass, regclass, double precision) is
'The values of records without a class for which a class holds neither the value itself nor an '
'e-similar one, and how many records these are.';

create function anondb.le_join_nearest(
    records regclass, paths regclass, l int, e double precision, distance text, seed bigint = 0,
    compared bigint = 50000000)
returns bigint
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_classes bigint;
    v_waiting bigint;
    v_size double precision;  -- records of a class
    v_window bigint;          -- classes that are looked at at a time
    v_open int[];
    v_similar int[];
    v_value int;
    v_record record;
    v_from bigint;
    v_nearest bigint;
    v_reopened int[];
    v_joined bigint := 0;
begin
    -- their numbers have no gaps
    execute format('select max(r.class) + 1, count(r.class)::float8 / (max(r.class) + 1) '
                   'from %s as r', records)
    into v_classes, v_size;
    select array_agg(o.value), sum(o.remaining) into v_open, v_waiting
    from anondb.le_open_values(records, paths, e) as o;
    if v_open is null then
        return 0;
    end if;
    v_window := greatest(20, least(v_classes, floor(compared / (v_waiting * v_size))));
    for v_record in execute format(
        'select r.rid, r.value from %s as r where r.class is null '
        'order by hashint8extended(r.rid, $1), r.rid',
        records) using seed
    loop
        continue when not v_record.value = any (v_open);
        if v_value is distinct from v_record.value then
            v_value := v_record.value;
            select coalesce(array_agg(s.b), '{}') into v_similar
            from anondb.le_similar(paths, e) as s where s.a = v_value;
        end if;
        v_nearest := null;
        v_from := case when v_window >= v_classes then 0
                       else abs(hashint8extended(v_record.rid, seed) % v_classes) end;
        for v_turn in 0 .. (v_classes - 1) / v_window loop
            v_nearest := anondb.le_nearest_class(
                records, distance, v_record.rid, v_value, v_similar, l, v_from,
                least(v_window, v_classes - v_turn * v_window), v_classes);
            exit when v_nearest is not null;
            v_from := (v_from + v_window) % v_classes;
        end loop;
        if v_nearest is null then
            v_open := array_remove(v_open, v_value);
            continue;
        end if;
        execute format('update %s as r set class = $1 where r.rid = $2', records)
        using v_nearest, v_record.rid;
        v_joined := v_joined + 1;
        -- in a class that has grown, one more record of a value that it holds may be few enough
        execute format(
            'select array_agg(c.value) from (
                select r.value, count(*) as n, sum(count(*)) over () as size from %s as r
                where r.class = $1 group by r.value) as c
             where (c.n + 1) * $2 <= c.size + 1', records) into v_reopened using v_nearest, l;
        v_open := array(select o.value from unnest(v_open) as o (value)
                        union select o.value from unnest(v_reopened) as o (value));
    end loop;
    return v_joined;
end $$;
comment on function anondb.le_join_nearest(
    regclass, regclass, int, double precision, text, bigint, bigint) is
'Puts each record without a class, in a seeded order, into the nearest class that stays (l, '
'e)-diverse with it, and returns how many have found one. Distance: an expression of two records o '
'and r. Where that were more than so many comparisons of records, not all classes are looked at.';

create function anondb.le_nearest_class(
    records regclass, distance text, rid bigint, value int, similar_values int[], l int,
    from_class bigint, classes bigint, all_classes bigint)
returns bigint
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_class bigint;
begin
    -- rounded, so that a sum in another order is the same; classes beyond the last are the first
    -- ones
    execute format(
        'select o.class from %1$s as o join %1$s as r on r.rid = $1
         where o.class >= $5 and o.class < $5 + $6 or o.class < $5 + $6 - $7
         group by o.class
         having not coalesce(bool_or(o.value = any ($3)), false)
            and (count(*) filter (where o.value = $2) + 1) * $4 <= count(*) + 1
         order by round(avg(%2$s)::numeric, 9), o.class limit 1', records, distance)
    into v_class using rid, value, similar_values, l, from_class, classes, all_classes;
    return v_class;
end $$;
comment on function anondb.le_nearest_class(
    regclass, text, bigint, int, int[], int, bigint, bigint, bigint) is
'Of so many classes from one on, the nearest that stays (l, e)-diverse with the record: by the '
'mean distance to its records, ties to the lower class. NULL if there is none.';
