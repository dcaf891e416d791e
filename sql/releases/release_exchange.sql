-- How a table with other columns takes the place of a release, with what users have hung on it. The
-- statements are read on a connection that sees the present, and run on that of the run, whose
-- snapshot is older.

create function anondb.role_name(role oid) returns text
language sql stable parallel safe
return case when role = 0 then 'public' else quote_ident(pg_catalog.pg_get_userbyid(role)) end;
comment on function anondb.role_name(oid) is 'A role as GRANT names it; 0 is public.';

create function anondb.release_belongings(release oid, columns name[])
returns table (rank int, name text, statement text)
language sql stable parallel restricted
begin atomic
    select 1, format('owner %I', pg_catalog.pg_get_userbyid(t.relowner)),
           format('alter table %s owner to %I', t.oid::regclass,
                  pg_catalog.pg_get_userbyid(t.relowner))
    from pg_catalog.pg_class as t
    where t.oid = release and pg_catalog.pg_get_userbyid(t.relowner) <> current_user
    union all
    select 2, format('view %I.%I', n.nspname, v.relname),
           format('create or replace view %I.%I%s as %s', n.nspname, v.relname,
               ' with (' || array_to_string(v.reloptions, ', ') || ')',
               pg_catalog.pg_get_viewdef(v.oid))
    from pg_catalog.pg_class as v join pg_catalog.pg_namespace as n on n.oid = v.relnamespace
    where v.oid in (select r.ev_class from pg_catalog.pg_depend as d
                    join pg_catalog.pg_rewrite as r
                        on d.classid = 'pg_catalog.pg_rewrite'::regclass and r.oid = d.objid
                    where d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = release)
    union all
    select 3, format('constraint %I', c.conname),
           format('alter table %s add constraint %I %s', release::regclass, c.conname,
               pg_catalog.pg_get_constraintdef(c.oid))
    from pg_catalog.pg_constraint as c
    where c.conrelid = release and c.contype in ('p', 'u', 'c', 'x', 'f')
    union all
    -- not null and comments go with their column
    select 3, format('not null of %I', a.attname),
           format('alter table %s alter column %I set not null', release::regclass, a.attname)
    from pg_catalog.pg_attribute as a
    where a.attrelid = release and a.attnum > 0 and a.attnotnull and a.attname = any (columns)
    union all
    select 4, format('index %s', i.indexrelid::regclass), pg_catalog.pg_get_indexdef(i.indexrelid)
    from pg_catalog.pg_index as i
    where i.indrelid = release
      and not exists (select from pg_catalog.pg_constraint as c where c.conindid = i.indexrelid)
    union all
    select 5, format('statistics %I.%I', n.nspname, s.stxname),
           pg_catalog.pg_get_statisticsobjdef(s.oid)
    from pg_catalog.pg_statistic_ext as s
    join pg_catalog.pg_namespace as n on n.oid = s.stxnamespace
    where s.stxrelid = release
    union all
    select 6, format('comment on column %I', a.attname),
           format('comment on column %s.%I is %L', release::regclass, a.attname, d.description)
    from pg_catalog.pg_description as d
    join pg_catalog.pg_attribute as a on a.attrelid = d.objoid and a.attnum = d.objsubid
    where d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = release
      and a.attname = any (columns)
    union all
    select 6, 'comment on the table',
           format('comment on table %s is %L', release::regclass, d.description)
    from pg_catalog.pg_description as d
    where d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = release and d.objsubid = 0
      and d.description not like 'anondb run %'
    order by 1, 2;
end;
comment on function anondb.release_belongings(oid, name[]) is
'Statements that give the owner, views, constraints, indexes, statistics and column comments of a '
'release to the table with these columns that takes its place.';

create function anondb.release_grants(release oid, columns name[])
returns table (name text, statement text)
language sql stable parallel restricted
begin atomic
    -- the owner's own rights are a grant only where somebody has changed them
    select 'grants', format('revoke all on table %s from %I', t.oid::regclass,
                            pg_catalog.pg_get_userbyid(t.relowner))
    from pg_catalog.pg_class as t where t.oid = release and t.relacl is not null
    union all
    select 'grants', format('grant %s on table %s to %s%s', a.privilege_type, t.oid::regclass,
               anondb.role_name(a.grantee),
               case when a.is_grantable then ' with grant option' else '' end)
    from pg_catalog.pg_class as t, aclexplode(t.relacl) as a
    where t.oid = release
    union all
    select 'grants', format('grant %s (%I) on table %s to %s%s', a.privilege_type, c.attname,
                            release::regclass,
               anondb.role_name(a.grantee),
               case when a.is_grantable then ' with grant option' else '' end)
    from pg_catalog.pg_attribute as c, aclexplode(c.attacl) as a
    where c.attrelid = release and not c.attisdropped and c.attname = any (columns);
end;
comment on function anondb.release_grants(oid, name[]) is
'Statements that give a table with these columns, which takes the place of a release, exactly the '
'grants of that release.';

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
                using errcode = 'SA121',
                hint = 'Drop it, run again, and make it anew; nothing has been dropped.';
        end;
    end loop;
end $$;
comment on function anondb.carry_over(text[], text[]) is
'Runs the statements that make a user''s things anew on a release. Raises SA121 with the name of '
'one that fails, without the message, which may quote a row.';

create function anondb.without_grants(release regclass) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- What default privileges have given a new table is not what the users of the old one had.
declare
    v_grantee oid;
begin
    for v_grantee in
        select distinct a.grantee from pg_class as t, aclexplode(t.relacl) as a
        where t.oid = release and a.grantee <> t.relowner
    loop
        execute format('revoke all on table %s from %s', release, anondb.role_name(v_grantee));
    end loop;
end $$;
comment on function anondb.without_grants(regclass) is
'Takes back all that others than its owner may do with a table.';
