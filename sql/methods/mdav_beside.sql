-- Columns beside the set of mdav: they count in the distance of records, and a class is released
-- with one value of each.
--
-- In: the temporary tables mdav_beside (record, place, kind, number, text), each record with each
-- of these columns by its place: numbers and dates have a number, which is NULL where there is no
-- finite one, all others have a text.

create function anondb.mdav_mix(own double precision, weights double precision[]) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
-- Two numbers are as far apart as their share of the range; other values are the same, or as far as
-- can be.
declare
    v_total double precision := own + (select sum(w.weight) from unnest(weights) as w (weight));
    v_record record;
begin
    create temporary table mdav_scaled on commit drop as
    select r.place, array_agg(x.scaled order by x.place) as scaled,
           array_agg(x.code order by x.place) as codes
    from (select b.record, b.place,
                 dense_rank() over (partition by b.place order by b.number, b.text) as code,
                 (b.number - min(b.number) over (partition by b.place))
                 / nullif(max(b.number) over (partition by b.place)
                          - min(b.number) over (partition by b.place), 0) as scaled
          from mdav_beside as b where b.record in (select m.record from mdav_record as m)) as x
    join mdav_record as r on r.record = x.record group by r.place;
    analyze mdav_scaled;
    for v_record in
        select r.place, r.distances, s.scaled, s.codes
        from mdav_record as r join mdav_scaled as s on s.place = r.place order by r.place
    loop
        update mdav_record as r set distances = (
            select array_agg(round((own * d.far + anondb.mdav_unit() * x.apart) / v_total)::bigint
                             order by d.place)
            from unnest(v_record.distances) with ordinality as d (far, place)
            join (select s.place,
                         (select sum(w.weight
                                     * case when w.code = w.own_code then 0
                                            else coalesce(abs(w.scaled - w.own_scaled), 1) end)
                          from unnest(s.codes, s.scaled, v_record.codes, v_record.scaled, weights)
                              as w (code, scaled, own_code, own_scaled, weight)) as apart
                  from mdav_scaled as s) as x on x.place = d.place)
        where r.place = v_record.place;
    end loop;
    drop table mdav_scaled;
end $$;
comment on function anondb.mdav_mix(double precision, double precision[]) is
'Takes the columns of mdav_beside into the distances of mdav_record: their mean, weighted by own '
'for the set and weights for these.';

create function anondb.mdav_tell(k bigint) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
begin
    drop table if exists mdav_told;
    create temporary table mdav_told as
    with value as materialized (
        select b.record, coalesce(m.class, 0) as class, b.place, b.kind, b.number, b.text,
               count(*) over (partition by b.place, b.text) as records
        from mdav_beside as b left join mdav_class as m on m.record = b.record
    ), mean as (
        select v.class, v.place, v.kind, count(v.number) as known,
               avg(v.number order by v.number) as mean
        from value as v where v.kind <> 'text' group by v.class, v.place, v.kind
    ), most as (
        select distinct on (t.class, t.place) t.class, t.place,
               case when t.records >= mdav_tell.k then t.text else '*' end as told
        from (select v.class, v.place, v.text, v.records, count(*) as n
              from value as v where v.kind = 'text'
              group by v.class, v.place, v.text, v.records) as t
        order by t.class, t.place, t.n desc, t.records desc, t.text
    ), told as (
        select m.class, m.place, m.told from most as m
        union all
        -- a mean of fewer than k would tell too much of them
        select e.class, e.place,
               case when e.known = 0 then null
                    when e.known < mdav_tell.k then '*'
                    when e.kind = 'integer' then round(e.mean::numeric)::text
                    when e.kind = 'date' then (to_timestamp(e.mean) at time zone 'UTC')::date::text
                    else trim_scale(round(e.mean::numeric, 2))::text end
        from mean as e
    )
    select v.record, v.place, t.told from value as v
    join told as t on t.class = v.class and t.place = v.place;
    analyze mdav_told;
end $$;
comment on function anondb.mdav_tell(bigint) is
'Makes mdav_told: for each record and column of mdav_beside what its class is released with: the '
'mean of numbers and dates if k records have one, of other values the most frequent, if k records '
'of all have it, else *.';

create function anondb.mdav_rare_values(release regclass, told name, place int, k bigint)
returns bigint
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_rare bigint;
begin
    execute format(
        'select count(*) from (select distinct t.%2$I collate "C" as value from %1$s as t) as r
         where r.value <> ''*'' and (select count(*) from mdav_beside as b
                                     where b.place = $1 and b.text = r.value) < $2
           and exists (select from mdav_beside as b where b.place = $1 and b.kind = ''text'')',
        release, told)
    using place, k into v_rare;
    return v_rare;
end $$;
comment on function anondb.mdav_rare_values(regclass, name, int, bigint) is
'How many values of a column of a release, which is no number and no date, are those of fewer than '
'k records of mdav_beside.';
