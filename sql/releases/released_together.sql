-- The figures of a comparison of two releases, 1 the older and 2 the newer; 0 is the source.

create function anondb.together_changes()
returns table (name text, value bigint)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set enable_nestloop = off set jit = off as $$
begin
    return query
    with class as materialized (
        -- labels are equal by their texts, whichever release has them
        select c.release, c.class, c.records, array_agg(l.key order by l.place) as labels
        from pg_temp.together_class as c
        cross join lateral unnest(c.codes) as u (code)
        join pg_temp.together_label as l on l.code = u.code
        where c.release in (1, 2)
        group by c.release, c.class, c.records
    ), both_releases as materialized (
        select a.class as a, b.class as b, a.records as n_a, b.records as n_b
        from (select * from class as c where c.release = 1) as a
        full join (select * from class as c where c.release = 2) as b on b.labels = a.labels
    ), alike as materialized (
        -- classes of one size have the same rows if each of the one has its like in the other
        select s.a, count(*) as lines
        from both_releases as s
        join pg_temp.together_kept as x on x.class = s.a
        join pg_temp.together_kept as y on y.class = s.b and y.kept = x.kept and y.n = x.n
        where s.n_a = s.n_b
        group by s.a
    ), lines as materialized (
        select k.class, count(*) as lines
        from pg_temp.together_kept as k where k.release = 1 group by k.class
    )
    select v.name, v.value
    from (select count(s.a) as a, count(s.b) as b, coalesce(sum(s.n_a), 0)::bigint as n_a,
                 coalesce(sum(s.n_b), 0)::bigint as n_b,
                 count(*) filter (where s.a is null) as appeared,
                 count(*) filter (where s.b is null) as vanished,
                 count(*) filter (where s.n_b > s.n_a) as grown,
                 count(*) filter (where s.n_b < s.n_a) as shrunk,
                 count(*) filter (where s.n_a = s.n_b
                                    and coalesce(y.lines, 0) < n.lines) as exchanged
          from both_releases as s
          left join alike as y on y.a = s.a
          left join lines as n on n.class = s.a) as t
    cross join lateral (values
        ('records_before', t.n_a), ('records_after', t.n_b), ('classes_before', t.a),
        ('classes_after', t.b), ('classes_appeared', t.appeared), ('classes_vanished', t.vanished),
        ('classes_grown', t.grown), ('classes_shrunk', t.shrunk),
        ('classes_exchanged', t.exchanged)) as v (name, value);
end $$;
comment on function anondb.together_changes() is
'What changed between two releases that were put down, class by class.';

create function anondb.together_difference(
    columns name[], k int, before int = 1, after int = 2)
returns table (name text, of_column text, value bigint)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set enable_nestloop = off set jit = off as $$
-- Rows of a class that no class which can have the same persons accounts for: they are new for
-- certain, or gone. Where levels stay, these are `new except all old` and `old except all new`.
begin
    return query
    with way (word, here, there) as (values ('entered', after, before), ('left', before, after)),
    link as materialized (
        select 'entered' as word, m.b as own, m.a as other from pg_temp.together_match as m
        where m.first = before and m.second = after
        union all
        select 'left', m.a, m.b from pg_temp.together_match as m
        where m.first = before and m.second = after
    ), told as materialized (
        select w.word, k.class, k.kept, k.n - coalesce(sum(o.n), 0) as n
        from way as w
        join pg_temp.together_kept as k on k.release = w.here
        left join link as l on l.word = w.word and l.own = k.class
        left join pg_temp.together_kept as o
            on o.release = w.there and o.kept = k.kept and o.class = l.other
        group by w.word, k.class, k.kept, k.n
        having k.n > coalesce(sum(o.n), 0)
    ), of_class as materialized (
        select t.word, t.class, sum(t.n)::bigint as n, c.records
        from told as t join pg_temp.together_class as c on c.class = t.class
        group by t.word, t.class, c.records
    ), one as materialized (
        -- all that came or went have the same value, and the class has several
        select t.word, t.class, u.place
        from told as t cross join unnest(columns) with ordinality as u (name, place)
        group by t.word, t.class, u.place
        having count(distinct quote_nullable(t.kept[u.place])) = 1
    ), several as materialized (
        select k.class, u.place
        from pg_temp.together_kept as k
        cross join unnest(columns) with ordinality as u (name, place)
        where k.release in (before, after)
        group by k.class, u.place
        having count(distinct quote_nullable(k.kept[u.place])) > 1
    )
    select 'records_' || w.word, null::text, coalesce(sum(c.n), 0)::bigint
    from way as w left join of_class as c on c.word = w.word group by w.word
    union all
    select w.word || '_below_k', null,
           coalesce(sum(c.n) filter (where c.n < together_difference.k and c.n < c.records),
                    0)::bigint
    from way as w left join of_class as c on c.word = w.word group by w.word
    union all
    select w.word || '_certain', u.name::text, coalesce(sum(c.n), 0)::bigint
    from way as w
    cross join unnest(columns) with ordinality as u (name, place)
    left join (one as o
               join of_class as c on c.word = o.word and c.class = o.class
               join several as s on s.class = o.class and s.place = o.place)
        on o.word = w.word and o.place = u.place
    group by w.word, u.name;
