-- What the values of two tables mean by an ontology, without any hierarchy: also of sets of texts.
--
-- A value means a set of concepts: of a text one, of an array those of its texts. Two sets are as
-- far apart as their normalised sum of minimum: the mean, over the concepts of both, of the
-- distance to the nearest one of the other.

create function anondb.keep_meant(original regclass, release regclass, quasi name[],
                                  ontologies text[]) returns text
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
declare
    v_column record;
    v_terms text;
begin
    drop table if exists pg_temp.anondb_meant;
    create temporary table anondb_meant (i int, label text, concept int) on commit drop;
    for v_column in
        select u.name, u.ontology, u.i
        from unnest(quasi, ontologies) with ordinality as u (name, ontology, i)
        where u.ontology is not null
    loop
        select string_agg(format(
            case when t.typcategory = 'A'
                 then 'select %1$s as label, u.term::text from %2$s as x cross '
                      'join unnest(x.%3$I) as u (term)'
                 else 'select %1$s, x.%3$I::text from %2$s as x' end,
            anondb.value_text(s.relation, 'x', v_column.name), s.relation, v_column.name), ' union '
                          order by s.place)
        into v_terms
        from (values (original, 1), (release, 2)) as s (relation, place)
        join pg_attribute as a on a.attrelid = s.relation and a.attname = v_column.name
            and not a.attisdropped
        join pg_type as t on t.oid = a.atttypid;
        -- a * that stands for what is suppressed means nothing
        execute format(
            'with said as materialized (select s.* from (%s) as s (label, term) where s.term is '
            'not null and s.term <> ''*'')
             insert into pg_temp.anondb_meant
             select distinct $1::int, s.label, m.concept
             from said as s
             join anondb.value_concepts((select array_agg(distinct d.term) from said as d),
                                        array[$2]) as m on m.term = s.term',
            v_terms)
        using v_column.i, v_column.ontology;
    end loop;
    analyze pg_temp.anondb_meant;
    return 'pg_temp.anondb_meant';
end $$;
comment on function anondb.keep_meant(regclass, regclass, name[], text[]) is
'Puts down what the values of the columns that have an ontology mean in two tables, (i int, label '
'text, concept int), until the end of the transaction; returns the name of the table. ontologies '
'has NULL for the other columns.';

