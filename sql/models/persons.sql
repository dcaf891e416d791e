-- Persons whose rows lie in several tables: how many match whatever may be known of one of them.
-- (k, k^m)-anonymity (Terrovitis et al. 2008, Poulis et al. 2013) over trees of tables.

create function anondb.shared_rows(above int[], tables int[], other_above int[], other_tables int[])
returns int
language sql immutable parallel safe
begin atomic
    -- rows have numbers of their own in each table
    select count(*)::int
    from generate_subscripts(above, 1) as i
    where i <= (
        select coalesce(min(j) - 1, least(cardinality(above), cardinality(other_above)))
        from generate_series(1, least(cardinality(above), cardinality(other_above))) as j
        where above[j] <> other_above[j] or tables[j] <> other_tables[j]);
end;
comment on function anondb.shared_rows(int[], int[], int[], int[]) is
'How many rows two paths from a person down share, given the numbers and the tables of their rows.';

create function anondb.linked_tables(tables jsonb)
returns table (number int, name text, parent int, depth int, quasi name[], own name[],
               theirs name[], unit name, has_children boolean)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- Parents come first. All that can be wrong with the description is told here.
declare
    v_roots text;
    v_wrong text;
begin
    if jsonb_typeof(tables) is distinct from 'object' or tables = '{}' then
        raise exception 'no table is described'
            using errcode = 'SA271',
            hint = '{"share.patients": {"unit": "patient_id", "quasi": ["birth"]}, '
                   '"share.visits": {"parent": "share.patients", '
                   '"key": {"patient_id": "patient_id"}, "quasi": ["ward"]}}';
    end if;
    select string_agg(e.key, ', ' order by e.key) into v_wrong
    from jsonb_each(tables) as e
    where jsonb_typeof(e.value) <> 'object'
       or jsonb_typeof(e.value -> 'quasi') is distinct from 'array'
       or e.value ? 'parent' and jsonb_typeof(e.value -> 'key') is distinct from 'object'
       or exists (select from jsonb_object_keys(
                      case jsonb_typeof(e.value) when 'object' then e.value else '{}' end) as k
                  where k not in ('quasi', 'unit', 'parent', 'key'));
    if v_wrong is not null then
        raise exception 'the description of % cannot be read', v_wrong
            using errcode = 'SA275',
            hint = 'Each has quasi, a list; that of the persons unit; all others parent and key, '
                   '{"column here": "column of the parent"}.';
    end if;
    select string_agg(e.key, ', ' order by e.key) into v_roots
    from jsonb_each(tables) as e where not e.value ? 'parent';
    with recursive tree (key, depth) as (
        select e.key, 0 from jsonb_each(tables) as e where not e.value ? 'parent'
        union all
        select e.key, t.depth + 1 from tree as t
        join jsonb_each(tables) as e on e.value ->> 'parent' = t.key)
    select string_agg(e.key, ', ' order by e.key) into v_wrong
    from jsonb_each(tables) as e where e.key not in (select t.key from tree as t);
    if v_roots is null or v_roots like '%, %' or v_wrong is not null then
        raise exception '%', case
                when v_wrong is not null then format('%s hang below no table of persons', v_wrong)
                else format('%s are without a parent', coalesce(v_roots, 'no tables')) end
            using errcode = 'SA272',
            hint = 'One table is that of the persons, and has no parent; each other names its own.';
    end if;
    return query
        with recursive tree (key, value, depth, path) as (
            select e.key, e.value, 0, array[e.key]
            from jsonb_each(tables) as e where not e.value ? 'parent'
            union all
            select e.key, e.value, t.depth + 1, t.path || e.key from tree as t
            join jsonb_each(tables) as e on e.value ->> 'parent' = t.key),
        numbered as (
            select (row_number() over (order by t.depth, t.key) - 1)::int as n, t.* from tree as t)
        select t.n, t.key, p.n, t.depth,
               array(select q::name from jsonb_array_elements_text(t.value -> 'quasi') as q),
               array(select k.key::name from jsonb_each_text(t.value -> 'key') as k
                     order by k.key),
               array(select k.value::name from jsonb_each_text(t.value -> 'key') as k
                     order by k.key),
               (t.value ->> 'unit')::name,
               exists (select from numbered as c where c.value ->> 'parent' = t.key)
        from numbered as t left join numbered as p on p.key = t.value ->> 'parent'
        order by t.n;
