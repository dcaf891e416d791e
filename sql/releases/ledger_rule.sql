-- The rule where nobody's values are looked at: who enters, who leaves, who waits. Everything is
-- decided for parts, records that would do the same together, by how many persons they are. Where a
-- model looks at values, ledger_closed.sql decides.

create function anondb.ledger_groups(fewest int, several boolean, closed boolean) returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    analyze pg_temp.ledger_delta;
    -- whoever is known already may be somebody whose value has changed: published before, and not
    -- free to enter beside others who were not
    insert into pg_temp.ledger_held (person)
    select distinct d.person from pg_temp.ledger_delta as d where d.spot is not null;
    analyze pg_temp.ledger_held;
    insert into pg_temp.ledger_part (kind, cohort, class, persons, records, digest, ok, is_judged)
    select 'enter', 0, e.class, e.persons, e.records, e.digest, e.persons >= fewest,
           closed and e.persons >= fewest
    from (select d.class, count(*) as records, sum(d.kept) as digest,
                 case when several then count(distinct d.person) else count(*) end as persons
          from pg_temp.ledger_delta as d
          where d.spot is null and not exists (
              select from pg_temp.ledger_held as h where h.person = d.person)
          group by d.class) as e;
    insert into pg_temp.ledger_part (kind, cohort, class, persons, records, digest, ok)
    select 'move', m.cohort, m.class, m.persons, m.records, m.digest,
           case when closed then m.records = c.records else m.persons >= fewest end
    from (select d.cohort, d.class, count(distinct d.person) as persons, count(*) as records,
                 sum(d.kept) as digest
          from pg_temp.ledger_delta as d
          where d.spot is not null and d.class is not null and d.was is not null
          group by d.cohort, d.class) as m
    join anondb.cohort as c on c.id = m.cohort;
    analyze pg_temp.ledger_part;
end $$;
comment on function anondb.ledger_groups(int, boolean, boolean) is
'Puts down who would enter a class together, and who would move from a cohort to a class; whether '
'they are persons enough, or, where cohorts are closed, the whole of one. With several, a person '
'may have several records.';

create function anondb.ledger_leavers(series int, k int, several boolean, replanned boolean)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    -- movers who may not move together have left all the same
    insert into pg_temp.ledger_part (kind, cohort, class, persons, records, digest, ok)
    select 'leave', d.cohort, null, count(distinct d.person), count(*), sum(d.kept),
           count(distinct d.person) >= k
    from pg_temp.ledger_delta as d
    left join pg_temp.ledger_part as m
        on m.kind = 'move' and m.cohort = d.cohort and m.class = d.class
    where d.spot is not null and d.was is not null and m.ok is not true
    group by d.cohort;
    -- what would remain: without those who leave, or with them
    insert into pg_temp.ledger_part (kind, cohort, class, persons, records, digest, ok)
    select r.kind, c.id, c.class, c.persons - coalesce(r.persons, 0),
           c.records - coalesce(r.records, 0), c.digest - coalesce(r.digest, 0), true
    from (select 'rest' as kind, p.cohort, sum(p.persons) as persons, sum(p.records) as records,
                 sum(p.digest) as digest
          from pg_temp.ledger_part as p
          where p.kind = 'leave' or (p.kind = 'move' and p.ok)
          group by p.cohort
          union all
          select 'stay', p.cohort,
                 sum(p.persons) filter (where p.kind = 'move'),
                 sum(p.records) filter (where p.kind = 'move'),
                 sum(p.digest) filter (where p.kind = 'move')
          from pg_temp.ledger_part as p
          where p.kind = 'leave' or (p.kind = 'move' and p.ok)
          group by p.cohort) as r
    join anondb.cohort as c on c.id = r.cohort;
    if several then
        update pg_temp.ledger_part as p
        set persons = case p.kind when 'rest' then f.rest else f.stay end
        from (select m.cohort, count(distinct m.person) filter (where g.spot is null) as rest,
                     count(distinct m.person) filter (where g.moves is not true) as stay
              from anondb.member as m
              left join (
                  select d.spot, v.ok as moves from pg_temp.ledger_delta as d
                  left join pg_temp.ledger_part as v
                      on v.kind = 'move' and v.cohort = d.cohort and v.class = d.class
                  where d.spot is not null and d.was is not null) as g on g.spot = m.ctid
              where m.cohort in (select r.cohort from pg_temp.ledger_part as r
                                 where r.kind = 'rest')
              group by m.cohort) as f
        where p.kind in ('rest', 'stay') and p.cohort = f.cohort;
    end if;
    if replanned then
        -- those who are as they were may be too few for another policy
        insert into pg_temp.ledger_part (kind, cohort, class, persons, records, digest, ok)
        select 'rest', c.id, c.class, c.persons, c.records, c.digest, true
        from anondb.cohort as c
        where c.series = ledger_leavers.series and c.class is not null and c.records > 0
          and not exists (select from pg_temp.ledger_part as p where p.cohort = c.id);
    end if;
    update pg_temp.ledger_part as p set ok = p.persons >= k or p.records = 0
    where p.kind in ('rest', 'stay');
    insert into pg_temp.ledger_leaving (part, class, kept, n)
    select l.part, d.was, d.kept, count(*)
    from pg_temp.ledger_delta as d
    join pg_temp.ledger_part as l on l.kind = 'leave' and l.cohort = d.cohort and l.ok
    left join pg_temp.ledger_part as m
        on m.kind = 'move' and m.cohort = d.cohort and m.class = d.class
    where d.spot is not null and d.was is not null and m.ok is not true
    group by l.part, d.was, d.kept;
    analyze pg_temp.ledger_part;
    analyze pg_temp.ledger_leaving;
