-- The path of labels that the fewest persons of linked tables share, by sketches of its persons.

create function anondb.has_plain_labels(tables jsonb) returns boolean
language sql stable parallel restricted
begin atomic
    -- a row of a table has a place, that of a view has none; and equal labels have one hash
    select coalesce(bool_and(l.number > 0 or c.relkind in ('r', 'm')), false)
       and not exists (
           select from anondb.linked_tables(tables) as o
           cross join lateral unnest(o.quasi) as q (name)
           join pg_attribute as a on a.attrelid = o.name::regclass and a.attname = q.name
           where a.atttypid <> all ('{bool,int2,int4,int8,float4,float8,numeric,text,varchar,
                                      bpchar,date,timestamp,timestamptz,uuid}'::regtype[]))
    from anondb.linked_tables(tables) as l
    join pg_class as c on c.oid = l.name::regclass;
end;
comment on function anondb.has_plain_labels(jsonb) is
'Whether the labels of linked tables are of types that the server hashes, and persons are rows '
'of a table.';

create function anondb.rarest_path(tables jsonb, of_table int) returns bigint
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- Each person sets one of 64 bits of a path: as many persons as bits are set it has at least. A
-- path that has more of them than the rarest has rows is not the rarest. Of the others persons are
-- counted one by one; hashes choose which paths these are, and no more.
declare
    v_from text;
    v_labels text[];
    v_all text;
    v_rare bigint[];
    v_fewest bigint;
begin
    with recursive path as (
        select l.* from anondb.linked_tables(tables) as l where l.number = of_table
        union all
        select l.* from path as p join anondb.linked_tables(tables) as l on l.number = p.parent),
    columns as (
        select p.number, q.i, format('u%s.%I', p.number, q.name) as label
        from path as p cross join lateral unnest(p.quasi) with ordinality as q (name, i))
    select string_agg(case when p.parent is null then format('%s as u0', p.name::regclass)
                           else format('join %s as u%s on %s', p.name::regclass, p.number, (
                               select string_agg(format('u%s.%I = u%s.%I', p.number, k.own,
                                                        p.parent, k.theirs), ' and ')
                               from unnest(p.own, p.theirs) as k (own, theirs))) end,
                      ' ' order by p.number),
           array(select c.label from columns as c order by c.number, c.i)
    into v_from, v_labels from path as p;
    v_labels := coalesce(nullif(v_labels, '{}'), array['true']);
    v_all := array_to_string(v_labels, ', ');
    execute format(
        'with g as materialized (
             select hash_record_extended(row(%1$s), 0) as path, count(*) as n,
                    bit_count(bit_or(1::bigint << (hashtid(u0.ctid) & 63))::bit(64)) as least
             from %2$s group by %1$s)
         select array_agg(distinct g.path) from g
         where g.least <= (select min(m.n) from g as m)', v_all, v_from)
    into v_rare;
    execute format(
        'select min(e.n) from (
             select count(*) as n from (
                 select %3$s from %2$s
                 where hash_record_extended(row(%1$s), 0) = any ($1)
                 group by %1$s, u0.ctid) as x
             group by %4$s) as e', v_all, v_from,
        (select string_agg(format('%s as q%s', l.label, l.i), ', ' order by l.i)
         from unnest(v_labels) with ordinality as l (label, i)),
        (select string_agg(format('x.q%s', i), ', ' order by i)
         from generate_series(1, cardinality(v_labels)) as i))
    into v_fewest using v_rare;
    return v_fewest;
end $$;
comment on function anondb.rarest_path(jsonb, int) is
'The fewest persons who share a path of labels that leads to a row of one of the tables, of those '
'that anondb.has_plain_labels. NULL where it has no rows.';
