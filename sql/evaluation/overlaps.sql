-- Which labels of two releases can stand for the same value. Everything is decided on the distinct
-- labels of a column.

create function anondb.label_spans(labels text[], kind text)
returns table (label text, low numeric, high numeric, low_closed boolean, high_closed boolean,
               is_range boolean)
language sql immutable parallel safe
begin atomic
    select r.label, r.low, r.high, r.low_closed, r.high_closed, true
    from anondb.read_ranges(labels, kind) as r
    union all
    select l.label, p.at, p.at, true, true, false
    from unnest(labels) as l (label)
    cross join lateral (select anondb.as_point(l.label, kind) as at) as p where p.at is not null
    union all
    -- 12** stands for 12, 120 to 129 and 1200 to 1299, where the other release has numbers
    select l.label, (m.rest || repeat('0', g.i))::numeric, (m.rest || repeat('9', g.i))::numeric,
           true, true, false
    from unnest(labels) as l (label)
    cross join lateral (select btrim(l.label, '*') as rest) as m
    cross join lateral generate_series(0, length(l.label) - length(m.rest)) as g (i)
    where label_spans.kind = 'number' and l.label ~ '^[0-9]{1,100}[*]{1,100}$';
end;
comment on function anondb.label_spans(text[], text) is
'Those labels that are points, ranges or masks of this kind, number or moment, '
'with their ends.';

create function anondb.overlapping_labels(
    first_labels text[], second_labels text[], leaves text[] = null, labels text[] = null)
returns table (first_label text, second_label text)
language sql immutable parallel safe set jit = off
begin atomic
    with side as materialized (
        select distinct u.label collate "C" as label, true as is_first
        from unnest(first_labels) as u (label)
        union all
        select distinct u.label collate "C", false from unnest(second_labels) as u (label)
    ), kind as materialized (
        select case when bool_or(s.label ~ ('^[[(]?\s*[0-9]{4,5}-([0-9]{2}|Q[1-4])'
                                            || '|^[0-9]{3,4}0s$'))
                    then 'moment' else 'number' end as kind
        from side as s
    ), span as materialized (
        select distinct r.label collate "C" as label, r.low, r.high, r.low_closed, r.high_closed,
               r.is_range
        from kind as k
        cross join lateral anondb.label_spans((select array_agg(distinct s.label) from side as s),
                                              k.kind) as r
    ), value as materialized (
        -- what is read of a label that is no range: itself, the members of a set, what is left of
        -- a mask, and all that lies below it
        select s.label as value from side as s
        union
        select e.item from side as s
        cross join lateral string_to_table(substr(s.label, 2, length(s.label) - 2),
                                           ', ') as e (item)
        where s.label ~ '^[{].*[}]$'
        union
        select btrim(s.label, '*') from side as s where s.label ~ '^([^*]+[*]+|[*]+[^*]+)$'
        union
        select u.leaf from unnest(leaves) as u (leaf)
    ), covered as materialized (
        select quote_nullable(c.original) as value, c.released_value as label
        from anondb.coverage((select array_agg(v.value) from value as v),
                             (select array_agg(distinct s.label) from side as s),
                             leaves, labels) as c
    )
    select f.label, s.label from covered as a
    join covered as b on b.value = a.value
    join side as f on f.is_first and f.label is not distinct from a.label
    join side as s on not s.is_first and s.label is not distinct from b.label
    union
    -- a star stands for anything
    select f.label, s.label from side as f join side as s on not s.is_first
    where f.is_first and (f.label ~ '^[*]+$' or s.label ~ '^[*]+$')
    union
    -- a code and a mask of codes are compared as texts: 01 is not among 1*
    select a.label, b.label
    from span as a
    join side as f on f.is_first and f.label = a.label
    join span as b on (a.is_range or b.is_range)
     and (a.low < b.high or a.low = b.high and a.low_closed and b.high_closed)
     and (b.low < a.high or b.low = a.high and b.low_closed and a.high_closed)
    join side as s on not s.is_first and s.label = b.label;
end;
comment on function anondb.overlapping_labels(text[], text[], text[], text[]) is
'Which labels of one release can stand for a value that a label of another one can stand for too: '
'equal ones, a star and anything, ranges and calendar units that meet, sets with a common member, '
'masks of the same beginning, and labels above the same leaf: leaves[i] lies below labels[i].';