end $$;
comment on function anondb.together_difference(name[], int, int, int) is
'What the rows tell that one of two releases has and the other has not, where they were put down: '
'records, those in groups below k, and those of one value.';

create function anondb.together_cells(columns name[], k int)
returns table (name text, of_column text, value bigint)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set enable_nestloop = off set jit = off as $$
-- Who is in both releases, and in these two classes, is one of the records that both of them have.
begin
    return query
    with cell as materialized (
        select m.a, m.b, x.kept, least(x.n, y.n) as n, c.records as n_a, d.records as n_b
        from pg_temp.together_match as m
        join pg_temp.together_class as c on c.class = m.a
        join pg_temp.together_class as d on d.class = m.b
        join pg_temp.together_kept as x on x.class = m.a
        join pg_temp.together_kept as y on y.class = m.b and y.kept = x.kept
        where m.first = 1 and m.second = 2
    ), candidates as materialized (
        select c.a, c.b, c.n_a, c.n_b, sum(c.n)::bigint as n from cell as c group by 1, 2, 3, 4
    ), value as materialized (
        select v.a, v.b, u.place, count(*) as several, max(v.n) as most
        from unnest(columns) with ordinality as u (name, place)
        cross join lateral (
            select c.a, c.b, sum(c.n) as n from cell as c
            group by c.a, c.b, c.kept[u.place]) as v
        group by v.a, v.b, u.place
    ), alone as materialized (
        select v.class, u.place, count(*) as several, max(v.n) / sum(v.n) as surest
        from unnest(columns) with ordinality as u (name, place)
        cross join lateral (
            select k.class, sum(k.n) as n from pg_temp.together_kept as k where k.release <> 0
            group by k.class, k.kept[u.place]) as v
        group by v.class, u.place
    )
    select 'both_cells', null::text, count(*) from candidates as c
    union all
    select 'both_below_k', null, coalesce(sum(c.n), 0)::bigint
    from candidates as c
    where c.n < together_cells.k and c.n < least(c.n_a, c.n_b)
    union all
    select f.name, u.name::text, coalesce(sum(c.n), 0)::bigint
    from (values ('both_certain'), ('both_surer')) as f (name)
    cross join unnest(columns) with ordinality as u (name, place)
    left join (value as v
               join alone as a on a.class = v.a and a.place = v.place
               join alone as b on b.class = v.b and b.place = v.place
               join candidates as c on c.a = v.a and c.b = v.b)
        on v.place = u.place
       and case f.name when 'both_certain' then v.several = 1 and a.several > 1 and b.several > 1
                else v.most / c.n > greatest(a.surest, b.surest) + 1e-9 end
    group by f.name, u.name;
end $$;
comment on function anondb.together_cells(name[], int) is
'What somebody learns of persons who are in both of two releases that were put down, from the '
'releases alone: at most so many persons have fewer than k candidates, or values that become '
'certain, or surer than by either release.';

create function anondb.together_persons(columns name[], k int, unit boolean)
returns table (name text, of_column text, value bigint)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set enable_nestloop = off set jit = off as $$
-- Persons whom nothing tells apart: the same classes of either release can be theirs. The source's
-- kept values are the person, if persons are told apart, and the columns.
declare
    v_first int := unit::int;
