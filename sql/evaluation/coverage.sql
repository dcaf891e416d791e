-- What a released value can stand for: itself, a range, a calendar unit, a set, a mask, a class of
-- a hierarchy.
--
-- Everything here works on the distinct values of a column, never on pairs of records, and a NULL
-- is a value.

create function anondb.as_number(value text) returns numeric
language sql immutable parallel safe
return case
    when length(value) <= 300
     and value ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$' then value::numeric
end;
comment on function anondb.as_number(text) is
'The number that a text writes; NULL for any other text.';

create function anondb.as_moment(value text) returns timestamp
language sql immutable parallel safe
-- A cast would obey settings of the session, and fail on the 31st of February. A time zone is left
-- out: what counts is the day that the text names.
return case
    when value ~ ('^(?!0+-)[0-9]{4,5}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
               || '([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?(Z|[+-][0-9:]+)?)?$')
    then case
        when left(split_part(value, '-', 3), 2)::int <= extract(day from
            make_date(split_part(value, '-', 1)::int, split_part(value, '-', 2)::int, 1)
            + interval '1 month' - interval '1 day')
        then make_timestamp(
            split_part(value, '-', 1)::int, split_part(value, '-', 2)::int,
            left(split_part(value, '-', 3), 2)::int,
            coalesce(substring(value from '[ T]([0-9]{2}):')::int, 0),
            coalesce(substring(value from '[ T][0-9]{2}:([0-9]{2})')::int, 0),
            coalesce(substring(value from '[ T][0-9]{2}:[0-9]{2}:([0-9]{2}[.]?[0-9]*)')
                     ::double precision, 0))
    end
end;
comment on function anondb.as_moment(text) is
'The day, or the moment of a day, that a text writes as ISO 8601 or PostgreSQL do; NULL for any '
'other text.';

create function anondb.value_kind(items text[]) returns text
language sql immutable parallel safe
begin atomic
    select case when bool_and(anondb.as_number(u.value) is not null) then 'number'
                when bool_and(anondb.as_moment(u.value) is not null) then 'moment' else 'other' end
    from unnest(items) as u (value) where u.value is not null;
end;
comment on function anondb.value_kind(text[]) is
'number or moment if all values that are not NULL are of that kind, else other.';

create function anondb.as_point(value text, kind text) returns numeric
language sql immutable parallel safe
return case kind
    when 'number' then anondb.as_number(value)
    when 'moment' then extract(epoch from anondb.as_moment(value))
end;
comment on function anondb.as_point(text, text) is
'Where a value lies among the others of its kind: a number as it is, a moment in seconds; NULL for '
'other kinds.';

