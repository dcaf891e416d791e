-- Measures of a release that anyone can ask in SQL, on any table, with the caller's own rights.

create function anondb.check_columns(release regclass, columns name[]) returns void
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_missing text;
begin
    if coalesce(cardinality(columns), 0) = 0 then
        raise exception 'no quasi-identifier is named'
            using errcode = 'SA110', hint = 'Name at least one column: array[''age'', ''zip'']';
    end if;
    select string_agg(coalesce(quote_ident(c.name), 'NULL'), ', ' order by c.name) into v_missing
    from unnest(columns) as c (name)
    where not exists (
        select from pg_attribute as a
        where a.attrelid = release and a.attname = c.name and a.attnum > 0 and not a.attisdropped);
    if v_missing is not null then
        raise exception '% has no column %', release, v_missing
            using errcode = 'SA111', hint = 'Give names as the catalogue spells them, without quotes.';
    end if;
end $$;
comment on function anondb.check_columns(regclass, name[]) is
'Raises SA110 where no column is named, SA111 where a relation does not have one of them.';

create function anondb.k_anonymity(release regclass, quasi name[]) returns bigint
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Samarati 2001: the size of the smallest class of records that agree in all quasi-identifiers.
-- GROUP BY takes NULLs for equal, so records with NULLs form classes as all others do.
declare
    v_k bigint;
begin
    perform anondb.check_columns(release, quasi);
    execute format(
        'select min(c.n) from (select count(*) as n from %s as t group by %s) as c',
        release,
        (select string_agg(format('t.%I', q.name), ', ') from unnest(quasi) as q (name)))
    into v_k;
    return coalesce(v_k, 0);
end $$;
comment on function anondb.k_anonymity(regclass, name[]) is
'The k that a table reaches: the size of its smallest class by the quasi-identifiers, NULL counted as a value; 0 for an empty table.';