begin
    return query
    with own as materialized (
        -- of each combination of the source's values, the classes that can have it
        select m.a as class,
               coalesce(array_agg(m.b order by m.b) filter (where m.second = 1), '{}') as a,
               coalesce(array_agg(m.b order by m.b) filter (where m.second = 2), '{}') as b
        from pg_temp.together_match as m where m.first = 0 group by m.a
    ), record as materialized (
        select o.a, o.b, k.kept, k.n
        from own as o join pg_temp.together_kept as k on k.class = o.class
    ), persons as materialized (
        select r.a, r.b, grouping(r.a) = 0 as of_a, grouping(r.b) = 0 as of_b,
               case when unit then count(distinct r.kept[1]) else sum(r.n)::bigint end as n
        from record as r group by grouping sets ((r.a, r.b), (r.a), (r.b))
    ), joint as materialized (
        select j.a, j.b, j.n, x.n as n_a, y.n as n_b
        from persons as j
        join persons as x on x.of_a and not x.of_b and x.a = j.a
        join persons as y on y.of_b and not y.of_a and y.b = j.b
        where j.of_a and j.of_b
    ), candidate as materialized (
        select s.side, s.classes, u.place, k.kept[u.place] as value, sum(k.n) as n
        from (select distinct 1 as side, j.a as classes from joint as j
              union all
              select distinct 2, j.b from joint as j) as s
        cross join lateral unnest(s.classes) as c (class)
        join pg_temp.together_kept as k on k.class = c.class
        cross join unnest(columns) with ordinality as u (name, place)
        group by 1, 2, 3, 4
    ), alone as materialized (
        select c.side, c.classes, c.place, count(*) as several, max(c.n) / sum(c.n) as surest
        from candidate as c group by 1, 2, 3
    ), sided as materialized (
        -- first the one release, then the other: not all values of both
        select j.a, j.b, j.n, x.place, x.value, x.n as n_a
        from joint as j join candidate as x on x.side = 1 and x.classes = j.a
    ), told as materialized (
        select j.a, j.b, j.n, j.place, count(*) as several, max(least(j.n_a, y.n)) as most,
               sum(least(j.n_a, y.n)) as mass, min(quote_nullable(j.value)) as one
        from sided as j
        join candidate as y on y.side = 2 and y.classes = j.b and y.place = j.place
         and y.value is not distinct from j.value
        group by 1, 2, 3, 4
    ), surer as materialized (
        select t.*, t.several = 1 and a.several > 1 and b.several > 1 as is_certain,
               t.most / t.mass > greatest(a.surest, b.surest) + 1e-9 as is_surer
        from told as t
        join alone as a on a.side = 1 and a.classes = t.a and a.place = t.place
        join alone as b on b.side = 2 and b.classes = t.b and b.place = t.place
    ), truth as materialized (
        -- those whose only value is their own; a case keeps it out of the join
        select s.place, r.kept, r.n
        from surer as s join record as r on r.a = s.a and r.b = s.b
        where s.is_certain
          and case when quote_nullable(r.kept[s.place + v_first]) = s.one then true end
    )
    select 'persons', null::text, coalesce(sum(j.n), 0)::bigint from joint as j
    union all
    select 'persons_below_k', null, coalesce(sum(j.n), 0)::bigint from joint as j
    where j.n < together_persons.k
      and (cardinality(j.a) = 0 or j.n < j.n_a) and (cardinality(j.b) = 0 or j.n < j.n_b)
    union all
    select 'persons_certain', u.name::text,
           coalesce(sum(s.n) filter (where s.is_certain), 0)::bigint
    from unnest(columns) with ordinality as u (name, place)
    left join surer as s on s.place = u.place group by u.name
    union all
    select 'persons_surer', u.name::text,
           coalesce(sum(s.n) filter (where s.is_surer), 0)::bigint
    from unnest(columns) with ordinality as u (name, place)
    left join surer as s on s.place = u.place group by u.name
    union all
    select 'persons_certain_right', u.name::text,
           coalesce(case when unit then count(distinct r.kept[1]) else sum(r.n) end, 0)::bigint
    from unnest(columns) with ordinality as u (name, place)
    left join truth as r on r.place = u.place
    group by u.name;
