-- What a table gives away: how sure somebody can be who a record is, and what its sensitive value
-- is.

create function anondb.check_thresholds(thresholds double precision[]) returns void
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from unnest(thresholds) as t (x) where t.x is null or t.x < 0 or t.x > 1) then
        raise exception 'a threshold is not between 0 and 1'
            using errcode = 'SA178', hint = 'Thresholds are probabilities: array[0.05, 0.2]';
    end if;
end $$;
comment on function anondb.check_thresholds(double precision[]) is
'Raises SA178 unless all thresholds lie in [0, 1].';

create function anondb.expected_risk(size bigint, fraction double precision)
returns double precision
language sql immutable parallel safe
-- Benedetti and Franconi 1998: the mean of 1 / F for a class of f records in a sample of this
-- fraction p, where F - f is negative binomial. Exact up to f = 3; then, and where the exact form
-- would lose its digits, p / (f - (1 - p)), which is at most about 2 % above it.
return case
    when size > 3 or fraction > 0.99 then fraction / (size - (1 - fraction))
    when size = 1 then fraction / (1 - fraction) * -ln(fraction)
    when size = 2 then fraction / (1 - fraction) ^ 2 * (1 - fraction + fraction * ln(fraction))
    when size = 3 then fraction / (2 * (1 - fraction) ^ 3)
        * ((1 - fraction) * (1 - 3 * fraction) - 2 * fraction ^ 2 * ln(fraction))
end;
comment on function anondb.expected_risk(bigint, double precision) is
'The expected risk of a record in a class of this size, where the table is a random sample of this '
'fraction of its population.';

create function anondb.profile_risk(
    profile jsonb, quasi name[], thresholds double precision[], fraction double precision,
    population boolean, persons boolean)
returns table (name text, of_column text, value double precision, note text)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
-- El Emam and Dankar 2008; Dankar and El Emam 2010 (marketer). Prosecutor: who is looked for is
-- known to be in the table. Journalist: only in the population. Marketer: the share of all records
-- that can be expected to be found.
declare
    v_unknown constant text := 'needs a population table or a sampling fraction';
    v_how text := case
        when population then 'classes are looked up in the population by their labels'
        when fraction is not null then 'estimated from the sampling fraction' else v_unknown end;
begin
    return query
        with profile as materialized (
            select p.dropped, p.size, p.population_size, p.records, p.risks
            from jsonb_to_recordset(profile_risk.profile) as p (
                dropped int, size bigint, population_size bigint, records bigint,
                risks double precision)
        ), class as materialized (
            select p.size, p.risks, p.records, 1.0::double precision / p.size as prosecutor,
                   coalesce(1.0 / p.population_size,
                            anondb.expected_risk(p.size, fraction)) as journalist,
                   p.population_size
            from profile as p where p.dropped is null
        ), total as materialized (
            select sum(c.records) as records, sum(c.risks) as risks,
                   sum(c.records) filter (where c.size = 1) as uniques,
                   -- Zayatz 1991: the sizes of the population's classes are distributed as those of
                   -- the sample
                   sum(c.records) filter (where c.size = 1)
                   / sum(c.records * (1 - fraction) ^ (c.size - 1)) as zayatz
            from class as c
        ), figure as (
            select 1 as place, 0::double precision as threshold, null::int as i,
                   'prosecutor_max' as name,
                   max(c.prosecutor) as value, null as note
            from class as c
            union all
            select 2, 0, null, 'prosecutor_mean', sum(c.records * c.prosecutor) / sum(c.records),
                   null from class as c
            union all
            select 3, t.x, null, 'prosecutor_above_' || t.x,
                   coalesce(sum(c.records) filter (where c.prosecutor > t.x), 0) / sum(c.records),
                   null
            from class as c cross join unnest(thresholds) as t (x) group by t.x
            union all
            select 4, 0, null, 'journalist_max', max(c.journalist), v_how from class as c
            union all
            select 5, 0, null, 'journalist_mean', sum(c.records * c.journalist) / sum(c.records),
                   v_how from class as c
            union all
            select 6, t.x, null, 'journalist_above_' || t.x,
                   case when v_how <> v_unknown
                        then coalesce(sum(c.records) filter (where c.journalist > t.x),
                                      0) / sum(c.records) end, v_how
            from class as c cross join unnest(thresholds) as t (x) group by t.x
            union all
            select 7, 0, null, 'marketer',
                   sum(c.records * coalesce(c.journalist, c.prosecutor)) / sum(c.records),
                   case when v_how = v_unknown then 'the table is taken for the population'
                        else v_how end
            from class as c
            union all
            select 8, 0, null, 'sample_uniques', coalesce(t.uniques, 0), null from total as t
            where t.records > 0
            union all
            select 9, 0, null, 'population_uniques',
                   case when profile_risk.population
                        then coalesce((select sum(c.records) from class as c
                                       where c.population_size = 1), 0)
                        when fraction is not null then coalesce(t.uniques * t.zayatz, 0) end, v_how
            from total as t where t.records > 0
            union all
            select 10, 0, p.dropped, 'risk_contribution', (t.risks - p.risks) / t.records, null
            from profile as p cross join total as t where p.dropped is not null and t.records > 0
        )
        select f.name, quasi[f.i]::text, f.value::double precision,
               coalesce(f.note, case when persons
                                     then 'of persons, each by the class that tells most of it' end)
        from figure as f where f.value is not null or f.note is not null
        order by f.place, f.threshold, f.i;
