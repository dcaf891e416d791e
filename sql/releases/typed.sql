-- Labels as numbers, dates and ranges: what a recipient computes with. They are read from the
-- labels themselves, so that they are as true as these.


create function anondb.number_bounds(label text) returns numrange
language sql immutable parallel safe
return case
    when label is null then null
    when label = '*' then numrange(null, null)
    when left(label, 1) = '['
        then numrange(
            split_part(btrim(label, '[]()'), ', ', 1)::numeric,
            split_part(btrim(label, '[]()'), ', ', 2)::numeric,
            '[' || right(label, 1)
        )
    when left(label, 1) = '<' then numrange(null, substr(label, 2)::numeric, '()')
    when left(label, 1) = '>' then numrange(substr(label, 2)::numeric, null, '()')
    when right(label, 1) = '+' then numrange(rtrim(label, '+')::numeric, null, '[)')
    else numrange(label::numeric, label::numeric, '[]')
end;
comment on function anondb.number_bounds(text) is
'The numbers that a label stands for: [20, 25) for [20, 25), [7, 7] for 7, (, 18) for <18, '
'[90, ) for 90+, all for *. NULL for NULL.';


create function anondb.whole_bounds(label text) returns numrange
language sql immutable parallel safe
begin atomic
    select numrange(
        case when lower_inc(b.bounds) then ceil(lower(b.bounds))
             else floor(lower(b.bounds)) + 1 end,
        case when upper_inc(b.bounds) then floor(upper(b.bounds))
             else ceil(upper(b.bounds)) - 1 end,
        '[]'
    )
    from (select anondb.number_bounds(label) as bounds) as b
    where b.bounds is not null;
end;
comment on function anondb.whole_bounds(text) is
'The whole numbers that a label stands for, from the least to the greatest: [20, 24] for '
'[20, 25). NULL for NULL.';


create function anondb.int4_bounds(label text) returns int4range
language sql immutable parallel safe
begin atomic
    -- a range of int4 ends before the largest one: what reaches it is open
    select int4range(
        case when lower(b.bounds) >= -2147483648 then lower(b.bounds)::int end,
        case when upper(b.bounds) < 2147483647 then upper(b.bounds)::int end,
        '[]'
    )
    from (select anondb.whole_bounds(label) as bounds) as b
    where b.bounds is not null;
end;
comment on function anondb.int4_bounds(text) is
'The whole numbers that a label stands for, as int4range: [20,25) for [20, 25). NULL for NULL.';


create function anondb.int8_bounds(label text) returns int8range
language sql immutable parallel safe
begin atomic
    select int8range(
        case when lower(b.bounds) >= -9223372036854775808 then lower(b.bounds)::bigint end,
        case when upper(b.bounds) < 9223372036854775807 then upper(b.bounds)::bigint end,
        '[]'
    )
    from (select anondb.whole_bounds(label) as bounds) as b
    where b.bounds is not null;
end;
comment on function anondb.int8_bounds(text) is
'The whole numbers that a label stands for, as int8range: [20,25) for [20, 25). NULL for NULL.';


create function anondb.year_start(year int) returns timestamp
language sql immutable parallel safe
-- there is no year 0, and no timestamp after 294276
return case
    when year < 294277 then make_timestamp(case when year = 0 then 1 else year end, 1, 1, 0, 0, 0)
end;
comment on function anondb.year_start(int) is
'The first moment of a year; before year 1 years are negative, and 0 is taken for 1. NULL for '
'what no timestamp can be.';


create function anondb.date_bounds(label text) returns tsrange
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, YMD' as $$
declare
    v_bc boolean := label like '% BC' and label !~ '^\d+-\d+-\d+';
    v_text text := case when v_bc then left(label, -3) else label end;
    v_parts text[];
    v_start timestamp;
    v_ends text[];
begin
    if label is null then
        return null;
    end if;
    if label = '*' then
        return tsrange(null, null);
    end if;
    if left(label, 1) = '[' then  -- both ends belong to it; of days, the whole of the last one
        v_ends := string_to_array(btrim(label, '[]'), ', ');
        return tsrange(v_ends[1]::timestamp, v_ends[2]::timestamp
            + case when v_ends[2] ~ '\d:\d' then interval '0' else interval '1 day' end,
            case when v_ends[2] ~ '\d:\d' then '[]' else '[)' end);
    end if;
    v_parts := regexp_match(v_text, '^(\d{4,})(s|-\d{4,})?$');
    if v_parts is not null then
        -- the digits of the first and the last year; before year 1 the last digits come first
        v_ends := array[
            v_parts[1],
            case when v_parts[2] is null then v_parts[1]
                 when v_parts[2] = 's' then (v_parts[1]::int + 9)::text
                 else substr(v_parts[2], 2) end
        ];
        if v_bc then
            return tsrange(anondb.year_start(-v_ends[2]::int),
                           anondb.year_start(1 - greatest(v_ends[1]::int, 1)));
        end if;
        return tsrange(anondb.year_start(greatest(v_ends[1]::int, 1)),
                       anondb.year_start(v_ends[2]::int + 1));
    end if;
    v_parts := regexp_match(v_text, '^(\d{4,})-(Q?)(\d+)$');
    if v_parts is not null then
        v_start := make_timestamp(
            case when v_bc then -v_parts[1]::int else v_parts[1]::int end,
            case when v_parts[2] = 'Q' then 3 * v_parts[3]::int - 2 else v_parts[3]::int end,
            1, 0, 0, 0);
        return tsrange(v_start, v_start
            + case when v_parts[2] = 'Q' then interval '3 months' else interval '1 month' end);
    end if;
    v_start := label::timestamp;
    if label ~ '\d:\d' then
        return tsrange(v_start, v_start, '[]');
    end if;
    return tsrange(v_start, v_start + interval '1 day');
end $$;
comment on function anondb.date_bounds(text) is
'The moments that a label of dates stands for, from the first to before the next one after it: a '
'day, 2024-03, 2024-Q1, 2024, 2020-2024, 2020s, with BC before year 1, [2024-01-01, 2024-06-30]; '
'a moment alone for itself, all for *. NULL for NULL.';