end $$;
comment on function anondb.linked_tables(jsonb) is
'The tables of a description, parents first, with their columns. Raises SA271 for none, SA275 for '
'what cannot be read, SA272 where there is not one table without a parent, above all others.';

create function anondb.check_linked_columns(tables jsonb) returns void
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_table record;
    v_several boolean;
begin
    for v_table in select * from anondb.linked_tables(tables) loop
        perform anondb.check_columns(
            v_table.name::regclass,
            v_table.quasi || v_table.own || array_remove(array[v_table.unit], null));
        continue when v_table.unit is null;
        execute format('select exists (select from %s as t where t.%2$I is not null
                                       group by t.%2$I having count(*) > 1)',
                       v_table.name::regclass, v_table.unit) into v_several;
        if v_several then
            raise exception 'a person has several rows in %', v_table.name
                using errcode = 'SA273',
                hint = 'The table without a parent has one row for each person.';
        end if;
    end loop;
end $$;
comment on function anondb.check_linked_columns(jsonb) is
'Raises SA111 where a described table does not have a column, SA273 where a person has several '
'rows of the own.';

create function anondb.linked_rows_query(tables jsonb, with_paths boolean,
                                         of_table text default null,
                                         of_column name default null) returns text
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- A list of common table expressions t0, t1, ...: each row with its number and person; `p`, which
-- labels it and the rows above it have; `above` and `tables`, these rows; `s`, a further column of
-- one table. Of tables that nothing hangs on, p takes a sort that counting alone does not need.
declare
    v_table record;
    v_parts text[] := '{}';
    v_labels text;  -- columns to select
    v_quasi text;  -- expressions to order by
    v_join text;
begin
    perform anondb.check_linked_columns(tables);
    for v_table in select * from anondb.linked_tables(tables) loop
        select coalesce(string_agg(format(', t.%I as q%s', q.name, q.i), '' order by q.i), '')
        into v_labels from unnest(v_table.quasi) with ordinality as q (name, i);
        v_labels := v_labels || coalesce((
            select string_agg(format(', t.%I as k_%s', k.name, md5(k.name)), '')
            from (select distinct u as name
                  from anondb.linked_tables(tables) as c, unnest(c.theirs) as u
                  where c.parent = v_table.number) as k), '')
            || case when v_table.name = of_table then format(', t.%I as s', of_column) else '' end;
        if v_table.parent is null then
            select string_agg(format('t.%I', q.name), ', ' order by q.i) into v_quasi
            from unnest(v_table.quasi) with ordinality as q (name, i);
            v_parts := v_parts || format(
                't0 as materialized (select row_number() over () as rid,
                     row_number() over () as person, %s as p, array[]::int[] as above,
                     array[]::int[] as tables %s
                 from %s as t)',
                coalesce('dense_rank() over (order by ' || v_quasi || ')', '1::bigint'), v_labels,
                v_table.name::regclass);
            continue;
        end if;
        select string_agg(format('t.%I = u.k_%s', k.own, md5(k.theirs)), ' and ') into v_join
        from unnest(v_table.own, v_table.theirs) as k (own, theirs);
        if with_paths or v_table.has_children then
            select coalesce(string_agg(format(', x.q%s', i), '' order by i), '') into v_quasi
            from generate_series(1, cardinality(v_table.quasi)) as i;
            v_parts := v_parts || format(
                't%1$s as materialized (
                     select x.*, dense_rank() over (order by x.u %2$s) as p from (
                         select y.*, y.before || y.rid::int as above, y.steps || %1$s as tables
                         from (
                             select row_number() over () as rid, u.rid as parent, u.person,
                                    u.p as u, u.above as before, u.tables as steps %3$s
                             from %4$s as t join t%5$s as u on %6$s) as y) as x)',
                v_table.number, v_quasi, v_labels, v_table.name::regclass, v_table.parent, v_join);
        else
            v_parts := v_parts || format(
                't%1$s as not materialized (
                     select u.person, u.p as u %2$s from %3$s as t join t%4$s as u on %5$s)',
                v_table.number, v_labels, v_table.name::regclass, v_table.parent, v_join);
        end if;
    end loop;
    return array_to_string(v_parts, ', ');
