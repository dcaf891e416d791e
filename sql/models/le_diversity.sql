-- (l, e)-diversity (Wang, Han, Wang) of the classes of any method: which values are relatives, and
-- what a class reaches.
--
-- A run has the table `paths` (value int, path text[]: the labels of a sensitive value from the
-- leaf to the root), whose values are numbered from 1.

create function anondb.le_near(paths regclass, e double precision) returns int[]
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_near int[];
begin
    execute format(
        'with value as (
            select g.value
            from generate_series(1, (select max(p.value) + 1 from %1$s as p)) as g (value)
        ), pair as materialized (
            select s.a, s.b from anondb.le_similar(%1$L::regclass, $1) as s
        )
        select array(
            -- where the relatives of a value begin; the last place is where those of no value would
            select ((select count(*) from value) + 1
                    + coalesce(sum(n.pairs) over (
                        order by v.value rows between unbounded preceding and 1 preceding), 0)
                   )::int
            from value as v
            left join (select p.a, count(*) as pairs from pair as p group by p.a) as n
                on n.a = v.value
            order by v.value)
            || array(select p.b from pair as p order by p.a, p.b)', paths)
    into v_near using e;
    return v_near;
end $$;
comment on function anondb.le_near(regclass, double precision) is
'The values that are e-similar to each value, as anondb.class_le takes them: those of value v are '
'the entries from near[v] to near[v + 1] - 1 of the same array.';

create function anondb.class_le(codes int[], counts bigint[], near int[], kind text = 'apart')
returns double precision
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    -- the records of each value, with those of its relatives where they count as one
    v_of int[] := '{}';
    v_total double precision := 0;
    v_most bigint := 0;
    v_code int;
begin
    for i in 1 .. coalesce(cardinality(codes), 0) loop
        v_of[codes[i]] := coalesce(v_of[codes[i]], 0) + counts[i];
        v_total := v_total + counts[i];
        v_most := greatest(v_most, v_of[codes[i]]);
    end loop;
    for i in 1 .. coalesce(cardinality(codes), 0) loop
        for p in near[codes[i]] .. near[codes[i] + 1] - 1 loop
            v_code := near[p];
            if kind = 'apart' then
                if v_of[v_code] > 0 then
                    return 0;
                end if;
            else
                v_of[v_code] := coalesce(v_of[v_code], 0) + counts[i];
                v_most := greatest(v_most, v_of[v_code]);
            end if;
        end loop;
    end loop;
    return coalesce(v_total / nullif(v_most, 0), 0);
end $$;
comment on function anondb.class_le(int[], bigint[], int[], text) is
'The l for which a class is (l, e)-diverse. codes: its values, each once; counts: how often each '
'occurs; near: anondb.le_near. Apart: 0 if two values are e-similar. Grouped: a value counts with '
'all values that are e-similar to it, and also values that the class has none of are looked at, so '
'that two diverse classes are one.';
