-- How the releases of a database are: for operators, with the caller's rights. A role sees its own
-- runs, and the owner of the history all.

create function anondb.is_running(run bigint) returns boolean
language sql stable parallel restricted
begin atomic
    -- a run holds an advisory lock of its own number while it lives
    select exists (
        select from pg_catalog.pg_locks as l
        where l.locktype = 'advisory' and l.classid::bigint = 1634627442
          and l.objid::bigint = is_running.run % 2147483647
          and l.database = (select d.oid from pg_catalog.pg_database as d
                            where d.datname = pg_catalog.current_database()));
end;
comment on function anondb.is_running(bigint) is
'Whether the session of a run is still there; one without it ended without a word.';

create function anondb.health(target text = null)
returns table (
    target text, last_success timestamptz, age interval, last_run bigint, last_outcome text,
    failures_in_a_row bigint, running bigint, released bigint, waiting bigint)
language sql stable parallel restricted
begin atomic
    with r as (
        select r.id, r.target, r.finished_at, r.result,
               case when r.status = 'running' and not anondb.is_running(r.id) then 'lost'
                    else r.status end as outcome
        from anondb.run as r
        where health.target is null or r.target = health.target
    ), s as (
        select r.target, max(r.id) filter (where r.outcome = 'done') as done,
               max(r.id) filter (where r.outcome <> 'running') as ended
        from r group by r.target
    )
    select s.target, d.finished_at, pg_catalog.now() - d.finished_at, s.ended, e.outcome,
           (select count(*) from r where r.target = s.target and r.id > coalesce(s.done, 0)
                                     and r.outcome <> 'running'),
           (select count(*) from r where r.target = s.target and r.outcome = 'running'),
           (d.result ->> 'released')::bigint,
           (d.result ->> 'waiting')::bigint
    from s
    left join r as d on d.id = s.done
    left join r as e on e.id = s.ended
    order by s.target;
end;
comment on function anondb.health(text) is
'For each target, or for one: when it was last published and how long ago, how the last run that '
'ended went, how many have failed since the last success, how many are under way, the records '
'that were released and those that wait.';

create view anondb.release_health as
select h.target, h.last_success, h.age, h.last_run, h.last_outcome, h.failures_in_a_row,
       h.running, h.released, h.waiting
from anondb.health() as h;
comment on view anondb.release_health is
'What anondb.health() tells, for a dashboard; everybody sees what he may see of the history.';
