-- What whoever computes with the numbers of a release gets: means, deviations and correlations.
--
-- Sums are of exact numbers, so that the order of the rows says nothing. What is not finite does
-- not count.

create function anondb.correlation(n numeric, x numeric, y numeric, xx numeric, yy numeric,
                                   xy numeric) returns double precision
language sql immutable parallel safe
return case when n > 1 and n * xx > x * x and n * yy > y * y
            then ((n * xy - x * y) / (sqrt(n * xx - x * x) * sqrt(n * yy - y * y)))::float8 end;
comment on function anondb.correlation(numeric, numeric, numeric, numeric, numeric, numeric) is
'Pearson''s correlation of n pairs by their sums: of x, y, their squares and products. NULL where '
'one of the two is always the same.';

create function anondb.number_figures(relation regclass, columns name[], changed boolean[] = null)
returns table (place int, other int, n bigint, mean double precision, deviation double precision,
               correlation double precision)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_sums text[] = '{}';
    v_pairs int[] = '{}';
    v_values text;
    v_all numeric[];
begin
    perform anondb.check_columns(relation, columns);
    select string_agg(format('case when abs(t.%1$I::numeric) < ''Infinity'' then t.%1$I::numeric '
                             'end as v%2$s', c.name, c.i), ', ' order by c.i)
    into v_values from unnest(columns) with ordinality as c (name, i);
    for place in 1 .. cardinality(columns) loop
        for other in place .. cardinality(columns) loop
            continue when other > place and not coalesce(changed[place] or changed[other], true);
            v_pairs := v_pairs || (place * 10000 + other);
            v_sums := v_sums || case when other = place
                then format('count(x.v%1$s), avg(x.v%1$s), stddev_samp(x.v%1$s), 0, 0, 0', place)
                else format('count(x.v%1$s + x.v%2$s), '
                            'sum(x.v%1$s) filter (where x.v%2$s is not null), '
                            'sum(x.v%2$s) filter (where x.v%1$s is not null), '
                            'sum(x.v%1$s * x.v%1$s) filter (where x.v%2$s is not null), '
                            'sum(x.v%2$s * x.v%2$s) filter (where x.v%1$s is not null), '
                            'sum(x.v%1$s * x.v%2$s)', place, other) end;
        end loop;
    end loop;
    execute format('select array[%s]::numeric[] from (select %s from %s as t) as x',
                   array_to_string(v_sums, ', '), v_values, relation) into v_all;
    return query
        select p.pair / 10000, p.pair % 10000, v_all[p.i * 6 - 5]::bigint,
               case when p.pair / 10000 = p.pair % 10000 then v_all[p.i * 6 - 4]::float8 end,
               case when p.pair / 10000 = p.pair % 10000 then v_all[p.i * 6 - 3]::float8 end,
               case when p.pair / 10000 <> p.pair % 10000 then anondb.correlation(
                   v_all[p.i * 6 - 5], v_all[p.i * 6 - 4], v_all[p.i * 6 - 3],
                   v_all[p.i * 6 - 2], v_all[p.i * 6 - 1], v_all[p.i * 6]) end
        from unnest(v_pairs) with ordinality as p (pair, i) order by p.i;
end $$;
comment on function anondb.number_figures(regclass, name[], boolean[]) is
'Of each of these columns its mean and standard deviation, and of each pair of them Pearson''s '
'correlation, of n records: place and other count the columns, equal for one column alone. Of '
'pairs only those with a changed column, if these are given.';

create function anondb.spread_within(relation regclass, of_column name, classes name[])
returns double precision
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_share double precision;
begin
    perform anondb.check_columns(relation, classes || of_column);
    execute format(
        'select (sum(c.squares - c.total * c.total / c.n)
                 / nullif(sum(c.squares) - sum(c.total) * sum(c.total) / sum(c.n), 0))::float8
         from (select count(v.x) as n, sum(v.x) as total, sum(v.x * v.x) as squares
               from (select t.*, t.%1$I::numeric as x from %2$s as t) as v
               where abs(v.x) < ''Infinity'' group by %3$s) as c',
        of_column, relation,
        coalesce((select string_agg(format('v.%I', c.name), ', ')
                  from unnest(classes) as c (name)), '()'))
    into v_share;
    return v_share;
end $$;
comment on function anondb.spread_within(regclass, name, name[]) is
'The share of the variance of a column that lies within the classes: 0 if each class has one '
'value, 1 if the classes say nothing of it.';

create function anondb.value_loss(original regclass, release regclass, key name, of_column name)
returns double precision
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_share double precision;
begin
    perform anondb.check_link(original, release, key, array[of_column]);
    execute format(
        'select least(1, avg((p.y - p.x) * (p.y - p.x)) / (2 * nullif(var_pop(p.x), 0)))::float8
         from (select o.%1$I::numeric as x, r.%1$I::numeric as y
               from %2$s as o join %3$s as r on %4$s) as p
         where abs(p.x) < ''Infinity'' and abs(p.y) < ''Infinity''',
        of_column, original, release, anondb.same_key(original, release, key))
    into v_share;
    return v_share;
end $$;
comment on function anondb.value_loss(regclass, regclass, name, name) is
'The mean square by which the numbers of a column moved, as a share of twice their variance: what '
'it would be if all records had exchanged theirs.';
