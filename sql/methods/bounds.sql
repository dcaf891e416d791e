-- Bounds of ranges that say nothing of the records at their ends: rounded outward, the same on
-- every server.

create function anondb.round_step(width numeric) returns numeric
language sql immutable parallel safe
begin atomic
    -- the logarithm is rounded, so that its neighbours are looked at too
    select max(c.step)
    from (select m.factor * ('1e' || n.power)::numeric as step
          from generate_series(
              floor(log(case when width > 0 and width < 'infinity' then width end))::int - 2,
              floor(log(case when width > 0 and width < 'infinity' then width end))::int
          ) as n (power)
          cross join (values (1), (2), (5)) as m (factor)) as c
    where c.step * 10 <= width;
end;
comment on function anondb.round_step(numeric) is
'The largest of 1, 2 and 5 times a power of ten that is not above a tenth of the width; NULL for a '
'width that is not above 0.';

create function anondb.rounded_range(low numeric, high numeric, whole boolean) returns text
language sql immutable parallel safe
begin atomic
    select coalesce('[' || anondb.range_start(low, 0, s.step)::text || ', '
                        || trim_scale(0 - anondb.range_start(-high, 0, s.step))::text || ']', '*')
    from (select case when whole then greatest(anondb.round_step(high - low), 1)
                      else anondb.round_step(high - low) end as step) as s;
end;
comment on function anondb.rounded_range(numeric, numeric, boolean) is
'The range from low to high, both ends moved outward to multiples of round_step: [98000, 120000]. '
'Of whole numbers the step is 1 at least. * if an end is NaN or infinite, or there is nothing '
'between the ends.';

create function anondb.rounded_span(low timestamp, high timestamp, type text) returns text
language sql stable parallel safe
begin atomic
    -- a unit counts by its longest: months have up to 31 days
    select coalesce(
        (select '[' || x.first || ', ' || x.last || ']'
         from (select greatest(date_trunc(u.unit, low), timestamp '0001-01-01') as first_moment,
                      date_trunc(u.unit, high) as start, u.length
               from (values ('microseconds', interval '1 microsecond', 0.000001),
                            ('milliseconds', interval '1 millisecond', 0.001),
                            ('second', interval '1 second', 1), ('minute', interval '1 minute', 60),
                            ('hour', interval '1 hour', 3600), ('day', interval '1 day', 86400),
                            ('week', interval '7 days', 7 * 86400),
                            ('month', interval '1 month', 31 * 86400),
                            ('quarter', interval '3 months', 92 * 86400),
                            ('year', interval '1 year', 366 * 86400),
                            ('decade', interval '10 years', 3653 * 86400.0),
                            ('century', interval '100 years', 36525 * 86400.0)
                    ) as u (unit, length, seconds)
               where u.seconds * 10 <= extract(epoch from high - low)
                  or u.unit = case rounded_span.type when 'date' then 'day' else 'microseconds' end
               order by u.seconds desc limit 1) as s
         cross join lateral (
             select case rounded_span.type
                         when 'date' then s.first_moment::date::text
                         when 'timestamptz' then s.first_moment::text || '+00'
                         else s.first_moment::text end as first,
                    case rounded_span.type
                         when 'date' then (s.start + s.length - interval '1 day')::date::text
                         else (case when s.start = high then high else s.start + s.length end)::text
                              || case rounded_span.type when 'timestamptz' then '+00' else '' end
                    end as last) as x
         where low >= '0001-01-01' and high < '90000-01-01'), '*');
end;
comment on function anondb.rounded_span(timestamp, timestamp, text) is
'The range of days (type date) or moments from low to high, both ends moved outward to the largest '
'calendar unit that is not above a tenth of its length: seconds, minutes, hours, days, weeks, '
'months, quarters, years, decades, centuries. * for what no calendar writes in four or five '
'digits. The text is that of the session''s settings.';
