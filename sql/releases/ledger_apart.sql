-- The rule where sensitive values lie in a table of their own, apart from the persons: m-invariance
-- (Xiao and Tao 2007) by classes that stay as they are. A class is a closed cohort: the persons in
-- it have the same values to be theirs in every release that has them.
--
-- The records of the source lie in a temporary table, with whose they are (person), what they say
-- (mark), and the hash of what is released of them (kept). docs/releases.md has the rule.

create function anondb.ledger_apart(series int, records regclass, batch int, leavers text)
returns table (joining bigint, waiting bigint, departed bigint, left_it bigint, withheld bigint,
               failed bigint, persons bigint, stirred bigint)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    execute format('analyze %s', records);
    execute format(
        'create temporary table ledger_here as
         select m.cohort, m.person, s.mark is not null as stays
         from anondb.member as m
         left join %s as s on s.mark = m.mark and s.person = m.person where m.series = $1', records)
    using series;
    analyze pg_temp.ledger_here;
    insert into pg_temp.ledger_turn (cohort, moves, leaves, whole)
    select h.cohort, false, false, leavers = 'drop' or not bool_or(h.stays)
    from pg_temp.ledger_here as h
    join anondb.cohort as c on c.id = h.cohort and c.class is not null
    group by h.cohort having not bool_and(h.stays);
    insert into pg_temp.ledger_out (class, kept, n)
    select c.class, null, c.records
    from pg_temp.ledger_turn as t join anondb.cohort as c on c.id = t.cohort where t.whole;
    analyze pg_temp.ledger_out;
    select coalesce(sum(c.records) filter (where t.whole), 0),
           coalesce(sum(g.n) filter (where not t.whole), 0), count(*), coalesce(sum(g.n), 0)
    into left_it, departed, stirred, persons
    from pg_temp.ledger_turn as t
    join anondb.cohort as c on c.id = t.cohort
    cross join lateral (select count(*) as n from pg_temp.ledger_here as h
                        where h.cohort = t.cohort and not h.stays) as g;
    -- whoever is known stays as he is, or is withheld
    execute format(
        'with gone as (
             delete from %s as s
             where s.person in (select h.person from pg_temp.ledger_here as h)
             returning s.person, s.mark)
         select count(*) filter (where x.holds is not true),
                count(*) filter (where x.never and x.holds is not true)
         from gone as g
         cross join lateral (
             select bool_or(h.stays and c.class is not null and t.cohort is null) as holds,
                    bool_or(c.class is null and c.origin_class is null) as never
             from pg_temp.ledger_here as h
             join anondb.cohort as c on c.id = h.cohort
             left join pg_temp.ledger_turn as t on t.cohort = h.cohort and t.whole
             where h.person = g.person) as x', records)
    into withheld, failed;
    execute format('select count(*) from %s', records) into joining;
    waiting := 0;
    if joining < batch then
        execute format('delete from %s', records);
        waiting := joining;
        joining := 0;
    end if;
    persons := persons + joining + waiting;
    return next;
end $$;
comment on function anondb.ledger_apart(int, regclass, int, text) is
'Takes from the records those of persons whom the ledger knows, and all where too few others are '
'left to be judged; puts down the classes that are withdrawn. Returns how many records wait, and '
'what became of the others.';

create function anondb.ledger_apart_enter(
    series int, release int, records regclass, classes regclass, of_column int,
    share double precision
) returns table (published bigint, classes_published bigint, fewest bigint, failed bigint)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
-- records have their class and the hash of their value; what has no class has been judged, too
begin
    execute format(
        'create temporary table ledger_dealt as
         select r.person, r.mark, r.kept, r.valued, c.class_id as class
         from %s as r left join %s as c on c.class = r.class', records, classes);
    analyze pg_temp.ledger_dealt;
    insert into anondb.cohort (series, class, began_with, persons, records, digest, of_columns,
                               value_hashes, counts, since)
    select ledger_apart_enter.series, g.class, g.n, g.n, g.n, g.digest,
           coalesce(v.of_columns, '{}'), coalesce(v.hashes, '{}'), coalesce(v.counts, '{}'), release
    from (select d.class, count(*) as n, sum(d.kept) as digest
          from pg_temp.ledger_dealt as d group by d.class) as g
    left join (
        select e.class, array_agg(of_column) as of_columns,
               array_agg(e.valued order by e.valued) as hashes,
               array_agg(e.n order by e.valued) as counts
        from (select d.class, d.valued, count(*) as n
              from pg_temp.ledger_dealt as d group by d.class, d.valued) as e
        group by e.class) as v on v.class is not distinct from g.class
    order by g.class;
    insert into anondb.member (series, cohort, person, kept, mark)
    select ledger_apart_enter.series, c.id, d.person, d.kept, d.mark
    from pg_temp.ledger_dealt as d
    join (select o.id, o.class from anondb.cohort as o
          where o.series = ledger_apart_enter.series and o.since = release) as c
        on coalesce(c.class, 0) = coalesce(d.class, 0);
    update anondb.cohort as c set origin_class = c.class, class = null, until = release
    from pg_temp.ledger_turn as t where t.whole and t.cohort = c.id;
    update anondb.series as s
    set batch = coalesce(s.batch, greatest(share, ceil(x.n / 100.0))::int)
    from (select count(*) as n from pg_temp.ledger_dealt as d where d.class is not null) as x
    where s.id = ledger_apart_enter.series;
    select coalesce(sum(c.records), 0), count(*), coalesce(min(c.persons), 0)
    into published, classes_published, fewest
    from anondb.cohort as c
    where c.series = ledger_apart_enter.series and c.class is not null and c.records > 0;
    select count(*) into failed from pg_temp.ledger_dealt as d where d.class is null;
    return next;
end $$;
comment on function anondb.ledger_apart_enter(
    int, int, regclass, regclass, int, double precision) is
'Enters new classes into the ledger, and those who were judged and have found none; fixes how many '
'wait until they are judged: so many, or a hundredth of the first release.';

create function anondb.ledger_last_class(series int) returns bigint
language sql stable parallel restricted set row_security = on
begin atomic
    select coalesce(max(greatest(coalesce(c.class, 0), coalesce(c.origin_class, 0))), 0)
    from anondb.cohort as c where c.series = ledger_last_class.series;
end;
comment on function anondb.ledger_last_class(int) is
'The largest number that a class of a series has had, where numbers are what classes are known by.';

create function anondb.apart_digests(
    persons regclass, apart regclass, series int, shown name[], sensitive name
) returns table (class bigint, records bigint, valued bigint, digest numeric)
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres' set extra_float_digits = '1' set bytea_output = 'hex' as $$
begin
    return query execute format(
        'select coalesce(p.class, v.class), p.n, v.n, p.digest + v.digest
         from (select t.class_id as class, count(*) as n,
                      sum((anondb.row_number_of(k.row_seed, array[%s]::text[]::text) >> 1)::numeric)
                          as digest
               from only %s as t cross join anondb.ledger_keys($1) as k group by 1) as p
         full join (
              select t.class_id as class, count(*) as n,
                     sum((coalesce(anondb.row_number_of(k.row_seed, t.%I::text), 0) >> 1)::numeric)
                         as digest
              from only %s as t cross join anondb.ledger_keys($1) as k group by 1) as v
             on v.class = p.class',
        (select string_agg(format('t.%I::text', q.name), ', ' order by q.place)
         from unnest(shown) with ordinality as q (name, place)), persons, sensitive, apart)
    using series;
end $$;
comment on function anondb.apart_digests(regclass, regclass, int, name[], name) is
'Each class of a release in two tables: its persons, its values, and the sum of their hashes.';

create function anondb.verify_apart(
    persons regclass, apart regclass, series int, shown name[], sensitive name, l double precision
) returns table (name text, holds boolean, detail text)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select 'classes are those of the ledger', count(*) = 0,
           format('%s classes have other rows than the ledger knows', count(*))
    from anondb.apart_digests(persons, apart, series, shown, sensitive) as d
    full join anondb.ledger_classes(series) as c on c.class = d.class
    where (d.records, d.valued, d.digest) is distinct from (c.records, c.records, c.digest);
    return query execute format(
        'select ''no value has more than 1/l of its class'', count(*) = 0,
                format(''%%s classes have one'', count(*))
         from (select from (select t.class_id as class, count(*) as n from only %s as t
                            group by t.class_id, t.%I) as v
               group by v.class having max(v.n) * $1 > sum(v.n) + 1e-9) as x', apart, sensitive)
    using l;
end $$;
comment on function anondb.verify_apart(regclass, regclass, int, name[], name, double precision) is
'Whether a release in two tables is what the ledger knows, and no value in a class is too often '
'there.';
