-- Microaggregation of sets of concepts by MDAV (Batet, Erola, Sanchez, Castella-Roca).
--
-- In: the temporary table mdav_item (record, concept), each pair once. From it mdav_distances makes
-- mdav_concept and mdav_record, and mdav_partition mdav_class. Distances are whole numbers of 1/mdav_unit():
-- sums of them are exact and can be taken apart again, so that ties are ties whatever the order of the rows.

create function anondb.mdav_unit() returns bigint
language sql immutable parallel safe
-- the least common multiple of 1 to 32: fractions of so many generalizations are whole numbers of it
return 144403552893600;
comment on function anondb.mdav_unit() is 'What a distance of 1 is in the tables of mdav.';

create function anondb.mdav_rank(distance bigint) returns bigint
language sql immutable parallel safe
-- Rounded distances of equal sums differ by a few units. The odd start keeps simple fractions in the middle.
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
        raise exception 'there is no measure "%" for concepts of sets', measure using errcode = 'SA191',
            hint = 'shared is by their common generalizations; equal is 0 for the same concept, else 1.';
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
'The distance of two sets of concepts in [0, 1]; NULL if one is empty. A concept counts once in a set.';

create function anondb.set_distance(
    a text[], b text[], distance text = 'average', measure text = 'shared', ontology text = 'wordnet')
returns double precision
language sql stable parallel safe
return anondb.concept_set_distance(
    array(select anondb.find_concept(x.term, ontology) from unnest(a) as x (term)),
    array(select anondb.find_concept(y.term, ontology) from unnest(b) as y (term)), distance, measure);
comment on function anondb.set_distance(text[], text[], text, text, text) is
'The distance of two sets of terms in [0, 1]: minimum or maximum over all pairs, average, or the normalised '
'sum_of_minimum or sum_of_maximum (the mean, over the terms of both, of the distance to the nearest or '
'farthest term of the other set). Two concepts are as far apart as the share of generalizations that they do '
'not have in common (measure shared), or 0 and 1 (measure equal). NULL if a set is empty.';

create function anondb.mdav_concepts(measure text, others int[] = '{}') returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- The distance of every two concepts that occur, once: sets of generalizations are bit strings, in which those that
-- nothing else has need no bit. Siblings mostly have the same one: they are of one kind, and kinds are compared.
declare
    v_concepts int[] := array(select i.concept from mdav_item as i union select unnest(others) order by 1);
    v_many bigint := cardinality(v_concepts);
    v_none bit varying;
    v_kinds int[];          -- of each concept
    v_above bit varying[];  -- of each kind
    v_sizes int[];
    v_kind int := 0;
    v_apart bigint[];       -- the kind from each kind
    v_far bigint[];         -- the kind from each concept
    v_deltas bigint[];
    v_concept record;
