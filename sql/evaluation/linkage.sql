-- Record linkage: how often would somebody who knows the originals find the right one for a
-- released record?
--
-- RL = 100 / m * sum of P(r) over the m released records; L is the set of originals that match r
-- best, P = 1 / |L| if its own original is in L, else 0 (Domingo-Ferrer and Torra 2001; Martinez,
-- Sanchez, Valls 2013). Matching is by text, by coverage (the released value contains the
-- original), or by least distance. Whatever it is, it is decided on the distinct values of each
-- column.

create function anondb.linkage_steps(width int) returns text
language sql immutable parallel safe
begin atomic
    -- Columns are matched one after the other: after i of them a row of s<i> is a beginning r1 ..
    -- ri of released combinations, an end o<i+1> .. on of original ones, and how many originals
    -- with that end are nearest to that beginning. No two records are ever paired, and originals
    -- that no longer differ are one row. All values have a distance, so that the beginnings come
    -- first.
    select string_agg(format(
        ', s%1$s as materialized (
             select %2$s, t.d, t.n from (
                 select %3$s, s.d + p.d as d, sum(s.n) as n,
                        min(s.d + p.d) over (partition by %3$s) as least
                 from s%4$s as s join (select distinct %5$s from own as b where b.released) as b
                 on %6$s join pair as p on p.i = %1$s and p.o = s.o%1$s and p.r = b.r%1$s
                 group by %3$s, s.d + p.d) as t where t.d = t.least
         )', g.i, k.kept, k.grouped, g.i - 1, k.beginning, k.same), '' order by g.i)
    from generate_series(1, linkage_steps.width) as g (i)
    cross join lateral (
        select string_agg(format('t.%s%s', c.side, c.i), ', ' order by c.i) as kept,
               string_agg(format('%s.%s%s', case c.side when 'r' then 'b' else 's' end,
                                 c.side, c.i), ', ' order by c.i) as grouped,
               string_agg(format('b.r%s', c.i), ', ' order by c.i)
                   filter (where c.side = 'r') as beginning,
               coalesce(string_agg(format('b.r%1$s = s.r%1$s', c.i), ' and ' order by c.i)
                            filter (where c.i < g.i),
                        'true') as same
        from (select h.i, case when h.i <= g.i then 'r' else 'o' end as side
              from generate_series(1, linkage_steps.width) as h (i)) as c) as k;
end;
comment on function anondb.linkage_steps(int) is
'The part of a query that counts, for each released combination of so many values, the originals '
'that are nearest to it.';

create function anondb.check_distances(linked text, width int) returns void
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_counts bigint[];
begin
    execute (
        select format(
            'with linked as materialized (%s)
             select array[(select count(*) from (select from linked as l group by %s) as a),
                          (select count(*) from (select from linked as l where l.released
                                                 group by %s) as b)]',
            linked, string_agg(format('l.o%s', g.i), ', '), string_agg(format('l.r%s', g.i), ', '))
        from generate_series(1, width) as g (i))
    into v_counts;
    if v_counts[1] * v_counts[2] > 3000000 then
        raise exception '% different originals and % different released records are too many to '
                        'compare each with each',
            v_counts[1], v_counts[2]
            using errcode = 'SA175',
            hint = 'Take matching => ''coverage'', a sample of the release, or '
                   'fewer quasi-identifiers.';
    end if;
end $$;
comment on function anondb.check_distances(text, int) is
'Raises SA175 if a linked relation has too many combinations for distances: more than three '
'million pairs.';

create function anondb.direct_linkage(linked text, vghs text[], ladder regclass, cells regclass,
                                      matching text, known name[] = null)
returns double precision
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, YMD' set timezone = 'UTC' set enable_nestloop = off set jit = off as $$
-- Where no value matches two labels of its column, as with texts, and with the classes of a level,
-- each original matches one combination of labels at the most: originals are counted by it, in one
-- pass.
declare
    v_several boolean;
    v_columns int[];
    v_starts int[];
    v_labels int[];
    v_linkage double precision;
begin
    -- the label that each code of an original matches, all columns in one array: a column's codes
    -- from 0 follow on its start
    execute anondb.linked_parts(linked, vghs, ladder, cells) ||
        ', matched as materialized (
             select distinct c.i, c.o_code, b.r_code
             from gathered as g
             cross join lateral anondb.match_values(
                 $2, g.o, g.r, g.released, g.leaves, g.levels, g.labels, null, null) as m
             join cell as c on c.i = g.i and c.o_key = quote_nullable(m.original)
             join (select distinct k.i, k.r_key, k.r_code from cell as k where k.released) as b
               on b.i = g.i and b.r_key = quote_nullable(m.released_value)
         ), one as materialized (
             select m.i, m.o_code, min(m.r_code) as r_code, count(*) as labels from matched as m
             group by m.i, m.o_code
         ), width as (
             select c.i, max(c.o_code) + 1 as width from cell as c group by c.i
         ), start as materialized (
             select w.i, w.width, (sum(w.width) over (order by w.i) - w.width)::int as start
             from width as w
         )
         select exists (select from one as o where o.labels > 1),
                (select array_agg(s.i order by s.i) from start as s),
                (select array_agg(s.start order by s.i) from start as s),
                (select array_agg(coalesce(o.r_code, -1) order by s.i, g.code)
                 from start as s cross join lateral generate_series(0, s.width - 1) as g (code)
                 left join one as o on o.i = s.i and o.o_code = g.code)'
    into v_several, v_columns, v_starts, v_labels using vghs, matching;
    if v_several then
        return null;
    end if;
    execute (
        select format(
            'select 100 * sum(t.own / t.n) / (select nullif(sum(l.n), 0) from (%1$s) as l
                                              where l.released)
             from (select sum(l.n)::double precision as n,
                          coalesce(sum(l.n) filter (where l.released and %2$s), 0) as own
                   from (select l.released, l.n, %3$s, %4$s from (%1$s) as l offset 0) as l
                   where %5$s group by %6$s) as t',
            linked,
            string_agg(format('l.r%1$s = l.m%1$s', s.i), ' and '),
            string_agg(format('l.r%s', s.i), ', '),
            string_agg(case when s.known is null
                            then format('($1)[%s + l.o%s] as m%s', s.start + 1, s.i, s.i)
                            else format('l.%I as m%s', s.known, s.i) end, ', '),
            string_agg(format('l.m%s >= 0', s.i), ' and '),
            string_agg(format('l.m%s', s.i), ', '))
        from (select g.i, known[g.i] as known,
                     v_starts[array_position(v_columns, g.i)] as start
              from generate_series(1, cardinality(vghs)) as g (i)) as s)
    into v_linkage using v_labels;
    return coalesce(v_linkage, 0);