end $$;
comment on function anondb.linked_rows_query(jsonb, boolean, text, name) is
'Common table expressions t0, t1, ... of the rows of linked tables with their persons and the '
'paths of labels that lead to them.';

create function anondb.tree_codes_query(tables jsonb) returns text
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- From the lowest tables up: rows are alike if their labels are, and what hangs on them.
declare
    v_table record;
    v_parts text[] := '{}';
    v_by text;
    v_kids text;
begin
    for v_table in
        select * from anondb.linked_tables(tables) as l order by l.number desc
    loop
        select coalesce(string_agg(format(', t.q%s', i), '' order by i), '') into v_by
        from generate_series(1, cardinality(v_table.quasi)) as i;
        select v_by || coalesce(string_agg(format(', k%s.kids', c.number), '' order by c.number),
                                ''),
               coalesce(string_agg(format(
                   ' left join (select c.parent, array_agg(c.code order by c.code) as kids
                                from c%1$s as c group by c.parent) as k%1$s
                         on k%1$s.parent = t.rid', c.number), '' order by c.number), '')
        into v_by, v_kids
        from anondb.linked_tables(tables) as c where c.parent = v_table.number;
        v_parts := v_parts || format(
            'c%1$s as materialized (
                 select t.person, %2$s as parent,
                        dense_rank() over (order by true %3$s) as code
                 from t%1$s as t %4$s)',
            v_table.number, case when v_table.parent is null then 't.rid' else 't.parent' end,
            v_by, v_kids);
    end loop;
    return array_to_string(v_parts, ', ');
end $$;
comment on function anondb.tree_codes_query(jsonb) is
'Common table expressions c0, c1, ... over those of anondb.linked_rows_query: of each row a number '
'that rows with an equal tree share.';

create function anondb.choices_query(tables jsonb, knows text, of_table text default null,
                                     of_column name default null) returns text
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_with text;
    v_parts text[];
    v_rows text;
begin
    if knows is null or knows not in ('0', '1', '2', 'all') then
        raise exception 'an attacker cannot know % rows', coalesce(knows, 'NULL')
            using errcode = 'SA274', hint = 'Choose from 0, 1, 2 and all.';
    end if;
    v_with := 'with ' || anondb.linked_rows_query(tables, true, of_table, of_column);
    if knows = 'all' then
        return v_with || ', ' || anondb.tree_codes_query(tables)
            || ', choice as (select 0 as t, c.code as p, 0 as t2, 0::bigint as p2, 0 as d, c.person
                             from c0 as c)';
    end if;
    v_parts := array['select 0 as t, r.p, 0 as t2, 0::bigint as p2, 0 as d, r.person
                      from t0 as r'];
    if knows <> '0' then
        v_parts := v_parts || array(
            select format('select distinct %1$s, r.p, 0, 0::bigint, 0, r.person from t%1$s as r',
                          l.number)
            from anondb.linked_tables(tables) as l where l.number > 0 order by l.number);
    end if;
    if knows = '2' then
        select string_agg(
            format('select %1$s as t, r.p, r.rid, r.person, r.above, r.tables from t%1$s as r',
                   l.number), ' union all ')
        into v_rows from anondb.linked_tables(tables) as l where l.number > 0;
    end if;
    if v_rows is not null then
        v_with := v_with || ', r as materialized (' || v_rows || ')';
        v_parts := v_parts || text
            'select distinct x.t, x.p, x.t2, x.p2, x.d, x.person from (
                 select a.t, a.p, b.t as t2, b.p as p2, a.person,
                        anondb.shared_rows(a.above, a.tables, b.above, b.tables) as d,
                        least(cardinality(a.above), cardinality(b.above)) as least
                 from r as a join r as b on a.person = b.person
                  and (a.t, a.p, a.rid) < (b.t, b.p, b.rid)) as x
             where x.d < x.least';
    end if;
    return v_with || ', choice as (' || array_to_string(v_parts, ' union all ') || ')';
