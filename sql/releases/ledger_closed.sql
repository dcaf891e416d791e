-- Where models look at values, cohorts are closed: one is judged once, before anybody of it is
-- published, and is never parted. So nothing that is seen later hangs on values: it enters, moves
-- and goes as a whole, by who came, moved and left. docs/releases.md has the argument.
--
-- Those who enter a class together are judged together, and then parted into shares by the keyed
-- hash of their keys. Shares are cohorts: k persons meeting the models, who leave together. Nobody
-- else knows who is in one, and of two persons of a share neither is likelier to have its value.

create function anondb.ledger_trials(series int, k int) returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    insert into pg_temp.ledger_part (kind, cohort, class, persons, records, ok)
    select 'trial', s.size, d.draw, s.size, s.size, true
    from (select distinct ceil(k * 1.3 ^ i.i)::int as size from generate_series(0, 9) as i (i)
          where i.i = 0 or k * 1.3 ^ i.i <= greatest(2 * k, 500)) as s
    cross join generate_series(1, 40) as d (draw);
    with published as (
        select u.of_column, u.value, sum(u.n) as n
        from anondb.cohort as c
        cross join lateral unnest(c.of_columns, c.value_hashes, c.counts) as u (of_column, value, n)
        where c.series = ledger_trials.series and c.class is not null and c.records > 0
        group by u.of_column, u.value
    ),
    entering as (
        select e.of_column, e.value, sum(e.n) as n
        from pg_temp.ledger_cell as e
        join pg_temp.ledger_part as p on p.part = e.part and p.kind = 'enter' and p.ok
        where not exists (select from published)
        group by e.of_column, e.value
    ),
    row_of as (
        select x.of_column, array_agg(x.value order by x.value) as found,
               array_agg(x.until - x.n order by x.value) as starts, max(x.until) as n
        from (select v.of_column, v.value, v.n::bigint as n,
                     (sum(v.n) over (partition by v.of_column order by v.value))::bigint as until
              from (select * from published union all select * from entering) as v) as x
        group by x.of_column
    )
    insert into pg_temp.ledger_cell (part, of_column, value, n)
    select p.part, r.of_column,
           r.found[width_bucket(
               (hashtextextended(format('%s %s %s %s', p.cohort, p.class, i.i, r.of_column),
                                 y.class_seed) & 9223372036854775807) % r.n, r.starts)], 1
    from pg_temp.ledger_part as p
    cross join row_of as r
    cross join pg_temp.ledger_key as y
    cross join lateral generate_series(1, p.persons) as i (i)
    where p.kind = 'trial';
    analyze pg_temp.ledger_cell;
end $$;
comment on function anondb.ledger_trials(int, int) is
'Draws persons from those who are published, so many of each of some numbers from k on: parts on '
'which the models can be tried.';

create function anondb.ledger_batch(series int, k int) returns int
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
-- the smallest number of which nineteen of twenty draws meet the models; else that of the most
declare
    v_batch int;
begin
    select coalesce(min(t.size) filter (where t.met >= 0.95),
                    (array_agg(t.size order by t.met desc, t.size))[1], k) into v_batch
    from (select p.cohort as size, avg(p.ok::int) as met
          from pg_temp.ledger_part as p where p.kind = 'trial' group by p.cohort) as t;
    delete from pg_temp.ledger_cell as e using pg_temp.ledger_part as p
    where p.part = e.part and p.kind = 'trial';
    delete from pg_temp.ledger_part as p where p.kind = 'trial';
    update anondb.series as s set batch = v_batch where s.id = ledger_batch.series;
    return v_batch;
end $$;
comment on function anondb.ledger_batch(int, int) is
'How many persons wait until they are judged, so that most who are have the values that the models '
'demand; kept for the series.';

create function anondb.ledger_shares(batch int) returns int
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
declare
    v_shares int;
begin
    update pg_temp.ledger_delta as d set share = x.share
    from (select o.place, 1 + (o.nth - 1) % o.shares as share
          from (select r.ctid as place, p.persons / batch as shares,
                       dense_rank() over (partition by r.class order by r.person) as nth
                from pg_temp.ledger_delta as r
                join pg_temp.ledger_part as p
                    on p.kind = 'enter' and p.ok and p.class = r.class and p.persons >= 2 * batch
                left join pg_temp.ledger_held as h on h.person = r.person
                where r.spot is null and h.person is null) as o) as x
    where d.ctid = x.place;
    insert into pg_temp.ledger_part (kind, cohort, class, share, persons, records, digest, ok, goes)
    select 'share', 0, d.class, d.share, count(distinct d.person), count(*), sum(d.kept), true, true
    from pg_temp.ledger_delta as d where d.share is not null group by d.class, d.share;
    get diagnostics v_shares = row_count;
    analyze pg_temp.ledger_part;
    return v_shares;
end $$;
comment on function anondb.ledger_shares(int) is
'Parts those who enter a class together, and have been judged, into shares of so many persons, by '
'the keyed hash of their keys; returns how many shares there are.';