end $$;
comment on function anondb.together_persons(name[], int, boolean) is
'What somebody learns of the persons of a source that was put down beside two releases, if he '
'knows their quasi-identifiers: how many have fewer than k candidates in both together, values '
'that become certain, or surer than by either release, and how many of the certain ones are true.';

create function anondb.released_together(
    first regclass, second regclass, quasi name[], sensitive name[] = '{}', k int = 2,
    kept name[] = '{}', vghs text[] = null, source regclass = null, unit name = null)
returns table (name text, of_column text, value bigint)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set jit = off set row_security = off as $$
declare
    v_sensitive name[];
    v_kept name[];
    v_name name;
    v_place int;
begin
    if k < 1 or k is null then
        raise exception 'k is below 1' using errcode = 'SA291', hint = 'Choose k of at least 2.';
    end if;
    foreach v_name in array quasi || sensitive || kept loop
        if not (anondb.has_column(first, v_name) or anondb.has_column(second, v_name)) then
            perform anondb.check_columns(second, array[v_name]);
        end if;
    end loop;
    if source is not null then
        perform anondb.check_columns(source, quasi || array_remove(array[unit], null));
    end if;
    -- a column that only one of them has is known of nobody in the other
    select array_agg(c.name order by c.place) filter (where c.place <= cardinality(sensitive)),
           array_agg(c.name order by c.place) filter (where c.place > cardinality(sensitive))
    into v_sensitive, v_kept
    from unnest(sensitive || kept) with ordinality as c (name, place)
    where anondb.has_column(first, c.name) and anondb.has_column(second, c.name);
    select coalesce(v_sensitive, '{}'), coalesce(v_kept, '{}') into v_sensitive, v_kept;
    if not exists (select from unnest(quasi) as q (name)
                   where anondb.has_column(first, q.name)
                     and anondb.has_column(second, q.name))
       or unit is not null and source is null then
        raise exception '%', case
                when unit is null or source is not null
                then 'the releases have no quasi-identifier in common'
                else 'a person is named, and no source' end
            using errcode = 'SA292',
            hint = 'Name the columns that both releases have and people can be found by; a unit is '
                   'a column of the source.';
    end if;
    if vghs is not null then
        perform anondb.check_vghs(quasi, vghs);
    end if;
    perform anondb.together_open();
    perform anondb.together_take(1, first, quasi, v_sensitive || v_kept);
    perform anondb.together_take(2, second, quasi, v_sensitive || v_kept);
    perform anondb.together_pairs(1, 2, vghs);
    select min(p.place) into v_place
    from generate_series(1, cardinality(quasi)) as p (place)
    where not exists (select from pg_temp.together_pair as r where r.place = p.place)
      and exists (select from pg_temp.together_class as c where c.release = 1)
      and exists (select from pg_temp.together_class as c where c.release = 2);
    if v_place is not null then
        raise exception 'no label of % in one release has anything in common with one in the other',
            quasi[v_place]
            using errcode = 'SA293',
            hint = 'Name its hierarchy, or leave the column out; are these releases of one source?';
    end if;
    perform anondb.together_classes(1, 2);
    return query select c.name, null::text, c.value from anondb.together_changes() as c;
    return query select d.name, d.of_column, d.value
                 from anondb.together_difference(v_sensitive, k) as d;
    return query select d.name, d.of_column, d.value
                 from anondb.together_cells(v_sensitive, k) as d;
    if source is not null then
        perform anondb.together_take(0, source, quasi,
                                     array_remove(array[unit], null) || v_sensitive);
        for v_place in 1 .. 2 loop
            perform anondb.together_pairs(0, v_place, vghs);
            perform anondb.together_classes(0, v_place);
        end loop;
        return query select p.name, p.of_column, p.value
                     from anondb.together_persons(v_sensitive, k, unit is not null) as p;
    end if;
    perform anondb.together_close();
end $$;
comment on function anondb.released_together(regclass, regclass, name[], name[], int, name[],
                                             text[], regclass, name) is
'What changed from one release to another, and what somebody learns who has both, in numbers of '
'records and persons: see docs/releases.md. sensitive and kept are columns that both release as '
'they are; vghs are stored hierarchies in the order of quasi. With the source, persons are those '
'who are in it. Raises SA291 for a k below 1, SA292 where no column is named, SA293 where the '
'labels of a column have nothing in common.';
