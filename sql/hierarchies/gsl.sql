-- Generalization Semantic Loss (Ayala-Rivera, McDonagh, Cerqueus, Murphy): how much meaning a
-- hierarchy loses, before any data is anonymized with it.

-- Whatever was kept came from the functions as they were before.
delete from anondb.vgh_loss;

create function anondb.keep_losses(vgh int, measure text) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
begin
    perform anondb.check_can_keep(vgh);
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

create function anondb.has_losses(vgh int, measure text) returns boolean
language sql stable parallel safe
set enable_seqscan = off  -- as for anondb.is_understood
begin atomic
    -- counted apart instead of anti-joined: fast whatever the planner believes of the tables
    select (select count(*) from anondb.vgh_pair as p where p.vgh = has_losses.vgh)
         = (select count(*) from anondb.vgh_loss as l
            where l.vgh = has_losses.vgh and l.measure = has_losses.measure);
end;
comment on function anondb.has_losses(int, text) is
'Whether the losses of a hierarchy whose meanings are known are kept.';

create function anondb.prepare_gsl(vgh text, measure text, unmapped text) returns int
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_vgh int;
    v_unknown text;
begin
    perform anondb.check_measure(measure);
    v_vgh := anondb.understand_vgh(vgh);
    if unmapped is null or unmapped not in ('error', 'skip') then
        raise exception 'unmapped is "%"', unmapped
            using errcode = 'SA150', hint = 'It is ''error'' or ''skip''.';
    end if;
    if unmapped = 'error' then
        select string_agg(format('"%s"', u.label), ', ' order by u.place)
                   filter (where u.place <= 50)
               || case when count(*) > 50 then format(' and %s more', count(*) - 50) else '' end
        into v_unknown
        from (select n.label, row_number() over (order by min(n.node)) as place
              from anondb.vgh_sense as s
              join anondb.vgh_node as n on n.vgh = s.vgh and n.node = s.node
              where s.vgh = v_vgh and s.concept is null group by n.label) as u;
        if v_unknown is not null then
            raise exception 'hierarchy "%" has terms that its ontology does not know: %',
                vgh, v_unknown
                using errcode = 'SA151',
                hint = 'Say what they mean (anondb vgh senses NAME --set '
                       'LABEL=CONCEPT, anondb.map_term), '
                'or leave them out: --unmapped skip, unmapped => ''skip''.';
        end if;
    end if;
    if not anondb.has_losses(v_vgh, measure) then
        perform anondb.keep_losses(v_vgh, measure);
    end if;
    return v_vgh;
end $$;
comment on function anondb.prepare_gsl(text, text, text) is
'Makes sure that the meanings of a hierarchy and the similarities that its score needs are there; '
'returns its id. Raises SA150 for an unknown way with unmapped terms, SA151 naming them.';

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
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp
set enable_seqscan = on as $$
-- Values are matched byte by byte, as a run matches them. Only counts leave the query: values are
-- data.
declare
    v_leaves int[];
    v_counts bigint[];
    v_outside bigint;
begin
    perform anondb.check_columns(source, array[source_column]);
    execute format(
        'select array_agg(l.node) filter (where l.node is not null),
                array_agg(coalesce(f.n, 0)) filter (where l.node is not null),
                count(*) filter (where l.node is null)
         from (select v.node, anondb.label_without_sense(v.label) collate "C" as label
               from anondb.vgh_node as v where v.vgh = $1 and v.level = 0) as l
         full join (select t.%1$I::text collate "C" as value, count(*) as n
                    from %2$s as t where t.%1$I is not null group by 1) as f on f.value = l.label',
        source_column, source)
    into v_leaves, v_counts, v_outside using vgh;
    if v_outside > 0 then
        raise exception '% distinct values of %.% are no leaves of the hierarchy',
            v_outside, source, quote_ident(source_column)
            using errcode = 'SA152', hint = 'Add them to the hierarchy, or name another column.';
    end if;
    if (select sum(c.n) from unnest(v_counts) as c (n)) = 0 then
        raise exception '%.% has no values', source, quote_ident(source_column)
            using errcode = 'SA160',
            hint = 'Is it the right table? Without one, every leaf counts the same.';
    end if;
    return query select f.leaf, f.n from unnest(v_leaves, v_counts) as f (leaf, n);
end $$;
comment on function anondb.leaf_frequencies(int, regclass, name) is
'How often each leaf of a hierarchy occurs in a column; NULLs are left out. Raises SA152, with '
'their number, for values that are no leaves, SA160 for a column without values.';

create function anondb.check_aggregate(aggregate text) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    if aggregate is null or aggregate not in ('max', 'avg') then
        raise exception 'there is no aggregate "%"', aggregate
            using errcode = 'SA153', hint = 'There are max and avg.';
    end if;
    return aggregate;
