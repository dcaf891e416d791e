-- Generalization Semantic Loss (Ayala-Rivera, McDonagh, Cerqueus, Murphy): how much meaning a hierarchy
-- loses, before any data is anonymized with it.

-- Whatever was kept came from the functions as they were before.
delete from anondb.vgh_loss;

create function anondb.keep_losses(vgh int, measure text) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    perform anondb.remember_similarities(array_agg(p.leaf_concept), array_agg(p.concept), measure)
    from anondb.vgh_pair as p where p.vgh = keep_losses.vgh;
    insert into anondb.vgh_loss (vgh, measure, leaf, level, loss)
    select p.vgh, keep_losses.measure, p.leaf, p.level, 1 - k.similarity
    from anondb.vgh_pair as p
    join anondb.concept_similarity as k
      on k.measure = keep_losses.measure
     and k.a = least(p.leaf_concept, p.concept) and k.b = greatest(p.leaf_concept, p.concept)
    where p.vgh = keep_losses.vgh
    on conflict do nothing;
end $$;
comment on function anondb.keep_losses(int, text) is
'Computes the semantic losses of a hierarchy whose meanings are known, and keeps them in vgh_loss.';

create function anondb.prepare_gsl(vgh text, measure text, unmapped text) returns int
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_vgh int;
    v_unknown text;
begin
    perform anondb.check_measure(measure);
    v_vgh := anondb.understand_vgh(vgh);
    if unmapped not in ('error', 'skip') then
        raise exception 'unmapped is "%"', unmapped
            using errcode = 'SA150', hint = 'It is ''error'' or ''skip''.';
    end if;
    if unmapped = 'error' then
        select string_agg(distinct quote_ident(n.label), ', ') into v_unknown
        from anondb.vgh_sense as s join anondb.vgh_node as n on n.vgh = s.vgh and n.node = s.node
        where s.vgh = v_vgh and s.concept is null;
        if v_unknown is not null then
            raise exception 'hierarchy "%" has terms that its ontology does not know: %', vgh, v_unknown
                using errcode = 'SA151',
                hint = 'Map them (anondb.map_term, anondb vgh senses), or leave them out: unmapped => ''skip''.';
        end if;
    end if;
    -- counted apart instead of anti-joined: fast whatever the planner believes of the tables
    if (select count(*) from anondb.vgh_pair as p where p.vgh = v_vgh)
        <> (select count(*) from anondb.vgh_loss as l where l.vgh = v_vgh and l.measure = prepare_gsl.measure)
    then
        perform anondb.keep_losses(v_vgh, measure);
    end if;
    return v_vgh;
end $$;
comment on function anondb.prepare_gsl(text, text, text) is
'Makes sure that the meanings of a hierarchy and the similarities that its score needs are there; returns its id. '
'Raises SA150 for an unknown way with unmapped terms, SA151 naming them.';

create function anondb.trans_gsl(vgh text, measure text = 'wup', unmapped text = 'error')
returns table (leaf text, level int, ancestor text, loss double precision)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- TransGSL(l, a) = 1 - sim(l, a)
declare
    v_vgh int := anondb.prepare_gsl(vgh, measure, unmapped);
begin
    return query
        select l.label, t.level, n.label, t.loss
        from anondb.vgh_loss as t
        join anondb.vgh_node as l on l.vgh = v_vgh and l.node = t.leaf
        join anondb.vgh_path as p on p.vgh = v_vgh and p.leaf = t.leaf and p.level = t.level
        join anondb.vgh_node as n on n.vgh = v_vgh and n.node = p.node
        where t.vgh = v_vgh and t.measure = trans_gsl.measure
        order by t.leaf, t.level;
end $$;
comment on function anondb.trans_gsl(text, text, text) is
'Semantic loss of generalizing each leaf to each of its ancestors.';

create function anondb.leaf_frequencies(vgh int, source regclass, source_column name)
returns table (leaf int, n bigint)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_outside bigint;
    v_counts jsonb;
