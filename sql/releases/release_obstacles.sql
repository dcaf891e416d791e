-- What hangs on a release and is in the way of the next one: it is named, and nothing is dropped.

create function anondb.strange_code(release oid) returns table (kind text, name text)
language sql stable parallel restricted
begin atomic
    -- Whatever is here would run with the rights of whoever writes to the release. Objects of the
    -- server's own have oids below 16384, and dependencies on most of them are not kept: those are
    -- read off the expressions.
    with thing (kind, name, classid, objid, code) as (
        select case when d.attgenerated <> '' then 'generated column' else 'default of column' end,
               quote_ident(d.attname), 'pg_catalog.pg_attrdef'::regclass, e.oid, e.adbin::text
        from pg_catalog.pg_attrdef as e
        join pg_catalog.pg_attribute as d on d.attrelid = e.adrelid and d.attnum = e.adnum
        where e.adrelid = release
        union all
        select 'constraint', quote_ident(c.conname), 'pg_catalog.pg_constraint'::regclass, c.oid,
               c.conbin::text
        from pg_catalog.pg_constraint as c where c.conrelid = release
        union all
        select 'index', i.indexrelid::regclass::text, 'pg_catalog.pg_class'::regclass, i.indexrelid,
               concat(i.indexprs::text, i.indpred::text)
        from pg_catalog.pg_index as i where i.indrelid = release
        union all
        select 'statistics', format('%I.%I', n.nspname, s.stxname),
               'pg_catalog.pg_statistic_ext'::regclass, s.oid,
               s.stxexprs::text
        from pg_catalog.pg_statistic_ext as s
        join pg_catalog.pg_namespace as n on n.oid = s.stxnamespace
        where s.stxrelid = release
    )
    select t.kind, t.name
    from thing as t
    where exists (  -- functions, operators, operator classes, types that somebody has made
            select from pg_catalog.pg_depend as d
            where d.classid = t.classid and d.objid = t.objid and d.refobjid >= 16384
              and d.refclassid not in (
                  'pg_catalog.pg_class'::regclass, 'pg_catalog.pg_constraint'::regclass,
                  'pg_catalog.pg_namespace'::regclass, 'pg_catalog.pg_collation'::regclass))
       -- a built-in operator class calls the functions of such a type; those of an enum are built
       -- in
       or exists (
            select from pg_catalog.pg_depend as d
            join pg_catalog.pg_attribute as a on a.attrelid = release and a.attnum = d.refobjsubid
            join pg_catalog.pg_type as y on y.oid = a.atttypid
            where d.classid = t.classid and d.objid = t.objid
              and t.classid <> 'pg_catalog.pg_attrdef'::regclass
              and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = release
              and y.oid >= 16384 and y.typtype <> 'e')
       or exists (
            select from regexp_matches(t.code, ':(?:funcid|opfuncid) (\d+)', 'g') as m
            left join pg_catalog.pg_proc as p on p.oid = m[1]::oid
            where m[1] <> '0' and (p.oid is null or p.oid >= 16384 or p.provolatile <> 'i'))
       or exists (
            select from regexp_matches(t.code, '\{([A-Z_]+)', 'g') as m
            where m[1] not in (
                'VAR', 'CONST', 'FUNCEXPR', 'OPEXPR', 'BOOLEXPR', 'NULLTEST', 'BOOLEANTEST',
                'RELABELTYPE',
                'COERCEVIAIO', 'SCALARARRAYOPEXPR', 'DISTINCTEXPR', 'NULLIFEXPR', 'SUBSCRIPTINGREF',
                'ARRAYCOERCEEXPR',
                'CASETESTEXPR', 'CASEEXPR', 'CASE', 'CASEWHEN', 'WHEN', 'COALESCEEXPR', 'COALESCE',
                'MINMAXEXPR',
                'MINMAX', 'ARRAYEXPR', 'ARRAY', 'ROWEXPR', 'ROW', 'ROWCOMPAREEXPR', 'ROWCOMPARE',
                'COLLATEEXPR', 'COLLATE'));
end;
comment on function anondb.strange_code(oid) is
'Defaults, generated columns, constraints, indexes and statistics of a table that use more than '
'functions, operators and types which are built into PostgreSQL and immutable.';

create function anondb.common_obstacles(release oid) returns table (kind text, name text)
language sql stable parallel restricted
begin atomic
    select s.kind, s.name from anondb.strange_code(release) as s
    union all
    select 'foreign key', format('%I on %s', f.conname, f.conrelid::regclass)
    from pg_catalog.pg_constraint as f
    where f.confrelid = release and f.contype = 'f' and f.conrelid <> release
    union all
    -- The server looks keys up as the owner of the table that they refer to, in the session of the
    -- runner. Code on that table, an index predicate for example, is then run, and settings that it
    -- makes stay.
    select 'foreign key', format('%I to %s', f.conname, f.confrelid::regclass)
    from pg_catalog.pg_constraint as f join pg_catalog.pg_class as p on p.oid = f.confrelid
    where f.conrelid = release and f.contype = 'f' and f.confrelid <> release
      and pg_catalog.pg_get_userbyid(p.relowner) <> current_user
    union all
    select 'trigger', quote_ident(t.tgname)
    from pg_catalog.pg_trigger as t where t.tgrelid = release and not t.tgisinternal
    union all
    select 'rule', quote_ident(r.rulename)
    from pg_catalog.pg_rewrite as r where r.ev_class = release
    union all
    select 'inheriting table', i.inhrelid::regclass::text
    from pg_catalog.pg_inherits as i where i.inhparent = release
    union all
    select 'inherited table', i.inhparent::regclass::text
    from pg_catalog.pg_inherits as i where i.inhrelid = release;