begin
    if v_many > 10000 then
        raise exception 'there are % distinct concepts, and so % distances of two', v_many, v_many ^ 2
            using errcode = 'SA192', hint = 'mdav takes up to 10000: anonymize parts of the data, or fewer texts.';
    end if;
    create temporary table mdav_concept (place int primary key, concept int not null, deltas bigint[] not null);
    alter table mdav_concept alter column deltas set storage external;  -- it is read thousands of times
    if measure = 'equal' then
        insert into mdav_concept
        select x.place, x.concept, array(select anondb.mdav_unit() * (y.place <> x.place)::int
                                         from generate_series(1, v_many) as y (place) order by y.place)
        from unnest(v_concepts) with ordinality as x (concept, place);
    else
        create temporary table mdav_above on commit drop as
        select c.place, t.ancestor
        from unnest(v_concepts) with ordinality as c (concept, place)
        join anondb.concept_closure as t on t.descendant = c.concept;
        analyze mdav_above;
        select coalesce(repeat('0', count(*)::int), '')::bit varying into v_none
        from (select from mdav_above as u group by u.ancestor having count(*) > 1) as s;
        create temporary table mdav_kind on commit drop as
        select x.place, x.size, x.above, dense_rank() over (order by x.above, x.size)::int as kind
        from (
            select u.place, count(*)::int as size,
                   coalesce(bit_or(set_bit(v_none::bit varying, s.bit, 1)), v_none) as above
            from mdav_above as u
            left join (select t.ancestor, row_number() over (order by t.ancestor)::int - 1 as bit
                       from mdav_above as t group by t.ancestor having count(*) > 1) as s on s.ancestor = u.ancestor
            group by u.place) as x;
        select array_agg(n.kind order by n.place) into v_kinds from mdav_kind as n;
        select array_agg(n.above order by n.kind), array_agg(n.size order by n.kind) into v_above, v_sizes
        from (select distinct d.kind, d.above, d.size from mdav_kind as d) as n;
        for v_concept in select n.place, n.kind from mdav_kind as n order by n.kind, n.place loop
            if v_concept.kind > v_kind then
                v_kind := v_concept.kind;
                v_apart := array(
                    select anondb.mdav_unit() - (anondb.mdav_unit() * p.shared + p.size / 2) / p.size
                    from (select s.shared, v_sizes[v_kind] + s.size - s.shared as size
                          from (select y.size, bit_count(y.above & v_above[v_kind]) as shared
                                from (select unnest(v_above) as above, unnest(v_sizes) as size) as y
                                offset 0) as s) as p);  -- offset: what is counted is used twice
                v_far := array(select v_apart[c.kind] from unnest(v_kinds) as c (kind));
            end if;
            v_deltas := v_far;
            v_deltas[v_concept.place] := 0;
            insert into mdav_concept values (v_concept.place, v_concepts[v_concept.place], v_deltas);
        end loop;
        drop table mdav_kind;
        drop table mdav_above;
    end if;
    analyze mdav_concept;
end $$;
comment on function anondb.mdav_concepts(text, int[]) is
'Makes mdav_concept: each concept of mdav_item, and others, with its distances to all of them. Raises SA192 if they are too many.';

create function anondb.mdav_far(combined text, places int[]) returns bigint[]
language plpgsql stable parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- Rows of the matrix go through side by side: several times faster than to group them by their columns.
declare
    v_form text := case combined when 'sum' then '%s' when 'min' then 'least(%s)' else 'greatest(%s)' end;
    v_link text := case combined when 'sum' then ' + ' else ', ' end;
    v_rows text;
    v_far bigint[];
begin
    for v_first in 1 .. cardinality(places) by 100 loop  -- a query has at most 1664 columns
        select string_agg(format('unnest((select c.deltas from mdav_concept as c where c.place = %s))', p.place), v_link)
        into v_rows from unnest(places[v_first : v_first + 99]) as p (place);
        if v_far is not null then
            v_rows := 'unnest($1)' || v_link || v_rows;
        end if;
        execute format('select array(select ' || v_form || ')', v_rows) using v_far into v_far;
    end loop;
    return v_far;
end $$;
comment on function anondb.mdav_far(text, int[]) is
'How far a record of these concepts is from each concept of mdav_concept: sum, min or max over its own.';

create function anondb.mdav_distances(distance text = 'average', measure text = 'shared') returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp set client_min_messages = warning as $$
-- How far a record is from each concept (summed, least or greatest over its own concepts) is found once;
-- its distance to another record looks that up for the other's concepts, and not for every pair of concepts.
declare
    v_records bigint := (select count(distinct i.record) from mdav_item as i);
    v_own text := case when distance = 'average' then 'sum' when distance like '%minimum' then 'min' else 'max' end;
    v_other text := case distance when 'minimum' then 'min' when 'maximum' then 'max' else 'sum' end;
    v_record record;
    v_far bigint[];
    v_row bigint[];
