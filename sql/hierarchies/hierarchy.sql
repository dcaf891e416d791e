-- Labels of hierarchies: generated ones (ranges, calendar units, masks), and stored ones as they
-- are released.
--
-- None of these functions is declared strict: a body with a CASE would then no longer be inlined
-- into the calling query, and run four times slower. NULL in any argument gives NULL all the same.


create function anondb.range_start(value numeric, start numeric, width numeric) returns numeric
language sql immutable parallel safe
-- Division is rounded, mod is exact; added twice, so that it counts downwards below the start too.
return case
    when abs(value) < 'infinity' and abs(start) < 'infinity' and width > 0 and width < 'infinity'
        then trim_scale(value - mod(mod(value - start, width) + width, width))
end;
comment on function anondb.range_start(numeric, numeric, numeric) is
'The largest start + n * width (n an integer) that is not above the value. '
'NULL for NaN and infinity, and for a width that is not above 0.';


create function anondb.range_label(value numeric, start numeric, width numeric) returns text
language sql immutable parallel safe
return '[' || anondb.range_start(value, start, width)::text || ', '
    || trim_scale(anondb.range_start(value, start, width) + width)::text || ')';
comment on function anondb.range_label(numeric, numeric, numeric) is
'The half-open range of this width, counted from start, that contains the value: [17, 22) holds '
'17 and not 22. NULL for NaN and infinity, and for a width that is not above 0. Give a double '
'precision as value::text::numeric: its direct cast to numeric rounds, and could leave the range.';


create function anondb.year_digits(year int) returns text
language sql immutable parallel safe
-- lpad alone would cut the year 12024 to 1202
return lpad(year::text, greatest(4, length(year::text)), '0');
comment on function anondb.year_digits(int) is
'A year that is not negative with at least four digits.';


create function anondb.date_label(value timestamp, unit text) returns text
language sql immutable parallel safe
-- to_char and casts to text would obey settings of the session, and so would not be immutable
return case when isfinite(value) then
    case unit
        when 'day' then
            anondb.year_digits(abs(extract(year from value))::int)
            || '-' || lpad(extract(month from value)::int::text, 2, '0')
            || '-' || lpad(extract(day from value)::int::text, 2, '0')
        when 'month' then
            anondb.year_digits(abs(extract(year from value))::int)
            || '-' || lpad(extract(month from value)::int::text, 2, '0')
        when 'quarter' then
            anondb.year_digits(abs(extract(year from value))::int)
            || '-Q' || extract(quarter from value)::int::text
        when 'year' then
            anondb.year_digits(abs(extract(year from value))::int)
        when 'decade' then
            -- by the digits of the year on both sides of year 1, so that years nest in decades
            anondb.year_digits(abs(extract(year from value))::int / 10 * 10) || 's'
    end
    || case when extract(year from value) < 0 then ' BC' else '' end
end;
comment on function anondb.date_label(timestamp, text) is
'The calendar unit that contains the value: day 2024-03-09, month 2024-03, quarter 2024-Q1, '
'year 2024, decade 2020s; before year 1 with the suffix BC. NULL for infinity and for any other '
'unit. A timestamptz has to be cast at a time zone of the caller''s choice first.';


create function anondb.mask_label(value text, side text, length int, stars int) returns text
language sql immutable parallel safe
return case
    when value is null or side is null or length is null or stars is null then null
    when stars <= 0 then value
    when stars >= length then '*'
    when side = 'right' then left(value, length - stars) || repeat('*', stars)
    when side = 'left' then repeat('*', stars) || right(value, length - stars)
end;
comment on function anondb.mask_label(text, text, int, int) is
'The value, taken as length characters, with stars of them starred from the right or the left. '
'A shorter value is filled up at the starred side; no stars give the value itself, all stars a '
'single *. Values with equal labels have equal labels with more stars too. '
'NULL for any other side, unless no character or every one is starred.';


create function anondb.label_without_sense(label text) returns text
language sql immutable parallel safe
return regexp_replace(label, '^(.*\S)#0*[1-9][0-9]{0,8}$', '\1');
comment on function anondb.label_without_sense(text) is
'The label that data is matched to and that is released: salmon for salmon#2.';