begin
    perform anondb.check_columns(source, array[source_column]);
    execute format(
        'select coalesce(jsonb_object_agg(f.value, f.n), ''{}'') from
         (select t.%I::text as value, count(*) as n from %s as t where t.%I is not null group by 1) as f',
        source_column, source, source_column) into v_counts;
    select count(*) into v_outside
    from jsonb_object_keys(v_counts) as k (value)
    where not exists (
        select from anondb.vgh_node as l where l.vgh = leaf_frequencies.vgh and l.level = 0
           and anondb.label_without_sense(l.label) = k.value);
    if v_outside > 0 then
        raise exception '% distinct values of %.% are no leaves of the hierarchy', v_outside, source, source_column
            using errcode = 'SA152', hint = 'Add them to the hierarchy, or name another column.';
    end if;
    return query
        select l.node, coalesce((v_counts ->> anondb.label_without_sense(l.label))::bigint, 0)
        from anondb.vgh_node as l where l.vgh = leaf_frequencies.vgh and l.level = 0;
end $$;
comment on function anondb.leaf_frequencies(int, regclass, name) is
'How often each leaf of a hierarchy occurs in a column. Raises SA152, with their number, for values that are no leaves.';

create function anondb.level_losses(
    vgh int, measure text, aggregate text, source regclass = null, source_column name = null)
