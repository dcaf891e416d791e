-- How a verified release takes the place of the one before, with all that users have hung on it.

create function anondb.release_obstacles(release regclass, columns name[], types text[])
returns table (kind text, name text)
language sql stable parallel restricted
begin atomic
    -- views that this role cannot make anew, or whose columns change
    select case when v.relkind = 'm' then 'materialized view' else 'view' end,
           format('%I.%I', n.nspname, v.relname)
    from pg_catalog.pg_depend as d
    join pg_catalog.pg_rewrite as r on d.classid = 'pg_catalog.pg_rewrite'::regclass and r.oid = d.objid
    join pg_catalog.pg_class as v on v.oid = r.ev_class and v.oid <> release
    join pg_catalog.pg_namespace as n on n.oid = v.relnamespace
    left join pg_catalog.pg_attribute as a on a.attrelid = release and a.attnum = d.refobjsubid and a.attnum > 0
    left join unnest(columns, types) as c (name, type)
        on c.name = a.attname and c.type = pg_catalog.format_type(a.atttypid, a.atttypmod)
    where d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = release
    group by v.oid, v.relkind, v.relowner, n.nspname, v.relname
    having v.relkind <> 'v'
        or not pg_catalog.pg_has_role(v.relowner, 'USAGE')
        or bool_or(a.attname is not null and c.name is null)
    union all
    select 'foreign key', format('%I on %s', f.conname, f.conrelid::regclass)
    from pg_catalog.pg_constraint as f
    where f.confrelid = release and f.contype = 'f' and f.conrelid <> release
    union all
    select 'trigger', t.tgname::text
    from pg_catalog.pg_trigger as t where t.tgrelid = release and not t.tgisinternal
    union all
    select 'rule', r.rulename::text
    from pg_catalog.pg_rewrite as r where r.ev_class = release
    union all
    select 'row-level security', t.relname::text
    from pg_catalog.pg_class as t
    where t.oid = release
      and (t.relrowsecurity or exists (select from pg_catalog.pg_policy as p where p.polrelid = release))
    union all
    select 'inheriting table', i.inhrelid::regclass::text
    from pg_catalog.pg_inherits as i where i.inhparent = release
    union all
    select 'inherited table', i.inhparent::regclass::text
    from pg_catalog.pg_inherits as i where i.inhrelid = release
    union all
    select 'publication', p.pubname::text
    from pg_catalog.pg_publication_rel as m
    join pg_catalog.pg_publication as p on p.oid = m.prpubid where m.prrelid = release
    union all
    select 'function', d.objid::regprocedure::text
    from pg_catalog.pg_depend as d
    where d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = release
      and d.classid = 'pg_catalog.pg_proc'::regclass and d.deptype = 'n'
    order by 1, 2;
end;
comment on function anondb.release_obstacles(regclass, name[], text[]) is
'What users have hung on a release that a new one with these columns could not take over, so that it is named instead of dropped.';

create function anondb.swap_release(fresh regclass, target_schema name, target_name name) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- The old table is dropped and the fresh one takes its name, owner, grants, indexes, constraints and
-- column comments; views are made anew from their own text. All of it or nothing: the caller commits.
declare
    v_old regclass := to_regclass(format('%I.%I', target_schema, target_name));
    v_owner name;
    v_views text[] := '{}';
    v_names text[] := '{}';
    v_rebuild text[] := '{}';
    v_obstacles text;
    v_statement text;
begin
    if v_old is null then
        execute format('alter table %s rename to %I', fresh, target_name);
        return;
    end if;
    execute format('lock table %s in access exclusive mode', v_old);

    select string_agg(o.kind || ' ' || o.name, ', ') into v_obstacles
    from anondb.release_obstacles(
        v_old,
        (select array_agg(a.attname order by a.attnum) from pg_attribute as a
         where a.attrelid = fresh and a.attnum > 0 and not a.attisdropped),
        (select array_agg(format_type(a.atttypid, a.atttypmod) order by a.attnum) from pg_attribute as a
         where a.attrelid = fresh and a.attnum > 0 and not a.attisdropped)) as o;
    if v_obstacles is not null then
        raise exception 'in the way of the new release: %', v_obstacles
            using errcode = 'SA120', hint = 'Drop them, run again, and make them anew; nothing has been dropped.';
    end if;

    -- texts that name the target are taken while the name still means the old table
    select coalesce(array_agg(format('%I.%I', n.nspname, v.relname) order by v.oid), '{}'),
           coalesce(array_agg(format('create or replace view %I.%I%s as %s', n.nspname, v.relname,
               ' with (' || array_to_string(v.reloptions, ', ') || ')', pg_get_viewdef(v.oid)) order by v.oid), '{}')
    into v_names, v_views
    from pg_class as v join pg_namespace as n on n.oid = v.relnamespace
    where v.oid in (select r.ev_class from pg_depend as d
                    join pg_rewrite as r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
                    where d.refclassid = 'pg_class'::regclass and d.refobjid = v_old);

    v_rebuild := anondb.release_belongings(v_old);
    select pg_get_userbyid(t.relowner) into v_owner from pg_class as t where t.oid = v_old;

    perform anondb.copy_grants(v_old, fresh);
    execute format('alter table %s rename to %I', v_old, 'anondb_old_' || v_old::oid);
    execute format('alter table %s rename to %I', fresh, target_name);
    for i in 1 .. cardinality(v_views) loop
        begin
            execute v_views[i];
        exception when others then
            raise exception 'view % cannot follow to the new release', v_names[i]
                using errcode = 'SA121', hint = 'Drop it, run again, and make it anew; nothing has been dropped.';
        end;
    end loop;
    execute format('drop table %s', v_old);
    foreach v_statement in array v_rebuild loop
        execute v_statement;
    end loop;
    if v_owner <> current_user then
        execute format('alter table %I.%I owner to %I', target_schema, target_name, v_owner);
    end if;