end $$;
comment on function anondb.profile_risk(jsonb, name[], double precision[], double precision,
                                        boolean, boolean) is
'anondb.risk of a table of which it is known how many records, and of what risk in all, are in '
'classes of each size (dropped is NULL), and without one of the quasi-identifiers.';

create function anondb.risk(
    release regclass, quasi name[], thresholds double precision[] = '{0.05,0.1,0.2}',
    population regclass = null, fraction double precision = null, roots text[] = null,
    counts name = null, unit name = null)
returns table (name text, of_column text, value double precision, note text)
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp set extra_float_digits = 1 as $$
declare
    v_codes constant boolean := counts is not null and unit is null and population is null
        and roots is null
        and anondb.are_codes(release, quasi);
begin
    perform anondb.check_thresholds(thresholds);
    if fraction <= 0 or fraction > 1 then
        raise exception 'the sampling fraction is %', fraction
            using errcode = 'SA179',
            hint = 'It is the share of the population that is in the table: above 0, up to 1.';
    end if;
    if population is not null and fraction is not null then
        raise exception 'a population table and a sampling fraction are given'
            using errcode = 'SA180', hint = 'Give the one that is known better.';
    end if;
    return query
        with profile as materialized (
            -- the risks of the records of a class add up to 1
            select p.dropped, p.size, p.population_size, p.size * p.classes as records,
                   p.classes::double precision as risks
            from anondb.class_profile(release, quasi, population, roots, counts) as p
            where unit is null and not v_codes
            union all
            select p.dropped, p.size, p.population_size, p.size * p.classes,
                   p.classes::double precision
            from anondb.code_profile(release, quasi, counts) as p where v_codes
            union all
            select p.dropped, p.size, p.population_size, p.persons, p.risks
            from anondb.person_profile(release, quasi, unit, population, roots) as p
            where unit is not null
        )
        select f.name, f.of_column, f.value, f.note
        from (select coalesce(jsonb_agg(to_jsonb(p)), '[]') as profile from profile as p) as p
        cross join lateral anondb.profile_risk(
            p.profile, quasi, thresholds, fraction, population is not null, unit is not null
        ) with ordinality as f (name, of_column, value, note, place)
        order by f.place;
end $$;
comment on function anondb.risk(regclass, name[], double precision[], regclass, double precision,
                                text[], name, name) is
'Re-identification risk of a table: prosecutor, journalist and marketer, the share of records '
'above each threshold, uniques in the sample and in the population, and by column how much the '
'mean prosecutor risk would fall without it (risk_contribution). A population has to be '
'generalized as the table is. Rows at the root labels are no class. counts names a column that '
'says how many records a row stands for; unit one that names the person: persons are then counted '
'instead of records, each with the risk of the row that tells most. Raises SA179 for a wrong '
'fraction, SA180 for both a population and a fraction.';

