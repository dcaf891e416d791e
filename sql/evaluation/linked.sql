-- Originals and what became of them, in one shape: distinct pairs (o1 .. on, r1 .. rn, released,
-- n).
--
-- o and r are texts, n counts the records; one that is not released has released = false, and NULL
-- in r1 .. rn. Whoever measures gives a query of this shape. A run has it from its frequency set;
-- for any other release it is made by anondb.linked_query. A run gives codes in the place of the
-- texts, -1 for what is not released, and beside them the texts of each column's pairs: cells (i,
-- o, r, o_code, r_code, released, n). Of a hierarchy only its ladder counts: (i, leaf, level,
-- label), the label of each leaf of column i at each level.

create function anondb.has_unique_key(relation regclass, key name) returns boolean
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_unique boolean;
begin
    if exists (
        select from pg_index as x
        join pg_class as c on c.oid = x.indrelid and not (c.relkind = 'r' and c.relhassubclass)
        join pg_attribute as a on a.attrelid = x.indrelid and a.attname = key and a.attnotnull
        where x.indrelid = relation and x.indisunique and x.indisvalid and x.indimmediate
          and x.indpred is null and x.indnkeyatts = 1 and x.indkey[0] = a.attnum)
    then
        return true;  -- no need to sort what an index keeps
    end if;
    execute format('select count(*) = count(distinct t.%I) from %s as t', key, relation)
    into v_unique;
    return v_unique;
end $$;
comment on function anondb.has_unique_key(regclass, name) is
'Whether no two rows of a relation, and no NULL, share a value of the column.';

create function anondb.check_link(original regclass, release regclass, key name, quasi name[])
returns void
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_relation regclass;
    v_rows bigint[];
    v_strangers bigint;
begin
    foreach v_relation in array array[original, release] loop
        perform anondb.check_columns(v_relation, quasi);
        perform anondb.check_columns(v_relation, array[key]);
        if not anondb.has_unique_key(v_relation, key) then
            raise exception '%.% does not name its rows: it has a value twice, or NULL', v_relation,
                quote_ident(key)
                using errcode = 'SA170',
                hint = 'The key has to tell the records apart, in the original and in the release.';
        end if;
    end loop;
    execute format('select array[(select count(*) from %s), (select count(*) from %s)]', original,
                   release) into v_rows;
    if v_rows[2] > v_rows[1] then
        raise exception 'the release % has % rows, and its original % only %', release, v_rows[2],
            original, v_rows[1]
            using errcode = 'SA171',
            hint = 'Is it a release of this table, and are the two in the right order?';
    end if;
    execute format('select count(*) from %s as r left join %s as o on %s where o.%I is null',
                   release, original, anondb.same_key(original, release, key), key)
    into v_strangers;
    if v_strangers > 0 then
        raise exception '% rows of % have a % that % does not have', v_strangers, release,
            quote_ident(key), original
            using errcode = 'SA172', hint = 'Every released record has its original, by the key.';
    end if;
end $$;
comment on function anondb.check_link(regclass, regclass, name, name[]) is
'Makes sure that every row of a release has its original. Raises SA170 if a key is not unique, '
'SA171 if the release has more rows than the original, SA172 if it has keys of its own.';

create function anondb.same_key(original regclass, release regclass, key name) returns text
language sql stable parallel restricted
begin atomic
    -- keys of two types are compared as texts
    select format(case when count(distinct a.atttypid) = 1 then 'r.%1$I = o.%1$I'
                       else 'r.%1$I::text collate "C" = o.%1$I::text collate "C"' end, same_key.key)
    from pg_catalog.pg_attribute as a
    where a.attrelid in (same_key.original, same_key.release) and a.attname = same_key.key;
end;
comment on function anondb.same_key(regclass, regclass, name) is
'The condition, in SQL, that joins a release r to its original o.';

create function anondb.masked_rows(quasi name[], roots text[]) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    if roots is null then
        return 'false';
    end if;
    if cardinality(roots) <> cardinality(quasi) then
        raise exception '% root labels, and % quasi-identifiers', cardinality(roots),
            cardinality(quasi)
            using errcode = 'SA173',
            hint = 'Give one for each quasi-identifier, in the same order: array[''*'', ''*'']';
    end if;
    return (select string_agg(format('t.%I::text collate "C" is not distinct from %L',
                                     q.name, q.root), ' and ')
            from unnest(quasi, roots) as q (name, root));
