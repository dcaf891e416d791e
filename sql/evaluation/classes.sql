-- Measures of the classes of a table: records that agree in all quasi-identifiers. Suppressed
-- records are no class.

create function anondb.class_sizes(release regclass, quasi name[], roots text[] = null)
returns table (n bigint, is_masked boolean)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    perform anondb.check_columns(release, quasi);
    return query execute format(
        'select count(*), bool_or(%s) from %s as t group by %s',
        anondb.masked_rows(quasi, roots), release,
        (select string_agg(format('t.%I', q.name), ', ') from unnest(quasi) as q (name)));
end $$;
comment on function anondb.class_sizes(regclass, name[], text[]) is
'How many records each class has. Of a release that masks what it suppresses, roots tells the '
'class that is none.';

create function anondb.check_size(k bigint) returns bigint
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    if k is null or k < 1 then
        raise exception 'k is %', k
            using errcode = 'SA177', hint = 'It is a number of records, 1 or more.';
    end if;
    return k;
end $$;
comment on function anondb.check_size(bigint) is 'Gives k back. Raises SA177 if it is below 1.';

create function anondb.discernibility(
    release regclass, quasi name[], records bigint = null, k bigint = 1, roots text[] = null)
returns double precision
language sql stable parallel restricted
begin atomic
    -- Bayardo and Agrawal 2005: a record costs as many as it cannot be told from, and all of them
    -- if it is suppressed.
    select coalesce(sum(c.n::double precision ^ 2) filter (where c.is_class), 0)
         + greatest(discernibility.records, sum(c.n))
           * (greatest(discernibility.records, sum(c.n))
              - coalesce(sum(c.n) filter (where c.is_class), 0))
    from (select s.n::double precision as n,
                 not s.is_masked and s.n >= anondb.check_size(discernibility.k) as is_class
          from anondb.class_sizes(release, quasi, roots) as s
          union all
          select 0, false) as c;
end;
comment on function anondb.discernibility(regclass, name[], bigint, bigint, text[]) is
'DM: the sum of the squared sizes of the classes, and for each suppressed record the size of the '
'whole table. records is that of the original, without it the release''s own; classes smaller than '
'k, and rows at the root labels, count as suppressed.';

create function anondb.average_class_size(
    release regclass, quasi name[], k bigint, roots text[] = null)
returns double precision
language sql stable parallel restricted
begin atomic
    -- LeFevre et al. 2006: 1 where every class has just k records
    select sum(c.n)::double precision / count(*) / anondb.check_size(average_class_size.k)
    from anondb.class_sizes(release, quasi, roots) as c where not c.is_masked;
end;
comment on function anondb.average_class_size(regclass, name[], bigint, text[]) is
'C_AVG: the mean size of the classes as a multiple of k; NULL for a table without classes.';
