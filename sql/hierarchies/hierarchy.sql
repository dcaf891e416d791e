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


create function anondb.years_label(value timestamp, years int) returns text
language sql immutable parallel safe
-- by the digits of the year on both sides of year 1, as decades are; there is no year 0
return case when isfinite(value) and years > 0 then
    anondb.year_digits(greatest(1, abs(extract(year from value))::int / years * years))
    || '-' || anondb.year_digits(abs(extract(year from value))::int / years * years + years - 1)
    || case when extract(year from value) < 0 then ' BC' else '' end
end;
comment on function anondb.years_label(timestamp, int) is
'So many calendar years that contain the value, the first a multiple of their number: 2020-2024. '
'Before year 1 with the suffix BC, the year nearer to year 1 first. NULL for infinity, and for '
'a number that is not above 0.';


create function anondb.age_on(born timestamp, day date) returns numeric
language sql immutable parallel safe
-- the time of birth does not matter: who was born at noon is a year older from midnight on
return case
    when isfinite(born) and isfinite(day) and born::date <= day
        then extract(year from age(day::timestamp, born::date::timestamp))
end;
comment on function anondb.age_on(timestamp, date) is
'The age in whole years on a day; who was born on 29 February is a year older on 1 March of a '
'year without one. NULL for who is born after that day, and for infinity.';


create function anondb.capped_label(
    value numeric, below numeric, above numeric, whole boolean, label text
) returns text
language sql immutable parallel safe
return case
    when value is null or value = 'NaN' then null
    when value < below then '<' || trim_scale(below)::text
    when value > above and whole then trim_scale(floor(above) + 1)::text || '+'
    when value > above then '>' || trim_scale(above)::text
    else label
end;
comment on function anondb.capped_label(numeric, numeric, numeric, boolean, text) is
'The label, but <18 for all values below 18, and for all above 89 what says so: 90+ of whole '
'numbers, >89 of others. A bound that is NULL bounds nothing. NULL for NaN.';


create function anondb.easting(place point) returns double precision
language sql immutable parallel safe
return place[0];
comment on function anondb.easting(point) is
'The first coordinate of a point.';


create function anondb.northing(place point) returns double precision
language sql immutable parallel safe
return place[1];
comment on function anondb.northing(point) is
'The second coordinate of a point.';


create function anondb.cell_label(place point, width numeric) returns text
language sql immutable parallel safe
return anondb.range_label(place[0]::text::numeric, 0, width)
    || ' x ' || anondb.range_label(place[1]::text::numeric, 0, width);
comment on function anondb.cell_label(point, numeric) is
'The square cell of this width, counted from the origin, that contains the point: '
'[8.5, 8.6) x [47.3, 47.4). NULL for NaN and infinity, and for a width that is not above 0.';


create function anondb.code_prefix(code text, kept int) returns text
language sql immutable parallel safe
return coalesce(
    substring(code from '^(?:[ ./:_,-]*[^ ./:_,-]){' || least(greatest(kept, 1), 255) || '}'), code
);
comment on function anondb.code_prefix(text, int) is
'The shortest beginning of a code with so many characters that are no separators (space . / : _ , '
'-): 12-34 of 12-34-56 for 4. A shorter code is its own. Codes with equal prefixes have '
'equal shorter prefixes too.';


create function anondb.bare_code(code text, pattern text) returns text
language sql immutable parallel safe
-- byte order for upper, too: what a letter of another script becomes would hang on the database
return substring(upper(regexp_replace(code, '[ ./:_,-]+', '', 'g') collate "C") from pattern);
comment on function anondb.bare_code(text, text) is
'A code in capitals and without separators, or the part of it that the pattern has in parentheses; '
'NULL if it does not match.';


create function anondb.code_part(code text, kept int, dot int) returns text
language sql immutable parallel safe
return case
    when dot > 0 and least(length(code), kept) > dot
        then left(code, dot) || '.' || substr(left(code, kept), dot + 1)
    else left(code, kept)
end;
comment on function anondb.code_part(text, int, int) is
'The first characters of a bare code, with a dot after so many of them: E11.9; none for 0.';


create function anondb.code_range(
    part text, starts text[], ends text[], labels text[], otherwise boolean
) returns text
language sql immutable parallel safe
return case
    when part collate "C" <= ends[width_bucket(part collate "C", starts)]
        then labels[width_bucket(part collate "C", starts)]
    when otherwise then part
end;
comment on function anondb.code_range(text, text[], text[], text[], boolean) is
'The label of the range, in the order of bytes, that a code lies in. Outside of all it is itself, '
'or NULL. The ranges do not overlap, and come in order.';


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
