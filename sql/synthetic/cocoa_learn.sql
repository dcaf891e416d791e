-- What a domain learns of a table: counts at or above a threshold, and nothing of the records below
-- it.

create function anondb.learning_step(source regclass, number_column name, bins int = 20)
returns double precision
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- A grid of multiples of 1, 2 or 5 times a power of ten: its lines are no record's value, and the
-- middle nine tenths of the records, not the one with most, decide how wide it is.
declare
    v_spread double precision;
    v_power double precision;
begin
    execute format(
        'select q.at[2] - q.at[1] from (select percentile_disc(array[0.05, 0.95]) within group '
        '(order by t.%1$I::double precision) as at from %2$s as t where t.%1$I is not null '
        'and t.%1$I::double precision between -1e300 and 1e300) as q',
        number_column, source)
    into v_spread;
    if coalesce(v_spread, 0) <= 0 then
        return 1;
    end if;
    v_power := power(10::double precision, floor(log(v_spread / bins)));
    return v_power * case when v_spread / bins <= v_power then 1
                          when v_spread / bins <= 2 * v_power then 2
                          when v_spread / bins <= 5 * v_power then 5 else 10 end;
end $$;
comment on function anondb.learning_step(regclass, name, int) is
'The width of the bins of a column of numbers: 1, 2 or 5 times a power of ten, about so many bins '
'for nine tenths of the records.';

create function anondb.learning_value(column_name name, step double precision) returns text
language sql immutable parallel safe
begin atomic
    select case when step is null then format('t.%I::text', column_name)
                else format('floor(nullif(nullif(nullif(t.%I::double precision, ''NaN''), '
                            '''Infinity''), ''-Infinity'') '
                            '/ %L::double precision)::numeric::text', column_name, step) end;
end;
comment on function anondb.learning_value(name, double precision) is
'The SQL of what is counted of a column of the relation t: its text, or the number of its bin '
'where it has a step; NULL for what is not finite.';

create function anondb.learned_counts(
    source regclass, columns name[], steps double precision[], threshold int = 10)
returns table (vals text[], n bigint, left_out_values bigint, left_out_records bigint)
language plpgsql stable parallel restricted
-- dates and floats are written in one way, whatever the session's is
set search_path = pg_catalog, pg_temp set datestyle = 'ISO, YMD' set extra_float_digits = 1 as $$
begin
    perform anondb.check_columns(source, columns);
    if coalesce(threshold, 0) < 1 then
        raise exception 'the threshold is a number from 1'
            using errcode = 'SA127', hint = 'For example threshold => 10.';
    end if;
    return query execute format(
        'with counted as materialized (select %s as vals, count(*) as n from %s as t group by 1), '
        'left_out as (select count(*) as combinations, '
        'coalesce(sum(c.n), 0)::bigint as records from counted as c '
        'where c.n < $1 or array_position(c.vals, null) is not null) '
        'select c.vals, c.n, l.combinations, l.records from left_out as l left join counted as c '
        'on c.n >= $1 and array_position(c.vals, null) is null '
        'order by c.n desc, c.vals collate "C"',
        (select format('array[%s]',
                       string_agg(anondb.learning_value(c.name, steps[c.i]), ', ' order by c.i))
         from unnest(columns) with ordinality as c (name, i)),
        source)
    using threshold;
end $$;
comment on function anondb.learned_counts(regclass, name[], double precision[], int) is
'How often each combination of values or bins occurs, where it does at least threshold times and '
'has no NULL; every row tells how many combinations and records were left out, and a single row '
'with NULL values if all were. Raises as anondb.check_columns, and SA127 for a threshold below 1.';

create function anondb.mutual_information(
    source regclass, columns name[], steps double precision[])
returns double precision
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- The share of the smaller entropy that the two columns tell of each other, less what chance alone
-- would give (Miller 1955): columns with many values would all seem to depend on each other.
declare
    v_share double precision;
begin
    perform anondb.check_columns(source, columns);
    execute format(
        'with c as (select %s as a, %s as b, count(*)::double precision as n '
        'from %s as t group by 1, 2), '
        'x as (select c.a, sum(c.n) as n from c group by 1), '
        'y as (select c.b, sum(c.n) as n from c group by 1), '
        'h as (select (select sum(c.n) from c) as total, '
        '(select count(*) from x) as xs, (select count(*) from y) as ys, '
        '(select count(*) from c) as cells, (select sum(c.n * ln(c.n)) from c) as xy, '
        '(select sum(x.n * ln(x.n)) from x) as x, (select sum(y.n * ln(y.n)) from y) as y) '
        'select ((h.xy - h.x - h.y) / h.total + ln(h.total) '
        '- (h.cells - h.xs - h.ys + 1)::double precision / (2 * h.total)) '
        '/ nullif(least(ln(h.total) - h.x / h.total, ln(h.total) - h.y / h.total), 0) from h',
        anondb.learning_value(columns[1], steps[1]),
        anondb.learning_value(columns[2], steps[2]), source)
    into v_share;
    return least(greatest(coalesce(v_share, 0), 0), 1);
end $$;
comment on function anondb.mutual_information(regclass, name[], double precision[]) is
'The normalized mutual information of two columns in [0, 1], numbers in bins. Raises as '
'anondb.check_columns.';

create function anondb.frequency_moments(source regclass, column_name name)
returns table (mean double precision, deviation double precision)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    perform anondb.check_columns(source, array[column_name]);
    return query execute format(
        'select avg(c.share), stddev_pop(c.share) from ('
        'select count(*) / sum(count(*)) over () :: double precision as share from %s as t '
        'group by t.%I) as c',
        source, column_name);
end $$;
comment on function anondb.frequency_moments(regclass, name) is
'Mean and deviation of the relative frequencies of a column''s values. Raises as '
'anondb.check_columns.';
