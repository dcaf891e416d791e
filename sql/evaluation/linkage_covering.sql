-- Which originals the labels of a class match, all columns together, where a value matches several
-- labels of its column.

create function anondb.place_bits(members text, keys text) returns text
language sql immutable parallel safe
return format(
    'select %2$s, (string_agg(repeat(''0'', t.place - t.before - 1) || ''1'', ''''
                              order by t.place)
                   || repeat(''0'', 8192 - max(t.place)))::varbit as bits
     from (select m.*, lag(m.place, 1, 0) over (partition by %2$s order by m.place) as before
           from (%1$s) as m) as t
     group by %2$s',
    members, keys);
comment on function anondb.place_bits(text, text) is
'The query that makes a row of 8192 bits for each of the keys, with a 1 at the place, from 1, of '
'each member.';

create function anondb.covering_steps(width int) returns text
language sql immutable parallel safe
begin atomic
    -- Originals are looked at in blocks of 8192. In each column a label has a row of bits, one for
    -- every original of the block that it matches; those that match all labels of a class are left
    -- when its rows are combined. An original of n records counts n times: it has one row of bits
    -- for each binary place of n. So the work grows as the columns do, and of one block nothing is
    -- kept for the next.
    select format(
        ', original as materialized (
             select (row_number() over () - 1) / 8192 as block,
                    ((row_number() over () - 1) %% 8192 + 1)::int as place, %1$s, l.n::bigint as n
             from s0 as l
         ), class as materialized (
             select distinct %2$s from own as l where l.released
         ), s%3$s as materialized (
             select %4$s, 0::bigint as d, sum(x.n) as n
             from (select distinct o.block from original as o) as a
             cross join lateral (
                 with alike_bits as materialized (
                     %5$s
                 ), label_bits as materialized (
                     select p.i, p.r, bit_or(k.bits) as bits
                     from pair as p join alike_bits as k on k.i = p.i and k.o = p.o
                     group by p.i, p.r
                 ), record_bits as materialized (
                     %6$s
                 )
                 select %7$s,
                        (select sum((1::bigint << b.power) * bit_count(b.bits & c.bits))
                         from record_bits as b) as n
                 from (select %2$s, %8$s as bits from class as l %9$s offset 0) as c
             ) as x where x.n > 0 group by %4$s
         )',
        string_agg(format('l.o%s', g.i), ', ' order by g.i),
        string_agg(format('l.r%s', g.i), ', ' order by g.i),
        covering_steps.width,
        string_agg(format('x.r%s', g.i), ', ' order by g.i),
        anondb.place_bits(format(
            'select v.i, v.o, o.place from original as o
             cross join lateral (values %s) as v (i, o) where o.block = a.block',
            string_agg(format('(%1$s, o.o%1$s)', g.i), ', ' order by g.i)), 'i, o'),
        anondb.place_bits(
            'select b.power, o.place from original as o
             cross join generate_series(0, 61) as b (power)
             where o.block = a.block and (o.n >> b.power) & 1 = 1', 'power'),
        string_agg(format('c.r%s', g.i), ', ' order by g.i),
        string_agg(format('b%s.bits', g.i), ' & ' order by g.i),
        string_agg(format('join label_bits as b%1$s on b%1$s.i = %1$s and b%1$s.r = l.r%1$s', g.i),
                   ' ' order by g.i))
    from generate_series(1, covering_steps.width) as g (i);
end;
comment on function anondb.covering_steps(int) is
'The part of a query that counts, for each released combination of so many values, the originals '
'that match it.';
