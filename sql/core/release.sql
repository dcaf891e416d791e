-- How a verified release takes the place of the one before, with all that users have hung on it.

create function anondb.release_obstacles(release regclass, columns name[], types text[])
returns table (kind text, name text)
language sql stable parallel restricted
begin atomic
    -- views that this role cannot make anew, or whose columns change; and rules that are no views
    select case when bool_or(r.rulename <> '_RETURN') then 'rule on ' else '' end
           || case v.relkind when 'v' then 'view' when 'm' then 'materialized view' else 'table' end,
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
        or bool_or(r.rulename <> '_RETURN')
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
    -- functions, policies of other tables; by the type of the release's rows also tables, views and domains
    select i.type, i.identity
    from pg_catalog.pg_class as t
    join pg_catalog.pg_type as y on y.oid = t.reltype
    join pg_catalog.pg_depend as d
        on (d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = t.oid)
        or (d.refclassid = 'pg_catalog.pg_type'::regclass and d.refobjid in (y.oid, y.typarray))
    cross join lateral pg_catalog.pg_identify_object(d.classid, d.objid, 0) as i
    where t.oid = release and d.deptype = 'n'
      and d.classid not in ('pg_catalog.pg_rewrite'::regclass, 'pg_catalog.pg_constraint'::regclass)
      and d.objid not in (select h.inhrelid from pg_catalog.pg_inherits as h where h.inhparent = release)
    group by i.type, i.identity
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
    v_views text[];
    v_view_texts text[];
    v_things text[];
    v_thing_texts text[];
    v_obstacles text;
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
    select array_agg(format('view %I.%I', n.nspname, v.relname) order by v.oid),
           array_agg(format('create or replace view %I.%I%s as %s', n.nspname, v.relname,
               ' with (' || array_to_string(v.reloptions, ', ') || ')', pg_get_viewdef(v.oid)) order by v.oid)
    into v_views, v_view_texts
    from pg_class as v join pg_namespace as n on n.oid = v.relnamespace
    where v.oid in (select r.ev_class from pg_depend as d
                    join pg_rewrite as r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
                    where d.refclassid = 'pg_class'::regclass and d.refobjid = v_old);
    select array_agg(b.name order by b.rank, b.name), array_agg(b.statement order by b.rank, b.name)
    into v_things, v_thing_texts
    from anondb.release_belongings(v_old, fresh) as b;
    select pg_get_userbyid(t.relowner) into v_owner from pg_class as t where t.oid = v_old;

    -- before the grants: those of the role that made the table would turn into its new owner's
    if v_owner <> current_user then
        execute format('alter table %s owner to %I', fresh, v_owner);
    end if;
    perform anondb.copy_grants(v_old, fresh);
    execute format('alter table %s rename to %I', v_old, 'anondb_old_' || v_old::oid);
    execute format('alter table %s rename to %I', fresh, target_name);
    perform anondb.carry_over(v_views, v_view_texts);
    execute format('drop table %s', v_old);
    perform anondb.carry_over(v_things, v_thing_texts);
end $$;
comment on function anondb.swap_release(regclass, name, name) is
'Puts a fresh release in the place of the old one, which it drops: owner, grants, indexes and views stay. Raises SA120 or SA121, naming what is in the way.';

create function anondb.carry_over(names text[], statements text[]) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    for i in 1 .. coalesce(cardinality(names), 0) loop
        begin
            execute statements[i];
        exception when others then
            -- a lock, a full disk, a server that goes down: not the thing's own fault
            if sqlstate ~ '^(40|53|55|57|58)' then
                raise;
            end if;
            raise exception '% cannot follow to the new release', names[i]
                using errcode = 'SA121', hint = 'Drop it, run again, and make it anew; nothing has been dropped.';
        end;
    end loop;
end $$;
comment on function anondb.carry_over(text[], text[]) is
'Runs the statements that make a user''s things anew on a release. Raises SA121 with the name of one that fails, without the message, which may quote a row.';