end;
comment on function anondb.common_obstacles(oid) is
'What users have hung on a release that no next one can live with, however it is published.';

create function anondb.replacement_obstacles(release oid) returns table (kind text, name text)
language sql stable parallel restricted
begin atomic
    select o.kind, o.name from anondb.common_obstacles(release) as o
    union
    select 'forced row-level security', quote_ident(t.relname)
    from pg_catalog.pg_class as t where t.oid = release and t.relforcerowsecurity
    union
    select case when a.attgenerated <> '' then 'generated column' else 'identity column' end,
           quote_ident(a.attname)
    from pg_catalog.pg_attribute as a
    where a.attrelid = release and (a.attgenerated <> '' or a.attidentity <> '')
    union
    -- rows could be inserted, and not deleted
    select 'publication without a replica identity of the release', quote_ident(p.pubname)
    from pg_catalog.pg_class as t
    join pg_catalog.pg_namespace as n on n.oid = t.relnamespace
    join pg_catalog.pg_publication_tables as m on m.schemaname = n.nspname
        and m.tablename = t.relname
    join pg_catalog.pg_publication as p on p.pubname = m.pubname and p.pubdelete
    where t.oid = release and t.relreplident <> 'f'
      and not exists (
          select from pg_catalog.pg_index as i
          where i.indrelid = release and i.indisvalid
            and case t.relreplident when 'd' then i.indisprimary
                                    when 'i' then i.indisreplident else false end)
    order by 1, 2;
end;
comment on function anondb.replacement_obstacles(oid) is
'What users have hung on a release that keeps its rows from being replaced where they are.';

create function anondb.release_obstacles(release oid, columns name[], types text[])
returns table (kind text, name text)
language sql stable parallel restricted
begin atomic
    select o.kind, o.name from anondb.common_obstacles(release) as o
    union
    -- views that this role cannot make anew, or whose columns change; and rules that are no views
    select case when bool_or(r.rulename <> '_RETURN') then 'rule on ' else '' end
           || case v.relkind when 'v' then 'view'
                             when 'm' then 'materialized view' else 'table' end,
           format('%I.%I', n.nspname, v.relname)
    from pg_catalog.pg_depend as d
    join pg_catalog.pg_rewrite as r on d.classid = 'pg_catalog.pg_rewrite'::regclass
        and r.oid = d.objid
    join pg_catalog.pg_class as v on v.oid = r.ev_class and v.oid <> release
    join pg_catalog.pg_namespace as n on n.oid = v.relnamespace
    left join pg_catalog.pg_attribute as a on a.attrelid = release and a.attnum = d.refobjsubid
        and a.attnum > 0
    left join unnest(columns, types) as c (name, type)
        on c.name = a.attname and c.type = pg_catalog.format_type(a.atttypid, a.atttypmod)
    where d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = release
    group by v.oid, v.relkind, v.relowner, n.nspname, v.relname
    having v.relkind <> 'v'
        or bool_or(r.rulename <> '_RETURN')
        or not pg_catalog.pg_has_role(v.relowner, 'USAGE')
        or bool_or(a.attname is not null and c.name is null)
    union
    select case when a.attgenerated <> '' then 'generated column'
                when a.attidentity <> '' then 'identity column'
                else 'default of column' end, quote_ident(a.attname)
    from pg_catalog.pg_attribute as a
    where a.attrelid = release and a.attnum > 0 and (a.atthasdef or a.attidentity <> '')
      and not a.attisdropped
    union
    select 'row-level security', quote_ident(t.relname)
    from pg_catalog.pg_class as t
    where t.oid = release
      and (t.relrowsecurity or t.relforcerowsecurity
           or exists (select from pg_catalog.pg_policy as p where p.polrelid = release))
    union
    select 'publication', quote_ident(p.pubname)
    from pg_catalog.pg_publication_rel as m
    join pg_catalog.pg_publication as p on p.oid = m.prpubid where m.prrelid = release
    union
    -- functions, policies of other tables; by the type of the release's rows also tables, views and
    -- domains
    select i.type, i.identity
    from pg_catalog.pg_class as t
    join pg_catalog.pg_type as y on y.oid = t.reltype
    join pg_catalog.pg_depend as d
        on (d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = t.oid)
        or (d.refclassid = 'pg_catalog.pg_type'::regclass and d.refobjid in (y.oid, y.typarray))
    cross join lateral pg_catalog.pg_identify_object(d.classid, d.objid, 0) as i
    where t.oid = release and d.deptype = 'n'
      and d.classid not in ('pg_catalog.pg_rewrite'::regclass, 'pg_catalog.pg_constraint'::regclass)
      and d.objid not in (select h.inhrelid from pg_catalog.pg_inherits as h
                          where h.inhparent = release)
    group by i.type, i.identity
    order by 1, 2;
end;
comment on function anondb.release_obstacles(oid, name[], text[]) is
'What users have hung on a release that a table with these columns, which takes its place, could '
'not take over.';
