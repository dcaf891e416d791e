-- The proof of a release at any time: from its own rows, from what was promised, and from the
-- ledger, by code that a run does not use.

create function anondb.released_series(release regclass)
returns table (series int, run bigint, promise jsonb, version int, members boolean)
language sql stable parallel restricted set row_security = on
begin atomic
    select s.id, r.id, s.promise, s.version,
           exists (select from anondb.cohort as c where c.series = s.id)
    from anondb.run as r
    join anondb.series as s on s.run = r.id and s.ended_at is null
    where r.status = 'done'
      and released_series.release::oid = any (r.release_oid || r.release_oids);
end;
comment on function anondb.released_series(regclass) is
'The series that a table is the last release of, with the run that made it and what was promised.';

create function anondb.released_apart(run bigint, sensitive text)
returns table (persons regclass, apart regclass)
language sql stable parallel restricted set row_security = on
begin atomic
    select min(t.id) filter (where a.attname is null)::regclass,
           min(t.id) filter (where a.attname is not null)::regclass
    from anondb.run as r
    cross join lateral unnest(r.release_oids) as t (id)
    left join pg_attribute as a
        on a.attrelid = t.id and a.attname = released_apart.sensitive and not a.attisdropped
    where r.id = released_apart.run;
end;
comment on function anondb.released_apart(bigint, text) is
'The two tables of a release in two: that of the persons, and that of the sensitive values.';

create function anondb.release_digests(release regclass, series int, quasi name[], kept name[])
returns table (class bigint, records bigint, digest numeric)
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres' set extra_float_digits = '1' set bytea_output = 'hex' as $$
-- the texts of values are those that a run hashes, whatever the session has set
begin
    return query execute format(
        'select anondb.row_number_of(k.class_seed, array[%s]::text[]::text),
                count(*), sum(anondb.row_number_of(k.row_seed, array[%s]::text[]::text)::numeric)
         from only %s as t cross join anondb.ledger_keys($1) as k group by 1',
        (select string_agg(format('t.%I::text', q.name), ', ' order by q.place)
         from unnest(quasi) with ordinality as q (name, place)),
        (select string_agg(format('t.%I::text', q.name), ', ' order by q.place)
         from unnest(kept) with ordinality as q (name, place)), release) using series;
end $$;
comment on function anondb.release_digests(regclass, int, name[], name[]) is
'Each class of a release by its hash, with its records and the sum of their hashes.';

create function anondb.verify_cohorts(series int, k int, models jsonb)
returns table (name text, holds boolean, detail text)
language sql stable parallel restricted set row_security = on
begin atomic
    with member as (
        select m.cohort, count(*) as records, count(distinct m.person) as persons,
               sum(m.kept::numeric) as digest
        from anondb.member as m where m.series = verify_cohorts.series group by m.cohort
    ),
    policy as (
        -- who was withdrawn under another policy was a cohort by what that one demanded
        select coalesce(max(r.release), 0) as until
        from anondb.series as s join anondb.series_release as r
            on r.series = s.id and r.policy <> s.policy
        where s.id = verify_cohorts.series
    ),
    cohort as (
        -- nor was who never was published: too few values are what they are withheld for
        select c.id, c.records, c.persons, c.digest, c.of_columns, c.value_hashes, c.counts,
               c.class is not null or c.since > p.until and c.origin_class is not null as is_judged
        from anondb.cohort as c cross join policy as p
        where c.series = verify_cohorts.series and c.records > 0
    ),
    histogram as (
        select c.id, u.of_column, c.is_judged, count(*) as distinct_values, sum(u.n) as n
        from cohort as c
        cross join lateral unnest(c.of_columns, c.value_hashes, c.counts) as u (of_column, value, n)
        group by c.id, u.of_column, c.is_judged
    )
    select 'cohorts are k persons', coalesce(min(c.persons) >= k, true),
           format('fewest persons of %s cohorts: %s', count(*), coalesce(min(c.persons), 0))
    from cohort as c where c.is_judged
    union all
    select 'members are those of their cohorts', count(*) = 0,
           format('%s cohorts have other members than they say', count(*))
    from cohort as c full join member as m on m.cohort = c.id
    where (m.records, m.persons, m.digest) is distinct from
          (c.records::bigint, c.persons::bigint, c.digest)
      and coalesce(c.records, m.records) > 0
    union all
    select 'values are those of their cohorts', count(*) = 0,
           format('%s cohorts count other values than they have records', count(*))
    from cohort as c join histogram as h on h.id = c.id where h.n <> c.records
    union all
    select format('cohorts have %s values of %s', coalesce(d.variant, 'distinct'), d.of_column),
           coalesce(bool_and(d.holds), true), format('cohorts that have not: %s',
                                                     count(*) filter (where not d.holds))
    from (select m.model ->> 'variant' as variant, m.model ->> 'column' as of_column, x.id,
                 case m.model ->> 'variant'
                     when 'entropy' then exp(-sum(x.share * ln(x.share))) >= r.l - 1e-9
                     when 'recursive' then
                         max(x.n) < (m.model ->> 'c')::float8
                         * coalesce(sum(x.n) filter (where x.place >= r.l), 0)
                     else count(*) >= r.l - 1e-9 end as holds
          from jsonb_array_elements(models) as m (model)
          cross join lateral (select (m.model ->> 'demanded')::float8 as l) as r
          cross join lateral (
              select c.id, u.n, u.n::float8 / sum(u.n) over (partition by c.id) as share,
                     row_number() over (partition by c.id order by u.n desc) as place
              from cohort as c
              cross join lateral unnest(c.of_columns, c.counts) as u (of_column, n)
              where c.is_judged and u.of_column = (m.model ->> 'place')::int) as x
          where m.model ->> 'kind' = 'l_diversity'
          group by m.model, r.l, x.id) as d
    group by d.variant, d.of_column
    union all
    -- one that was parted after it was judged, or a few that were judged alone, would tell values
    select 'closed cohorts are whole', count(*) = 0,
           format('%s cohorts have been parted since they were judged', count(*))
    from anondb.cohort as c cross join policy as p
    where c.series = verify_cohorts.series and jsonb_array_length(models) > 0
      and c.since > p.until and c.persons not in (c.began_with, 0)
    union all
    select 'batches were full', count(*) = 0,
           format('%s groups entered or failed before they were a batch', count(*))
    from (select c.since
          from anondb.cohort as c cross join policy as p
          join anondb.series as s on s.id = verify_cohorts.series
          where c.series = s.id and jsonb_array_length(models) > 0 and c.origin is null
            and c.since > greatest(p.until, 1)
          group by c.since, s.batch, case when not s.promise ? 'apart'
                                          then coalesce(c.class, c.origin_class) end
          having sum(c.began_with) < s.batch) as f;
