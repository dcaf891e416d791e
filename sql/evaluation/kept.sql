-- What a table gives away by columns that are released as they are: values that know records apart,
-- or name persons.

create function anondb.base_type_of(type_oid oid) returns oid
language sql stable parallel safe
begin atomic
    with recursive base (oid) as (
        select type_oid
        union all
        select t.typbasetype from base as b join pg_type as t on t.oid = b.oid where t.typtype = 'd'
    )
    select b.oid from base as b join pg_type as t on t.oid = b.oid where t.typtype <> 'd';
end;
comment on function anondb.base_type_of(oid) is
'The type that a domain is made of; any other type is its own.';

create function anondb.type_kind(type_oid oid) returns text
language sql stable parallel safe
begin atomic
    select case
        when b.oid in (20, 21, 23, 26, 700, 701, 790, 1700) then 'number'
        when b.oid = 1082 then 'date'
        when b.oid in (1083, 1114, 1184, 1186, 1266) then 'time'
        when b.oid in (650, 774, 829, 869, 2950) then 'address'
        when b.oid = 16 then 'flag'
        else 'text' end
    from anondb.base_type_of(type_oid) as b (oid);
end;
comment on function anondb.type_kind(oid) is
'What values of a type are to anondb.identifying_columns: number (money and oid too), date, time, '
'address (uuid and network addresses), flag, or text, which is everything else.';

