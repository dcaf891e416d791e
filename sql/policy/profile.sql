-- What a draft of a policy is made of: counts over a sample of a table. Nobody's value leaves the
-- server; what does is how many there are, how many look like this or that, and rough sizes.

create function anondb.draft_sample(source regclass, most bigint = 50000)
returns table (records double precision, looked_at bigint)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- Whatever is neither a number, a time, an address nor a flag is kept as the start of its text. A
-- table that is small is read once and kept whole. Of a larger one every page is looked at, and a
-- row is taken by a draw that is the same each time; what has no pages is read twice.
declare
    v_kind "char" := (select c.relkind from pg_class as c where c.oid = source);
    v_guess double precision := (select c.reltuples from pg_class as c where c.oid = source);
    v_columns text := (
        select string_agg(case when anondb.type_kind(a.atttypid) <> 'text'
                               then format('t.%I', a.attname)
                               else format('case when num_nulls(t.%1$I) = 0 then '
                                           'left(concat(t.%1$I), 1000) end collate "C" as %1$I',
                                           a.attname) end, ', ' order by a.attnum)
        from pg_attribute as a
        where a.attrelid = source and a.attnum > 0 and not a.attisdropped);
    v_share double precision;
begin
    drop table if exists pg_temp.anondb_sample;
    if v_guess < 0 or v_kind not in ('r', 'm') or v_guess <= most * 1.5 then
        execute format('select count(*) from (select from %s as t limit $1) as few', source)
        into v_guess using most + 1;
        if v_guess > most then
            execute format('select count(*) from %s as t', source) into v_guess;
        end if;
    end if;
    v_share := least(1, most / greatest(v_guess, 1));
    perform setseed(0.5);
    execute format(
        'create temporary table anondb_sample on commit drop as select %s from %s as t%s%s',
        v_columns, source,
        case when v_share < 1 and v_kind in ('r', 'm')
             then format(' tablesample bernoulli (%s) repeatable (1)', v_share * 100) end,
        case when v_share < 1 and v_kind not in ('r', 'm')
             then format(' where random() < %s', v_share) end);
    get diagnostics looked_at = row_count;
    records := case when v_share < 1 then v_guess else looked_at end;
    return next;
end $$;
comment on function anondb.draft_sample(regclass, bigint) is
'Copies about so many rows of a table to the temporary table anondb_sample, which lasts as long as '
'the transaction; the same ones each time. Says how many records the table has, by the server''s '
'statistics where they know it, and how many were taken.';

create function anondb.column_shapes(sample regclass)
returns table (of_column name, kind text, filled bigint, distinct_values bigint, alone bigint,
               most_frequent bigint, longest int, whole bigint, negative bigint, ages bigint,
               years bigint, spread double precision, old bigint, tail double precision,
               high double precision)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- A spread is that of the middle nine tenths, to one digit: no record's value. Of dates it is in
-- days. Where the tail begins is rounded up to one digit, which is no record's value either, or
-- that of many.
declare
    v_type oid;
    v_number text;
    v_ends double precision[];
    v_high double precision;
    v_most double precision;
    v_digit double precision;