create function anondb.read_ranges(labels text[], kind text)
returns table (label text, low numeric, high numeric, low_closed boolean, high_closed boolean)
language sql immutable parallel safe
begin atomic
    select r.label, r.low, r.high, r.low_closed, r.high_closed
    from (select l.label, anondb.as_point(p.parts[2], read_ranges.kind) as low,
                 anondb.as_point(p.parts[3], read_ranges.kind) as high,
                 p.parts[1] = '[' as low_closed, p.parts[4] = ']' as high_closed
          from unnest(labels) as l (label)
          cross join lateral (
              select regexp_match(l.label,
                                  '^([[(])\s*"?([^,"]+?)"?\s*,\s*"?([^,"]+?)"?\s*([])])$')
                  as parts) as p
          where p.parts is not null
          union all
          -- ranges of PostgreSQL that have no end, and what lies beyond a cap
          select l.label, coalesce(anondb.as_point(o.parts[2], read_ranges.kind), '-Infinity'),
                 coalesce(anondb.as_point(o.parts[3], read_ranges.kind), 'Infinity'),
                 o.parts[1] = '[', o.parts[4] = ']'
          from unnest(labels) as l (label)
          cross join lateral (
              select case
                  when l.label ~ '^[<]' then array['(', null, substr(l.label, 2), ')']
                  when l.label ~ '^[>]' then array['(', substr(l.label, 2), null, ')']
                  when l.label ~ '^[^[(].*[+]$' then array['[', rtrim(l.label, '+'), null, ')']
                  else regexp_match(l.label, '^([[(])"?([^,"]*)"?,"?([^,"]*)"?([])])$')
              end as parts) as o
          where read_ranges.kind <> 'other' and o.parts is not null
            and nullif(o.parts[2], '') is null <> (nullif(o.parts[3], '') is null)
            and (nullif(o.parts[2], '') is null
                 or anondb.as_point(o.parts[2], read_ranges.kind) is not null)
            and (nullif(o.parts[3], '') is null
                 or anondb.as_point(o.parts[3], read_ranges.kind) is not null)
          union all
          select l.label, '-Infinity', 'Infinity', true, true
          from unnest(labels) as l (label) where read_ranges.kind <> 'other' and l.label = '(,)'
          union all
          -- the units of anondb.date_label
          select l.label, extract(epoch from u.first_day),
                 extract(epoch from u.first_day + u.length), true, false
          from unnest(labels) as l (label)
          cross join lateral (values
              ('^[0-9]+-[0-9]{2}-[0-9]{2}$', anondb.as_moment(l.label), interval '1 day'),
              ('^[0-9]+-[0-9]{2}$', anondb.as_moment(l.label || '-01'), interval '1 month'),
              ('^[0-9]+-Q[1-4]$',
               anondb.as_moment(replace(replace(replace(replace(
                   l.label, 'Q1', '01'), 'Q2', '04'), 'Q3', '07'), 'Q4', '10') || '-01'),
               interval '3 months'),
              ('^[0-9]+$', anondb.as_moment(l.label || '-01-01'), interval '1 year'),
              ('^[0-9]+0s$', anondb.as_moment(rtrim(l.label, 's') || '-01-01'), interval '10 years')
          ) as u (form, first_day, length)
          where read_ranges.kind = 'moment' and l.label ~ u.form) as r
    where r.low <= r.high;
end;
comment on function anondb.read_ranges(text[], text) is
'Those labels that are ranges of points of this kind, [17, 22) or (2, 3.5], or calendar units, '
'each once as often as it is given. Ranges without an end, [90,) or 90+, go to infinity.';

create function anondb.coverage(
    originals text[], released text[], leaves text[] = null, labels text[] = null)
