-- Measures of a release that anyone can ask in SQL, on any table, with the caller's own rights.
--
-- GROUP BY takes NULLs for equal: they are a value like all others, in quasi-identifiers and
-- elsewhere.

create function anondb.check_columns(release regclass, columns name[]) returns void
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_missing text;
begin
    if coalesce(cardinality(columns), 0) = 0 then
        raise exception 'no quasi-identifier is named'
            using errcode = 'SA110', hint = 'Name at least one column: array[''age'', ''zip'']';
    end if;
    select string_agg(coalesce(quote_ident(c.name), 'NULL'), ', ' order by c.name) into v_missing
    from unnest(columns) as c (name)
    where not exists (
        select from pg_attribute as a
        where a.attrelid = release and a.attname = c.name and a.attnum > 0 and not a.attisdropped);
    if v_missing is not null then
        raise exception '% has no column %', release, v_missing
            using errcode = 'SA111',
            hint = 'Give names as the catalogue spells them, without quotes.';
    end if;
end $$;
comment on function anondb.check_columns(regclass, name[]) is
'Raises SA110 where no column is named, SA111 where a relation does not have one of them.';

create function anondb.check_sensitive(release regclass, quasi name[], sensitive name) returns void
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    perform anondb.check_columns(release, quasi);
    perform anondb.check_columns(release, array[sensitive]);
    if sensitive = any (quasi) then
        raise exception 'column % of % is both sensitive and a quasi-identifier',
            quote_ident(sensitive), release
            using errcode = 'SA112',
            hint = 'In a class all records have the same: take it out of quasi.';
    end if;
end $$;
comment on function anondb.check_sensitive(regclass, name[], name) is
'Raises as anondb.check_columns, and SA112 for a sensitive column that is also a quasi-identifier.';

create function anondb.histogram_query(release regclass, quasi name[], value text) returns text
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select format('select %s, %s as value, count(*) as n from %s as t group by %s',
                      string_agg(format('t.%I as q%s', q.name, q.i), ', ' order by q.i),
                      value, release,
                      string_agg(format('%s, ', q.i), '' order by q.i) || count(*) + 1)
        from unnest(quasi) with ordinality as q (name, i));
end $$;
comment on function anondb.histogram_query(regclass, name[], text) is
'A query for rows (q1, q2, ..., value, n): how often each value, an expression of the relation t, '
'occurs in each class.';

create function anondb.class_columns(quasi name[]) returns text
language sql immutable parallel safe
begin atomic
    select string_agg(format('h.q%s', q.i), ', ' order by q.i)
    from generate_series(1, cardinality(quasi)) as q (i);
end;
comment on function anondb.class_columns(name[]) is
'The columns of a histogram query h that name a class: h.q1, h.q2, ...';

create function anondb.k_anonymity(release regclass, quasi name[], unit name = null) returns bigint
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- Samarati 2001: the size of the smallest class of records that agree in all quasi-identifiers.
declare
    v_k bigint;
begin
    perform anondb.check_columns(release, quasi);
    if unit is null then
        execute format(
            'select min(c.n) from (select count(*) as n from %s as t group by %s) as c',
            release,
            (select string_agg(format('t.%I', q.name), ', ') from unnest(quasi) as q (name)))
        into v_k;
    else
        perform anondb.check_columns(release, array[unit]);
        execute format(
            'select min(c.n) from (select count(*) as n from (%s) as h group by %s) as c',
            anondb.histogram_query(release, quasi, format('t.%I', unit)),
            anondb.class_columns(quasi))
        into v_k;
    end if;
    return coalesce(v_k, 0);
end $$;
comment on function anondb.k_anonymity(regclass, name[], name) is
'The k that a table reaches: the size of its smallest class by the quasi-identifiers, NULL counted '
'as a value; 0 for an empty table. With a unit, a column that names the person, the smallest '
'number of different persons in a class; records of a class that name nobody count together as one '
'person.';

create function anondb.l_diversity(
    release regclass, quasi name[], sensitive name, kind text = 'distinct',
    c double precision = null)
returns double precision
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- Machanavajjhala et al. 2007
declare
    v_l double precision;
