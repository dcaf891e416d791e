-- What somebody learns who has two releases of the same persons. Who is in a class of the one and
-- in a class of the other is one of those who may be in both.
--
--   together_label  the distinct labels of each column: (release, place, code, label)
--   together_class  classes of a release by the codes of their labels, with their records
--   together_kept   how often each combination of kept values occurs in a class
--   together_pair   which labels can stand for the same value
--   together_match  which classes can have the same person
--   together_ladder what a value of the source can be released as, if the caller knows it
--
-- Releases have numbers; 0 is the source, whose classes are its combinations of values.

create function anondb.has_column(relation regclass, name name) returns boolean
language sql stable parallel restricted
begin atomic
    select exists (select from pg_attribute as a
                   where a.attrelid = relation and a.attname = has_column.name and a.attnum > 0
                     and not a.attisdropped);
end;
comment on function anondb.has_column(regclass, name) is
'Whether a table has a column of this name.';

create function anondb.together_close() returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set client_min_messages = 'warning' as $$
begin
    drop view if exists pg_temp.together_source;
    drop table if exists pg_temp.together_label, pg_temp.together_class, pg_temp.together_kept,
        pg_temp.together_pair, pg_temp.together_match, pg_temp.together_ladder,
        pg_temp.together_signature, pg_temp.together_joint;
end $$;
comment on function anondb.together_close() is
'Drops the temporary tables in which releases were compared.';

create function anondb.together_open() returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    perform anondb.together_close();
    create temporary table together_label (
        release int, place int, code int generated always as identity, label text, key text)
        on commit drop;
    create temporary table together_class (
        release int, class int generated always as identity, codes int[], records bigint)
        on commit drop;
    create temporary table together_kept (release int, class int, kept text[], n bigint)
        on commit drop;
    create temporary table together_pair (first int, second int, place int, a int, b int)
        on commit drop;
    create temporary table together_match (first int, second int, a int, b int) on commit drop;
    create temporary table together_ladder (place int, leaf text, label text) on commit drop;
end $$;
comment on function anondb.together_open() is
'Makes the temporary tables in which releases are compared; those of a comparison before it go.';

