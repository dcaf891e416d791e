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