create function anondb.sized_risk(sizes regclass, quasi name[])
returns table (name text, of_column text, value double precision, note text)
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp set extra_float_digits = 1 as $$
begin
    return query execute format(
        'select f.name, f.of_column, f.value, f.note
         from (select coalesce(jsonb_agg(jsonb_build_object(
                          ''dropped'', s.dropped, ''size'', s.size, ''risks'', s.classes,
                          ''records'', s.size * s.classes)), ''[]'') as profile from %s as s) as p
         cross join lateral anondb.profile_risk(
             p.profile, $1, $2, null, false, false
         ) with ordinality as f (name, of_column, value, note, place)
         order by f.place', sizes)
    using quasi, array[0.05, 0.1, 0.2]::double precision[];
end $$;
comment on function anondb.sized_risk(regclass, name[]) is
'anondb.risk of a table of which only the classes are known: how many there are of each size '
'(dropped is NULL), and how many without one of the quasi-identifiers (dropped is its place).';

create function anondb.risk_before_after(
    original regclass, release regclass, quasi name[],
    thresholds double precision[] = '{0.05,0.1,0.2}', fraction double precision = null,
    roots text[] = null)
returns table (name text, of_column text, before double precision,
               after double precision, note text)
language sql stable parallel restricted
begin atomic
    select a.name, a.of_column, a.value, b.value, a.note
    from anondb.risk(original, quasi, thresholds, null,
                     fraction) with ordinality as a (name, of_column, value, note, place)
    left join anondb.risk(release, quasi, thresholds, null, fraction, roots) as b
      on b.name = a.name and coalesce(b.of_column, '') = coalesce(a.of_column, '')
    order by a.place;
end;
comment on function anondb.risk_before_after(regclass, regclass, name[], double precision[],
                                             double precision, text[]) is
'anondb.risk of an original and of its release side by side.';

create function anondb.attribute_disclosure(
    release regclass, quasi name[], sensitive name, thresholds double precision[] = '{0.5,0.9}',
    roots text[] = null, counts name = null)
returns table (name text, of_column text, value double precision, note text)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- How surely a class gives away its sensitive value: the share of the most frequent one. NULL is a
-- value.
begin
    perform anondb.check_thresholds(thresholds);
    perform anondb.check_columns(release, array_remove(quasi || sensitive || counts, null));
    -- a class is found in the population by one text of all its values, in which none can be
    -- mistaken for another
    return query execute (
        select format(
            'with class as materialized (
                 select sum(v.n)::double precision as n,
                        max(v.n) / sum(v.n)::double precision as share
                 from (select %1$s, t.%2$I::text as s, %7$s as n from %3$s as t where not (%4$s)
                       group by %5$s) as v
                 group by %6$s
             )
             select f.name, $1::text, f.value, null::text
             from (select 1 as place, 0::double precision as threshold,
                          ''attribute_disclosure_mean'' as name,
                          sum(c.n * c.share) / sum(c.n) as value
                   from class as c
                   union all
                   select 2, 0, ''attribute_disclosure_max'', max(c.share) from class as c
                   union all
                   select 3, 0, ''attribute_disclosure_certain'',
                          coalesce(sum(c.n) filter (where c.share = 1), 0) / sum(c.n)
                          from class as c
                   union all
                   select 4, t.x, ''attribute_disclosure_above_'' || t.x,
                          coalesce(sum(c.n) filter (where c.share > t.x), 0) / sum(c.n)
                   from class as c cross join unnest($2) as t (x) group by t.x) as f
             where f.value is not null order by f.place, f.threshold',
            string_agg(format('t.%I as q%s', q.name, q.i), ', '), sensitive, release,
            anondb.masked_rows(quasi, roots),
            (select string_agg(g.i::text, ', ')
             from generate_series(1, cardinality(quasi) + 1) as g (i)),
            string_agg(format('v.q%s', q.i), ', '),
            case when counts is null then 'count(*)' else format('sum(t.%I)::bigint', counts) end)
        from unnest(quasi) with ordinality as q (name, i))
    using sensitive, thresholds;
end $$;
comment on function anondb.attribute_disclosure(regclass, name[], name,
                                                double precision[], text[], name) is
'How surely a record''s class gives away its sensitive value, by the share of the most frequent '
'value in the class: mean and max over the records, the share of records in classes of a single '
'value (certain), and of those above each threshold. counts names a column that says how many '
'records a row stands for.';