begin
    for of_column, v_type in
        select a.attname, anondb.base_type_of(a.atttypid) from pg_attribute as a
        where a.attrelid = sample and a.attnum > 0 and not a.attisdropped order by a.attnum
    loop
        kind := anondb.type_kind(v_type);
        execute format(
            'select coalesce(sum(g.n) filter (where num_nulls(g.v) = 0), 0)::bigint,
                    count(*) filter (where num_nulls(g.v) = 0),
                    count(*) filter (where num_nulls(g.v) = 0 and g.n = 1),
                    coalesce(max(g.n) filter (where num_nulls(g.v) = 0), 0),
                    coalesce(max(length(concat(g.v))), 0)
             from (select t.%1$I as v, count(*) as n from %2$s as t group by t.%1$I) as g',
            of_column, sample)
        into filled, distinct_values, alone, most_frequent, longest;
        whole := null; negative := null; ages := null; years := null; spread := null;
        old := null; tail := null; high := null; v_high := null; v_most := null;
        v_number := case when kind = 'number' then format('t.%I::numeric', of_column)
                         when kind = 'date' or v_type in (1114, 1184)
                         then format('extract(epoch from nullif(nullif(t.%1$I, ''infinity''), '
                                     '''-infinity''))::numeric / 86400', of_column) end;
        if v_number is not null then
            execute format(
                'select count(*) filter (where x.v %% 1 = 0), count(*) filter (where x.v < 0),
                        count(*) filter (where x.v between 0 and 120),
                        count(*) filter (where x.v %% 1 = 0 and x.v between 1850 and 2100),
                        percentile_disc(array[0.05, 0.95]) within group (order by x.v)::float8[],
                        count(*) filter (where x.v %3$s), max(x.v)::double precision
                 from (select case when n.v between -1e200 and 1e200 then n.v end as v
                       from (select %1$s as v from %2$s as t) as n) as x', v_number, sample,
                case when kind = 'number' then '> 89'
                     else '< extract(epoch from now()) / 86400 - 32872' end)
            into whole, negative, ages, years, v_ends, old, v_most;
            v_high := v_ends[2];
            spread := v_ends[2] - v_ends[1];
            if kind = 'number' and spread > 0 and v_high > 0 then
                tail := (v_most - v_high) / spread;
                tail := case when tail > 0 and tail < 1e9
                             then round((tail / 10 ^ floor(log(tail)))::numeric)
                                  * (10 ^ floor(log(tail)))::numeric else 0 end;
                v_digit := 10 ^ floor(log(v_high));
                high := ceil((v_high / v_digit)::numeric) * v_digit::numeric;
            end if;
            spread := case when spread > 0
                           then round((spread / 10 ^ floor(log(spread)))::numeric)
                                * (10 ^ floor(log(spread)))::numeric else 0 end;
        end if;
        return next;
    end loop;
end $$;
comment on function anondb.column_shapes(regclass) is
'Of each column: its kind, how many records have a value, how many values there are, how many of '
'them one record alone has, how many records have the most frequent one, and the longest text. Of '
'numbers and dates how many are whole, negative, from 0 to 120, and years, and how wide the middle '
'nine tenths are; how many numbers are above 89, and dates more than 90 years ago; of numbers how '
'far the greatest is beyond the middle, and where that ends, rounded up.';

create function anondb.matching_values(sample regclass, of_column name, tests jsonb)
returns table (looked_at bigint, matching bigint[])
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- A thousand different values, by a hash, tell what a column holds. One expression is tried on all
-- of them before the next, so that each is compiled once.
declare
    v_values text[];
    v_test jsonb;
begin
    execute format(
        'select coalesce(array_agg(d.x), ''{}'') from (
            select x.v as x
            from (select distinct btrim(concat(t.%1$I)) collate "C" as v from %2$s as t
                  where num_nulls(t.%1$I) = 0) as x
            order by hashtextextended(x.v, 0), x.v limit 1000) as d', of_column, sample)
    into v_values;
    looked_at := cardinality(v_values);
    matching := '{}';
    for v_test in select e.value from jsonb_array_elements(tests) as e loop
        matching := matching || (
            select count(*) from unnest(v_values) as v (x)
            where v.x ~* (v_test ->> 'pattern')
              and case when v_test ? 'scheme'
                       then anondb.check_digits_hold(v.x, v_test ->> 'scheme', array(
                           select w.value::int
                           from jsonb_array_elements_text(coalesce(v_test -> 'weights', '[]'))
                                with ordinality as w (value, place) order by w.place))
                       else true end);
    end loop;
    return next;
end $$;
comment on function anondb.matching_values(regclass, name, jsonb) is
'Of up to a thousand different values of a column, how many match each of these regular '
'expressions and hold its check digits.';

create function anondb.known_names(sample regclass, of_column name, names text[])
returns table (looked_at bigint, known bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- A value is a name if all but one of its words are, or its only one; titles and initials do not
-- count.
begin
    return query execute format(
        'select count(*), count(*) filter (where w.known > 0 and w.known >= w.words - 1) from (
            select d.x, count(*) as words, count(k.name) as known
            from (select x.v as x
                  from (select distinct left(btrim(concat(t.%1$I)), 100) collate "C" as v
                        from %2$s as t where num_nulls(t.%1$I) = 0) as x
                  order by hashtextextended(x.v, 0), x.v limit 1000) as d
            cross join regexp_split_to_table(
                lower(d.x collate "default"), ''[^[:alpha:]]+'') as p (word)
            left join (select distinct n.name from unnest($1) as n (name)) as k
                   on k.name = p.word collate "C"
            where length(p.word) > 2
              and p.word not in (''mrs'', ''miss'', ''herr'', ''frau'', ''mme'')
            group by d.x) as w', of_column, sample)
    using names;
end $$;
comment on function anondb.known_names(regclass, name, text[]) is
'Of up to a thousand different values of a column with a word in them, how many consist of names '
'of persons, given in lower case.';

create function anondb.told_apart(sample regclass, columns name[])
returns table (combinations bigint, alone double precision, separation double precision)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    return query execute format(
        'select count(*),
                coalesce(count(*) filter (where g.n = 1) / nullif(sum(g.n), 0), 0)::float8,
                coalesce(1 - sum(g.n * (g.n - 1)) / nullif(sum(g.n) * (sum(g.n) - 1), 0),
                         0)::float8
         from (select count(*)::numeric as n from %s as t group by %s) as g',
        sample, (select string_agg(format('t.%I', c.name), ', ' order by c.place)
                 from unnest(columns) with ordinality as c (name, place)));
end $$;
comment on function anondb.told_apart(regclass, name[]) is
'What a set of columns tells together: how many combinations there are, the share of records that '
'are alone with theirs (distinction), and the share of pairs of records that differ in it '
'(separation).';

create function anondb.known_words(sample regclass, of_column name, ontology text)
returns table (looked_at bigint, known bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_terms text[];
begin
    execute format(
        'select coalesce(array_agg(d.x order by d.x), ''{}'') from (
            select distinct concat(t.%1$I) collate "C" as x from %2$s as t
            where num_nulls(t.%1$I) = 0 and concat(t.%1$I) ~ ''[[:alpha:]]'' limit 301) as d',
        of_column, sample)
    into v_terms;
    looked_at := cardinality(v_terms);
    known := case when looked_at <= 300 then (
        select count(distinct s.term)
        from anondb.first_senses(v_terms, anondb.find_ontology(ontology)) as s
        where s.concept is not null) else 0 end;
    return next;
end $$;
comment on function anondb.known_words(regclass, name, text) is
'Of the different values of a column with a letter in them, how many an ontology knows; of more '
'than 300 none is looked up.';