end $$;
comment on function anondb.masked_rows(name[], text[]) is
'The condition, in SQL, that tells the rows t of a release that are suppressed by masking: all '
'quasi-identifiers at their root. Raises SA173 if the root labels do not fit.';

create function anondb.value_text(relation regclass, alias text, of_column name) returns text
language sql stable parallel restricted
begin atomic
    -- 1.5 and 1.50 are one number, and the cast of a host to text would add its netmask
    select format(case a.atttypid when 'pg_catalog.numeric'::regtype
                                  then 'pg_catalog.trim_scale(%s.%I)'
                                  when 'pg_catalog.inet'::regtype then 'pg_catalog.abbrev(%s.%I)'
                                  else '%s.%I' end || '::text collate "C"', value_text.alias,
                  value_text.of_column)
    from pg_catalog.pg_attribute as a
    where a.attrelid = value_text.relation and a.attname = value_text.of_column
      and not a.attisdropped;
end;
comment on function anondb.value_text(regclass, text, name) is
'The text, in SQL, of a column as a run releases it: two values are one exactly if their texts '
'are.';

create function anondb.linked_query(
    original regclass, release regclass, key name, quasi name[], roots text[] = null)
returns text
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_columns text;
begin
    perform anondb.check_link(original, release, key, quasi);
    select string_agg(format('%s as %s%s', anondb.value_text(s.relation, s.side, q.name),
                             s.side, q.i), ', '
                      order by s.side, q.i)
    into v_columns
    from unnest(quasi) with ordinality as q (name, i)
    cross join (values ('o', original), ('r', release)) as s (side, relation);
    return format(
        'select %s, r.%I is not null as released, count(*) as n
         from %s as o left join (select %s from %s as t where not (%s)) as r on %s group by %s',
        v_columns, key, original,
        (select string_agg(distinct format('t.%I', q.name), ', ')
         from unnest(quasi || key) as q (name)),
        release, anondb.masked_rows(quasi, roots), anondb.same_key(original, release, key),
        (select string_agg(g.i::text, ', ')
         from generate_series(1, 2 * cardinality(quasi) + 1) as g (i)));
end $$;
comment on function anondb.linked_query(regclass, regclass, name, name[], text[]) is
'A query that gives each pair of an original and a released combination of values, and how often '
'it occurs. Rows whose quasi-identifiers are all at the given root labels count as not released.';

create function anondb.keep_linked(linked text) returns text
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
begin
    -- not everyone who may measure may write; the measures then join the two tables for each of
    -- them
    if current_setting('transaction_read_only')::boolean
       or not has_database_privilege(current_database(), 'temporary') then
        return linked;
    end if;
    drop table if exists pg_temp.anondb_linked;
    execute format('create temporary table anondb_linked on commit drop as %s', linked);
    analyze pg_temp.anondb_linked;
    return 'table pg_temp.anondb_linked';
end $$;
comment on function anondb.keep_linked(text) is
'Puts what a linked query gives into a temporary table until the end of the transaction, so that '
'several measures join a release and its original once; returns the query that reads it, or the '
'given one where no temporary table may be made.';

create function anondb.check_vghs(quasi name[], vghs text[]) returns void
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    if cardinality(vghs) <> cardinality(quasi) then
        raise exception '% hierarchies, and % quasi-identifiers', cardinality(vghs),
            cardinality(quasi)
            using errcode = 'SA174',
            hint = 'Name one for each quasi-identifier, in the same order, NULL for none.';
    end if;
    perform anondb.find_vgh(h.name) from unnest(vghs) as h (name) where h.name is not null;
end $$;
comment on function anondb.check_vghs(name[], text[]) is
'Raises SA174 unless there is one hierarchy, or NULL, for each quasi-identifier.';

create function anondb.linked_parts(linked text, vghs text[], ladder regclass = null,
                                    cells regclass = null) returns text
