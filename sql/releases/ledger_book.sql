-- What has been decided is entered: only rows that change are written.

create function anondb.ledger_enter(series int, release int, several boolean) returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    with making as (
        select p.part, p.cohort, p.persons, p.records, p.digest,
               case when not p.withheld then p.class end as class,
               row_number() over (order by p.part) as nth
        from pg_temp.ledger_part as p
        where p.withheld
           or p.goes and p.joins is null and not exists (
               select from pg_temp.ledger_part as s
               where p.kind = 'enter' and s.kind = 'share' and s.class = p.class)
    ),
    cell as (
        select e.part, e.of_column, e.value, sum(e.n)::bigint as n
        from pg_temp.ledger_cell as e group by e.part, e.of_column, e.value
    ),
    made as (
        insert into anondb.cohort as c (series, class, origin, origin_class, began_with, persons,
                                        records, digest, of_columns, value_hashes, counts, since)
        select ledger_enter.series, p.class, nullif(p.cohort, 0), o.class, p.persons, p.persons,
               p.records, p.digest, coalesce(v.of_columns, '{}'), coalesce(v.hashes, '{}'),
               coalesce(v.counts, '{}'), ledger_enter.release
        from making as p
        left join anondb.cohort as o on o.id = p.cohort
        left join (
            select e.part, array_agg(e.of_column order by e.of_column, e.value) as of_columns,
                   array_agg(e.value order by e.of_column, e.value) as hashes,
                   array_agg(e.n order by e.of_column, e.value) as counts
            from cell as e group by e.part) as v on v.part = p.part
        order by p.part
        returning c.id),
    -- they are numbered in the order in which they are inserted
    numbered as (select m.id, row_number() over (order by m.id) as nth from made as m)
    update pg_temp.ledger_part as p set becomes = n.id
    from making as m join numbered as n on n.nth = m.nth
    where p.part = m.part;
    update pg_temp.ledger_part as p set becomes = r.becomes
    from pg_temp.ledger_part as r where r.part = p.joins;

    -- those who move or leave take their record along, those who enter get one
    update anondb.member as m set cohort = p.becomes
    from pg_temp.ledger_delta as d
    join pg_temp.ledger_part as p
        on p.kind = 'move' and p.cohort = d.cohort and p.class = d.class and p.goes
    where d.spot is not null and m.ctid = d.spot;
    update anondb.member as m set cohort = l.becomes
    from pg_temp.ledger_delta as d
    join pg_temp.ledger_part as l on l.kind = 'leave' and l.cohort = d.cohort and l.goes
    left join pg_temp.ledger_part as p
        on p.kind = 'move' and p.cohort = d.cohort and p.class = d.class
    where d.spot is not null and d.was is not null and p.ok is not true and m.ctid = d.spot;
    insert into anondb.member (series, cohort, person, kept, mark)
    select ledger_enter.series, coalesce(s.becomes, p.becomes), d.person, d.kept, d.mark
    from pg_temp.ledger_delta as d
    join pg_temp.ledger_part as p
        on p.kind = 'enter' and p.class = d.class and (p.goes or p.withheld)
    left join pg_temp.ledger_part as s
        on s.kind = 'share' and s.class = d.class and s.share = d.share
    left join pg_temp.ledger_held as h on h.person = d.person
    where d.spot is null and h.person is null;

    update anondb.cohort as c set origin_class = c.class, class = null, until = ledger_enter.release
    from pg_temp.ledger_turn as t where t.whole and t.cohort = c.id;
    -- what is left of a cohort
    update anondb.cohort as c
    set persons = case when several then f.persons else c.persons - g.persons end,
        records = c.records - g.records, digest = c.digest - g.digest,
        of_columns = coalesce(v.of_columns, '{}'), value_hashes = coalesce(v.hashes, '{}'),
        counts = coalesce(v.counts, '{}'),
        until = case when c.records = g.records then ledger_enter.release end
    from (select p.cohort, sum(p.persons) as persons, sum(p.records) as records,
                 sum(p.digest) as digest
          from pg_temp.ledger_part as p
          where p.goes and p.kind not in ('enter', 'share') group by p.cohort) as g
    cross join lateral (
        select count(distinct m.person) as persons from anondb.member as m
        where several and m.cohort = g.cohort) as f
    left join lateral (
        select array_agg(u.of_column order by u.of_column, u.value) as of_columns,
               array_agg(u.value order by u.of_column, u.value) as hashes,
               array_agg(u.n - coalesce(e.n, 0) order by u.of_column, u.value) as counts
        from anondb.cohort as o
        cross join lateral unnest(o.of_columns, o.value_hashes, o.counts) as u (of_column, value, n)
        left join lateral (
            select sum(x.n) as n
            from pg_temp.ledger_cell as x join pg_temp.ledger_part as p on p.part = x.part
            where p.cohort = g.cohort and p.goes and x.of_column = u.of_column
              and x.value = u.value) as e on true
        where o.id = g.cohort and u.n > coalesce(e.n, 0)) as v on true
    where c.id = g.cohort;