end $$;
comment on function anondb.choices_query(jsonb, text, text, name) is
'The common table expression choice (t, p, t2, p2, d, person): each choice of what may be known of '
'a person of linked tables, with every person who matches it. Raises SA274 for a number of rows '
'that is not supported.';

create function anondb.k_persons(tables jsonb, knows text default '1') returns bigint
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_fewest bigint;
    v_parts text[];
    v_table record;
    v_by text;
begin
    if knows is null or knows not in ('0', '1') then
        execute anondb.choices_query(tables, knows)
            || ' select min(g.n) from (select count(*) as n from choice as c
                                       group by c.t, c.p, c.t2, c.p2, c.d) as g' into v_fewest;
        return coalesce(v_fewest, 0);
    end if;
    perform anondb.check_linked_columns(tables);
    if anondb.has_plain_labels(tables) then
        for v_table in select * from anondb.linked_tables(tables) as l order by l.number loop
            exit when v_table.number > 0 and knows = '0';
            v_fewest := least(v_fewest, anondb.rarest_path(tables, v_table.number));
        end loop;
        return coalesce(v_fewest, 0);
    end if;
    -- of what nothing hangs on, the labels themselves are counted: that takes no sort
    for v_table in select * from anondb.linked_tables(tables) loop
        exit when v_table.number > 0 and knows = '0';
        select case when v_table.number = 0 or v_table.has_children then 'r.p'
                    else 'r.u' || coalesce(string_agg(format(', r.q%s', i), '' order by i), '') end
        into v_by from generate_series(1, cardinality(v_table.quasi)) as i;
        v_parts := v_parts || format(
            'select min(g.n) as n from (
                 select count(*) as n
                 from (select %2$s from t%1$s as r group by %2$s, r.person) as r
                 group by %2$s) as g', v_table.number, v_by);
    end loop;
    execute format('with %s select min(m.n) from (%s) as m',
                   anondb.linked_rows_query(tables, false),
                   array_to_string(v_parts, ' union all '))
    into v_fewest;
    return coalesce(v_fewest, 0);
end $$;
comment on function anondb.k_persons(jsonb, text) is
'The fewest persons who match what an attacker may know of any person of linked tables: the own '
'row and at most `knows` rows (0, 1, 2 or all) of the tables below, each with the rows above it. '
'As {"share.patients": {"unit": "patient_id", "quasi": ["birth"]}, "share.visits": {"parent": '
'"share.patients", "key": {"patient_id": "patient_id"}, "quasi": ["ward"]}}. Tables are named with '
'their schema. 0 of no persons.';

create function anondb.known_values(tables jsonb, knows text, of_table text, of_column name)
returns table (choice bigint, person bigint, has_row boolean, value text)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_number int;
begin
    select l.number into v_number from anondb.linked_tables(tables) as l where l.name = of_table;
    perform anondb.check_columns(of_table::regclass, array[of_column]);
    return query execute format(
        '%s select dense_rank() over (order by c.t, c.p, c.t2, c.p2, c.d), c.person,
                   v.person is not null, v.value
            from choice as c
            left join (select distinct r.person, r.s::text collate "C" as value
                       from t%s as r) as v on v.person = c.person',
        anondb.choices_query(tables, knows, of_table, of_column), v_number);
end $$;
comment on function anondb.known_values(jsonb, text, text, name) is
'Of each choice of what may be known of a person, every person who matches it with each value that '
'the person has in a column of one of the tables; without a row there, one row that says so.';
