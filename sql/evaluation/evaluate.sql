-- The utility measures of a release, all from one look at a linked relation, by column and whole.

create function anondb.linked_sse(quasi name[], vghs text[], coded boolean) returns text
language sql immutable parallel safe
begin atomic
    -- the mean over those columns of a record that have a distance
    select format(
        'select sum(l.n * (select avg(d.x) from (values %s) as d (x)) ^ 2) as sse '
        'from linked as l %s',
        coalesce(string_agg(format('(m%s.distance)', h.i), ', '), '(null::double precision)'),
        string_agg(format('left join valued as m%s on %s', h.i,
                          anondb.same_cell(h.i::int, 'm' || h.i, coded)), ' '))
    from unnest(vghs) with ordinality as h (name, i) where h.name is not null;
end;
comment on function anondb.linked_sse(name[], text[], boolean) is
'The query that sums, over the records of a linked relation, the square of their mean distance in '
'the columns that have a hierarchy.';

create function anondb.linked_utility(
    linked text, quasi name[], vghs text[] = null, measure text = 'wup', ladder regclass = null,
    cells regclass = null, covered regclass = null)
returns table (name text, of_column text, value double precision, note text)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, YMD' set timezone = 'UTC' set enable_nestloop = off set jit = off as $$
declare
    v_vghs text[] := coalesce(vghs, array_fill(null::text, array[cardinality(quasi)]));
    v_obstacles text[];
    v_meant text[];
begin
    perform anondb.check_vghs(quasi, v_vghs);
    perform anondb.check_measure(measure);
    select array_agg(anondb.semantic_obstacle(h.name, measure) order by h.i) into v_obstacles
    from unnest(v_vghs) with ordinality as h (name, i);
    select array_agg(case when v_obstacles[h.i] is null then h.name end order by h.i) into v_meant
    from unnest(v_vghs) with ordinality as h (name, i);
    return query execute anondb.linked_parts(linked, v_vghs, ladder, cells) || format(
        ', lost as materialized (
             select g.i, c.value_pairs as n, c.generalization, c.entropy, c.entropy_most,
                    c.height_share
             from gathered as g
             cross join lateral anondb.cell_losses(g.o, g.r, g.released, g.n, g.leaves, g.levels,
                                                   g.labels) as c
             union all
             %s
         ), meant as materialized (
             select g.i, quote_nullable(s.original) as o_key,
                    quote_nullable(s.released_value) as r_key,
                    s.is_released as released, s.distance
             from unnest($3) with ordinality as h (name, i)
             join gathered as g on g.i = h.i
             cross join lateral anondb.semantic_cells(anondb.find_vgh(h.name), $4, g.o, g.r,
                                                      g.released) as s
             where h.name is not null and s.distance is not null
         ), valued as materialized (
             select c.i, c.o_key, c.r_key, c.o_code, c.r_code, c.released, c.n, m.distance
             from cell as c
             left join meant as m on m.i = c.i and m.o_key = c.o_key and m.r_key = c.r_key
                 and m.released = c.released
             union all
             %s
         ), figure as (
             -- grouping sets: every column, and all together
             select l.i, 1 as place, ''gen_iloss'' as name,
                    sum(l.n * l.generalization) / nullif(sum(l.n), 0) as value,
                    null as note
             from lost as l group by grouping sets ((l.i), ())
             union all
             select l.i, 2, ''precision'', 1 - sum(l.n * l.height_share) / nullif(sum(l.n) filter (
                        where l.height_share is not null), 0),
                    case when count(l.height_share) = 0 then ''no stored hierarchy''
                         when count(*) > count(l.height_share) then
                        format(''%%s cells have no place in a stored hierarchy, and are left out'',
                               sum(l.n) filter (where l.height_share is null)) end
             from lost as l group by grouping sets ((l.i), ())
             union all
             select l.i, 3, ''non_uniform_entropy'',
                    coalesce(sum(l.n * l.entropy) / nullif(sum(l.n * l.entropy_most), 0), 0), null
             from lost as l group by grouping sets ((l.i), ()) having count(*) > 0
             union all
             select v.i, f.place, f.name,
                    case f.place when 4 then v.mean when 5 then 1 - v.mean end, v.note
             from (select c.i,
                          sum(c.n * c.distance)
                          / nullif(sum(c.n) filter (where c.distance is not null), 0) as mean,
                          coalesce($5[c.i], case
                              when count(c.distance) = 0 then ''no column has concepts''
                              when count(*) > count(c.distance)
                              then format(''%%s cells have no concept, and are left out'',
                                          sum(c.n) filter (where c.distance is null)) end) as note
                   from valued as c group by grouping sets ((c.i), ())) as v
             cross join (values (4, ''sem_iloss''), (5, ''semantic_quality'')) as f (place, name)
             union all
             select null, 6, ''semantic_sse'', s.sse,
                    case when s.sse is null then ''no column has concepts'' end
             from (%s) as s
         )
         select f.name, ($2)[f.i]::text, f.value::double precision, f.note
         from figure as f order by f.place, f.i nulls first',
        anondb.covered_losses(covered),
        case when covered is null
             then 'select null, null, null, null, null, null, null, null where false'
             else format('select k.i, null, null, null, null, null, '
                         'sum(k.kept + k.lost)::bigint, null '
                         'from %s as k group by k.i', covered) end,
        anondb.linked_sse(quasi, v_meant, cells is not null))
    using v_vghs, quasi, v_meant, measure, v_obstacles;
