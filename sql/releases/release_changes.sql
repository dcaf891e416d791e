-- What two tables of released rows tell together, row by row; nothing is known of single persons.

create function anondb.release_changes(before regclass, after regclass, classes name[], k int)
returns table (came bigint, gone bigint, changed bigint, told bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_class text := 'array[' || coalesce((
        select string_agg(format('t.%I::text', c.name), ', ' order by c.place)
        from unnest(classes) with ordinality as c (name, place)), '') || ']::text[]::text';
begin
    -- a hash is enough to tell rows apart, and takes rows of any type
    return query execute format($q$
        select coalesce(sum(d.came), 0)::bigint, coalesce(sum(d.gone), 0)::bigint, count(*),
               count(*) filter (where d.came between 1 and $1 - 1 or d.gone between 1 and $1 - 1)
        from (select coalesce(a.class, b.class) as class,
                     sum(greatest(coalesce(b.n, 0) - coalesce(a.n, 0), 0)) as came,
                     sum(greatest(coalesce(a.n, 0) - coalesce(b.n, 0), 0)) as gone
              from (select hashtextextended(%1$s collate "C", 0) as class,
                           hashtextextended(t::text collate "C", 0) as line, count(*) as n
                    from only %2$s as t group by 1, 2) as a
              full join (select hashtextextended(%1$s collate "C", 0) as class,
                                hashtextextended(t::text collate "C", 0) as line, count(*) as n
                         from only %3$s as t group by 1, 2) as b
                  on b.class = a.class and b.line = a.line
              where a.n is distinct from b.n
              group by 1) as d $q$, v_class, before, after)
    using k;
end $$;
comment on function anondb.release_changes(regclass, regclass, name[], int) is
'How many rows came and how many are gone between two tables with the same columns, in how many '
'classes, and in how many of these fewer than k came or are gone: whoever has both tables knows '
'which rows these are.';
