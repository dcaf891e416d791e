-- What a run needs inside the server.

create function anondb.execute_with_maps(statement text, lookups regclass[]) returns bigint
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- A lookup in a constant jsonb map costs half of a join. The map is made here, so that its keys (values
-- of the source) never leave the server, and are in no statement's text and in no log.
declare
    v_maps jsonb[] := '{}';
    v_map jsonb;
    v_lookup regclass;
    v_rows bigint;
begin
    foreach v_lookup in array lookups loop
        execute format(
            'select coalesce(jsonb_object_agg(m.raw, m.code), ''{}'') from %s as m where m.raw is not null', v_lookup)
        into v_map;
        v_maps := v_maps || v_map;
    end loop;
    execute statement using v_maps;
    get diagnostics v_rows = row_count;
    return v_rows;
end $$;
comment on function anondb.execute_with_maps(text, regclass[]) is
'Runs a statement, with the caller''s rights, whose $1 is an array of jsonb maps made from lookup tables (raw, code); returns its row count.';