end $$;
comment on function anondb.linked_utility(text, name[], text[], text, regclass, regclass,
                                          regclass) is
'Utility of a release by column (of_column) and whole (NULL): gen_iloss, precision, '
'non_uniform_entropy, sem_iloss, semantic_quality, semantic_sse. linked is a query as '
'anondb.linked_query gives it, or of codes whose texts are in cells, or whose values are counted '
'in covered; a note says what a figure leaves out, or why there is none.';

create function anondb.utility(
    original regclass, release regclass, key name, quasi name[], vghs text[] = null,
    measure text = 'wup', roots text[] = null)
returns table (name text, of_column text, value double precision, note text)
language sql volatile parallel unsafe
begin atomic
    select u.name, u.of_column, u.value, u.note
    from anondb.linked_utility(anondb.linked_query(original, release, key, quasi, roots), quasi,
                               vghs, measure) as u;
end;
comment on function anondb.utility(regclass, regclass, name, name[], text[], text, text[]) is
'Utility of a release against its original, joined by a key: see anondb.linked_utility. vghs names '
'a stored hierarchy for each quasi-identifier, NULL for none; rows whose quasi-identifiers are all '
'at the labels in roots count as suppressed.';

create function anondb.gen_iloss(
    original regclass, release regclass, key name, quasi name[], vghs text[] = null,
    roots text[] = null)
returns double precision
language sql volatile parallel unsafe
begin atomic
    select u.value from anondb.utility(original, release, key, quasi, vghs, 'wup', roots) as u
    where u.name = 'gen_iloss' and u.of_column is null;
end;
comment on function anondb.gen_iloss(regclass, regclass, name, name[], text[], text[]) is
'GenILoss of a release in [0, 1]: the mean, over all cells, of the share of its column''s domain '
'that the released value takes up.';

create function anondb.generalization_precision(
    original regclass, release regclass, key name, quasi name[], vghs text[] = null,
    roots text[] = null)
returns double precision
language sql volatile parallel unsafe
begin atomic
    select u.value from anondb.utility(original, release, key, quasi, vghs, 'wup', roots) as u
    where u.name = 'precision' and u.of_column is null;
end;
comment on function anondb.generalization_precision(regclass, regclass, name, name[],
                                                    text[], text[]) is
'Precision of a release in [0, 1] (Sweeney): 1 - the mean share of its hierarchy''s height that a '
'value rose; NULL without hierarchies.';

create function anondb.non_uniform_entropy(
    original regclass, release regclass, key name, quasi name[], vghs text[] = null,
    roots text[] = null)
returns double precision
language sql volatile parallel unsafe
begin atomic
    select u.value from anondb.utility(original, release, key, quasi, vghs, 'wup', roots) as u
    where u.name = 'non_uniform_entropy' and u.of_column is null;
end;
comment on function anondb.non_uniform_entropy(regclass, regclass, name, name[], text[], text[]) is
'The bits that are missing to tell the originals from the released values, as a share of those if '
'nothing were released.';

create function anondb.sem_iloss(
    original regclass, release regclass, key name, quasi name[], vghs text[] = null,
    measure text = 'wup', roots text[] = null)
returns double precision
language sql volatile parallel unsafe
begin atomic
    select u.value from anondb.utility(original, release, key, quasi, vghs, measure, roots) as u
    where u.name = 'sem_iloss' and u.of_column is null;
end;
comment on function anondb.sem_iloss(regclass, regclass, name, name[], text[], text, text[]) is
'SemILoss of a release in [0, 1]: the mean semantic distance of original and released value; NULL '
'where no hierarchy has concepts.';

create function anondb.semantic_sse(
    original regclass, release regclass, key name, quasi name[], vghs text[] = null,
    measure text = 'wup', roots text[] = null)
returns double precision
language sql volatile parallel unsafe
begin atomic
    select u.value from anondb.utility(original, release, key, quasi, vghs, measure, roots) as u
    where u.name = 'semantic_sse' and u.of_column is null;
end;
comment on function anondb.semantic_sse(regclass, regclass, name, name[], text[], text, text[]) is
'The sum, over the records, of the squared mean semantic distance of their values; NULL where no '
'hierarchy has concepts.';