end $$;
comment on function anondb.swap_release(regclass, name, name) is
'Puts a fresh release in the place of the old one, which it drops: owner, grants, indexes and views stay. Raises SA120 or SA121, naming what is in the way.';

create function anondb.release_belongings(release regclass) returns text[]
language sql stable parallel restricted
begin atomic
    select coalesce(pg_catalog.array_agg(s.statement order by s.rank, s.statement), '{}')
    from (
        select 1 as rank, format('alter table %s add constraint %I %s', release, c.conname,
                                 pg_catalog.pg_get_constraintdef(c.oid)) as statement
        from pg_catalog.pg_constraint as c
        where c.conrelid = release and c.contype in ('p', 'u', 'c', 'x', 'f')
        union all
        select 2, pg_catalog.pg_get_indexdef(i.indexrelid)
        from pg_catalog.pg_index as i
        where i.indrelid = release
          and not exists (select from pg_catalog.pg_constraint as c where c.conindid = i.indexrelid)
        union all
        select 3, format('comment on column %s.%I is %L', release, a.attname, d.description)
        from pg_catalog.pg_description as d
        join pg_catalog.pg_attribute as a on a.attrelid = d.objoid and a.attnum = d.objsubid
        where d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = release and d.objsubid > 0
    ) as s;
end;
comment on function anondb.release_belongings(regclass) is
'Statements that make the constraints, indexes and column comments of a release anew, under its name.';

create function anondb.copy_grants(from_table regclass, to_table regclass) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_grant record;
begin
    -- what default privileges have given the new table is not what its users had
    for v_grant in
        select distinct a.grantee from pg_class as t, aclexplode(t.relacl) as a
        where t.oid = to_table and a.grantee <> t.relowner
    loop
        execute format('revoke all on table %s from %s', to_table, anondb.role_name(v_grant.grantee));
    end loop;
    for v_grant in
        select a.grantee, a.privilege_type as privilege, a.is_grantable, null::name as column_name
        from pg_class as t, aclexplode(t.relacl) as a
        where t.oid = from_table and a.grantee <> t.relowner
        union all
        select a.grantee, a.privilege_type, a.is_grantable, c.attname
        from pg_attribute as c, aclexplode(c.attacl) as a
        where c.attrelid = from_table and not c.attisdropped
          and exists (select from pg_attribute as f
                      where f.attrelid = to_table and f.attname = c.attname and not f.attisdropped)
    loop
        execute format('grant %s%s on table %s to %s%s', v_grant.privilege,
            coalesce(format(' (%I)', v_grant.column_name), ''), to_table, anondb.role_name(v_grant.grantee),
            case when v_grant.is_grantable then ' with grant option' else '' end);
    end loop;
end $$;
comment on function anondb.copy_grants(regclass, regclass) is
'Gives a table exactly the grants, on the table and on its columns, that another one has.';

create function anondb.role_name(role oid) returns text
language sql stable parallel safe
return case when role = 0 then 'public' else quote_ident(pg_catalog.pg_get_userbyid(role)) end;
comment on function anondb.role_name(oid) is 'A role as GRANT names it; 0 is public.';

create function anondb.own_release(run bigint, target_schema name, target_name name) returns void
language sql volatile parallel unsafe
begin atomic
    -- in the run's own transaction, so that a release is ours from the moment it can be read
    update anondb.run as r set release_oid = c.oid
    from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where r.id = run and n.nspname = target_schema and c.relname = target_name;
end;
comment on function anondb.own_release(bigint, name, name) is
'Notes in the history that the table at this place is the release of this run.';
