-- What a release reaches of a model, for its proof: from the definitions of the papers, by other
-- code than that of a run.

create function anondb.proof_query(release regclass, quasi name[], sensitive name) returns text
language sql stable parallel restricted
return format(
    'select array[%s]::text[]::text as class, t.%I::text as value, count(*)::float8 as n '
    'from only %s as t group by 1, 2',
    (select string_agg(format('t.%I::text', q.name), ', ' order by q.place)
     from unnest(quasi) with ordinality as q (name, place)), sensitive, release);
comment on function anondb.proof_query(regclass, name[], name) is
'A query of the classes of a release, with each sensitive value of a class and how many have it.';

create function anondb.proven_diversity(
    release regclass, quasi name[], sensitive name, kind text, c double precision = null,
    l double precision = null
) returns double precision
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- Machanavajjhala et al. 2007: different values; exp of the entropy; r_1 < c (r_l + ... + r_m).
declare
    v_reached double precision;
begin
    execute format(
        case kind
            when 'distinct' then 'select min(x.n) from (select count(*) as n from (%s) as h
                                  group by h.class) as x'
            when 'entropy' then 'select min(exp(-x.s)) from (
                select sum(g.n / g.total * ln(g.n / g.total)) as s from (
                    select h.class, h.n, sum(h.n) over (partition by h.class) as total
                    from (%s) as h) as g group by g.class) as x'
            else 'select case when bool_and(x.most < $1 * x.rest) then $2 else 0 end from (
                select max(g.n) as most, coalesce(sum(g.n) filter (where g.place >= $2), 0) as rest
                from (select h.class, h.n, row_number() over (
                          partition by h.class order by h.n desc, h.value) as place
                      from (%s) as h) as g group by g.class) as x'
        end, anondb.proof_query(release, quasi, sensitive))
    into v_reached using c, l;
    return v_reached;
end $$;
comment on function anondb.proven_diversity(regclass, name[], name, text, double precision,
                                            double precision) is
'The l-diversity of the class that has least of it: distinct, entropy, or recursive, where it is l '
'if every class is recursive (c, l)-diverse and 0 otherwise.';

create function anondb.proven_distance(release regclass, quasi name[], sensitive name, kind text)
returns double precision
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- q is the share of a value in a class, p that in all rows. Li et al. 2007, equal distances: half
-- of the sum of |q - p|. Cao and Karras 2012: the greatest (q - p) / p. Brickell and Shmatikov
-- 2008: the greatest |ln(q / p)|.
declare
    v_reached double precision;
begin
    execute format(
        'with h as materialized (%s),
         v as (select h.value, sum(h.n) as n from h group by h.value),
         c as (select h.class, sum(h.n) as n from h group by h.class),
         s as (select sum(v.n) as n from v),
         x as (select c.class, coalesce(h.n, 0) / c.n as q, v.n / s.n as p
               from c cross join v cross join s
               left join h on h.class = c.class and h.value is not distinct from v.value) ' ||
        case kind
            when 'equal' then 'select max(y.d) from (
                select sum(abs(x.q - x.p)) / 2 as d from x group by x.class) as y'
            when 'basic' then 'select greatest(max((x.q - x.p) / x.p), 0) from x'
            when 'enhanced' then
                'select case when bool_or((x.q - x.p) / x.p > 1e-9 - ln(x.p)) then ''infinity''
                        else greatest(max((x.q - x.p) / x.p), 0) end from x'
            else 'select max(case when x.q = 0 then ''infinity''
                             else abs(ln(x.q / x.p)) end) from x'
        end, anondb.proof_query(release, quasi, sensitive))
    into v_reached;
    return v_reached;
end $$;
comment on function anondb.proven_distance(regclass, name[], name, text) is
'How far the class that is farthest is from all rows: equal (t-closeness), basic and enhanced '
'(beta-likeness), or delta (delta-disclosure privacy).';

create function anondb.proven_model(release regclass, quasi name[], model jsonb)
returns table (reached double precision, holds boolean)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_column name := model ->> 'column';
    v_variant text := model ->> 'variant';
    v_demanded double precision := (model ->> 'demanded')::double precision;
begin
    case
        when model ->> 'kind' = 'l_diversity' then
            reached := anondb.proven_diversity(release, quasi, v_column, v_variant,
                                               (model ->> 'c')::double precision, v_demanded);
            holds := coalesce(reached >= v_demanded - 1e-9, true);
        when model ->> 'kind' = 't_closeness' and v_variant = 'equal' then
            reached := anondb.proven_distance(release, quasi, v_column, 'equal');
            holds := coalesce(reached <= v_demanded + 1e-9, true);
        when model ->> 'kind' = 'beta_likeness' then
            reached := anondb.proven_distance(release, quasi, v_column, v_variant);
            holds := coalesce(reached <= v_demanded + 1e-9, true);
        when model ->> 'kind' = 'delta_disclosure' then
            reached := anondb.proven_distance(release, quasi, v_column, 'delta');
            holds := coalesce(reached < v_demanded, true);
        else
            -- its hierarchy is known to the policy alone
            reached := null;
            holds := null;
    end case;
    return next;
end $$;
comment on function anondb.proven_model(regclass, name[], jsonb) is
'What a release reaches of a model as a series has kept it, and whether that is enough; null for a '
'model that takes more than the release to be judged.';
