-- How far every two records of mdav are from each other, by the distances of every two of their
-- concepts.

create function anondb.mdav_above(concepts int[])
returns table (concept int, size int, above bit varying)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp rows 1000 as $$
-- Sets of generalizations are bit strings; those that nothing else has need no bit.
declare
    v_none bit varying;
begin
    select coalesce(repeat('0', count(*)::int), '')::bit varying into v_none
    from (select from anondb.concept_closure as t where t.descendant = any(concepts)
          group by t.ancestor having count(*) > 1) as s;
    return query
        with above as materialized (
            select t.descendant, t.ancestor from anondb.concept_closure as t
            where t.descendant = any(concepts)
        ), shared as (
            select u.ancestor, row_number() over (order by u.ancestor)::int - 1 as bit
            from above as u group by u.ancestor having count(*) > 1
        )
        select u.descendant, count(*)::int,
               coalesce(bit_or(set_bit(v_none, s.bit, 1)), v_none)::bit varying
        from above as u left join shared as s on s.ancestor = u.ancestor group by u.descendant;
end $$;
comment on function anondb.mdav_above(int[]) is
'Of each concept how many generalizations it has, itself included, and which of those that others '
'have too, as bits.';

create function anondb.mdav_apart(shared int, size int, other int) returns bigint
language sql immutable parallel safe
return anondb.mdav_unit() - (anondb.mdav_unit() * shared + (size + other - shared) / 2)
    / (size + other - shared);
comment on function anondb.mdav_apart(int, int, int) is
'The distance of two concepts with so many generalizations, of which they share some: the share of '
'those of one alone.';

create function anondb.mdav_kinds(measure text) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
-- Siblings mostly share the same generalizations: they are of one kind, and kinds are compared,
-- each two once. Where concepts or texts are the same or not, all are of one kind. The distance of
-- a kind to itself is that of two siblings.
declare
    v_many bigint;
    v_above bit varying[];  -- of each kind
    v_sizes int[];
begin
    drop table if exists mdav_concept, mdav_kind;
    create temporary table mdav_concept (place int primary key, concept int not null,
                                         kind int not null);
    create temporary table mdav_kind (kind int primary key, deltas bigint[] not null,
                                      own bigint not null);
    -- it is read thousands of times
    alter table mdav_kind alter column deltas set storage external;
    if measure <> 'shared' then
        insert into mdav_concept
        select row_number() over (order by i.item), i.item, 1 from mdav_compared as i
        group by i.item;
        insert into mdav_kind values (1, array[anondb.mdav_unit()], anondb.mdav_unit());
        return;
    end if;
    select count(distinct i.item) into v_many from mdav_compared as i;
    if v_many > 10000 then
        raise exception 'there are % distinct concepts, and so % distances of two',
            v_many, v_many ^ 2
            using errcode = 'SA192',
            hint = 'mdav takes up to 10000: anonymize parts of the data, or fewer texts.';
    end if;
    create temporary table mdav_sized on commit drop as
    select u.concept, u.size, u.above, dense_rank() over (order by u.above, u.size)::int as kind
    from anondb.mdav_above(array(select distinct i.item from mdav_compared as i)) as u;
    insert into mdav_concept
    select row_number() over (order by s.concept), s.concept, s.kind from mdav_sized as s;
    select array_agg(n.above order by n.kind), array_agg(n.size order by n.kind)
    into v_above, v_sizes
    from (select distinct d.kind, d.above, d.size from mdav_sized as d) as n;
    insert into mdav_kind
    select x.kind, x.deltas, x.deltas[x.kind]
    from (select k.kind, array(
              select anondb.mdav_apart(p.shared, p.size, k.size)
              from (select bit_count(y.above & k.above)::int as shared, y.size
                    from (select unnest(v_above) as above, unnest(v_sizes) as size) as y
                    offset 0) as p) as deltas  -- offset: what is counted is used twice
          from (select distinct d.kind, d.above, d.size from mdav_sized as d) as k) as x;
    drop table mdav_sized;
end $$;
comment on function anondb.mdav_kinds(text) is
'Makes mdav_concept, the kind of each item of mdav_compared, and mdav_kind, the distances of '
'kinds. Raises SA192 if there are too many concepts.';

create function anondb.mdav_far(combined text, query text, kinds int[]) returns bigint[]
language plpgsql stable parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- Rows of a matrix go through side by side: several times faster than to group them by their
-- columns.
declare
    v_form text := case combined when 'sum' then '%s'
                                 when 'min' then 'least(%s)' else 'greatest(%s)' end;
    v_link text := case combined when 'sum' then ' + ' else ', ' end;
    v_rows text[];
    v_part text;
    v_far bigint[];