end $$;
comment on function anondb.ledger_leavers(int, int, boolean, boolean) is
'Puts down who would leave each cohort, and who would remain with and without them; whether each '
'is k persons, and what remains none or k. A replanned release has no class that anybody could '
'stay in.';

create function anondb.ledger_decide(leavers text, replanned boolean) returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    insert into pg_temp.ledger_turn (cohort, moves, leaves, whole)
    select c.cohort,
           case when leavers = 'drop' then false
                when replanned and c.remain = 0 then c.leave is not false
                when replanned and c.rest is false then false
                else (c.leave and c.rest) or (c.moves and (case when c.leave is null then c.rest
                                                                else c.stay end)) end,
           case when leavers = 'drop' then false
                when replanned and c.remain = 0 then c.leave is true
                else coalesce(c.leave and c.rest, false) end,
           -- nothing smaller can be done: a cohort is never left in parts
           leavers = 'drop' and c.stirred
           or replanned and (c.remain = 0 and c.leave is false or c.remain > 0 and c.rest is false)
    from (select p.cohort, bool_or(p.ok) filter (where p.kind = 'move') as moves,
                 bool_or(p.ok) filter (where p.kind = 'leave') as leave,
                 bool_or(p.ok) filter (where p.kind = 'rest') as rest,
                 bool_or(p.ok) filter (where p.kind = 'stay') as stay,
                 bool_or(p.kind in ('leave', 'move')) as stirred,
                 coalesce(sum(p.records) filter (where p.kind = 'rest'), 0) as remain
          from pg_temp.ledger_part as p where p.kind <> 'enter' group by p.cohort) as c;
    update pg_temp.ledger_part as p set goes = true where p.kind = 'enter' and p.ok;
    update pg_temp.ledger_part as p set goes = true
    from pg_temp.ledger_turn as t
    where t.cohort = p.cohort and p.ok
      and ((p.kind = 'move' and t.moves) or (p.kind = 'leave' and t.leaves));
    perform anondb.ledger_take_out();
end $$;
comment on function anondb.ledger_decide(text, boolean) is
'Decides which parts go: those that may, if what remains of their cohort is nobody or a cohort '
'itself. Where leavers are dropped, the whole cohort of one is withdrawn.';

create function anondb.ledger_take_out() returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    insert into pg_temp.ledger_out (class, kept, n)
    select o.class, o.kept, sum(o.n)
    from (select l.class, l.kept, l.n from pg_temp.ledger_leaving as l
          join pg_temp.ledger_part as p on p.part = l.part and p.goes
          union all
          select d.was, d.kept, 1 from pg_temp.ledger_delta as d
          join pg_temp.ledger_part as p
              on p.kind = 'move' and p.cohort = d.cohort and p.class = d.class and p.goes
          where d.spot is not null
          union all
          select c.class, m.kept, 1
          from pg_temp.ledger_turn as t
          join anondb.cohort as c on c.id = t.cohort
          join anondb.member as m on m.cohort = t.cohort
          where t.whole) as o
    group by o.class, o.kept;
    analyze pg_temp.ledger_part;
    analyze pg_temp.ledger_out;
end $$;
comment on function anondb.ledger_take_out() is
'Puts down the rows of the last release that are not in the next: of parts that go, and of cohorts '
'that are withdrawn.';
