-- Where a release stands: whether it is ours, how its rows are replaced, and that it belongs to its
-- run.

create function anondb.release_at(target_schema name, target_name name, target text)
returns table (oid oid, kind "char", ours boolean, may_replace boolean)
language sql stable parallel restricted set row_security = on
begin atomic
    -- Whoever runs policies can write into the history. So a table is a release only if a run of
    -- this target says that it has published this very table, and the role of that run has power
    -- over it. A comment proves nothing, nor does an oid alone: after a dump was restored, another
    -- table may have it. What this role must not see of the history is not ours.
    select c.oid, c.relkind,
           exists (
               select from anondb.run as r
               join pg_catalog.pg_roles as s on s.rolname = r.started_by
               where r.target = release_at.target and r.status = 'done'
                 and c.oid = any (r.release_oid || r.release_oids)
                 and pg_catalog.pg_has_role(s.oid, c.relowner, 'MEMBER')),
           pg_catalog.pg_has_role(c.relowner, 'USAGE')
    from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = target_schema and c.relname = target_name;
end;
comment on function anondb.release_at(name, name, text) is
'What stands at a place: its oid and kind, whether it is a release that a run of the target has '
'made, and whether the current role may replace it.';

create function anondb.has_columns(release oid, columns name[], types text[], collations text[])
returns boolean
language sql stable parallel safe
begin atomic
    select coalesce(array_agg(a.attname order by a.attnum), '{}') = columns
       and coalesce(array_agg(pg_catalog.format_type(a.atttypid, a.atttypmod) order by a.attnum),
                    '{}') = types
       and coalesce(array_agg(case when a.attcollation <> t.typcollation
                                   then quote_ident(n.nspname) || '.' || quote_ident(l.collname) end
                              order by a.attnum), '{}') is not distinct from collations
    from pg_catalog.pg_attribute as a
    join pg_catalog.pg_type as t on t.oid = a.atttypid
    left join pg_catalog.pg_collation as l on l.oid = a.attcollation
    left join pg_catalog.pg_namespace as n on n.oid = l.collnamespace
    where a.attrelid = release and a.attnum > 0 and not a.attisdropped;
end;
comment on function anondb.has_columns(oid, name[], text[], text[]) is
'Whether a table has exactly these columns, in this order, of these types and collations (null: '
'that of the type).';

create function anondb.lock_release(target_schema name, target_name name, readers boolean)
returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    execute format('lock table only %I.%I in %s mode', target_schema, target_name,
        case when readers then 'access exclusive' else 'share row exclusive' end);
end $$;
comment on function anondb.lock_release(name, name, boolean) is
'Keeps others from writing to a release and from changing what hangs on it, until the transaction '
'ends; with readers, from reading it too.';

create function anondb.replace_rows(fresh regclass, target_schema name, target_name name,
                                    columns name[]) returns bigint
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set synchronize_seqscans = off as $$
-- The table stays, with all that hangs on it; each reader sees the old rows or the new ones, by its
-- snapshot. Rows that were inserted after the caller's snapshot are not among those deleted: the
-- caller, who holds the table, compares the number that is returned with the rows that are there
-- now. Changed ones end it here.
declare
    v_target text := format('%I.%I', target_schema, target_name);
    v_columns text := (select string_agg(quote_ident(c.name), ', ' order by c.place)
                       from unnest(columns) with ordinality as c (name, place));
    v_deleted bigint;
    v_constraint text;
    v_column text;
begin
    execute format('delete from only %s', v_target);
    get diagnostics v_deleted = row_count;
    execute format('insert into %s (%s) select %s from only %s', v_target, v_columns,
                   v_columns, fresh);
    set constraints all immediate;
    return v_deleted;
exception
    when integrity_constraint_violation then
        -- without the server's message, which quotes a row
        get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
        raise exception 'the new rows break % of %',
            case when v_constraint <> '' then 'constraint ' || quote_ident(v_constraint)
                 else 'not null of ' || quote_ident(v_column) end, v_target
            using errcode = 'SA128',
            hint = 'Drop it, run again, and make it anew; nothing was published.';
    when serialization_failure then
        raise exception 'rows of % were changed by another session while the run was under way',
            v_target
            using errcode = 'SA501', hint = 'Nothing was published; run again.';
end $$;
comment on function anondb.replace_rows(regclass, name, name, name[]) is
'Deletes the rows of a release and inserts those of a fresh one; returns how many were deleted. '
'Raises SA128 for a constraint that they break, SA501 where another session has changed rows.';

create function anondb.place_release(fresh regclass, target_name name) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    execute format('alter table %s rename to %I', fresh, target_name);
exception when duplicate_table or unique_violation then
    raise exception 'a table has taken the name % while the run was under way, '
                    'and is not overwritten',
        quote_ident(target_name)
        using errcode = 'SA129', hint = 'Choose another name for target; nothing was published.';
end $$;
comment on function anondb.place_release(regclass, name) is
'Gives a first release its name. Raises SA129 where something has it already.';

create function anondb.own_release(run bigint, target_schemas name[], target_names name[])
returns void
language sql volatile parallel unsafe set row_security = on
begin atomic
    -- In the run's own transaction: a release is ours from the moment it can be read.
    update anondb.run as r set release_oid = t.oids[1], release_oids = t.oids
    from (select array_agg(c.oid order by p.place) as oids
          from unnest(target_schemas, target_names) with ordinality as p (schema, name, place)
          join pg_catalog.pg_namespace as n on n.nspname = p.schema
          join pg_catalog.pg_class as c on c.relnamespace = n.oid and c.relname = p.name) as t
    where r.id = run;
end;
comment on function anondb.own_release(bigint, name[], name[]) is
'Notes in the history that the tables at these places are the release of this run.';