end $$;
comment on function anondb.check_aggregate(text) is
'Gives the aggregate''s name back. Raises SA153 unless it is max or avg.';

create function anondb.level_losses(
    vgh int, measure text, aggregate text, source regclass = null, source_column name = null)
returns table (level int, loss double precision, deviation double precision)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp
set enable_seqscan = off as $$  -- as for anondb.is_understood
-- LevelGSL(i) = max or avg over the leaves; dynamic: weighted by how often they occur. Sums are in
-- the order of what they sum, so that their last digit does not hang on where rows lie.
begin
    perform anondb.check_aggregate(aggregate);
    if (source is null) <> (source_column is null) then
        raise exception 'dynamic GSL needs both a table and a column'
            using errcode = 'SA154',
            hint = 'source => ''schema.table'', source_column => ''column''';
    end if;
    if source is null then
        return query
            select t.level,
                   case aggregate when 'max' then max(t.loss) else avg(t.loss order by t.loss) end,
                   stddev_pop(t.loss order by t.loss)
            from anondb.vgh_loss as t
            where t.vgh = level_losses.vgh and t.measure = level_losses.measure
            group by t.level order by t.level;
        return;
    end if;
    return query
        with weighted as materialized (
            select t.level, t.loss, f.n::double precision as n
            from anondb.vgh_loss as t
            join anondb.leaf_frequencies(level_losses.vgh, source, source_column) as f
                on f.leaf = t.leaf
            where t.vgh = level_losses.vgh and t.measure = level_losses.measure
        ), mean as (
            select w.level,
                   sum(w.n * w.loss order by w.n * w.loss) / nullif(sum(w.n), 0) as loss
            from weighted as w
            group by w.level
        )
        select w.level,
               case aggregate when 'max' then max(w.loss) filter (where w.n > 0) else m.loss end,
               sqrt(sum(w.n * (w.loss - m.loss) ^ 2 order by w.n * (w.loss - m.loss) ^ 2)
                    / nullif(sum(w.n), 0))
        from weighted as w join mean as m on m.level = w.level
        group by w.level, m.loss order by w.level;
end $$;
comment on function anondb.level_losses(int, text, text, regclass, name) is
'Loss and standard deviation of each level of a prepared hierarchy. Raises SA154 for half a '
'source.';

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
'Semantic loss of each level of a hierarchy (max or avg over its leaves), with the standard '
'deviation over the leaves.';

create function anondb.vgh_gsl(
    vgh text, measure text = 'wup', aggregate text = 'max', weights text = 'uniform',
    level_weights double precision[] = null, source regclass = null, source_column name = null,
    unmapped text = 'error')
returns double precision
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- VghGSL = sum of w_i * LevelGSL(i): uniform 1 / h, by level (h + 1 - i) / (1 + ... + h), or the
-- user's own
declare
    v_vgh int := anondb.prepare_gsl(vgh, measure, unmapped);
    v_height int;
    v_score double precision;
begin
    select v.height into v_height from anondb.vgh as v where v.id = v_vgh;
    if weights is null or weights not in ('uniform', 'level') then
        raise exception 'there are no weights "%"', weights
            using errcode = 'SA155',
            hint = 'There are uniform and level; your own go into level_weights.';
    end if;
    if level_weights is not null and cardinality(level_weights) <> v_height then
        raise exception 'hierarchy "%" has % levels above its leaves, and % weights',
            vgh, v_height, cardinality(level_weights)
            using errcode = 'SA156', hint = 'Give one weight a level, the lowest first.';
    end if;
    if level_weights is not null and (
        abs((select sum(w.x) from unnest(level_weights) as w (x)) - 1) > 1e-6
        or exists (select from unnest(level_weights) as w (x) where w.x < 0 or w.x is null))
    then
        raise exception 'the weights of the levels do not sum to 1'
            using errcode = 'SA157', hint = 'Weights are not negative and sum to 1.';
    end if;
    -- a level of which nothing is known is left out, instead of counting as one without loss
    select sum(l.loss * l.weight order by l.loss * l.weight)
               / nullif(sum(l.weight order by l.weight), 0) into v_score
    from (select k.loss,
                 case when level_weights is not null then level_weights[k.level]
                      when weights = 'uniform' then 1.0 / v_height
                      else (v_height + 1 - k.level) * 2.0
                          / (v_height * (v_height + 1)) end as weight
          from anondb.level_losses(v_vgh, measure, aggregate, source, source_column) as k
          where k.loss is not null) as l;
    if v_score is null then
        raise exception 'nothing is known of the leaves and levels of hierarchy "%" that count', vgh
            using errcode = 'SA161', hint = 'See what its labels mean: anondb vgh senses NAME';
    end if;
    return v_score;
