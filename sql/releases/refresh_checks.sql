-- What a refresh has to find as it was when its procedure was written.

create function anondb.refresh_in_time() returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- In a transaction of the caller the locks may be younger than the snapshot, and what others have
-- committed in between would not be seen. The tables are held by now: whoever is still under way
-- has not written to them.
declare
    v_mine pg_snapshot := pg_current_snapshot();
    v_next xid8 := pg_current_xact_id();
    v_first numeric := pg_snapshot_xmax(v_mine)::text::numeric;
begin
    if v_next::text::numeric - v_first > 1000 or exists (
        select from (
            select x from pg_snapshot_xip(v_mine) as x
            union all
            select n::text::xid8 from generate_series(v_first, v_next::text::numeric - 1) as n) as o
        where pg_xact_status(o.x) is distinct from 'in progress'
          and pg_xact_status(o.x) is distinct from 'aborted')
    then
        perform anondb.refresh_refuse('fit',
            'others have committed since this transaction began, and what they did is not seen',
            'Call the procedure first in its transaction, or outside of one.');
    end if;
end $$;
comment on function anondb.refresh_in_time() is
'Raises SA144 unless the transaction sees all that was committed before its tables were locked.';

create function anondb.refresh_series(
    target text, source text, key text[], policy text, lowest int[], highest int[]
) returns table (series int, release int, levels int[], batch int)
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp set row_security = on as $$
declare
    v_series record;
    v_anew text := 'Run the policy: anondb run POLICY; then write the procedure anew.';
begin
    select * into v_series from anondb.ledger_at(target) as s;
    if v_series.series is null or not v_series.members then
        perform anondb.refresh_refuse('fit',
            format('the ledger knows no release of %s that could be refreshed', target),
            'Make the first one: anondb run POLICY.');
    elsif v_series.version <> anondb.ledger_version() then
        perform anondb.refresh_refuse('fit',
            format('the ledger of %s is of another version of anondb', target), v_anew);
    elsif (v_series.source, v_series.key, v_series.policy) is distinct from (source, key, policy)
    then
        perform anondb.refresh_refuse('fit',
            format('the last release of %s is of another policy or of another source than the '
                   'procedure', target), v_anew);
    elsif cardinality(v_series.levels) is distinct from cardinality(lowest) or exists (
        select from unnest(v_series.levels, lowest, highest) as l (level, low, high)
        where l.level is null or l.level not between l.low and l.high)
    then
        perform anondb.refresh_refuse('unsatisfiable',
            'the levels of the last release are no longer levels of these hierarchies',
            'Search for others: anondb run POLICY --replan.');
    end if;
    return query select v_series.series, v_series.release + 1, v_series.levels, v_series.batch;
end $$;
comment on function anondb.refresh_series(text, text, text[], text, int[], int[]) is
'The series that a refresh goes on with: its number, that of the next release, its levels and its '
'batch.';

create function anondb.refresh_source(
    source_schema name, source_name name, columns name[], types text[], collations text[],
    key name[]
) returns void
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_source oid := to_regclass(format('%I.%I', source_schema, source_name));
begin
    if anondb.has_columns(v_source, columns, types, collations) is not true then
        perform anondb.refresh_refuse('fit',
            format('the columns of %I.%I are not those that the procedure was written for',
                   source_schema, source_name),
            'Look: anondb check POLICY --drift; name new columns in the policy, run it, and write '
            'the procedure anew.');
    end if;
    -- nobody counts whether a key is unique that an index keeps unique
    if key is not null and not exists (
        select from pg_index as i
        where i.indrelid = v_source and i.indisunique and i.indimmediate and i.indisvalid
          and i.indpred is null and i.indexprs is null
          and (select array_agg(a.attname order by a.attname)
               from unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
               join pg_attribute as a
                   on a.attrelid = v_source and a.attnum = k.attnum and a.attnotnull
               where k.place <= i.indnkeyatts)
              = (select array_agg(k.name order by k.name) from unnest(key) as k (name)))
    then
        perform anondb.refresh_refuse('fit',
            format('the key of %I.%I is no longer kept unique by an index', source_schema,
                   source_name),
            'Make the index anew, or run the policy and write the procedure anew.');
    end if;
end $$;
comment on function anondb.refresh_source(name, name, name[], text[], text[], name[]) is
'Raises SA144 unless a source has exactly these columns, and its key is still kept unique.';

create function anondb.refresh_place(
    target_schema name, target_name name, target text, columns name[], types text[],
    collations text[]
) returns boolean
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp set row_security = on as $$
declare
    v_there record;
    v_obstacles text;
begin
    select * into v_there from anondb.release_at(target_schema, target_name, target) as t;
    if v_there.oid is null or not v_there.ours or not v_there.may_replace then
        perform anondb.refresh_refuse('fit',
            format('what stands at %s is no release that this role may refresh', target),
            'Make one: anondb run POLICY.');
    end if;
    if anondb.has_columns(v_there.oid, columns, types, collations) is not true then
        perform anondb.refresh_refuse('fit',
            format('the columns of %s are not those that the procedure writes', target),
            'Run the policy: anondb run POLICY; then write the procedure anew.');
    end if;
    select string_agg(o.kind || ' ' || o.name, ', ') into v_obstacles
    from anondb.replacement_obstacles(v_there.oid) as o;
    if v_obstacles is not null then
        perform anondb.refresh_refuse('fit',
            'in the way of the new release: ' || v_obstacles,
            'Drop them, call the procedure again, and make them anew; nothing has been dropped.');
    end if;
    return coalesce(obj_description(v_there.oid, 'pg_class') not like 'anondb run %', false);
end $$;
comment on function anondb.refresh_place(name, name, text, name[], text[], text[]) is
'Raises SA144 unless a release of ours stands at a place, with these columns, and nothing hangs on '
'it that is in the way; returns whether somebody has written a comment of their own on it.';