begin
    if kind is null or kind not in ('distinct', 'entropy', 'recursive') then
        raise exception 'there is no l-diversity of kind "%"', kind
            using errcode = 'SA113', hint = 'There are distinct, entropy and recursive.';
    end if;
    if kind = 'recursive' and (c > 0 and c < 'infinity') is not true then
        raise exception 'recursive l-diversity needs a c above 0'
            using errcode = 'SA114',
            hint = 'The most frequent value stays below c times the rarer ones: c => 2';
    end if;
    if kind <> 'recursive' and c is not null then
        raise exception '% l-diversity has no c', kind
            using errcode = 'SA115', hint = 'Leave c out, or ask for kind => ''recursive''.';
    end if;
    perform anondb.check_sensitive(release, quasi, sensitive);
    -- many classes have the same counts
    execute format(
        'select min(%s) '
        'from (select distinct array_agg(h.n) as counts from (%s) as h group by %s) as c',
        case kind when 'distinct' then 'cardinality(c.counts)'
                  when 'entropy' then 'anondb.entropy_l(c.counts)'
                  else 'anondb.recursive_l(c.counts, $1)' end,
        anondb.histogram_query(release, quasi, format('t.%I', sensitive)),
        anondb.class_columns(quasi))
    into v_l using c;
    return coalesce(v_l, 0);
end $$;
comment on function anondb.l_diversity(regclass, name[], name, text, double precision) is
'The l that a table reaches: the least over its classes by the quasi-identifiers, NULL counted as '
'a value; 0 for an empty table. Kinds: distinct, the number of different sensitive values; '
'entropy, exp of their entropy; recursive, the greatest l for which a class is (c, l)-diverse. '
'Raises SA113 for another kind, SA114 where recursive has no c above 0, SA115 for a c elsewhere.';

create function anondb.ancestor_numbers(vgh int, leaves int[]) returns int[]
language sql stable parallel safe
begin atomic
    select array_agg(coalesce(p.node, 0) order by u.level, l.place)
    from anondb.vgh as v
    cross join generate_series(0, v.height - 1) as u (level)
    cross join unnest(ancestor_numbers.leaves) with ordinality as l (leaf, place)
    left join anondb.vgh_path as p on p.vgh = v.id and p.leaf = l.leaf and p.level = u.level
    where v.id = ancestor_numbers.vgh;
end;
comment on function anondb.ancestor_numbers(int, int[]) is
'The ancestors of leaves below the root, level by level, as anondb.emd_hierarchical takes them. '
'NULL has no leaf: it is a node of its own, 0, and meets the others at the root.';

create function anondb.coded_query(release regclass, quasi name[], sensitive name, by_vgh boolean)
returns text
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    if by_vgh then
        -- leaves are found by a text, and of equal values by the last of their texts
        return format(
            'select %1$s, h.label as value, sum(h.n)::bigint as n, h.leaf, h.code,
                    h.leaf is null and h.label is not null as outside
             from (select h.*, l.node as leaf, dense_rank() over (order by l.node)::int as code
                   from (select h.*, max(h.value) over (partition by h.q%2$s) as label
                         from (%3$s) as h) as h
                   left join (select v.node,
                                     anondb.label_without_sense(v.label) collate "C" as label
                              from anondb.vgh_node as v
                              where v.vgh = $1 and v.level = 0) as l on l.label = h.label
                  ) as h
             group by %1$s, h.label, h.leaf, h.code',
            anondb.class_columns(quasi), cardinality(quasi) + 1,
            anondb.histogram_query(release, quasi || sensitive,
                                   format('t.%I::text collate "C"', sensitive)));
    end if;
    -- A collation that takes different bytes for equal stays: by their bytes, one value would
    -- become two.
    return (
        select format(
            'select h.*, null::int as leaf, false as outside,
                    dense_rank() over (order by h.value)::int as code
             from (%s) as h',
            anondb.histogram_query(release, quasi, format(
                case when k.collisdeterministic then 't.%I collate "C"' else 't.%I' end,
                sensitive)))
        from pg_attribute as a left join pg_collation as k on k.oid = a.attcollation
        where a.attrelid = release and a.attname = sensitive);
end $$;
comment on function anondb.coded_query(regclass, name[], name, boolean) is
'A histogram query with a code for each sensitive value: its place in the order of the column''s '
'type, texts by their bytes, or in that of the leaves of the hierarchy $1; NULL comes last.';