end $$;
comment on function anondb.vgh_gsl(text, text, text, text, double precision[], regclass,
                                   name, text) is
'Generalization Semantic Loss of a hierarchy in [0, 1]; with a table and a column, weighted by how '
'often its leaves occur. Levels of which nothing is known are left out, and the others'' weights '
'scaled to 1. Raises SA155, SA156 or SA157 for weights that are unknown, too many or too few, or '
'do not sum to 1, SA161 if nothing can be scored.';

create function anondb.vgh_set_gsl(
    vghs text[], preferences double precision[] = null, measure text = 'wup',
    aggregate text = 'max', weights text = 'uniform', level_weights double precision[] = null,
    source regclass = null, source_columns name[] = null, unmapped text = 'error')
returns double precision
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- VghSetGSL = (1 / n) * sum of p_i * VghGSL(V_i), the preferences of mean 1
begin
    if coalesce(cardinality(vghs), 0) = 0 then
        raise exception 'no hierarchy is named'
            using errcode = 'SA158', hint = 'Name one: array[''job'', ''city'']';
    end if;
    if preferences is not null and (
        cardinality(preferences) <> cardinality(vghs)
        or abs((select avg(p.x) from unnest(preferences) as p (x)) - 1) > 1e-6
        or exists (select from unnest(preferences) as p (x) where p.x < 0 or p.x is null))
    then
        raise exception 'the preferences do not fit: one for each hierarchy, not '
                        'negative, of mean 1'
            using errcode = 'SA159', hint = 'For two hierarchies, for example, array[1.5, 0.5].';
    end if;
    if source_columns is not null and cardinality(source_columns) <> cardinality(vghs) then
        raise exception '% hierarchies, and % columns', cardinality(vghs),
            cardinality(source_columns)
            using errcode = 'SA162',
            hint = 'Name a column of the table for each hierarchy, in the same order.';
    end if;
    return (
        select avg(coalesce(preferences[s.i], 1) * anondb.vgh_gsl(
            s.name, measure, aggregate, weights, level_weights, source,
            source_columns[s.i], unmapped))
        from unnest(vghs) with ordinality as s (name, i));
end $$;
comment on function anondb.vgh_set_gsl(
    text[], double precision[], text, text, text, double precision[], regclass, name[], text) is
'Generalization Semantic Loss of a set of hierarchies, by the user''s preferences; with a table '
'and a column for each, dynamic. Raises SA158 for none, SA159 for preferences and SA162 for '
'columns that do not fit.';

create function anondb.node_gsl(
    vgh text, measure text = 'wup', aggregate text = 'avg', unmapped text = 'error')
returns table (level int, label text, loss double precision, leaves bigint)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_vgh int := anondb.prepare_gsl(vgh, measure, unmapped);
begin
    perform anondb.check_aggregate(aggregate);
    return query
        select n.level, n.label,
               case when n.level = 0 then 0
                    when aggregate = 'max' then max(t.loss)
                    else avg(t.loss order by t.loss) end, count(*)
        from anondb.vgh_path as p
        join anondb.vgh_node as n on n.vgh = p.vgh and n.node = p.node
        left join anondb.vgh_loss as t
          on t.vgh = p.vgh and t.measure = node_gsl.measure and t.leaf = p.leaf
              and t.level = p.level
        where p.vgh = v_vgh
        group by n.node, n.level, n.label order by n.node;
end $$;
comment on function anondb.node_gsl(text, text, text, text) is
'Semantic loss of each node of a hierarchy: the average, or the greatest, of generalizing the '
'leaves below to it; NULL where nothing is known.';

create function anondb.vgh_coverage(vgh text)
returns table (leaves bigint, mapped_leaves bigint, pairs bigint, mapped_pairs bigint)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_vgh int := anondb.understand_vgh(vgh);
begin
    return query
        select count(distinct p.leaf), count(distinct m.leaf), count(*), count(m.leaf)
        from anondb.vgh_path as p
        left join anondb.vgh_pair as m on m.vgh = p.vgh and m.leaf = p.leaf and m.level = p.level
        where p.vgh = v_vgh and p.level > 0;
end $$;
comment on function anondb.vgh_coverage(text) is
'How many leaves of a hierarchy, and pairs of a leaf and an ancestor, there are, and how many of '
'them a score covers.';

create function anondb.gsl_rating(score double precision) returns text
language sql immutable parallel safe
return case when score < 0.2 then 'Very Good' when score < 0.4 then 'Good'
            when score < 0.6 then 'Moderate'
            when score < 0.8 then 'Poor' when score <= 1 then 'Very Poor' end;
comment on function anondb.gsl_rating(double precision) is
'The rating of a GSL score: Very Good below 0.2, Good below 0.4, Moderate below 0.6, Poor below '
'0.8, Very Poor up to 1.';