create function anondb.concepts_apart(first int[], second int[], measure text)
returns table (a int, b int, distance double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    -- concepts of different ontologies have nothing in common
    return query
        with pair as materialized (
            select distinct least(p.a, p.b) as low, greatest(p.a, p.b) as high
            from unnest(first, second) as p (a, b)
            join anondb.concept as x on x.id = p.a
            join anondb.concept as y on y.id = p.b and y.ontology = x.ontology
            where p.a <> p.b
        ), alike as materialized (
            select s.a, s.b, s.similarity
            from (select array_agg(p.low) as low, array_agg(p.high) as high from pair as p) as q
            cross join lateral anondb.similarities(q.low, q.high, measure) as s
            where q.low is not null
        )
        select d.a, d.b, case when d.a = d.b then 0 else coalesce(1 - s.similarity, 1) end
        from (select distinct p.a, p.b from unnest(first, second) as p (a, b)) as d
        left join alike as s on s.a = least(d.a, d.b) and s.b = greatest(d.a, d.b);
end $$;
comment on function anondb.concepts_apart(int[], int[], text) is
'The semantic distance of pairs of concepts: 0 of one and the same, 1 of those of different '
'ontologies.';

create function anondb.set_distances(concepts text[], measure text)
returns table (a int, b int, distance double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
set enable_nestloop = off set jit = off as $$
begin
    return query
        with member as materialized (
            select u.place::int as place, c.concept
            from unnest(concepts) with ordinality as u (list, place)
            cross join unnest(u.list::int[]) as c (concept)
        ), concept as materialized (
            select distinct m.concept from member as m
        ), apart as materialized (
            select d.a, d.b, d.distance
            from (select array_agg(x.concept) as x, array_agg(y.concept) as y from concept as x
                  cross join concept as y) as p
            cross join lateral anondb.concepts_apart(p.x, p.y, measure) as d
        ), nearest as materialized (
            select x.place as a, y.place as b, x.concept, min(d.distance) as distance
            from member as x
            join apart as d on d.a = x.concept
            join member as y on y.concept = d.b
            where x.place <> y.place
            group by x.place, y.place, x.concept
        )
        select least(n.a, n.b), greatest(n.a, n.b), avg(n.distance) from nearest as n group by 1, 2;
end $$;
comment on function anondb.set_distances(text[], text) is
'The distance of every two items that mean sets of concepts, written as arrays: the normalised sum '
'of minimum. NULL items are left out.';

create function anondb.linked_meant(linked text, width int, meant regclass, measure text = 'wup')
returns table (name text, of_column int, value double precision, cells bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp
set jit = off as $$
begin
    return query execute format(
        'with linked as materialized (select row_number() over () as row, l.* from (%s) as l),
         meant as materialized (select m.i, m.label collate "C" as label, m.concept from %s as m),
         cell as materialized (
             select l.row, l.n, l.released, c.i, c.o collate "C" as o, c.r collate "C" as r
             from linked as l cross join lateral (values %s) as c (i, o, r)
             where c.i in (select m.i from meant as m)
         ), pair as materialized (
             select distinct c.i, c.o, c.r from cell as c where c.released and c.o <> c.r
         ), member as materialized (
             select p.i, p.o, p.r, x.concept as x, y.concept as y
             from pair as p
             join meant as x on x.i = p.i and x.label = p.o
             join meant as y on y.i = p.i and y.label = p.r
         ), apart as materialized (
             select d.a, d.b, d.distance
             from (select array_agg(m.x) as x, array_agg(m.y) as y from member as m) as p
             cross join lateral anondb.concepts_apart(p.x, p.y, $1) as d where p.x is not null
         ), nearest as (
             select m.i, m.o, m.r, min(d.distance) as distance from member as m
             join apart as d on d.a = m.x and d.b = m.y group by m.i, m.o, m.r, m.x
             union all
             select m.i, m.o, m.r, min(d.distance) from member as m
             join apart as d on d.a = m.x and d.b = m.y group by m.i, m.o, m.r, m.y
         ), distance as materialized (
             select n.i, n.o, n.r, avg(n.distance) as distance from nearest as n
             group by n.i, n.o, n.r
         ), lost as materialized (
             -- of what is not released nothing is left; what means nothing has no distance
             select c.row, c.n, c.i, case when k.label is null then null
                                          when not c.released or c.r is null then 1
                                          when c.o = c.r then 0 else d.distance end as lost
             from cell as c
             left join (select distinct m.i, m.label from meant as m) as k on k.i = c.i
                 and k.label = c.o
             left join distance as d on d.i = c.i and d.o = c.o and d.r = c.r
         ), mean as (
             select x.i, sum(x.n * x.lost)
                 / nullif(sum(x.n) filter (where x.lost is not null), 0) as lost,
                    coalesce(sum(x.n) filter (where x.lost is not null), 0)::bigint as cells
             from lost as x group by grouping sets ((x.i), ())
         )
         select v.name, m.i, case v.name when ''sem_iloss'' then m.lost else 1 - m.lost end, m.cells
         from mean as m cross join (values (''sem_iloss''), (''semantic_quality'')) as v (name)
         union all
         select ''semantic_sse'', null, sum(s.n * power(s.lost, 2)), sum(s.cells)::bigint
         from (select max(x.n) as n, avg(x.lost) as lost, count(x.lost) as cells from lost as x
               group by x.row) as s',
        linked, meant,
        (select string_agg(format('(%1$s, l.o%1$s, l.r%1$s)', g.i), ', ')
         from generate_series(1, width) as g (i)))
    using measure;
end $$;
comment on function anondb.linked_meant(text, int, regclass, text) is
'What is lost of the meaning of the columns of a linked query, by a relation (i int, label text, '
'concept int): sem_iloss and semantic_quality of each column and of all (of_column NULL), '
'semantic_sse, and of how many cells.';
