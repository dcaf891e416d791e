-- COCOA (Ayala-Rivera et al. 2016): synthetic microdata, drawn in the database from a domain's
-- recipe.
--
-- A recipe is what the driver compiles of a domain: {"attributes": [{"name", "type", "hidden",
-- "level", and "table" with "given", or "expression"}, ...]}. Attributes know each other by their
-- place, from 0. Whatever stands in a recipe, names and texts are quoted and expressions have an
-- allow-list: it may come from anywhere.

create function anondb.uniform_draw(row_number bigint, salt bigint) returns double precision
language sql immutable parallel safe
begin atomic
    -- the 53 bits that a double precision holds
    select ((hashint8extended(row_number, salt) >> 11) & 9007199254740991)::double precision
           / 9007199254740992::double precision;
end;
comment on function anondb.uniform_draw(bigint, bigint) is
'A number in [0, 1) that the row number and the salt alone decide: rows can be drawn in any order '
'and any chunks.';

create function anondb.cocoa_type(attribute jsonb) returns text
language sql immutable parallel safe
begin atomic
    select case attribute ->> 'type' when 'integer' then 'integer'
                                     when 'number' then 'double precision'
                                     when 'date' then 'date' else 'text' end;
end;
comment on function anondb.cocoa_type(jsonb) is
'The PostgreSQL type of an attribute of a recipe; text for all that is neither a number nor a '
'date.';

create function anondb.cocoa_expression(tree jsonb) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_args text[];
    v_symbol text := coalesce(tree ->> 'operator', tree ->> 'function');
begin
    v_args := array(select anondb.cocoa_expression(a.tree)
                    from jsonb_array_elements(tree -> 'arguments') with ordinality as a (tree, i)
                    order by a.i);
    case
        when tree ->> 'attribute' ~ '^\d{1,4}$' then
            return format('p.c%s', tree ->> 'attribute');
        when tree ? 'text' then
            return format('(%L::text collate "C")', tree ->> 'text');
        when tree ->> 'number' ~ '^\d{1,30}(\.\d{1,30})?$' then
            return tree ->> 'number';
        when tree ->> 'date' ~ '^\d{4}-\d{2}-\d{2}$' then
            return format('%L::date', tree ->> 'date');
        when jsonb_typeof(tree -> 'truth') = 'boolean' then
            return tree ->> 'truth';
        when tree ? 'operator' and cardinality(v_args) = 1 and v_symbol in ('-', 'not') then
            return format('(%s %s)', v_symbol, v_args[1]);
        when tree ? 'operator' and cardinality(v_args) = 2 and v_symbol in (
                '+', '-', '*', '/', '||', '=', '<>', '<', '<=', '>', '>=', 'and', 'or') then
            return format('(%s %s %s)', v_args[1], v_symbol, v_args[2]);
        when tree ? 'operator' and cardinality(v_args) = 2 and v_symbol = '%' then
            -- there is none of floats
            return format('mod(%s::numeric, %s::numeric)', v_args[1], v_args[2]);
        when tree ? 'operator' and cardinality(v_args) = 3 and v_symbol = 'between' then
            return format('(%s between %s and %s)', v_args[1], v_args[2], v_args[3]);
        when tree ? 'operator' and cardinality(v_args) > 1 and v_symbol = 'in' then
            return format('(%s in (%s))', v_args[1], array_to_string(v_args[2:], ', '));
        when tree ? 'function' and cardinality(v_args) = 2 and v_symbol = 'round' then
            return format('round(%s::numeric, %s)', v_args[1], v_args[2]);
        when tree ? 'function' and cardinality(v_args) > 0 and v_symbol in (
                'abs', 'ceil', 'floor', 'round', 'sqrt', 'exp', 'ln', 'greatest', 'least', 'lower',
                'upper') then
            return format('%s(%s)', v_symbol, array_to_string(v_args, ', '));
        when jsonb_typeof(tree -> 'cases') = 'array' and tree ? 'otherwise' then
            return format(
                '(case %s %s else %s end)',
                case when tree ? 'operand' then anondb.cocoa_expression(tree -> 'operand') end,
                (select string_agg(format('when %s then %s', anondb.cocoa_expression(c.tree -> 0),
                                          anondb.cocoa_expression(c.tree -> 1)), ' ' order by c.i)
                 from jsonb_array_elements(tree -> 'cases') with ordinality as c (tree, i)),
                anondb.cocoa_expression(tree -> 'otherwise'));
        else
            raise exception 'an expression of the recipe has a part that is not allowed'
                using errcode = 'SA122',
                hint = 'Let anondb generate --print write the recipe of a domain.';
    end case;