end $$;
comment on function anondb.direct_linkage(text, text[], regclass, regclass, text, name[]) is
'Linkage by text or coverage of a linked relation of codes; NULL where a value matches several '
'labels of its column. known names, for columns without cells, that of the linked relation with '
'the code that the original matches.';

create function anondb.linked_linkage(
    linked text, quasi name[], matching text = 'text', vghs text[] = null, measure text = 'wup',
    ladder regclass = null, cells regclass = null, known name[] = null)
returns double precision
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, YMD' set timezone = 'UTC' set enable_nestloop = off set enable_mergejoin = off
set jit = off set join_collapse_limit = 1 as $$
declare
    v_vghs text[] := coalesce(vghs, array_fill(null::text, array[cardinality(quasi)]));
    v_meant text[];
    v_linkage double precision;
begin
    if matching is null or matching not in ('text', 'coverage', 'hierarchy', 'semantic') then
        raise exception 'there is no matching "%"', matching
            using errcode = 'SA176', hint = 'There are text, coverage, hierarchy and semantic.';
    end if;
    perform anondb.check_vghs(quasi, v_vghs);
    if matching in ('hierarchy', 'semantic') then
        perform anondb.check_distances(linked, cardinality(quasi));
    end if;
    if matching = 'semantic' then
        perform anondb.check_measure(measure);
        select array_agg(case when anondb.semantic_obstacle(h.name, measure) is null then h.name end
                         order by h.i)
        into v_meant from unnest(v_vghs) with ordinality as h (name, i);
    end if;
    if cells is not null and matching in ('text', 'coverage') then
        v_linkage := anondb.direct_linkage(linked, v_vghs, ladder, cells, matching, known);
        if v_linkage is not null or known is not null then
            return v_linkage;
        end if;
    end if;
    execute (
        select anondb.linked_parts(linked, v_vghs, ladder, cells) || format(
            ', matched as materialized (
                 select g.i, a.o_code as o, b.r_code as r, m.distance as d
                 from gathered as g
                 cross join lateral anondb.match_values(
                     $2, g.o, g.r, g.released, g.leaves, g.levels, g.labels, ($3)[g.i], $4) as m
                 join (select distinct c.i, c.o_key, c.o_code from cell as c) as a
                   on a.i = g.i and a.o_key = quote_nullable(m.original)
                 join (select distinct c.i, c.r_key, c.r_code from cell as c where c.released) as b
                   on b.i = g.i and b.r_key = quote_nullable(m.released_value)
             ), alike as materialized (
                 -- originals that no released value tells apart are one
                 select t.i, t.o,
                        dense_rank() over (partition by t.i order by t.distances) as o_class
                 from (select m.i, m.o, array_agg(array[m.r, m.d] order by m.r) as distances
                       from matched as m group by m.i, m.o) as t
             ), pair as materialized (
                 select distinct m.i, a.o_class as o, m.r, m.d
                 from matched as m join alike as a on a.i = m.i and a.o = m.o
             ), coded as materialized (
                 select c.i, c.o_key, c.r_key, c.o_code, c.r_code, c.released,
                        coalesce(a.o_class, 0) as o, c.r_code as r, m.d
                 from cell as c
                 left join alike as a on a.i = c.i and a.o = c.o_code
                 left join matched as m on m.i = c.i and m.o = c.o_code and m.r = c.r_code
             ), own as materialized (
                 -- left joins, so that the planner does not expect a single row
                 select %1$s, l.released, %2$s as d, sum(l.n)::double precision as n
                 from linked as l %3$s group by %4$s, l.released, %2$s
             ), s0 as materialized (
                 select %5$s, 0::bigint as d, sum(l.n) as n from own as l group by %5$s
             )',
            string_agg(format('c%1$s.o as o%1$s, c%1$s.r as r%1$s', g.i), ', '),
            string_agg(format('c%s.d', g.i), ' + '),
            string_agg(format('left join coded as c%s on %s', g.i,
                              anondb.same_cell(g.i, 'c' || g.i, cells is not null)), ' '),
            string_agg(format('c%1$s.o, c%1$s.r', g.i), ', '),
            string_agg(format('l.o%s', g.i), ', '))
        || case when matching in ('hierarchy', 'semantic')
                then anondb.linkage_steps(cardinality(quasi))
                else anondb.covering_steps(cardinality(quasi)) end
        || format(
            ' select 100 * sum(l.n / s.n) filter (where s.d = l.d) / sum(l.n)
              from own as l left join s%s as s on %s where l.released',
            cardinality(quasi), string_agg(format('s.r%1$s = l.r%1$s', g.i), ' and '))
        from generate_series(1, cardinality(quasi)) as g (i))
    into v_linkage using v_vghs, matching, v_meant, measure;
    return coalesce(v_linkage, 0);
end $$;
comment on function anondb.linked_linkage(text, name[], text, text[], text, regclass, regclass,
                                          name[]) is
'Percent of the released records of a linked relation that are linked to their own originals: see '
'anondb.record_linkage. Raises SA176 for an unknown matching.';

create function anondb.record_linkage(
    original regclass, release regclass, key name, quasi name[], matching text = 'text',
    vghs text[] = null, measure text = 'wup', roots text[] = null)
returns double precision
language sql volatile parallel unsafe
begin atomic
    select anondb.linked_linkage(
        anondb.linked_query(original, release, key, quasi, roots), quasi, matching, vghs, measure);
end;
comment on function anondb.record_linkage(regclass, regclass, name, name[], text, text[],
                                          text, text[]) is
'Record linkage in percent of the released records. matching: text (equal values), coverage '
'(released values contain the original ones), hierarchy or semantic (the nearest originals). Each '
'record counts 1 / (originals that match it) if its own is among them.';
