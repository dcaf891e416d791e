-- Microaggregation of sets of concepts by MDAV (Batet, Erola, Sanchez, Castella-Roca).
--
-- In: the temporary table mdav_item (record, concept), each pair once. From it mdav_distances makes
-- mdav_record, and mdav_partition mdav_class. Distances are whole numbers of 1/mdav_unit():
-- sums of them are exact and can be taken apart again, so that ties are ties whatever the order of
-- the rows.

create function anondb.mdav_unit() returns bigint
language sql immutable parallel safe
-- the least common multiple of 1 to 32: fractions of so many generalizations are whole numbers of
-- it
return 144403552893600;
comment on function anondb.mdav_unit() is 'What a distance of 1 is in the tables of mdav.';

create function anondb.mdav_rank(distance bigint) returns bigint
language sql immutable parallel safe
-- Rounded distances of equal sums differ by a few units. The odd start keeps simple fractions in
-- the middle.
return (distance + 314159) / 1000000;
comment on function anondb.mdav_rank(bigint) is
'What mdav compares distances by: those that differ by their rounding alone have the same rank.';

create function anondb.check_set_distance(distance text, measure text) returns void
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    if distance is null
       or distance not in ('minimum', 'maximum', 'average', 'sum_of_minimum', 'sum_of_maximum') then
        raise exception 'there is no distance of sets "%"', distance using errcode = 'SA190',
            hint = 'There are minimum, maximum, average, sum_of_minimum, sum_of_maximum.';
    end if;
    if measure is null or measure not in ('shared', 'equal') then
        raise exception 'there is no measure "%" for concepts of sets', measure
            using errcode = 'SA191',
            hint = 'shared is by their common generalizations; equal is 0 for the '
                   'same concept, else 1.';
    end if;
end $$;
comment on function anondb.check_set_distance(text, text) is
'Raises SA190 for an unknown distance of sets, SA191 for an unknown measure of their concepts.';

create function anondb.concept_set_distance(
    a int[], b int[], distance text = 'average', measure text = 'shared')
returns double precision
language plpgsql stable strict parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_distance double precision;
begin
    perform anondb.check_set_distance(distance, measure);
    with above as (
        select c.concept, t.ancestor
        from (select unnest(a) union select unnest(b)) as c (concept)
        join anondb.concept_closure as t on t.descendant = c.concept
    ), size as (
        select u.concept, count(*) as n from above as u group by u.concept
    ), shared as (
        select x.concept as x, y.concept as y, count(*) as n
        from above as x join above as y on y.ancestor = x.ancestor group by x.concept, y.concept
    ), pair as (
        select x.concept as x, y.concept as y,
               case when x.concept = y.concept then 0
                    when measure = 'equal' or s.n is null then 1
                    else 1 - s.n::double precision / (p.n + q.n - s.n) end as delta
        from (select distinct unnest(a)) as x (concept)
        cross join (select distinct unnest(b)) as y (concept)
        left join shared as s on s.x = x.concept and s.y = y.concept
        left join size as p on p.concept = x.concept
        left join size as q on q.concept = y.concept
    ), nearest as (
        select min(p.delta) as low, max(p.delta) as high from pair as p group by p.x
        union all
        select min(p.delta), max(p.delta) from pair as p group by p.y
    )
    select case distance
        when 'minimum' then (select min(p.delta) from pair as p)
        when 'maximum' then (select max(p.delta) from pair as p)
        when 'average' then (select avg(p.delta order by p.x, p.y) from pair as p)
        when 'sum_of_minimum' then (select avg(n.low order by n.low) from nearest as n)
        else (select avg(n.high order by n.high) from nearest as n) end
    into v_distance;
    return v_distance;
end $$;
comment on function anondb.concept_set_distance(int[], int[], text, text) is
'The distance of two sets of concepts in [0, 1]; NULL if one is empty. A concept counts once in a '
'set.';