create function anondb.release_belongings(release regclass, heir regclass)
returns table (rank int, name text, statement text)
language sql stable parallel restricted
begin atomic
    select 1, format('constraint %I', c.conname),
           format('alter table %s add constraint %I %s', release, c.conname, pg_catalog.pg_get_constraintdef(c.oid))
    from pg_catalog.pg_constraint as c
    where c.conrelid = release and c.contype in ('p', 'u', 'c', 'x', 'f')
    union all
    -- not null and comments go with their column
    select 1, format('not null of %I', a.attname),
           format('alter table %s alter column %I set not null', release, a.attname)
    from pg_catalog.pg_attribute as a
    join pg_catalog.pg_attribute as f on f.attrelid = heir and f.attname = a.attname and not f.attisdropped
    where a.attrelid = release and a.attnum > 0 and a.attnotnull
    union all
    select 2, format('index %s', i.indexrelid::regclass), pg_catalog.pg_get_indexdef(i.indexrelid)
    from pg_catalog.pg_index as i
    where i.indrelid = release
      and not exists (select from pg_catalog.pg_constraint as c where c.conindid = i.indexrelid)
    union all
    select 3, format('statistics %I.%I', n.nspname, s.stxname), pg_catalog.pg_get_statisticsobjdef(s.oid)
    from pg_catalog.pg_statistic_ext as s join pg_catalog.pg_namespace as n on n.oid = s.stxnamespace
    where s.stxrelid = release
    union all
    select 4, format('comment on column %I', a.attname),
           format('comment on column %s.%I is %L', release, a.attname, d.description)
    from pg_catalog.pg_description as d
    join pg_catalog.pg_attribute as a on a.attrelid = d.objoid and a.attnum = d.objsubid
    join pg_catalog.pg_attribute as f on f.attrelid = heir and f.attname = a.attname and not f.attisdropped
    where d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = release and d.objsubid > 0;
end;
comment on function anondb.release_belongings(regclass, regclass) is
'Statements that make the constraints, indexes, statistics and column comments of a release anew, under its name, on the one that takes its place.';

create function anondb.copy_grants(from_table regclass, to_table regclass) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_grant record;
begin
    -- what default privileges have given the new table is not what its users had; the owner's own rights
    -- are a grant only where somebody has changed them
    for v_grant in
        select distinct a.grantee
        from pg_class as f, pg_class as t, aclexplode(coalesce(t.relacl, acldefault('r', t.relowner))) as a
        where f.oid = from_table and t.oid = to_table and (f.relacl is not null or a.grantee <> t.relowner)
    loop
        execute format('revoke all on table %s from %s', to_table, anondb.role_name(v_grant.grantee));
    end loop;
    for v_grant in
        select a.grantee, a.privilege_type as privilege, a.is_grantable, null::name as column_name
        from pg_class as t, aclexplode(t.relacl) as a
        where t.oid = from_table
        union all
        select a.grantee, a.privilege_type, a.is_grantable, c.attname
        from pg_attribute as c, aclexplode(c.attacl) as a
        where c.attrelid = from_table and not c.attisdropped
          and exists (select from pg_attribute as f
                      where f.attrelid = to_table and f.attname = c.attname and not f.attisdropped)
    loop
        execute format('grant %s%s on table %s to %s%s', v_grant.privilege,
            ' (' || quote_ident(v_grant.column_name) || ')', to_table, anondb.role_name(v_grant.grantee),
            case when v_grant.is_grantable then ' with grant option' else '' end);
    end loop;
end $$;
comment on function anondb.copy_grants(regclass, regclass) is
'Gives a table exactly the grants, on the table and on its columns, that another one has.';

create function anondb.role_name(role oid) returns text
language sql stable parallel safe
return case when role = 0 then 'public' else quote_ident(pg_catalog.pg_get_userbyid(role)) end;
comment on function anondb.role_name(oid) is 'A role as GRANT names it; 0 is public.';

create function anondb.release_at(target_schema name, target_name name, target text)
returns table (oid oid, kind "char", ours boolean, may_replace boolean)
language sql stable parallel restricted set row_security = on
begin atomic
    -- Whoever runs policies can write into the history, and a user can comment on a table. So a table is a release
    -- only if a run of this target says so and the role of that run has power over it. The comment tells it
    -- where oids are others, after a dump was restored. What this role must not see of the history is not ours.
    select c.oid, c.relkind,
           exists (
               select from anondb.run as r
               join pg_catalog.pg_roles as s on s.rolname = r.started_by
               where r.target = release_at.target and r.status = 'done'
                 and pg_catalog.pg_has_role(s.oid, c.relowner, 'MEMBER')
                 and (r.release_oid = c.oid
                      or pg_catalog.obj_description(c.oid, 'pg_class')
                         like 'anondb run ' || r.id || ', policy ' || r.policy || ',%')),
           pg_catalog.pg_has_role(c.relowner, 'USAGE')
    from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = target_schema and c.relname = target_name;
end;
comment on function anondb.release_at(name, name, text) is
'What stands at a place: its oid and kind, whether it is a release that a run of the target has made, and whether the current role may replace it.';

create function anondb.own_release(run bigint, target_schema name, target_name name) returns void
language sql volatile parallel unsafe set row_security = on
begin atomic
    -- In the run's own transaction: a release is ours from the moment it can be read.
    update anondb.run as r set release_oid = c.oid
    from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where r.id = run and n.nspname = target_schema and c.relname = target_name;
end;
comment on function anondb.own_release(bigint, name, name) is
'Notes in the history that the table at this place is the release of this run.';