end;
comment on function anondb.verify_cohorts(int, int, jsonb) is
'Whether the cohorts of a series are k persons with the values that the models demand, have the '
'members that they say, and were judged once.';

create function anondb.verify_release(release regclass)
returns table (name text, holds boolean, detail text)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_series record;
    v_quasi name[];
    v_kept name[];
    v_model jsonb;
    v_figures record;
begin
    select s.* into v_series from anondb.released_series(release) as s;
    if v_series.series is null then
        raise exception '% is not the last release of a series', release
            using errcode = 'SA138',
            hint = 'Name the target of a policy that was run; anondb releases lists them.';
    end if;
    if v_series.promise ? 'apart' then
        return query
        select a.name, a.holds, a.detail
        from anondb.released_apart(v_series.run, v_series.promise #>> '{apart,sensitive}') as t
        cross join lateral anondb.verify_apart(
            t.persons, t.apart, v_series.series,
            array(select c.name::name from jsonb_array_elements_text(
                      v_series.promise #> '{apart,shown}') with ordinality as c (name, place)
                  order by c.place),
            (v_series.promise #>> '{apart,sensitive}')::name,
            (v_series.promise #>> '{models,0,demanded}')::float8) as a;
        return query
        select c.name, c.holds, c.detail
        from anondb.verify_cohorts(v_series.series, (v_series.promise ->> 'k')::int,
                                   v_series.promise -> 'models') as c;
        return;
    end if;
    v_quasi := array(select q.value from jsonb_array_elements_text(v_series.promise -> 'quasi')
                     with ordinality as q (value, place) order by q.place);
    v_kept := array(select q.value from jsonb_array_elements_text(v_series.promise -> 'kept')
                    with ordinality as q (value, place) order by q.place);
    if exists (select from unnest(v_quasi || v_kept) as c (name)
               where not exists (select from pg_attribute as a
                                 where a.attrelid = release and a.attname = c.name
                                   and a.attnum > 0 and not a.attisdropped)) then
        return query select 'columns are those of the policy', false,
                            'a column of the policy is not in the table';
        return;
    end if;
    if anondb.casts_of_others(release) then
        return query select 'columns are those of the policy', false,
                            'a column becomes text by a function of somebody';
        return;
    end if;
    execute format('select count(*) as classes, coalesce(min(x.n), 0) as fewest from (
                        select count(*) as n from only %s as t group by %s) as x', release,
                   coalesce((select string_agg(format('t.%I', q.name), ', ')
                             from unnest(v_quasi) as q (name)), '()'))
    into v_figures;
    name := 'classes are k records';
    holds := v_figures.classes = 0 or v_figures.fewest >= (v_series.promise ->> 'k')::int;
    detail := format('fewest records of %s classes: %s', v_figures.classes, v_figures.fewest);
    return next;
    for v_model in
        select m.model from jsonb_array_elements(v_series.promise -> 'models') as m (model)
    loop
        select p.holds, p.reached into holds, detail
        from anondb.proven_model(release, v_quasi, v_model) as p;
        name := format('%s of %s', v_model ->> 'kind', v_model ->> 'column');
        detail := format('%s reached, %s demanded', coalesce(detail, 'nothing'),
                        v_model ->> 'demanded');
        return next;
    end loop;
    if v_series.members and v_series.version = anondb.ledger_version() then
        return query
        select 'rows are those of the ledger', count(*) = 0,
               format('%s classes have other rows than the ledger knows', count(*))
        from anondb.release_digests(release, v_series.series, v_quasi, v_kept) as d
        full join anondb.ledger_classes(v_series.series) as c on c.class = d.class
        where (d.records, d.digest) is distinct from (c.records, c.digest);
        return query
        select c.name, c.holds, c.detail
        from anondb.verify_cohorts(v_series.series, (v_series.promise ->> 'k')::int,
                                   v_series.promise -> 'models') as c;
    end if;
end $$;
comment on function anondb.verify_release(regclass) is
'Proves the last release of a series again: each condition with what was found, from the rows of '
'the table, from what its policy demands, and from the ledger. A condition that cannot be told '
'from these is null. Raises SA138 for any other table.';
