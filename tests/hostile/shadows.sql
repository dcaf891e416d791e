-- Operators and functions that would be found before PostgreSQL's own, made by a role that may do no more than
-- create in schemas of the victim's path. For everything that pg_catalog offers there is one of the very same
-- types, and one of every combination of types that pg_catalog's would be found for by coercion: of those the
-- exact match wins, wherever it lies in the path. Each tells, even out of a transaction that is rolled back,
-- that it was called, and with whose rights.
set search_path = pg_catalog, pg_temp;
create sequence shared.called;
create table shared.shadow (id int, what text);
grant usage on schema shared to public;
grant all on shared.called to public;

create temporary view pg_temp.takes as  -- the types that are taken for one without being asked
select t.oid as wanted, t.oid as given from pg_type as t where t.typtype in ('b', 'r') and t.typnamespace = 'pg_catalog'::regnamespace
union
select c.casttarget, c.castsource from pg_cast as c
where c.castcontext = 'i' and c.castsource not in (
    'regproc'::regtype, 'regprocedure'::regtype, 'regoper'::regtype, 'regoperator'::regtype, 'regconfig'::regtype,
    'regdictionary'::regtype, 'regcollation'::regtype)
union
select p.oid, g.oid
from pg_type as p, pg_type as g
where (p.typname = 'anyarray' and g.typname in ('_text', '_name', '_int4', '_int8', '_float8', '_oid', '_bool', '_numeric'))
   or (p.typname in ('anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray', 'any')
       and g.typname in ('text', 'name', 'int4', 'int8', 'float8', 'oid', 'regclass', 'bool', 'numeric', 'jsonb', 'char'))
   or (p.typname in ('anycompatiblearray') and g.typname in ('_text', '_name', '_int4', '_int8', '_float8'));

create function pg_temp.result(wanted oid, given oid) returns text language sql as $$
    select format_type(case when t.typtype = 'p' and t.typname <> 'void' and t.typname <> 'record' then given else wanted end, null)
    from pg_type as t where t.oid = wanted
$$;

do $$
declare
    v_one record;
    v_id int := 0;
    v_body constant text := 'language plpgsql volatile as %L';
begin
    for v_one in
        select distinct on (o.oprname, l.given, r.given)
               o.oprname, format_type(l.given, null) as l, format_type(r.given, null) as r,
               pg_temp.result(o.oprresult, l.given) as res
        from pg_operator as o
        join takes as l on l.wanted = o.oprleft
        join takes as r on r.wanted = o.oprright
        where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprkind = 'b'
        order by o.oprname, l.given, r.given, (l.given = o.oprleft and r.given = o.oprright) desc, o.oid
    loop
        v_id := v_id + 1;
        begin
            execute format('create function shared.shadow_%s(%s, %s) returns %s ' || v_body, v_id, v_one.l, v_one.r, v_one.res,
                format('begin perform pg_catalog.setval(''shared.called'', %s); raise exception ''shadow''; end', v_id));
            execute format('create operator %I.%s (function = shared.shadow_%s, leftarg = %s, rightarg = %s)',
                case v_id % 2 when 0 then 'public' else 'shared' end, v_one.oprname, v_id, v_one.l, v_one.r);
            insert into shared.shadow values (v_id, format('%s (%s, %s)', v_one.oprname, v_one.l, v_one.r));
        exception when others then null;  -- some, as =>, cannot be made
        end;
    end loop;
    for v_one in
        select distinct on (p.proname, c.args) p.proname, c.args, pg_temp.result(p.prorettype, c.first) as res, p.proretset
        from pg_proc as p
        cross join lateral (
            select a.given as first, format_type(a.given, null) as args from takes as a
            where p.pronargs = 1 and a.wanted = p.proargtypes[0]
            union all
            select a.given, format('%s, %s', format_type(a.given, null), format_type(b.given, null))
            from takes as a, takes as b
            where p.pronargs = 2 and a.wanted = p.proargtypes[0] and b.wanted = p.proargtypes[1]
            union all
            select p.proargtypes[0], concat_ws(', ', format_type(nullif(p.proargtypes[0], p.provariadic), null), format_type(a.given, null), format_type(b.given, null))
            from takes as a, (select given from takes where wanted = '"any"'::regtype union all select null) as b
            where p.provariadic = '"any"'::regtype and a.wanted = p.provariadic
            union all
            select p.proargtypes[0], '' where p.pronargs = 0
            union all
            select p.proargtypes[0], pg_get_function_identity_arguments(p.oid)
            where p.pronargs > 2 and p.provariadic = 0 and p.proargmodes is null
        ) as c(first, args)
        where p.pronamespace = 'pg_catalog'::regnamespace and p.proname = any (current_setting('shadows.names')::text[])
        order by p.proname, c.args
    loop
        v_id := v_id + 1;
        begin
            execute format('create function %I.%I(%s) returns %s%s ' || v_body,
                case v_id % 2 when 0 then 'public' else 'shared' end, v_one.proname, v_one.args,
                case when v_one.proretset then 'setof ' end, v_one.res,
                format('begin perform pg_catalog.setval(''shared.called'', %s); raise exception ''shadow''; end', v_id));
            insert into shared.shadow values (v_id, format('%s(%s)', v_one.proname, v_one.args));
        exception when others then null;
        end;
    end loop;
end $$;
