-- How many classes there are of each size, and how many persons: what the measures of risk rest on.

create function anondb.class_profile(
    release regclass, quasi name[], population regclass = null, roots text[] = null,
    counts name = null)
returns table (dropped int, size bigint, population_size bigint, classes bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, YMD' set timezone = 'UTC' as $$
begin
    perform anondb.check_columns(release, quasi);
    if population is not null then
        perform anondb.check_columns(population, quasi);
    end if;
    -- a class is found in the population by one text of all its values, in which none can be
    -- mistaken for another
    return query execute (
        select format(
            'with class as materialized (
                 select %1$s, %9$s as n from %2$s as t where not (%3$s) group by %4$s
             ), population as materialized (
                 %5$s
             )
             select null::int, t.n, %8$s, count(*)
             from (select %6$s as key, t.n from class as t) as t
             left join population as p on p.key = t.key
             group by t.n, p.n
             union all %7$s',
            string_agg(format('t.%I as q%s', q.name, q.i), ', '), release,
            anondb.masked_rows(quasi, roots),
            string_agg(q.i::text, ', '),
            case when population is null
                 then 'select null::text as key, null::bigint as n where false'
                 else format('select %s as key, count(*) as n from %s as t group by 1',
                             string_agg(format('quote_nullable(t.%I::text)', q.name),
                                        ' || '','' || '), population) end,
            case when population is null then 'null::text'
                 else string_agg(format('quote_nullable(t.q%s::text)', q.i), ' || '','' || ') end,
            string_agg(format(
                'select %s, null, null, count(*) from (select from class as t group by %s) as d',
                q.i,
                coalesce((select string_agg(format('t.q%s', o.i), ', ')
                          from generate_series(1, cardinality(quasi)) as o (i)
                          where o.i <> q.i), '()')),
                ' union all '),
            case when population is null then 'null::bigint' else 'greatest(p.n, t.n)' end,
            case when counts is null then 'count(*)' else format('sum(t.%I)::bigint', counts) end)
        from unnest(quasi) with ordinality as q (name, i));
end $$;
comment on function anondb.class_profile(regclass, name[], regclass, text[], name) is
'How many classes there are of each size in a table and in its population (dropped is NULL), and '
'how many there would be without one of the quasi-identifiers (dropped is its place). Rows at the '
'root labels are no class. counts names a column that says how many records a row stands for.';

create function anondb.code_profile(coded regclass, codes name[], counts name)
returns table (dropped int, size bigint, population_size bigint, classes bigint)
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp set jit = off as $$
-- Codes lie side by side in numbers of 8 bytes, as many as fit: a class is one or two of them, and
-- without a column it is the same less that column's part.
declare
    v_lows int[];
    v_widths bigint[];
    v_words int[] := '{}';
    v_places bigint[] := '{}';  -- what a code is multiplied by
    v_word int := 1;
    v_free numeric := 2::numeric ^ 62;
    v_place numeric := 1;
begin
    perform anondb.check_columns(coded, codes || counts);
    execute (
        select format('select array[%s], array[%s] from %s as t',
            string_agg(format('min(t.%I)', c.name), ', ' order by c.i),
            string_agg(format('max(t.%1$I)::bigint - min(t.%1$I) + 1', c.name), ', ' order by c.i),
            coded)
        from unnest(codes) with ordinality as c (name, i))
    into v_lows, v_widths;
    if v_lows[1] is null then
        return;  -- without rows there is no class
    end if;
    for i in 1 .. cardinality(codes) loop
        if v_place * v_widths[i] > v_free then
            v_word := v_word + 1;
            v_place := 1;
        end if;
        v_words := v_words || v_word;
        v_places := v_places || v_place::bigint;
        v_place := v_place * v_widths[i];
    end loop;
    return query execute (
        select format(
            'with class as materialized (
                 select %1$s, sum(t.%2$I)::bigint as n from %3$s as t group by %4$s
             )
             select null::int, t.n, null::bigint, count(*) from class as t group by t.n
             union all %5$s',
            string_agg(w.packed, ', ' order by w.word), counts, coded,
            string_agg(w.word::text, ', ' order by w.word),
            case when v_word = 1 then (
                -- sorting single numbers takes a third of the time of hashing them
                select format(
                    'select d.i::int, null, null, d.n '
                    'from (select array[%s] as counts from class as t) as c '
                    'cross join lateral unnest(c.counts) with ordinality as d (n, i)',
                    string_agg(format('count(distinct t.w1 - t.w1 / %1$s %% %2$s * %1$s)',
                                      v_places[c.i], v_widths[c.i]), ', ' order by c.i))
                from generate_series(1, cardinality(codes)) as c (i))
            else (
                select string_agg(format(
                    'select %s, null, null, count(*) '
                    'from (select from class as t group by %s) as d',
                    c.i,
                    (select string_agg(case when g.word = v_words[c.i] then format(
                                't.w%1$s - t.w%1$s / %2$s %% %3$s * %2$s', g.word, v_places[c.i],
                                v_widths[c.i])
                            else format('t.w%s', g.word) end, ', ')
                     from generate_series(1, v_word) as g (word))), ' union all ' order by c.i)
                 from generate_series(1, cardinality(codes)) as c (i)) end)
        from (select c.word, format('%s as w%s', string_agg(
                  format('(t.%I - %s)::bigint * %s', c.name, c.low, c.place), ' + '),
                                    c.word) as packed
              from unnest(codes, v_lows, v_words, v_places) as c (name, low, word, place)
              group by c.word) as w);