create function anondb.compared_classes(release regclass, quasi name[], sensitive name,
                                        by_vgh boolean = false)
returns text
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    return format(
        'with coded as materialized (%s), reference as materialized (
            select array_agg(v.n order by v.code) as counts,
                   array_agg(v.leaf order by v.code) as leaves
            from (select h.code, h.leaf, sum(h.n)::float8 as n from coded as h
                  group by h.code, h.leaf) as v
        ), class as (
            select distinct array_agg(h.code order by h.code) as codes,
                            array_agg(h.n order by h.code) as counts
            from coded as h group by %s
        )',
        anondb.coded_query(release, quasi, sensitive, by_vgh), anondb.class_columns(quasi));
end $$;
comment on function anondb.compared_classes(regclass, name[], name, boolean) is
'The start of a query that compares classes with the whole table: rows coded as anondb.coded_query '
'has them; one row reference (counts, leaves) of all rows, by code; rows class (codes, counts), '
'each sort of class once.';

create function anondb.t_closeness(
    release regclass, quasi name[], sensitive name, distance text = 'equal', vgh text = null)
returns double precision
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- Li, Li, Venkatasubramanian 2007
declare
    v_vgh int;
    v_height int;
    v_t double precision;
    v_outside bigint;
begin
    if distance is null or distance not in ('equal', 'ordered', 'hierarchical') then
        raise exception 'there is no distance "%"', distance
            using errcode = 'SA116', hint = 'There are equal, ordered and hierarchical.';
    end if;
    if distance = 'hierarchical' and vgh is null then
        raise exception 'the hierarchical distance needs a hierarchy'
            using errcode = 'SA117', hint = 'Name a stored one: vgh => ''diagnosis''';
    end if;
    if distance = 'equal' and vgh is not null then
        raise exception 'the equal distance knows no hierarchy'
            using errcode = 'SA118',
            hint = 'Leave vgh out, or ask for distance => ''hierarchical''.';
    end if;
    perform anondb.check_sensitive(release, quasi, sensitive);
    if vgh is not null then
        v_vgh := anondb.find_vgh(vgh);
        v_height := (select v.height from anondb.vgh as v where v.id = v_vgh);
    end if;
    -- what depends on the reference alone stands in subqueries, which run once
    execute format(
        '%s, tree as materialized (
            select anondb.ancestor_numbers($1, r.leaves) as nodes from reference as r
            where $1 is not null
        )
        select max(%s), (select count(distinct h.value) from coded as h where h.outside)
        from class as c cross join reference as r left join tree as t on true',
        anondb.compared_classes(release, quasi, sensitive, v_vgh is not null),
        case distance
            when 'equal' then
                'anondb.emd_equal(c.codes, c.counts, r.counts,
                    (select anondb.sum_of(r.counts) from reference as r))'
            when 'ordered' then
                'anondb.emd_ordered(c.codes, c.counts, null,
                    (select anondb.ordered_reference(r.counts) from reference as r))'
            else
                'anondb.emd_hierarchical(c.codes, c.counts, r.counts, t.nodes, $2,
                    (select anondb.hierarchical_reference(r.counts, t.nodes, $2)
                     from reference as r cross join tree as t))'
        end)
    into v_t, v_outside using v_vgh, v_height;
    if v_outside > 0 then
        raise exception '% distinct values of %.% are no leaves of hierarchy "%"',
            v_outside, release, quote_ident(sensitive), vgh
            using errcode = 'SA119', hint = 'Add them to the hierarchy, or name another one.';
    end if;
    return coalesce(v_t, 0);
end $$;
comment on function anondb.t_closeness(regclass, name[], name, text, text) is
'The t that a table reaches: the greatest distance of the sensitive values of a class by the '
'quasi-identifiers from those of all rows, NULL counted as a value; 0 for an empty table. '
'Distances: equal; ordered, by the order of the column''s type (texts by their bytes) or of the '
'leaves of a stored hierarchy, NULL last; hierarchical, by a stored hierarchy. Raises SA116 for '
'another distance, SA117 for hierarchical without a hierarchy, SA118 for equal with one, SA119, '
'with their number, for values that are no leaves.';