begin
    select array_agg(case when combined = 'sum' and x.many > 1
                          then format('%s * unnest((' || query || '))', x.many, x.kind)
                          else format('unnest((' || query || '))', x.kind) end order by x.kind)
    into v_rows from (select k.kind, count(*) as many from unnest(kinds) as k (kind)
                      group by k.kind) as x;
    for v_first in 1 .. cardinality(v_rows) by 100 loop  -- a query has at most 1664 columns
        v_part := array_to_string(v_rows[v_first : v_first + 99], v_link);
        if v_far is not null then
            v_part := 'unnest($1)' || v_link || v_part;
        end if;
        execute format('select array(select ' || v_form || ')', v_part) using v_far into v_far;
    end loop;
    return v_far;
end $$;
comment on function anondb.mdav_far(text, text, int[]) is
'Arrays of equal length, combined number by number: sum, min or max. The query names one of them '
'by a kind, %s; a kind that is there twice counts twice in a sum.';

create function anondb.mdav_distances(distance text = 'average', measure text = 'shared')
returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
declare
    v_records bigint := (select count(distinct i.record) from mdav_item as i);
begin
    if measure is distinct from 'texts' then
        perform anondb.check_set_distance(distance, measure);
    else
        perform anondb.check_set_distance(distance, 'equal');
    end if;
    if v_records > 10000 then
        raise exception 'there are % records, and so % distances of two', v_records, v_records ^ 2
            using errcode = 'SA193',
            hint = 'mdav takes up to 10000: anonymize parts of the data on their own.';
    end if;
    drop table if exists mdav_compared, mdav_record;
    if measure = 'texts' then
        create temporary table mdav_compared as
        select distinct t.record, dense_rank() over (order by t.term collate "C")::int as item
        from (select i.record, anondb.normal_term(i.text collate "default") as term
              from mdav_text as i) as t
        where t.record in (select i.record from mdav_item as i);
    else
        create temporary table mdav_compared as select i.record, i.concept as item
        from mdav_item as i;
    end if;
    analyze mdav_compared;
    perform anondb.mdav_kinds(measure);
    create temporary table mdav_record (
        place int primary key, record int not null, places int[] not null, kinds int[] not null,
        distances bigint[]);
    alter table mdav_record alter column distances set storage external;
    insert into mdav_record (place, record, places, kinds)
    select row_number() over (order by i.record), i.record, array_agg(c.place order by c.place),
           array_agg(c.kind order by c.place)
    from mdav_compared as i join mdav_concept as c on c.concept = i.item group by i.record;
    analyze mdav_record;
    -- sums of two sets of 250 still are whole numbers of eight bytes
    if distance = 'average'
        and (select max(cardinality(r.places)) <= 250 from mdav_record as r) then
        perform anondb.mdav_average();
    else
        perform anondb.mdav_looked_up(distance);
        if distance like 'sum%' then
            perform anondb.mdav_both_ways();
        end if;
    end if;
end $$;
comment on function anondb.mdav_distances(text, text) is
'Makes mdav_record: each record of mdav_item, by place, with its distances to all of them. '
'Concepts are compared by what they share (shared) or are the same or not (equal), as are the '
'texts of mdav_text (texts). Raises SA193 if there are too many records.';

create function anondb.mdav_average() returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
-- From the records to the kinds, and from there to the records again. What two records have in
-- common is taken for siblings on the way, and put right at the end.
declare
    v_sizes bigint[] := array(select cardinality(r.places) from mdav_record as r order by r.place);
    v_record record;
    v_row bigint[];