end $$;
comment on function anondb.code_profile(regclass, name[], name) is
'anondb.class_profile of a table whose classes are told apart by whole numbers that are never '
'NULL; counts names the column that says how many records a row stands for.';

create function anondb.are_codes(relation regclass, columns name[]) returns boolean
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_null boolean;
begin
    if (select count(*) from pg_attribute as a
        where a.attrelid = relation and a.attname = any (columns)
          and a.atttypid = 'int4'::regtype) < cardinality(columns)
    then
        return false;
    end if;
    execute (select format('select exists (select from %s as t where %s)', relation,
                           string_agg(format('t.%I is null', c.name), ' or '))
             from unnest(columns) as c (name))
    into v_null;
    return not v_null;
end $$;
comment on function anondb.are_codes(regclass, name[]) is
'Whether all these columns are of type int4, and no row has NULL there.';

create function anondb.person_profile(
    release regclass, quasi name[], unit name, population regclass = null, roots text[] = null)
returns table (dropped int, size bigint, population_size bigint, persons bigint,
               risks double precision)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, YMD' set timezone = 'UTC' as $$
-- Of a person with several rows, the one in the class with the fewest persons tells most. NULLs are
-- one person.
begin
    perform anondb.check_columns(release, quasi || unit);
    if population is not null then
        perform anondb.check_columns(population, quasi);
    end if;
    return query execute (
        select format(
            'with member as materialized (
                 select distinct %1$s, t.%2$I as u from %3$s as t where not (%4$s)
             ), population as materialized (
                 %5$s
             ), person as (
                 select min(s.n) as n, min(greatest(p.n, s.n)) as of_population
                 from (select m.u, count(*) over (partition by %6$s) as n, %7$s as key
                       from member as m) as s
                 left join population as p on p.key = s.key
                 group by s.u
             )
             select null::int, p.n, %8$s, count(*), count(*)::double precision / p.n
             from person as p group by p.n, 3
             union all %9$s',
            string_agg(format('t.%I as q%s', q.name, q.i), ', '), unit, release,
            anondb.masked_rows(quasi, roots),
            case when population is null
                 then 'select null::text as key, null::bigint as n where false'
                 else format('select %s as key, %s as n from %s as t group by 1',
                             string_agg(format('quote_nullable(t.%I::text)', q.name),
                                        ' || '','' || '),
                             case when exists (select from pg_attribute as a
                                               where a.attrelid = population
                                               and a.attname = unit and not a.attisdropped)
                                  then format('count(distinct t.%I)', unit)
                                  else 'count(*)' end, population) end,
            string_agg(format('m.q%s', q.i), ', '),
            case when population is null then 'null::text'
                 else string_agg(format('quote_nullable(m.q%s::text)', q.i), ' || '','' || ') end,
            case when population is null then 'null::bigint' else 'p.of_population' end,
            string_agg(format(
                'select %1$s, null, null, null, sum(1.0::double precision / p.n)
                 from (select min(s.n) as n
                       from (select d.u, count(*) over (%2$s) as n
                             from (select distinct m.u%3$s from member as m) as d) as s
                       group by s.u) as p', q.i,
                (select 'partition by ' || string_agg(format('d.q%s', o.i), ', ')
                 from generate_series(1, cardinality(quasi)) as o (i) where o.i <> q.i),
                (select string_agg(format(', m.q%s', o.i), '')
                 from generate_series(1, cardinality(quasi)) as o (i)
                 where o.i <> q.i)), ' union all '))
        from unnest(quasi) with ordinality as q (name, i));
end $$;
comment on function anondb.person_profile(regclass, name[], name, regclass, text[]) is
'How many persons there are whose smallest class has so many persons, in a table and in its '
'population (dropped is NULL), with the sum of their risks; and that sum without one of the '
'quasi-identifiers (dropped is its place). unit names the column that names the person.';