begin
    perform anondb.check_set_distance(distance, measure);
    if v_records > 10000 then
        raise exception 'there are % records, and so % distances of two', v_records, v_records ^ 2
            using errcode = 'SA193', hint = 'mdav takes up to 10000: anonymize parts of the data on their own.';
    end if;
    drop table if exists mdav_concept, mdav_record;
    perform anondb.mdav_concepts(measure);
    create temporary table mdav_record (place int primary key, record int not null, places int[] not null, distances bigint[]);
    alter table mdav_record alter column distances set storage external;
    insert into mdav_record (place, record, places)
    select row_number() over (order by i.record), i.record, array_agg(c.place order by c.place)
    from mdav_item as i join mdav_concept as c on c.concept = i.concept group by i.record;
    create temporary table mdav_cell on commit drop as
    select r.place as record, cardinality(r.places) as size, p.place from mdav_record as r cross join unnest(r.places) as p (place);
    analyze mdav_cell;
    for v_record in select r.place, r.places, cardinality(r.places) as size from mdav_record as r order by r.place loop
        v_far := anondb.mdav_far(v_own, v_record.places);
        execute format(
            'select array_agg(x.far order by x.record) from (
                 select c.record, round(%s($1[c.place]) / %s)::bigint as far
                 from mdav_cell as c group by c.record, c.size) as x', v_other,
            case distance when 'average' then '($2 * c.size)::numeric' else '1' end)
        using v_far, v_record.size into v_row;
        update mdav_record as r set distances = v_row where r.place = v_record.place;
    end loop;
    drop table mdav_cell;
    if distance like 'sum%' then
        perform anondb.mdav_both_ways();
    end if;
end $$;
comment on function anondb.mdav_distances(text, text) is
'Makes mdav_record: each record of mdav_item, by place, with its distances to all of them. Raises SA193 if they are too many.';

create function anondb.mdav_both_ways() returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    create temporary table mdav_way on commit drop as
    select r.place as a, cardinality(r.places) as size, d.place::int as b, d.far
    from mdav_record as r cross join unnest(r.distances) with ordinality as d (far, place);
    analyze mdav_way;
    update mdav_record as r set distances = x.distances
    from (select p.a, array_agg(round((p.far + q.far) / (p.size + q.size)::numeric)::bigint order by p.b) as distances
          from mdav_way as p join mdav_way as q on q.a = p.b and q.b = p.a group by p.a) as x
    where r.place = x.a;
    drop table mdav_way;
end $$;
comment on function anondb.mdav_both_ways() is
'The sums of both records'' distances to each other in mdav_record, divided by the number of their concepts.';

create function anondb.mdav_partition(k int) returns int
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp set client_min_messages = warning as $$
declare
    v_left int[] := array(select r.place from mdav_record as r order by r.place);
    v_totals bigint[];  -- of each record, its distances to those that are left
    v_row bigint[];
    v_from int;
    v_class int[];
    v_classes int := 0;
begin
    drop table if exists mdav_class;
    create temporary table mdav_class (record int primary key, class int not null, centroid int not null);
    -- a centroid is summed over all records, itself included: on average a set of unlike concepts is far from itself
    select array_agg(t.total order by t.place) into v_totals
    from (select r.place, (select sum(d.far) from unnest(r.distances) as d (far)) as total from mdav_record as r) as t;
    while cardinality(v_left) > 0 loop
        if cardinality(v_left) < 2 * k then
            v_class := v_left;
        else
            if v_classes % 2 = 0 then
                select l.place into v_from from unnest(v_left) as l (place)
                order by anondb.mdav_rank(v_totals[l.place]), l.place limit 1;
            end if;
            -- from the centroid to the record that is farthest, and every other time on from that one
            select r.distances into v_row from mdav_record as r where r.place = v_from;
            select l.place into v_from from unnest(v_left) as l (place)
            where l.place <> v_from order by anondb.mdav_rank(v_row[l.place]) desc, l.place limit 1;
            select r.distances into v_row from mdav_record as r where r.place = v_from;
            v_class := v_from || array(
                select l.place from unnest(v_left) as l (place)
                where l.place <> v_from order by anondb.mdav_rank(v_row[l.place]), l.place limit k - 1);
        end if;
        v_classes := v_classes + 1;
        perform anondb.mdav_keep_class(v_classes, v_class);
        v_left := array(select l.place from unnest(v_left) as l (place) where l.place <> all(v_class) order by l.place);
        for v_row in select r.distances from mdav_record as r where r.place = any(v_class) loop
            select array_agg(t.total - t.far order by t.place) into v_totals
            from unnest(v_totals, v_row) with ordinality as t (total, far, place);
        end loop;
    end loop;
    return v_classes;
end $$;
comment on function anondb.mdav_partition(int) is
'Makes mdav_class: the class of every record of mdav_record, and the record that is its centroid. Returns how '
'many classes of k to 2k - 1 records there are; one smaller class, if there are not k records.';

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
'Puts a class into mdav_class; its centroid is the record with the least summed distance to all of it, itself included.';