begin
    create temporary table mdav_to_kind on commit drop as
    select r.place, anondb.mdav_far('sum', 'select c.deltas from mdav_kind as c where c.kind = %s',
                                    r.kinds) as far
    from mdav_record as r;
    create temporary table mdav_from_kind (kind int primary key, far bigint[] not null)
        on commit drop;
    alter table mdav_from_kind alter column far set storage external;
    insert into mdav_from_kind
    select f.kind, array_agg(f.far order by t.place) from mdav_to_kind as t
    cross join unnest(t.far) with ordinality as f (far, kind) group by f.kind;
    drop table mdav_to_kind;
    analyze mdav_from_kind;
    create temporary table mdav_cell on commit drop as
    select r.place as record, p.place, k.own from mdav_record as r
    cross join unnest(r.places, r.kinds) as p (place, kind) join mdav_kind as k on k.kind = p.kind;
    create index on mdav_cell (place);
    analyze mdav_cell;
    for v_record in select r.place, r.places, r.kinds, cardinality(r.places) as size
        from mdav_record as r order by r.place loop
        v_row := anondb.mdav_far('sum', 'select c.far from mdav_from_kind as c where c.kind = %s',
                                 v_record.kinds);
        select array_agg((s.total - coalesce(x.own, 0) + v_record.size * v_sizes[s.place] / 2)
                         / (v_record.size * v_sizes[s.place]) order by s.place)
        into v_row
        from unnest(v_row) with ordinality as s (total, place)
        left join (select c.record, sum(c.own)::bigint as own from mdav_cell as c
                   where c.place = any(v_record.places)
                   group by c.record) as x on x.record = s.place;
        update mdav_record as r set distances = v_row where r.place = v_record.place;
    end loop;
    drop table mdav_cell;
    drop table mdav_from_kind;
end $$;
comment on function anondb.mdav_average() is
'Puts into mdav_record the average distances of all pairs of concepts of every two records.';

create function anondb.mdav_looked_up(distance text) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
set client_min_messages = warning as $$
-- How far a record is from each concept (summed, least or greatest over its own concepts) is found
-- once; its distance to another record looks that up for the other's concepts, and not for every
-- pair of concepts.
declare
    v_own text := case when distance = 'average' then 'sum'
                       when distance like '%minimum' then 'min' else 'max' end;
    v_other text := case distance when 'minimum' then 'min'
                                  when 'maximum' then 'max' else 'sum' end;
    v_kinds int[] := array(select c.kind from mdav_concept as c order by c.place);
    v_record record;
    v_one record;
    v_far bigint[];
    v_row bigint[];
begin
    create temporary table mdav_cell on commit drop as
    select r.place as record, cardinality(r.places) as size, p.place from mdav_record as r
    cross join unnest(r.places) as p (place);
    analyze mdav_cell;
    for v_record in select r.place, r.places, r.kinds, cardinality(r.places) as size
        from mdav_record as r order by r.place loop
        v_far := anondb.mdav_far(v_own, 'select c.deltas from mdav_kind as c where c.kind = %s',
                                 v_record.kinds);
        v_far := array(select v_far[c.kind] from unnest(v_kinds) as c (kind));
        -- its own concepts are no siblings of themselves
        for v_one in
            with own as materialized (
                select p.place, p.kind, k.deltas || '{}'::bigint[] as deltas  -- unpacked once
                from unnest(v_record.places, v_record.kinds) as p (place, kind)
                join mdav_kind as k on k.kind = p.kind
                where v_own <> 'min'
            )
            select p.place,
                   case v_own
                        when 'sum'
                        then sum(case when x.place = p.place then 0 else x.deltas[p.kind] end)
                        when 'max'
                        then max(case when x.place = p.place then 0 else x.deltas[p.kind] end)
                        else 0 end::bigint as far
            from unnest(v_record.places, v_record.kinds) as p (place, kind)
            left join own as x on true group by p.place
        loop
            v_far[v_one.place] := v_one.far;
        end loop;
        execute format(
            'select array_agg(x.far order by x.record) from (
                 select c.record, round(%s($1[c.place]) / %s)::bigint as far
                 from mdav_cell as c group by c.record, c.size) as x', v_other,
            case distance when 'average' then '($2 * c.size)::numeric' else '1' end)
        using v_far, v_record.size into v_row;
        update mdav_record as r set distances = v_row where r.place = v_record.place;
    end loop;
    drop table mdav_cell;
end $$;
comment on function anondb.mdav_looked_up(text) is
'Puts into mdav_record the distances of every two records, those of sums one way: from the '
'other''s concepts to its own.';

create function anondb.mdav_both_ways() returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    create temporary table mdav_way on commit drop as
    select r.place as a, cardinality(r.places) as size, d.place::int as b, d.far
    from mdav_record as r cross join unnest(r.distances) with ordinality as d (far, place);
    analyze mdav_way;
    update mdav_record as r set distances = x.distances
    from (select p.a, array_agg(round((p.far + q.far) / (p.size + q.size)::numeric)::bigint
                                order by p.b) as distances
          from mdav_way as p join mdav_way as q on q.a = p.b and q.b = p.a group by p.a) as x
    where r.place = x.a;
    drop table mdav_way;
end $$;
comment on function anondb.mdav_both_ways() is
'The sums of both records'' distances to each other in mdav_record, divided by the number of their '
'concepts.';
