-- What a procedure that refreshes a release calls besides the statements of a run: whether it may,
-- what it has to find as it was, and the history. The text of such a procedure is written by
-- anondb procedure; what is the same in all of them is here.

create function anondb.refresh_refuse(reason text, message text, hint text) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    case reason
        when 'fit' then
            raise exception '%', message using errcode = 'SA144', hint = hint;
        when 'unsatisfiable' then
            raise exception '%', message using errcode = 'SA311', hint = hint;
        when 'busy' then
            raise exception '%', message using errcode = 'SA503', hint = hint;
        else
            raise exception '%', message using errcode = 'SA402', hint = hint;
    end case;
end $$;
comment on function anondb.refresh_refuse(text, text, text) is
'Ends a refresh, as the exit codes of a run do. Raises SA144 where it does not fit what is there, '
'SA311 where no release can be made, SA503 where another run is under way, SA402 where what was '
'written is not right.';

create function anondb.refresh_lock(target text) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- The key is that of all runs: a run of the command line and a procedure do not mix either.
begin
    if not pg_try_advisory_lock(1634627438, hashtext(target)) then
        perform anondb.refresh_refuse('busy',
            format('another run is publishing %s', target),
            'Wait for it to end, or look: select * from anondb.run.');
    end if;
end $$;
comment on function anondb.refresh_lock(text) is
'Holds a target for this session, so that no other run publishes it.';

create function anondb.refresh_unlock(target text, run bigint) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- A call that was broken off may have left the lock to its session: all of them are given back.
begin
    while exists (
        select from pg_locks as l
        where l.locktype = 'advisory' and l.pid = pg_backend_pid() and l.granted
          and l.classid::bigint = 1634627438 and l.objsubid = 2
          and l.objid::bigint = hashtext(target)::bigint & 4294967295)
    loop
        perform pg_advisory_unlock(1634627438, hashtext(target));
    end loop;
    if run is not null and exists (
        select from pg_locks as l
        where l.locktype = 'advisory' and l.pid = pg_backend_pid() and l.granted
          and l.classid::bigint = 1634627442 and l.objsubid = 2
          and l.objid::bigint = run % 2147483647)
    then
        perform pg_advisory_unlock(1634627442, (run % 2147483647)::int);
    end if;
end $$;
comment on function anondb.refresh_unlock(text, bigint) is
'Gives the lock of a target back, and the sign of life of a run.';

create function anondb.refresh_begin(
    policy text, source text, target text, algorithm text, functions text
) returns bigint
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
declare
    v_run bigint;
    v_package text;
begin
    select i.package into v_package from anondb.install as i where i.functions_sha256 = functions;
    if v_package is null then
        perform anondb.refresh_refuse('fit',
            format('the procedure that refreshes %s was written for other functions than those '
                   'that are installed', target),
            'Write it anew: anondb procedure POLICY --name SCHEMA.NAME.');
    end if;
    if not exists (select from anondb.policy as p where p.sha256 = policy) then
        perform anondb.refresh_refuse('fit',
            format('no run of the policy that refreshes %s is in the history', target),
            'Run it: anondb run POLICY.');
    end if;
    update anondb.run as r
    set status = 'lost', error = 'the run ended without a word: its server or its machine went down'
    where r.status = 'running' and r.started_by = current_user and not exists (
        select from pg_locks as l
        where l.locktype = 'advisory' and l.classid::bigint = 1634627442
          and l.objid::bigint = r.id % 2147483647
          and l.database = (select d.oid from pg_database as d
                            where d.datname = current_database()));
    insert into anondb.run (policy, source, target, algorithm, status, package)
    values (refresh_begin.policy, refresh_begin.source, refresh_begin.target,
            refresh_begin.algorithm, 'running', v_package)
    returning id into v_run;
    if not pg_try_advisory_lock(1634627442, (v_run % 2147483647)::int) then
        null; -- a run of that number is shown to live anyway
    end if;
    return v_run;
end $$;
comment on function anondb.refresh_begin(text, text, text, text, text) is
'Enters a refresh into the history; returns its number.';