end $$;
comment on function anondb.ledger_enter(int, int, boolean) is
'Enters into the ledger what was decided for the next release of a series.';

create function anondb.ledger_counts(series int)
returns table (published bigint, classes bigint, fewest bigint, entered bigint, left_it bigint,
               moved bigint, waiting bigint, departed bigint, withheld bigint, persons bigint,
               stirred bigint, failed bigint)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    return query
    select coalesce(c.records, 0), c.classes, coalesce(c.fewest, 0),
           coalesce(p.entered, 0), coalesce(p.left_it, 0) + w.whole, coalesce(p.moved, 0),
           n.waiting, coalesce(p.stays, 0), n.withheld, n.persons, s.classes, n.failed
    from (select sum(o.records)::bigint as records, count(distinct o.class) as classes,
                 min(o.persons)::bigint as fewest
          from anondb.cohort as o
          where o.series = ledger_counts.series and o.class is not null and o.records > 0) as c
    cross join (
        select sum(q.records) filter (where q.kind = 'enter' and q.goes)::bigint as entered,
               sum(q.records) filter (where q.kind = 'leave' and q.goes)::bigint as left_it,
               sum(q.records) filter (where q.kind = 'move' and q.goes)::bigint as moved,
               -- left, moved or changed, and published as they were
               (sum(q.records) filter (where not q.goes and not t.whole and (
                    q.kind = 'leave' or (q.kind = 'move' and q.ok))))::bigint as stays
        from pg_temp.ledger_part as q
        left join pg_temp.ledger_turn as t on t.cohort = q.cohort) as p
    cross join (
        select coalesce(sum(o.records), 0)::bigint as whole
        from pg_temp.ledger_turn as t join anondb.cohort as o on o.id = t.cohort where t.whole) as w
    cross join (
        select count(*) filter (where d.class is not null and d.spot is null
                                  and h.person is null and e.withheld is not true) as waiting,
               count(*) filter (where d.class is not null and (
                    d.spot is null and (h.person is not null or e.withheld)
                    or d.spot is not null and d.was is null)) as withheld,
               count(*) filter (where d.class is not null and (
                    d.spot is null and h.person is null and e.withheld
                    or o.id is not null)) as failed,
               count(distinct d.person) as persons
        from pg_temp.ledger_delta as d
        left join anondb.cohort as o
            on o.id = d.cohort and d.was is null and o.origin_class is null
        left join pg_temp.ledger_held as h on h.person = d.person
        left join pg_temp.ledger_part as e
            on e.cohort = coalesce(d.cohort, 0) and e.class = d.class
           and e.kind in ('enter', 'move')
        left join pg_temp.ledger_part as l on l.cohort = d.cohort and l.kind = 'leave'
        where not coalesce(e.goes and (d.spot is not null or h.person is null), false)
          and not coalesce(l.goes and d.was is not null and e.ok is not true, false)) as n
    cross join (
        select count(distinct coalesce(d.was, d.class)) as classes
        from pg_temp.ledger_delta as d) as s;
end $$;
comment on function anondb.ledger_counts(int) is
'What was decided for the next release of a series, in records: published, entered, left, moved, '
'waiting, departed but published, withheld; the fewest persons of a cohort; persons and classes '
'that are not as they were; and how many of the withheld never were published, as they failed the '
'models together.';

create function anondb.ledger_close(
    series int, release int, run bigint, policy text, changes text, levels int[], records bigint,
    classes bigint, entered bigint = 0, left_it bigint = 0, moved bigint = 0, waiting bigint = 0,
    departed bigint = 0, withheld bigint = 0, promise jsonb = null
) returns void
language sql volatile parallel unsafe set row_security = on
begin atomic
    insert into anondb.series_release (series, release, run, policy, levels, records, classes,
                                       entered, left_it, moved, waiting, departed, withheld)
    values (ledger_close.series, ledger_close.release, ledger_close.run, ledger_close.policy,
            ledger_close.levels, ledger_close.records, ledger_close.classes, ledger_close.entered,
            ledger_close.left_it, ledger_close.moved, ledger_close.waiting, ledger_close.departed,
            ledger_close.withheld);
    update anondb.series as s
    set release = ledger_close.release, run = ledger_close.run, policy = ledger_close.policy,
        changes = ledger_close.changes, levels = ledger_close.levels, promise = ledger_close.promise
    where s.id = ledger_close.series;
end;
comment on function anondb.ledger_close(int, int, bigint, text, text, int[], bigint, bigint, bigint,
                                        bigint, bigint, bigint, bigint, bigint, jsonb) is
'Notes a release of a series, and makes it the last one.';