language sql stable parallel restricted
begin atomic
    -- Values are looked at once each: a cell is a distinct pair of values of column i, with numbers
    -- for the two; gathered has the cells of a column as arrays. Stored hierarchies are read only
    -- if there are any: not everyone who may measure may read them.
    select format(
        'with linked as materialized (%s), cell as materialized (
             select k.i, k.o, k.r, k.released, k.n, quote_nullable(k.o) as o_key,
                    quote_nullable(k.r) as r_key,
                    %s
             from (%s) as k
         ), step as materialized (
             %s%s
         ), rung as (
             select s.i, array_agg(s.leaf) as leaves, array_agg(s.level) as levels,
                    array_agg(s.label) as labels
             from step as s group by s.i
         ), gathered as materialized (
             select c.i, c.o, c.r, c.released, c.n, g.leaves, g.levels, g.labels
             from (select k.i, array_agg(k.o) as o, array_agg(k.r) as r,
                          array_agg(k.released) as released,
                          array_agg(k.n) as n
                   from cell as k group by k.i) as c
             left join rung as g on g.i = c.i
         )',
        linked_parts.linked,
        case when linked_parts.cells is not null then 'k.o_code, k.r_code'
             else 'dense_rank() over (partition by k.i order by k.o) as o_code,
                   dense_rank() over (partition by k.i order by k.r) as r_code' end,
        case when linked_parts.cells is not null then format('select * from %s', linked_parts.cells)
             else (select string_agg(
            format('select %1$s as i, l.o%1$s collate "C" as o, l.r%1$s collate "C" as r, '
                   'l.released, sum(l.n)::bigint as n '
                   'from linked as l group by 2, 3, 4', g.i),
            ' union all ' order by g.i)
         from generate_series(1, cardinality(linked_parts.vghs)) as g (i)) end,
        case when array_remove(linked_parts.vghs, null) = '{}'
             then 'select null::int as i, null::text as leaf, null::int as level, '
                  'null::text as label where false'
             else 'select s.i, s.leaf, s.level, s.label from anondb.ladders($1) as s' end,
        case when linked_parts.ladder is not null
             then format(' union all select t.i, t.leaf, t.level, t.label from %s as t',
                         linked_parts.ladder)
             else '' end);
end;
comment on function anondb.linked_parts(text, text[], regclass, regclass) is
'The beginning of every query on a linked relation; its first parameter are the names of stored '
'hierarchies, NULL for a column without, ladder is a relation (i, leaf, level, label) of others, '
'and cells has the texts of a linked relation of codes.';

create function anondb.same_cell(i int, cell text, coded boolean) returns text
language sql immutable parallel safe
return format(
    case when coded then '%2$s.i = %1$s and %2$s.o_code = l.o%1$s and %2$s.r_code = l.r%1$s and '
                         '%2$s.released = l.released'
         else '%2$s.i = %1$s and %2$s.o_key = quote_nullable(l.o%1$s) and %2$s.r_key = '
              'quote_nullable(l.r%1$s) '
              'and %2$s.released = l.released' end,
    i, cell);
comment on function anondb.same_cell(int, text, boolean) is
'The condition, in SQL, that a row l of a linked relation has this cell in column i.';

create function anondb.cell_coverage(
    o text[], r text[], released boolean[], leaves text[] = null, labels text[] = null)
returns table (original text, released_value text)
language sql immutable parallel safe
set enable_nestloop = off set jit = off
begin atomic
    with cell as materialized (
        select c.o collate "C" as o, c.r collate "C" as r, c.released
        from unnest(o, r, released) as c (o, r, released)
    ), readable as materialized (
        select k.original, k.released_value
        from anondb.coverage(
            cell_coverage.o, array(select distinct c.r from cell as c where c.released), leaves,
            labels) as k
    )
    select k.original, k.released_value from readable as k
    union
    -- a label that nobody can read stands for what became of it
    select c.o, c.r from cell as c
    where c.released and quote_nullable(c.r) not in (
        select quote_nullable(k.released_value) from readable as k
        union all select quote_literal(u.label) from unnest(cell_coverage.labels) as u (label)
        where u.label is not null)
    union
    -- a NULL where the original has a value is a cell that was suppressed, and can be anything
    select c.o, null from cell as c
    where exists (select from cell as s where s.released and s.r is null and s.o is not null);
end;
comment on function anondb.cell_coverage(text[], text[], boolean[], text[], text[]) is
'Which original values each released value of a column stands for: as anondb.coverage reads it, '
'and where that finds nothing, those that became it.';