create function anondb.refresh_step(
    stage text, name text, statement text, touched bigint, since timestamptz
) returns jsonb
language sql volatile parallel restricted
return jsonb_build_array(stage, name, statement, touched,
    round(extract(epoch from clock_timestamp() - since) * 1000, 3));
comment on function anondb.refresh_step(text, text, text, bigint, timestamptz) is
'What the history keeps of a statement.';

create function anondb.refresh_end(
    run bigint, status text, error text, result jsonb, steps jsonb, metrics jsonb
) returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    insert into anondb.run_step (run, seq, stage, name, sql, rows, ms)
    select refresh_end.run, s.seq, s.step ->> 0, s.step ->> 1, s.step ->> 2,
           (s.step ->> 3)::bigint, (s.step ->> 4)::double precision
    from jsonb_array_elements(steps) with ordinality as s (step, seq);
    insert into anondb.run_metric (run, name, of_column, value)
    select refresh_end.run, m.metric ->> 0, m.metric ->> 1, (m.metric ->> 2)::double precision
    from jsonb_array_elements(metrics) as m (metric);
    update anondb.run as r
    set status = refresh_end.status, error = refresh_end.error,
        -- a reason that nothing was left out for is none
        result = jsonb_set(refresh_end.result, '{report,suppression,reasons}', (
            select coalesce(jsonb_object_agg(s.reason, s.records) filter (where s.records <> '0'),
                            '{}')
            from jsonb_each(refresh_end.result #> '{report,suppression,reasons}')
                as s (reason, records)), false),
        finished_at = clock_timestamp()
    where r.id = refresh_end.run and r.status = 'running';
    if not found then
        perform anondb.refresh_refuse('fit',
            format('run %s is no longer in the history', refresh_end.run),
            'Somebody has deleted it; nothing is published.');
    end if;
    perform pg_notify('anondb_run', jsonb_build_object('run', r.id, 'target', r.target,
                                                       'outcome', r.status)::text)
    from anondb.run as r where r.id = refresh_end.run;
end $$;
comment on function anondb.refresh_end(bigint, text, text, jsonb, jsonb, jsonb) is
'Writes into the history how a refresh ended, and tells those who listen to anondb_run.';

create function anondb.refresh_error(state text, message text) returns text
language sql stable parallel safe
-- other messages may quote a row
return case
    when state like 'SA%' or left(state, 2) in ('08', '0A', '25', '26', '28', '2B', '3D', '3F',
                                                '40', '42', '53', '54', '55', '57', '58')
        then message
    else 'the database reported SQLSTATE ' || state
end;
comment on function anondb.refresh_error(text, text) is
'What of an error may be kept and told: nothing that may quote a row.';

create function anondb.refresh_settings() returns jsonb
language sql stable parallel restricted
return (select jsonb_object_agg(s.name, current_setting(s.name))
        from unnest(array['search_path', 'timezone', 'datestyle', 'intervalstyle',
                          'extra_float_digits', 'bytea_output', 'standard_conforming_strings',
                          'row_security', 'work_mem', 'lock_timeout', 'jit', 'enable_mergejoin',
                          'parallel_tuple_cost', 'default_statistics_target',
                          'client_min_messages']) as s (name));
comment on function anondb.refresh_settings() is
'The settings that a run makes, as they are: a refresh in a transaction of its caller gives them '
'back.';

create function anondb.refresh_hint(state text) returns text
language sql immutable parallel safe
return case state
    when '25006' then 'the server is a standby or read-only; connect to the primary'
    when '42501' then 'a refresh needs what a run needs: see the GRANTs in the README'
    when '53100' then 'free space on the server; the old release is untouched'
    when '53400' then
        'raise temp_file_limit, or ask the administrator to; the old release is untouched'
    when '55P03' then 'something holds the table: call it again later'
    when '57014' then 'statement_timeout or an administrator ended it; the old release is untouched'
    else 'nothing was changed; the server''s log may say more'
end;
comment on function anondb.refresh_hint(text) is 'What to do about an error of the server.';