create function anondb.together_take(number int, relation regclass, quasi name[], kept name[])
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres' set extra_float_digits = '1' set bytea_output = 'hex'
set client_min_messages = 'warning' as $$
-- One pass over the table; then only what is distinct in it is looked at. A column that it has not
-- is a star for everybody, or nothing that is kept.
begin
    if anondb.casts_of_others(relation) then
        raise exception 'a column of % becomes text by a function of somebody', relation
            using errcode = 'SA290', hint = 'Give its columns types that PostgreSQL has.';
    end if;
    drop table if exists pg_temp.together_row;
    execute (
        select format('create temporary table together_row as
                       select %s, array[%s]::text[] as kept, t.n
                       from (select %s, count(*) as n from %s as r group by %s) as t',
                      string_agg(format('t.c%s', c.place), ', ')
                          filter (where c.is_quasi),
                      coalesce(string_agg(format('t.c%s', c.place), ', ' order by c.place)
                               filter (where not c.is_quasi), ''),
                      string_agg(format(case when c.is_there then 'r.%I::text collate "C" as c%s'
                                         when c.is_quasi then '''*''::text as c%2$s'
                                         else 'null::text as c%2$s' end, c.name, c.place), ', '),
                      relation, string_agg(format('c%s', c.place), ', '))
        from (select q.name, q.place, q.place <= cardinality(quasi) as is_quasi,
                     anondb.has_column(relation, q.name) as is_there
              from unnest(quasi || kept) with ordinality as q (name, place)) as c);
    analyze pg_temp.together_row;
    for v_place in 1 .. cardinality(quasi) loop
        execute format('insert into pg_temp.together_label (release, place, label, key)
                        select distinct $1, %1$s, t.c%1$s, quote_nullable(t.c%1$s)
                        from pg_temp.together_row as t', v_place)
        using number;
    end loop;
    analyze pg_temp.together_label;
    drop table if exists pg_temp.together_coded;
    execute (
        select format('create temporary table together_coded as
                       select array[%s] as codes, t.kept, sum(t.n)::bigint as n
                       from pg_temp.together_row as t %s group by 1, 2',
                      string_agg(format('l%s.code', g.i), ', ' order by g.i),
                      string_agg(format('join pg_temp.together_label as l%1$s
                                         on l%1$s.release = %2$s and l%1$s.place = %1$s
                                        and l%1$s.key = quote_nullable(t.c%1$s)',
                                        g.i, number), ' '))
        from generate_series(1, cardinality(quasi)) as g (i));
    insert into pg_temp.together_class (release, codes, records)
    select number, t.codes, sum(t.n) from pg_temp.together_coded as t group by t.codes;
    analyze pg_temp.together_class;
    insert into pg_temp.together_kept (release, class, kept, n)
    select number, c.class, t.kept, t.n
    from pg_temp.together_coded as t
    join pg_temp.together_class as c on c.release = number and c.codes = t.codes;
    drop table pg_temp.together_row, pg_temp.together_coded;
    analyze pg_temp.together_kept;
end $$;
comment on function anondb.together_take(int, regclass, name[], name[]) is
'Puts a release down for a comparison: its classes by these columns, and what is kept of their '
'records. Raises SA290 where a column has a type whose cast somebody has made.';

create function anondb.together_pairs(first int, second int, vghs text[] = null) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- what the values of the source, or the labels of a release, have in common with those of another
declare
    v_leaves text[];
    v_labels text[];
    v_place int;
begin
    for v_place in
        select distinct l.place from pg_temp.together_label as l where l.release = first order by 1
    loop
        select array_agg(s.leaf), array_agg(s.label) into v_leaves, v_labels
        from (select s.leaf, s.label
              from anondb.ladders(array[vghs[v_place]]) as s where vghs[v_place] is not null
              union all
              select l.leaf, l.label from pg_temp.together_ladder as l
              where l.place = v_place and first <> 0 and l.leaf is not null) as s;
        with side as materialized (
            select array_agg(l.label) filter (where l.release = first) as ours,
                   array_agg(l.label) filter (where l.release = second) as theirs
            from pg_temp.together_label as l
            where l.place = v_place and l.release in (first, second)
        ), found as materialized (
            select quote_nullable(c.original) as a, quote_nullable(c.released_value) as b
            from side as s
            cross join lateral anondb.coverage(s.ours, s.theirs, v_leaves, v_labels) as c
            where first = 0
            union
            select quote_nullable(l.leaf), quote_nullable(l.label)
            from pg_temp.together_ladder as l where first = 0 and l.place = v_place
            union
            select quote_nullable(o.first_label), quote_nullable(o.second_label)
            from side as s
            cross join lateral anondb.overlapping_labels(s.ours, s.theirs, v_leaves, v_labels) as o
            where first <> 0
        )
        insert into pg_temp.together_pair (first, second, place, a, b)
        select first, second, v_place, a.code, b.code
        from found as f
        join pg_temp.together_label as a
          on a.release = first and a.place = v_place and a.key = f.a
        join pg_temp.together_label as b
          on b.release = second and b.place = v_place and b.key = f.b;
    end loop;
    analyze pg_temp.together_pair;
end $$;
comment on function anondb.together_pairs(int, int, text[]) is
'Puts down which labels of two releases can stand for the same value, with stored hierarchies by '
'the place of a column; of the source, which labels stand for a value.';

create function anondb.together_classes(first int, second int) returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set client_min_messages = 'warning'
set enable_nestloop = off set jit = off as $$
-- Column by column: which classes of the second are left for a beginning of the first. No two
-- classes that differ in the first columns are ever paired.
declare
    v_width int := (select max(l.place) from pg_temp.together_label as l where l.release = first);
begin
    drop table if exists pg_temp.together_step, pg_temp.together_next;
    create temporary table together_step as
    select '{}'::int[] as prefix, c.class, c.codes
    from pg_temp.together_class as c where c.release = second;
    for v_place in 1 .. v_width loop
        create temporary table together_next as
        select p.prefix, s.class, s.codes
        from (select distinct c.codes[1:v_place] as prefix, c.codes[1:v_place - 1] as before,
                     c.codes[v_place] as code
              from pg_temp.together_class as c where c.release = first) as p
        join pg_temp.together_pair as r on r.first = together_classes.first
         and r.second = together_classes.second and r.place = v_place and r.a = p.code
        join pg_temp.together_step as s on s.prefix = p.before and s.codes[v_place] = r.b;
        drop table pg_temp.together_step;
        alter table pg_temp.together_next rename to together_step;
        analyze pg_temp.together_step;
    end loop;
    insert into pg_temp.together_match (first, second, a, b)
    select first, second, c.class, s.class
    from pg_temp.together_step as s
    join pg_temp.together_class as c on c.release = first and c.codes = s.prefix;
    drop table pg_temp.together_step;
    analyze pg_temp.together_match;
end $$;
comment on function anondb.together_classes(int, int) is
'Puts down which classes of two releases can have the same person, once the pairs of their labels '
'are there.';
