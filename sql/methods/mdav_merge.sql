-- Classes of mdav that do not satisfy a model of a sensitive column are merged with the classes
-- nearest to them.

create function anondb.mdav_merge(failing int[]) returns int
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_class int;
    v_other int;
    v_from int;
    v_row bigint[];
    v_members int[];
    v_done int[] := '{}';  -- a class that was merged waits until it is judged again
    v_merged int := 0;
begin
    foreach v_class in array array(select f.class from unnest(failing) as f (class)
                                   order by f.class) loop
        continue when v_class = any(v_done);
        select m.centroid, r.distances into v_from, v_row
        from mdav_class as m join mdav_record as r on r.record = m.centroid
        where m.class = v_class limit 1;
        select c.class into v_other
        from (select distinct m.class, r.place from mdav_class as m
              join mdav_record as r on r.record = m.centroid where m.class <> v_class) as c
        order by c.class = any(v_done), anondb.mdav_rank(v_row[c.place]), c.class limit 1;
        exit when v_other is null or v_other = any(v_done);
        v_members := array(
            select r.place from mdav_class as m join mdav_record as r on r.record = m.record
            where m.class in (v_class, v_other) order by r.place);
        delete from mdav_class as m where m.class in (v_class, v_other);
        perform anondb.mdav_keep_class(v_class, v_members);
        v_done := v_done || v_class;
        v_merged := v_merged + 1;
    end loop;
    return v_merged;
end $$;
comment on function anondb.mdav_merge(int[]) is
'Merges each of these classes of mdav_class with the class whose centroid is nearest, if that was '
'not merged in the same call; returns how many were merged: 0 if there is one class alone.';