returns table (level int, loss double precision, deviation double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
-- LevelGSL(i) = max or avg over the leaves; dynamic: weighted by how often they occur.
begin
    if aggregate not in ('max', 'avg') then
        raise exception 'there is no aggregate "%"', aggregate
            using errcode = 'SA153', hint = 'There are max and avg.';
    end if;
    if (source is null) <> (source_column is null) then
        raise exception 'dynamic GSL needs both a table and a column'
            using errcode = 'SA154', hint = 'source => ''schema.table'', source_column => ''column''';
    end if;
    if source is null then
        return query
            select t.level, case aggregate when 'max' then max(t.loss) else avg(t.loss) end, stddev_pop(t.loss)
            from anondb.vgh_loss as t
            where t.vgh = level_losses.vgh and t.measure = level_losses.measure
            group by t.level order by t.level;
        return;
    end if;
    return query
        with weighted as materialized (
            select t.level, t.loss, f.n::double precision as n
            from anondb.vgh_loss as t
            join anondb.leaf_frequencies(vgh, source, source_column) as f on f.leaf = t.leaf
            where t.vgh = level_losses.vgh and t.measure = level_losses.measure
        ), mean as (
            select w.level, sum(w.n * w.loss) / nullif(sum(w.n), 0) as loss from weighted as w group by w.level
        )
        select w.level,
               case aggregate when 'max' then max(w.loss) filter (where w.n > 0) else m.loss end,
               sqrt(sum(w.n * (w.loss - m.loss) ^ 2) / nullif(sum(w.n), 0))
        from weighted as w join mean as m on m.level = w.level
        group by w.level, m.loss order by w.level;
end $$;
comment on function anondb.level_losses(int, text, text, regclass, name) is
'Loss and standard deviation of each level of a prepared hierarchy. Raises SA153 for an unknown aggregate, SA154 for half a source.';

create function anondb.level_gsl(
    vgh text, measure text = 'wup', aggregate text = 'max',
    source regclass = null, source_column name = null, unmapped text = 'error')
returns table (level int, loss double precision, deviation double precision)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_vgh int := anondb.prepare_gsl(vgh, measure, unmapped);
begin
    return query
        select l.level, l.loss, l.deviation
        from anondb.level_losses(v_vgh, measure, aggregate, source, source_column) as l;
end $$;
comment on function anondb.level_gsl(text, text, text, regclass, name, text) is
'Semantic loss of each level of a hierarchy (max or avg over its leaves), with the standard deviation over the leaves.';

create function anondb.vgh_gsl(
    vgh text, measure text = 'wup', aggregate text = 'max', weights text = 'uniform',
    level_weights double precision[] = null, source regclass = null, source_column name = null,
    unmapped text = 'error')
returns double precision
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- VghGSL = sum of w_i * LevelGSL(i): uniform 1 / h, by level (h + 1 - i) / (1 + ... + h), or the user's own
declare
    v_vgh int := anondb.prepare_gsl(vgh, measure, unmapped);
    v_height int;
    v_score double precision;
begin
    select v.height into v_height from anondb.vgh as v where v.id = v_vgh;
    if weights not in ('uniform', 'level') then
        raise exception 'there are no weights "%"', weights
            using errcode = 'SA155', hint = 'There are uniform and level; your own go into level_weights.';
    end if;
    if level_weights is not null and cardinality(level_weights) <> v_height then
        raise exception 'hierarchy "%" has % levels above its leaves, and % weights', vgh, v_height, cardinality(level_weights)
            using errcode = 'SA156', hint = 'Give one weight a level, the lowest first.';
    end if;
    if level_weights is not null and (
        abs((select sum(w.x) from unnest(level_weights) as w (x)) - 1) > 1e-6
        or exists (select from unnest(level_weights) as w (x) where w.x < 0 or w.x is null))
    then
        raise exception 'the weights of the levels do not sum to 1'
            using errcode = 'SA157', hint = 'Weights are not negative and sum to 1.';
    end if;
    select sum(l.loss * case when level_weights is not null then level_weights[l.level]
                             when weights = 'uniform' then 1.0 / v_height
                             else (v_height + 1 - l.level) * 2.0 / (v_height * (v_height + 1)) end)
    into v_score
    from anondb.level_losses(v_vgh, measure, aggregate, source, source_column) as l;
    return v_score;
end $$;
comment on function anondb.vgh_gsl(text, text, text, text, double precision[], regclass, name, text) is
'Generalization Semantic Loss of a hierarchy in [0, 1]; with a table and a column, weighted by how often its leaves occur. '
'Raises SA155, SA156 or SA157 for weights that are unknown, too many or too few, or do not sum to 1.';

create function anondb.vgh_set_gsl(
    vghs text[], preferences double precision[] = null, measure text = 'wup', aggregate text = 'max',
    weights text = 'uniform', unmapped text = 'error')
returns double precision
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- VghSetGSL = (1 / n) * sum of p_i * VghGSL(V_i), the preferences of mean 1
declare
    v_score double precision;
begin
    if coalesce(cardinality(vghs), 0) = 0 then
        raise exception 'no hierarchy is named' using errcode = 'SA158', hint = 'Name one: array[''job'', ''city'']';
    end if;
    if preferences is not null and (
        cardinality(preferences) <> cardinality(vghs)
        or abs((select avg(p.x) from unnest(preferences) as p (x)) - 1) > 1e-6
        or exists (select from unnest(preferences) as p (x) where p.x < 0 or p.x is null))
    then
        raise exception 'the preferences do not fit: one for each hierarchy, not negative, of mean 1'
            using errcode = 'SA159', hint = 'For two hierarchies, for example, array[1.5, 0.5].';
    end if;
    select avg(coalesce(preferences[s.i], 1) * anondb.vgh_gsl(s.name, measure, aggregate, weights, unmapped => unmapped))
    into v_score
    from unnest(vghs) with ordinality as s (name, i);
    return v_score;
end $$;
comment on function anondb.vgh_set_gsl(text[], double precision[], text, text, text, text) is
'Generalization Semantic Loss of a set of hierarchies, by the user''s preferences. Raises SA158 for none, SA159 for preferences that do not fit.';

create function anondb.gsl_rating(score double precision) returns text
language sql immutable parallel safe
return case when score < 0.2 then 'Very Good' when score < 0.4 then 'Good' when score < 0.6 then 'Moderate'
            when score < 0.8 then 'Poor' when score <= 1 then 'Very Poor' end;
comment on function anondb.gsl_rating(double precision) is
'The rating of a GSL score: Very Good below 0.2, Good below 0.4, Moderate below 0.6, Poor below 0.8, Very Poor up to 1.';