create function anondb.set_distance(
    a text[], b text[], distance text = 'average', measure text = 'shared',
    ontology text = 'wordnet')
returns double precision
language sql stable parallel safe
return anondb.concept_set_distance(
    array(select anondb.find_concept(x.term, ontology) from unnest(a) as x (term)),
    array(select anondb.find_concept(y.term, ontology) from unnest(b) as y (term)),
    distance, measure);
comment on function anondb.set_distance(text[], text[], text, text, text) is
'The distance of two sets of terms in [0, 1]: minimum or maximum over all pairs, average, or the '
'normalised sum_of_minimum or sum_of_maximum (the mean, over the terms of both, of the distance to '
'the nearest or farthest term of the other set). Two concepts are as far apart as the share of '
'generalizations that they do not have in common (measure shared), or 0 and 1 (measure equal). '
'NULL if a set is empty.';

create function anondb.mdav_partition(k int) returns int
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
declare
    v_left int[] := array(select r.place from mdav_record as r order by r.place);
    v_totals bigint[];  -- of each record, its distances to those that are left
    v_row bigint[];
    v_from int;
    v_class int[];
    v_classes int := 0;
begin
    drop table if exists mdav_class;
    create temporary table mdav_class (record int primary key, class int not null,
                                       centroid int not null);
    -- a centroid is summed over all records, itself included: on average a set of unlike concepts
    -- is far from itself
    select array_agg(t.total order by t.place) into v_totals
    from (select r.place, (select sum(d.far) from unnest(r.distances) as d (far)) as total
          from mdav_record as r) as t;
    while cardinality(v_left) > 0 loop
        if cardinality(v_left) < 2 * k then
            v_class := v_left;
        else
            if v_classes % 2 = 0 then
                select l.place into v_from from unnest(v_left) as l (place)
                order by anondb.mdav_rank(v_totals[l.place]), l.place limit 1;
            end if;
            -- from the centroid to the record that is farthest, and every other time on from that
            -- one
            select r.distances into v_row from mdav_record as r where r.place = v_from;
            select l.place into v_from from unnest(v_left) as l (place)
            where l.place <> v_from order by anondb.mdav_rank(v_row[l.place]) desc, l.place limit 1;
            select r.distances into v_row from mdav_record as r where r.place = v_from;
            v_class := v_from || array(
                select l.place from unnest(v_left) as l (place)
                where l.place <> v_from
                order by anondb.mdav_rank(v_row[l.place]), l.place limit k - 1);
        end if;
        v_classes := v_classes + 1;
        perform anondb.mdav_keep_class(v_classes, v_class);
        v_left := array(select l.place from unnest(v_left) as l (place)
                        where l.place <> all(v_class) order by l.place);
        for v_row in select r.distances from mdav_record as r where r.place = any(v_class) loop
            select array_agg(t.total - t.far order by t.place) into v_totals
            from unnest(v_totals, v_row) with ordinality as t (total, far, place);
        end loop;
    end loop;
    return v_classes;
end $$;
comment on function anondb.mdav_partition(int) is
'Makes mdav_class: the class of every record of mdav_record, and the record that is its centroid. '
'Returns how many classes of k to 2k - 1 records there are; one smaller class, if there are not k '
'records.';

create function anondb.mdav_keep_class(class int, members int[]) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    insert into mdav_class (record, class, centroid)
    with member as materialized (
        select r.place, r.record,
               (select sum(r.distances[o.place]) from unnest(members) as o (place))::bigint as total
        from mdav_record as r where r.place = any(members)
    )
    select m.record, mdav_keep_class.class,
           (select c.record from member as c order by anondb.mdav_rank(c.total), c.place limit 1)
    from member as m;
end $$;
comment on function anondb.mdav_keep_class(int, int[]) is
'Puts a class into mdav_class; its centroid is the record with the least summed distance to all of '
'it, itself included.';