create function anondb.value_patterns(release regclass, of_column name, distinct_values bigint)
returns table (looked_at bigint, emails bigint, phones bigint, median_words bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- A thousand values tell what a column holds. Which ones hangs on a hash of the value: the same in
-- every run. As text they are had by concat, which asks the type; a cast might be one that the
-- type's owner has made, and a record would be null where one of its fields is.
begin
    return query execute format(
        'select count(*),
                count(*) filter (
                    where v.x ~ ''[^\s@]@[[:alnum:]-]+(\.[[:alnum:]-]+)*\.[[:alpha:]]{2,}''),
                count(*) filter (
                    where v.digits between 7 and 15
                      and v.x ~ ''^\s*(\+|00[1-9]|\(|0[1-9])[0-9 ()/.-]*$''
                                ''|^\s*[0-9]{2,4}([ .-][0-9]{2,4}){2,4}\s*$''
                                ''|^\s*[0-9]{3}-[0-9]{4}\s*$''
                      and v.x !~ ''^\s*([0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}''
                                 ''|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2}))(\s|$)''
                      and (v.digits >= 9 or v.x ~ ''[^0-9]'')),
                percentile_disc(0.5) within group (order by v.words)
         from (select d.x, length(regexp_replace(d.x, ''[^0-9]'', '''', ''g'')) as digits,
                      cardinality(regexp_split_to_array(btrim(d.x), ''\s+''))::bigint as words
               from (select distinct left(concat(t.%1$I), 1000) collate "C" as x from %2$s as t
                     where num_nulls(t.%1$I) = 0
                       and hashtextextended(concat(t.%1$I) collate "C", 0) & 1048575 < $1
                    ) as d) as v',
        of_column, release)
    using ceil(1048576 * least(1, 1000.0 / greatest(distinct_values, 1)))::bigint;
end $$;
comment on function anondb.value_patterns(regclass, name, bigint) is
'Of about a thousand different values of a column: how many hold an e-mail address, how many are a '
'phone number, and how many words the middle one has.';

create function anondb.identifying_columns(release regclass, columns name[] = null,
                                           declared_unique name[] = '{}')
returns table (of_column name, kind text, records bigint, distinct_values bigint,
               share double precision, reasons text[])
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- docs/policy.md explains the bounds. Values are counted by their hashes; of a large table one
-- value in 2, 4, 8 and so on, which has the same share of distinct ones, so that about a hundred
-- thousand records of each column are counted.
declare
    v_rows bigint;
    v_part bigint;  -- one value in so many is counted, with all its records
    v_as_text boolean;
    v_base oid;
    v_hash text;
    v_there text;  -- of a value that is not NULL
    v_exact bigint;
    v_found record;
begin
    if columns is not null then
        perform anondb.check_columns(release, columns);
    end if;
    execute format('select count(*) from %s', release) into v_rows;
    v_part := 2 ^ greatest(0, ceil(log(2, greatest(v_rows, 1) / 131072.0)));
    for of_column, kind, v_base, v_as_text in
        select a.attname, anondb.type_kind(a.atttypid), anondb.base_type_of(a.atttypid),
               -- of money there is no hash
               anondb.type_kind(a.atttypid) = 'text' or anondb.base_type_of(a.atttypid) = 790
        from pg_attribute as a
        where a.attrelid = release and a.attnum > 0 and not a.attisdropped
          and (columns is null or a.attname = any (columns))
        order by a.attnum
    loop
        -- NULLs do not count, nor does what more than a tenth of the records share
        -- whole numbers and texts as they are: a record or a concat of them takes twice the time
        v_hash := format(case when v_base in (20, 21, 23) then 'hashint8extended(t.%I, 0)'
                              when v_base in (25, 1043) then 'hashtextextended(t.%I collate "C", 0)'
                              when v_as_text then 'hashtextextended(concat(t.%I) collate "C", 0)'
                              else 'hash_record_extended(row(t.%I), 0)' end, of_column);
        v_there := format(case when v_base in (20, 21, 23, 25, 1043) then 't.%I is not null'
                               else 'num_nulls(t.%I) = 0' end, of_column);
        execute format(
            'select coalesce(sum(g.n), 0)::bigint * $2, count(*) * $2
             from (select count(*) as n from %1$s as t
                   where %2$s and %3$s & $2 - 1 = 0 group by %3$s) as g
             where g.n = 1 or g.n * 10 <= $1',
            release, v_there, v_hash)
        into records, distinct_values using v_rows, v_part;
        share := distinct_values::double precision / nullif(records, 0);
        reasons := '{}';
        if distinct_values >= 1000 and share >= 0.5 or distinct_values >= 100 and share >= 0.8
            and kind <> 'date'
           or distinct_values >= 30 and share >= 0.95
           or distinct_values >= 5 and share >= 0.95 and kind = 'address'
           or distinct_values >= 2 and share = 1 and of_column = any (declared_unique) then
            reasons := array['unique'];
        elsif distinct_values >= 5 and share >= 0.95 and kind = 'time' then
            execute format(
                'select count(*) filter (where extract(second from t.%1$I) <> 0) from %2$s as t '
                'where t.%1$I is not null',
                of_column, release) into v_exact;
            reasons := case when v_exact * 2 > records then array['unique'] else '{}' end;
        end if;
        if kind = 'text' and distinct_values >= 2 then
            select p.looked_at, p.emails, p.phones, p.median_words into v_found
            from anondb.value_patterns(release, of_column, distinct_values) as p;
            reasons := reasons
                || case when v_found.emails * 10 > v_found.looked_at then array['e-mail']
                        else '{}' end
                || case when v_found.phones * 2 > v_found.looked_at then array['phone']
                        else '{}' end
                || case when v_found.median_words >= 8 and distinct_values >= 10 and share >= 0.5
                        then array['free text'] else '{}' end;
        end if;
        return next;
    end loop;
end $$;
comment on function anondb.identifying_columns(regclass, name[], name[]) is
'Which columns of a table know its records apart: of each, how many records have a value that '
'counts, how many different ones there are (of large tables estimated), their share, and why the '
'column identifies (unique, e-mail, phone, free text; empty if it does not). NULLs, and values '
'that more than a tenth of the records share, do not count.';

create function anondb.linked_rows(release regclass, pseudonym name, quasi name[], k bigint)
returns table (persons bigint, several bigint, most bigint, rare bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- The rows of a person are known by their classes, each as often as it comes. NULL is nobody.
begin
    perform anondb.check_columns(release, quasi || pseudonym);
    execute format(
        'select count(*), count(*) filter (where p.n > 1), coalesce(max(p.n), 0)
         from (select count(*) as n from %2$s as t where t.%1$I is not null group by t.%1$I) as p',
        pseudonym, release)
    into persons, several, most;
    if several = 0 then
        rare := 0;
        return next;
        return;
    end if;
    return query execute format(
        'with class as (
             select t.%1$I as person, %2$s as class from %3$s as t where t.%1$I is not null),
         tree as (
             select c.person, count(*) as n, array_agg(c.class order by c.class) as classes
             from class as c group by c.person),
         alike as (select count(*) as persons, max(t.n) as n from tree as t group by t.classes)
         select coalesce(sum(a.persons), 0)::bigint,
                coalesce(sum(a.persons) filter (where a.n > 1), 0)::bigint,
                coalesce(max(a.n), 0),
                coalesce(sum(a.persons) filter (where a.persons < $1), 0)::bigint
         from alike as a',
        pseudonym,
        (select format('dense_rank() over (order by %s)', string_agg(format('t.%I', q), ', '))
         from unnest(quasi) as q),
        release)
    using k;
end $$;
comment on function anondb.linked_rows(regclass, name, name[], bigint) is
'What a pseudonym that links the rows of a person gives away: persons, those with several rows, '
'the most rows of one, and persons whose rows, taken together, are those of fewer than k.';