returns table (original text, released_value text)
language sql immutable parallel safe
-- the planner takes an array for a handful of values, and would compare each with each
set enable_nestloop = off set jit = off
begin atomic
    with value as materialized (
        select distinct u.value collate "C" as value from unnest(originals) as u (value)
    ), label as materialized (
        select distinct u.label collate "C" as label from unnest(released) as u (label)
    ), step as materialized (
        select distinct u.leaf collate "C" as leaf, u.label collate "C" as label
        from unnest(leaves, labels) as u (leaf, label)
    ), kind as materialized (
        select anondb.value_kind(originals) as kind
    ), point as materialized (
        select p.value, p.at, row_number() over (order by p.at) as place
        from (select v.value, anondb.as_point(v.value, k.kind) as at from value as v
              cross join kind as k) as p
        where p.at is not null
    ), range as materialized (
        select r.label, r.low, r.high, r.low_closed, r.high_closed
        from kind as k
        cross join lateral anondb.read_ranges((select array_agg(l.label) from label as l),
                                              k.kind) as r
    ), placed as (
        -- Ends of ranges among the points, in one sort: a closed low end stands before the points
        -- that equal it, a closed high end behind them. So a range's points are those from one
        -- place to another.
        select e.label, e.is_low,
               count(e.value) over (order by e.at, e.turn rows unbounded preceding) as before
        from (select p.value, null::text as label, null::boolean as is_low, p.at, 1 as turn
              from point as p
              union all
              select null, r.label, true, r.low, case when r.low_closed then 0 else 2 end
              from range as r
              union all
              select null, r.label, false, r.high, case when r.high_closed then 2 else 0 end
              from range as r) as e
    ), mask as materialized (
        -- as anondb.mask_label writes them: shorter values are filled up at the starred side
        select l.label, length(l.label) as longest,
               left(l.label, 1) = '*' and right(l.label, 1) <> '*' as of_left,
               btrim(l.label, '*') as rest
        from label as l where l.label ~ '^([^*]+[*]+|[*]+[^*]+|[*]{2,})$'
    )
    select v.value, l.label from value as v join label as l on l.label = v.value
    union
    select null, null where array_position(originals, null) > 0
        and array_position(released, null) > 0
    union
    select v.value, '*' from value as v where '*' = any (released)
    union
    select v.value, l.label
    from value as v join step as s on s.leaf = v.value join label as l on l.label = s.label
    union
    -- NULL has the root's label there
    select v.value, l.label
    from value as v cross join label as l
    where v.value is null and l.label in (
        select s.label from step as s group by s.label
        having count(*) = (select count(distinct t.leaf) from step as t))
    union
    select p.value, r.label
    from (select e.label, min(e.before) filter (where e.is_low) + 1 as first_place,
                 min(e.before) filter (where not e.is_low) as last_place
          from placed as e where e.label is not null group by e.label) as r
    cross join lateral generate_series(r.first_place, r.last_place) as g (place)
    join point as p on p.place = g.place
    union
    -- "{a, b}"; a value that has a comma of its own is looked for as it is
    select v.value, i.label
    from (select l.label, e.item
          from label as l
          cross join lateral string_to_table(substr(l.label, 2, length(l.label) - 2),
                                             ', ') as e (item)
          where l.label ~ '^[{].*[}]$') as i
    join value as v on v.value = i.item
    union
    select v.value, l.label
    from value as v join label as l on l.label ~ '^[{].*[}]$'
     and strpos(', ' || substr(l.label, 2, length(l.label) - 2) || ', ',
                ', ' || v.value || ', ') > 0
    where v.value like '%, %'
    union
    select v.value, m.label
    from value as v
    cross join (select distinct k.of_left, length(k.rest) as kept from mask as k) as s
    join mask as m on m.of_left = s.of_left and length(m.rest) = s.kept
     and m.rest = case when s.of_left then right(v.value, s.kept) else left(v.value, s.kept) end
    where length(v.value) <= m.longest;
end;
comment on function anondb.coverage(text[], text[], text[], text[]) is
'Which of the original values each of the released ones can stand for, as far as it can be read: '
'equal, *, [17, 22) or [17, 22], 2024-Q1, {a, b}, 12**, or a label above a leaf: leaves[i] lies '
'below labels[i]. NULL stands for NULL alone, and a root for NULL too.';

create function anondb.ladders(vghs text[])
returns table (i int, leaf text, level int, label text)
language sql stable parallel safe
begin atomic
    select h.i::int, anondb.label_without_sense(l.label) collate "C", p.level,
           anondb.label_without_sense(n.label) collate "C"
    from unnest(vghs) with ordinality as h (name, i)
    join anondb.vgh_path as p on p.vgh = anondb.find_vgh(h.name)
    join anondb.vgh_node as l on l.vgh = p.vgh and l.node = p.leaf
    join anondb.vgh_node as n on n.vgh = p.vgh and n.node = p.node
    where h.name is not null;
end;
comment on function anondb.ladders(text[]) is
'What each leaf of stored hierarchies becomes at each level, as it is released; i is the place of '
'the hierarchy in the array, NULL for none.';

create function anondb.covers(released text, original text, vgh text = null) returns boolean
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_leaves text[];
    v_labels text[];
begin
    if vgh is not null then
        select array_agg(s.leaf), array_agg(s.label) into v_leaves, v_labels
        from anondb.ladders(array[vgh]) as s;
    end if;
    return exists (select
                   from anondb.coverage(array[original], array[released], v_leaves, v_labels));
end $$;
comment on function anondb.covers(text, text, text) is
'Whether a released value contains an original one: equal, *, a range, a calendar unit, a set, a '
'mask, or a label above it in a stored hierarchy.';
