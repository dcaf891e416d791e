-- Mondrian by loss: what a cut of a partition saves, and which cut of each column saves most.

create function anondb.mondrian_cuts(items regclass, k bigint)
returns table (part int, d int, n bigint, rank int, at int, "left" bigint, parts int, level int)
language plpgsql volatile parallel restricted set search_path = pg_catalog, pg_temp as $$
-- What two records of a partition, drawn at random, cost together, times its records: the sum over
-- all ordered pairs by the number of records. A cut saves what the pairs of different parts cost.
-- It is divided by the entropy of the parts, as in a decision tree (Quinlan 1986): each cut halves
-- what is left, and one that takes few records away saves little and leaves nearly all to be cut.
begin
    return query execute format($query$
with cumulated as (
    select i.*, i.total - i."left" as rest, sum(i.n * i.x) over in_order as places,
           sum(i.below / i.n) over in_order as alone,
           sum(i.n * ln(i.n::float8 / i.total)) over in_order as told
    from %1$s as i
    window in_order as (partition by i.part, i.d order by i.place)
),
-- of the pairs of a node with all before it, and with itself
paired as (
    select c.*, sum(c.below + 2 * c.n * case
                        when c.x is null then c.above * (c."left" - c.n)
                        else c.x * (c."left" - c.n) - (c.places - c.n * c.x) end)
               over in_order as before
    from cumulated as c
    window in_order as (partition by c.part, c.d order by c.place)
),
-- what grows with every node has its total last; a sum without an order would hang on that of rows
summed as (
    select p.*, max(p.before) over of_column as every_pair,
           max(p.places) over of_column as all_places
    from paired as p
    window of_column as (partition by p.part, p.d)
),
behind as (
    select s.*, greatest(0, s.every_pair - s.before - 2 * case
               when s.x is null then s.above * s."left" * s.rest
               else s."left" * (s.all_places - s.places) - s.rest * s.places end) as pairs,
           coalesce(s.rest * ln(nullif(s.rest, 0)::float8 / s.total), 0) as rest_told
    from summed as s
),
saved as (
    select b.*, case when b."left" >= $1 and b.rest >= $1 then
                    (b.every_pair / b.total - b.before / b."left" - b.pairs / b.rest)
                    / -(b."left" * ln(b."left"::float8 / b.total) + b.rest_told) end as in_two,
           case when b.x is null and b.place + sign(b.rest) > 2 and b.n >= $1
                     and (b.rest = 0 or b.rest >= $1) then
                    (b.every_pair / b.total - b.alone - coalesce(b.pairs / nullif(b.rest, 0), 0))
                    / -(b.told + b.rest_told) end as in_several
    from behind as b
),
-- rounded, so that what is equal on paper is equal
cuts as (
    select s.part, s.d, s.total, s.place, s."left", s.level,
           case when s.in_several > coalesce(s.in_two, '-infinity')
                then s.place + sign(s.rest)::int else 2 end as parts,
           round(greatest(s.in_two, s.in_several)::numeric, 12) as score
    from saved as s
    where s.in_two is not null or s.in_several is not null
),
best as (
    select distinct on (c.part, c.d) c.* from cuts as c
    order by c.part, c.d, c.score desc, c.place
)
select b.part, b.d, b.total,
       (row_number() over (partition by b.part order by b.score desc, b.d))::int,
       b.place, b."left", b.parts, b.level
from best as b
$query$, items) using k;
end $$;
comment on function anondb.mondrian_cuts(regclass, bigint) is
'Of every partition and column of a table of nodes: the cut that leaves k records in each part and '
'saves most of the loss. Rank 1 is the column whose cut saves most.';