end $$;
comment on function anondb.cocoa_expression(jsonb) is
'The SQL of an expression over attributes, given as a tree. Raises SA122 for all that is not on '
'its allow-list.';

create function anondb.cocoa_draw(attribute jsonb, place bigint, seed bigint) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- A uniform number finds its value among the cumulated weights by binary search (width_bucket); a
-- second one finds the place in a range. What depends on no attribute has one row of weights, read
-- once.
declare
    v_salt bigint := hashtextextended((attribute ->> 'name') collate "C", seed);
    v_one boolean := coalesce(jsonb_array_length(attribute -> 'given'), 0) = 0;
    v_field text := case when v_one then '(select t%1$s.%2$s from t%1$s)' else 't%1$s.%2$s' end;
    v_at text;
    v_low text;
    v_high text;
begin
    v_at := format('[1 + width_bucket(anondb.uniform_draw(p.n, %s), %s)]', v_salt,
                   format(v_field, place, 'bounds'));
    v_low := format('(%s)%s', format(v_field, place, 'low'), v_at);
    if attribute -> 'ranges' is distinct from 'true' then
        return v_low;
    end if;
    v_high := format('(%s)%s', format(v_field, place, 'high'), v_at);
    return format(
        case attribute ->> 'type'
            when 'number' then '%1$s + anondb.uniform_draw(p.n, %3$s) * (%2$s - %1$s)'
            else '%1$s + floor(anondb.uniform_draw(p.n, %3$s) * (%2$s - %1$s + 1))::integer' end,
        v_low, v_high, hashint8extended(v_salt, seed));
end $$;
comment on function anondb.cocoa_draw(jsonb, bigint, bigint) is
'The SQL that draws an attribute of the row p.n from the table of its weights, t and its place in '
'the recipe.';

create function anondb.cocoa_query(recipe jsonb, seed bigint) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- One subquery a level of dependencies. OFFSET 0 keeps the planner from merging them: an attribute
-- that others depend on would be drawn again for each of them.
declare
    v_query text := 'select g.n from generate_series($2::bigint, $3::bigint) as g (n)';
    v_tables text;
    v_columns text;
    v_joins text;
    v_level int;
