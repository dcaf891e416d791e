-- Values are equal where their type says so, not where their texts are equal.

create function anondb.has_equality(type regtype) returns boolean
language plpgsql stable parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- Arrays, ranges and rows have what their parts have. The server knows; it is asked, and no row is
-- read.
begin
    execute format('select from (select null::%s as x) as v group by v.x', type);
    return true;
exception when undefined_function then
    return false;
end $$;
comment on function anondb.has_equality(regtype) is
'Whether GROUP BY knows which values of a type are equal: not of json, xml or point, nor of arrays '
'of them.';

create function anondb.casts_of_others(relation regclass) returns boolean
language sql stable parallel restricted
begin atomic
    -- the owner of a table may change a type, and the cast would be his code with the caller's
    -- rights
    with recursive type as (
        select a.atttypid as id from pg_attribute as a
        where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
        union
        select t.typbasetype from type join pg_type as t on t.oid = type.id where t.typtype = 'd')
    select exists (
        select from type join pg_cast as c on c.castsource = type.id
        where c.casttarget = 'text'::regtype and c.castfunc >= 16384
          and not exists (select from pg_depend as d
                          where d.classid = 'pg_proc'::regclass and d.objid = c.castfunc
                            and d.deptype = 'e'));
end;
comment on function anondb.casts_of_others(regclass) is
'Whether a column of a table would become text by a function that somebody has made.';
