-- Several releases beside the source: persons whom nothing tells apart, by all of them.

create function anondb.together_joints(
    releases int, source regclass, quasi name[], absent name, kept name[], joint name)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres' set extra_float_digits = '1' set bytea_output = 'hex'
set client_min_messages = 'warning' as $$
declare
    v_release int;
    v_place int;
begin
    for v_release, v_place in
        -- a column that a release has not is a star in it
        select l.release, l.place from pg_temp.together_label as l
        where l.release between 1 and releases
          and exists (select from pg_temp.together_class as c where c.release = 0)
        group by l.release, l.place
        having not exists (select from pg_temp.together_pair as p
                           where p.first = 0 and p.second = l.release and p.place = l.place)
    loop
        raise exception 'no label of % in compared release % stands for a value of the source',
                quasi[v_place], v_release - 1
            using errcode = 'SA294',
            hint = 'It is of other persons, or its labels are of a hierarchy that the policy does '
                   'not name: leave it out of against, or name that hierarchy.';
    end loop;
    drop table if exists pg_temp.together_signature, pg_temp.together_joint;
    create temporary table together_signature on commit drop as
    with found as (
        select m.a, m.second, array_agg(m.b order by m.b)::text as classes
        from pg_temp.together_match as m where m.first = 0 group by m.a, m.second
    ), signature as (
        -- who is kept out of the first one is in none of its classes
        select c.class, o.is_absent,
               string_agg(f.second || f.classes, ' ' order by f.second) as signature
        from pg_temp.together_class as c
        cross join (values (false), (true)) as o (is_absent)
        join found as f on f.a = c.class and not (o.is_absent and f.second = 1)
        where c.release = 0
        group by c.class, o.is_absent
    )
    select s.class, s.is_absent, dense_rank() over (order by s.signature) as joint
    from signature as s;
    analyze pg_temp.together_signature;
    execute (
        select format('create temporary table together_joint on commit drop as
                       select g.joint::int as %1$I%2$s
                       from %3$s as r %4$s
                       join pg_temp.together_class as c
                         on c.release = 0 and c.codes = array[%5$s]
                       join pg_temp.together_signature as g
                         on g.class = c.class and g.is_absent = r.%6$I',
                      joint,
                      (select string_agg(format(', r.%I', k.name), '' order by k.place)
                       from unnest(kept) with ordinality as k (name, place)),
                      source,
                      string_agg(format('join pg_temp.together_label as l%1$s
                                         on l%1$s.release = 0 and l%1$s.place = %1$s
                                        and l%1$s.key = quote_nullable(r.%2$I::text)',
                                        q.place, q.name), ' '),
                      string_agg(format('l%s.code', q.place), ', ' order by q.place), absent)
        from unnest(quasi) with ordinality as q (name, place));
    analyze pg_temp.together_joint;
end $$;
comment on function anondb.together_joints(int, regclass, name[], name, name[], name) is
'Puts the records of a source down with their joint class: that of all who may be in the same '
'classes of each release. Records that absent says are in none of the first one. Raises SA294 '
'where no label of a release stands for a value of the source.';

create function anondb.together_fewest(joint name, unit name, k int)
returns table (persons bigint, fewest bigint, joints bigint)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    return query execute format(
        'select coalesce(sum(p.n) filter (where p.n < $1), 0)::bigint, coalesce(min(p.n), 0),
                count(*)
         from (select count(%s) as n from pg_temp.together_joint as j group by j.%I) as p',
        case when unit is null then '*' else format('distinct j.%I', unit) end, joint) using k;
end $$;
comment on function anondb.together_fewest(name, name, int) is
'How many persons are in joint classes of fewer than k, and the fewest in one of all.';

create function anondb.releases_beside(in_schema text, named text, source text)
returns table (schema name, name name, kind text, columns text[], of_source boolean)
language sql stable parallel restricted set row_security = on
begin atomic
    select n.nspname, c.relname, c.relkind::text,
           array(select a.attname::text from pg_attribute as a
                 where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                 order by a.attnum),
           exists (select from anondb.run as r
                   where r.status = 'done' and r.source = releases_beside.source
                     and c.oid = any (r.release_oid || r.release_oids))
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname like in_schema and c.relname like named
      and c.relkind in ('r', 'p', 'm', 'v', 'f') and not c.relispartition
      and n.nspname not in ('anondb', 'anondb_work', 'information_schema')
      and n.nspname not like 'pg\_%'
      and has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT')
    order by n.nspname, c.relname;
end;
comment on function anondb.releases_beside(text, text, text) is
'The tables and views of such names (patterns of LIKE) that the caller can read, with their '
'columns, and whether they are releases of this source.';