create function anondb.ledger_merge() returns int
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
declare
    v_merged int;
begin
    with root as (
        select p.part, p.class, p.ok,
               row_number() over (partition by p.class order by p.share) - 1 as nth,
               count(*) over (partition by p.class) as n
        from pg_temp.ledger_part as p where p.kind = 'share' and p.joins is null
    ),
    pair as (
        -- the last of an odd number goes with the two before
        select r.class, array_agg(r.part order by r.nth) as parts
        from root as r where r.n > 1
        group by r.class, least(r.nth / 2, r.n / 2 - 1)
        having not bool_and(r.ok)
    )
    update pg_temp.ledger_part as p set joins = m.parts[1]
    from pair as m where coalesce(p.joins, p.part) = any (m.parts[2:]);
    get diagnostics v_merged = row_count;
    if v_merged = 0 then
        return 0;
    end if;
    update pg_temp.ledger_cell as e set part = p.joins
    from pg_temp.ledger_part as p where p.part = e.part and p.joins is not null;
    -- a part that has joined another has nobody of its own any more
    update pg_temp.ledger_part as p
    set persons = p.persons + j.persons, records = p.records + j.records,
        digest = p.digest + j.digest, ok = true
    from (select o.joins, sum(o.persons) as persons, sum(o.records) as records,
                 sum(o.digest) as digest
          from pg_temp.ledger_part as o where o.joins is not null group by o.joins) as j
    where p.part = j.joins;
    update pg_temp.ledger_part as p set persons = 0, records = 0, digest = 0
    where p.joins is not null;
    return v_merged;
end $$;
comment on function anondb.ledger_merge() is
'Puts shares that fail a model together with the next of their class; returns how many were, and '
'those that others have joined have to be judged again.';

create function anondb.ledger_rest(series int, k int) returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    insert into pg_temp.ledger_part (kind, cohort, class, persons, records, digest, ok)
    select 'rest', c.id, c.class, c.persons, c.records, c.digest,
           c.persons >= k and (select count(distinct o.of_column) from pg_temp.ledger_code as o) = (
               select count(distinct u.of_column) from unnest(c.of_columns) as u (of_column)
               where u.of_column in (select o.of_column from pg_temp.ledger_code as o))
    from anondb.cohort as c
    where c.series = ledger_rest.series and c.class is not null and c.records > 0;
    insert into pg_temp.ledger_cell (part, of_column, value, n)
    select p.part, u.of_column, u.value, u.n
    from pg_temp.ledger_part as p
    join anondb.cohort as c on c.id = p.cohort
    cross join lateral unnest(c.of_columns, c.value_hashes, c.counts) as u (of_column, value, n)
    where p.kind = 'rest' and p.ok;
    analyze pg_temp.ledger_part;
    analyze pg_temp.ledger_cell;
end $$;
comment on function anondb.ledger_rest(int, int) is
'Puts down all cohorts that are published with their values, for another policy to judge.';

create function anondb.ledger_decide_closed(leavers text, replanned boolean) returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    update pg_temp.ledger_part as p set goes = p.ok, withheld = p.is_judged and not p.ok
    where p.kind = 'enter';
    insert into pg_temp.ledger_part (kind, cohort, class, persons, records, digest, ok)
    select 'leave', d.cohort, null, count(distinct d.person), count(*), sum(d.kept), false
    from pg_temp.ledger_delta as d
    left join pg_temp.ledger_part as m
        on m.kind = 'move' and m.cohort = d.cohort and m.class = d.class
    where d.spot is not null and d.was is not null and m.ok is not true
    group by d.cohort;
    insert into pg_temp.ledger_turn (cohort, moves, leaves, whole)
    select c.id, t.moves, false,
           not t.moves and (t.gone = c.records or t.gone > 0 and leavers = 'drop'
                            or replanned and (t.is_torn or not t.rest))
    from (select p.cohort,
                 coalesce(bool_or(p.ok) filter (where p.kind = 'move'), false)
                 and coalesce(bool_and(p.ok) filter (where p.kind = 'rest'), true) as moves,
                 coalesce(bool_or(p.kind = 'move'), false) as is_torn,
                 coalesce(bool_and(p.ok) filter (where p.kind = 'rest'), true) as rest,
                 coalesce(sum(p.records) filter (where p.kind = 'leave'), 0) as gone
          from pg_temp.ledger_part as p where p.kind in ('move', 'leave', 'rest')
          group by p.cohort) as t
    join anondb.cohort as c on c.id = t.cohort;
    update pg_temp.ledger_part as p set goes = true
    from pg_temp.ledger_turn as t
    where t.cohort = p.cohort and t.moves and p.kind = 'move' and p.ok;
    perform anondb.ledger_take_out();
end $$;
comment on function anondb.ledger_decide_closed(text, boolean) is
'Decides where cohorts are closed: who meets the models enters, and who does not is withheld for '
'good; a cohort moves if all of it does, and is withdrawn when all of it have left, or one where '
'leavers are dropped. Under another policy it is withdrawn, too, where it does not meet that.';