begin
    select string_agg(format(
               't%s as materialized (select %sr.bounds, r.low, r.high from '
               'jsonb_to_recordset($1 #> ''{attributes,%s,table}'') as r (given text[], '
               'bounds double precision[], low %s[], high %s[]))',
               a.i - 1,
               (select string_agg(format('r.given[%s]::%s as g%s, ', g.i,
                                         anondb.cocoa_type(recipe #> array['attributes', g.place]),
                                         g.i), '' order by g.i)
                from jsonb_array_elements_text(a.attribute -> 'given') with ordinality
                    as g (place, i)),
               a.i - 1, anondb.cocoa_type(a.attribute), anondb.cocoa_type(a.attribute)), ', '
                      order by a.i)
    into v_tables
    from jsonb_array_elements(recipe -> 'attributes') with ordinality as a (attribute, i)
    where a.attribute ? 'table';
    for v_level in
        select distinct (a.attribute ->> 'level')::int as level
        from jsonb_array_elements(recipe -> 'attributes') as a (attribute) order by level
    loop
        select string_agg(format('(%s)::%s%s as c%s',
                                 case when a.attribute ? 'table'
                                      then anondb.cocoa_draw(a.attribute, a.i - 1, seed)
                                      else anondb.cocoa_expression(a.attribute -> 'expression') end,
                                 anondb.cocoa_type(a.attribute),
                                 -- texts are compared by their bytes: the same on every server
                                 case when anondb.cocoa_type(a.attribute) = 'text'
                                      then ' collate "C"' end,
                                 a.i - 1), ', ' order by a.i),
               string_agg(format(' left join t%s on %s', a.i - 1, g.conditions), '' order by a.i)
                   filter (where g.conditions is not null)
        into v_columns, v_joins
        from jsonb_array_elements(recipe -> 'attributes') with ordinality as a (attribute, i)
        cross join lateral (
            select string_agg(format('t%s.g%s = p.c%s', a.i - 1, g.i, g.place::int),
                              ' and ' order by g.i)
            from jsonb_array_elements_text(a.attribute -> 'given') with ordinality as g (place, i)
        ) as g (conditions)
        where (a.attribute ->> 'level')::int = v_level;
        v_query := format('select p.*, %s from (%s) as p%s offset 0', v_columns, v_query,
                          coalesce(v_joins, ''));
    end loop;
    return format(
        '%sselect %s from (%s) as p order by p.n',  -- a join may turn the rows around
        coalesce('with ' || v_tables || ' ', ''),
        (select string_agg(format('p.c%s', a.i - 1), ', ' order by a.i)
         from jsonb_array_elements(recipe -> 'attributes') with ordinality as a (attribute, i)
         where a.attribute -> 'hidden' is distinct from 'true'),
        v_query);
end $$;
comment on function anondb.cocoa_query(jsonb, bigint) is
'The query that draws rows of a recipe: $1 is the recipe, $2 and $3 the numbers of the first and '
'the last row.';

create function anondb.cocoa_columns(recipe jsonb, definition boolean) returns text
language sql immutable parallel safe
begin atomic
    select string_agg(format('%I', a.attribute ->> 'name')
                      || case when definition
                              then format(' %s not null', anondb.cocoa_type(a.attribute))
                              else '' end,
                      ', ' order by a.i)
    from jsonb_array_elements(recipe -> 'attributes') with ordinality as a (attribute, i)
    where a.attribute -> 'hidden' is distinct from 'true';
end;
comment on function anondb.cocoa_columns(jsonb, boolean) is
'The columns of a table of a recipe, with their types where they are to be made.';

create function anondb.generate_recipe(
    recipe jsonb, target text, rows bigint, seed bigint = 1, first_row bigint = 1,
    append boolean = false)
returns bigint
language plpgsql volatile parallel unsafe
-- no setting of the session may change a row: not how floats and dates are written
set search_path = pg_catalog, pg_temp set extra_float_digits = 1 set datestyle = 'ISO, YMD'
set jit = off as $$
declare
    v_name name[] := parse_ident(target);
    v_target text;
    v_made bigint;
    v_column text;
begin
    if coalesce(rows, 0) < 1 or coalesce(first_row, 0) < 1 or seed is null then
        raise exception 'rows and first_row are numbers from 1, and a seed is a number'
            using errcode = 'SA123', hint = 'For example rows => 1000.';
    end if;
    if cardinality(v_name) is distinct from 2 then
        raise exception 'the target needs a schema and a name'
            using errcode = 'SA124', hint = 'For example target => ''public.people''.';
    end if;
    if anondb.cocoa_columns(recipe, false) is null then
        raise exception 'the recipe has no attributes that are columns'
            using errcode = 'SA250',
            hint = 'Let anondb generate --print write the recipe of a domain.';
    end if;
    v_target := format('%I.%I', v_name[1], v_name[2]);
    if append is not true then
        if to_regclass(v_target) is not null then
            raise exception 'table % exists', v_target
                using errcode = 'SA125',
                hint = 'Give another name, or drop it; append => true adds rows to it.';
        end if;
        execute format('create table %s (%s)', v_target, anondb.cocoa_columns(recipe, true));
    end if;
    execute format('insert into %s (%s) %s', v_target, anondb.cocoa_columns(recipe, false),
                   anondb.cocoa_query(recipe, seed))
    using recipe, first_row, first_row + rows - 1;
    get diagnostics v_made = row_count;
    return v_made;
exception
    when not_null_violation then
        get stacked diagnostics v_column = column_name;
        raise exception 'attribute "%" has no value for some of the values that it depends on',
            v_column
            using errcode = 'SA126',
            hint = 'Give its table a row for every value, or one named "*" for the rest.';
    when data_exception or undefined_function or datatype_mismatch or cannot_coerce then
        raise exception 'an expression or a value of the domain cannot be computed: %', sqlerrm
            using errcode = 'SA251',
            hint = 'Texts, numbers and conditions do not mix, and no number is divided by 0.';
end $$;
comment on function anondb.generate_recipe(jsonb, text, bigint, bigint, bigint, boolean) is
'Makes a table of synthetic rows from the recipe of a domain (anondb generate --print writes it) '
'and returns their number. The seed and a row''s number, from first_row on, decide its values: '
'several calls with append => true give the same rows as one. Raises SA123 for a wrong number of '
'rows, SA124 for a target without a schema, SA125 for a table that exists, SA126 where an '
'attribute has no value, SA250 for a recipe without columns, SA251 for an expression that cannot '
'be computed, and as anondb.cocoa_expression.';

create function anondb.generate(
    domain text, target text, rows bigint, seed bigint = 1, first_row bigint = 1,
    append boolean = false)
returns bigint
language sql volatile parallel unsafe
begin atomic
    select anondb.generate_recipe(anondb.cocoa_domain(domain), target, rows, seed,
                                  first_row, append);
end;
comment on function anondb.generate(text, text, bigint, bigint, bigint, boolean) is
'Makes a table of synthetic rows of a built-in domain, with the frequencies that it says. Raises '
'as anondb.cocoa_domain and anondb.generate_recipe.';
