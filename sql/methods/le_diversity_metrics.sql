-- (l, e)-diversity of any release, and what it costs (Wang, Han, Wang).

create function anondb.le_kinds(release regclass, quasi name[], value text, paths text,
                                e double precision)
returns table (
    classes bigint, size double precision, most double precision, relatives double precision,
    loss double precision, nearest double precision, dod double precision)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
-- Many classes hold the same values, each as often. They are one kind, and are looked at once.
begin
    return query execute format(
        'with held as materialized (
            -- NULL is made a text, to equal NULL
            select h.*, quote_nullable(h.value) as text from (%1$s) as h
        ), value as materialized (
            -- texts with the same path are spellings of one value
            select d.text, dense_rank()
                over (order by p.path, case when p.path is null then d.text end) as code, p.path
            from (select distinct h.text from held as h) as d
            left join (%2$s) as p on quote_nullable(p.label) = d.text
        ), counted as (
            select %3$s, v.code, sum(h.n)::bigint as n
            from held as h join value as v on v.text = h.text group by %3$s, v.code
        ), kind as materialized (
            select row_number() over () as id, c.codes, c.counts, count(*) as classes
            from (select array_agg(h.code order by h.code) as codes,
                         array_agg(h.n order by h.code) as counts
                  from counted as h group by %3$s) as c
            group by c.codes, c.counts
        ), part as materialized (
            select k.id, k.classes, u.code, u.n::float8 as n
            from kind as k cross join lateral unnest(k.codes, k.counts) as u (code, n)
        ), pair as materialized (
            select x.id, x.code as a, y.code as b, x.n as n_a, y.n as n_b
            from part as x join part as y on y.id = x.id and y.code > x.code
        ), leaf as (
            select distinct v.code, v.path from value as v
        ), apart as materialized (
            select d.a, d.b, anondb.path_distance(a.path, b.path) as distance
            from (select distinct p.a, p.b from pair as p) as d
            join leaf as a on a.code = d.a join leaf as b on b.code = d.b
        ), met as (
            select p.id, min(d.distance) as nearest, sum(p.n_a * p.n_b * d.distance) as total
            from pair as p join apart as d on d.a = p.a and d.b = p.b group by p.id
        ), related as (
            -- each value with those that are e-similar to it
            select r.id, max(r.n) as most
            from (select u.id, u.code, sum(u.n) as n
                  from (select p.id, p.code, p.n from part as p
                        union all
                        select p.id, o.code, o.n
                        from pair as p join apart as d on d.a = p.a and d.b = p.b
                            and d.distance <= $1
                        cross join lateral (values (p.a, p.n_b), (p.b, p.n_a)) as o (code, n)) as u
                  group by u.id, u.code) as r
            group by r.id
        ), sized as (
            select p.id, p.classes, sum(p.n) as size, max(p.n) as most, sum(p.n * p.n) as squares,
                   sum(p.n * p.n * p.n) as cubes
            from part as p group by p.id, p.classes
        )
        -- the loss is the sum of n * (n / size - 1)^2 over the values
        select s.classes, s.size, s.most, r.most,
               s.cubes / s.size / s.size - 2 * s.squares / s.size + s.size,
               m.nearest, coalesce(m.total, 0) / s.size
        from sized as s join related as r on r.id = s.id left join met as m on m.id = s.id',
        anondb.histogram_query(release, quasi, value), paths, anondb.class_columns(quasi)) using e;
end $$;
comment on function anondb.le_kinds(regclass, name[], text, text, double precision) is
'The kinds of classes of a release, which hold the same values as often: how many there are of it, '
'the records of one, those of its most frequent value, and of a value with all e-similar ones, '
'their information loss in all, the least distance of two different values, and DOD, the distances '
'of all two records by the number of records. Value: an expression of the relation t; paths: a '
'query for (label, path).';

create function anondb.le_measured(
    release regclass, quasi name[], value text, paths text, e double precision,
    suppressed bigint = 0, kind text = 'apart')
returns table (
    records bigint, classes bigint, smallest bigint, largest bigint, l double precision,
    loss double precision, loss_sum double precision, dot double precision,
    dod_min double precision, dod_max double precision)
language sql stable parallel restricted
begin atomic
    select coalesce(sum(c.classes * c.size), 0)::bigint, coalesce(sum(c.classes), 0)::bigint,
           coalesce(min(c.size), 0)::bigint, coalesce(max(c.size), 0)::bigint,
           case when le_measured.kind = 'grouped' then coalesce(min(c.size / c.relatives), 0)
                when min(c.nearest) <= le_measured.e then 0
                else coalesce(min(c.size / c.most), 0) end,
           (coalesce(sum(c.classes * c.loss), 0) + le_measured.suppressed)
               / nullif(coalesce(sum(c.classes * c.size), 0) + le_measured.suppressed, 0),
           coalesce(sum(c.classes * c.loss), 0) + le_measured.suppressed,
           coalesce(sum(c.classes * c.dod) / sum(c.classes), 0), coalesce(min(c.dod), 0),
           coalesce(max(c.dod), 0)
    from anondb.le_kinds(
        le_measured.release, le_measured.quasi, le_measured.value, le_measured.paths,
        le_measured.e) as c;
end;
comment on function anondb.le_measured(regclass, name[], text, text, double precision,
                                       bigint, text) is
'The figures of all classes of anondb.le_kinds: records, classes, the smallest and the largest, '
'the l for which all are (l, e)-diverse (0 if none), the mean and the sum of the information loss '
'with 1 for each suppressed record, DOT, the mean DOD, and the least and the greatest DOD.';

create function anondb.vgh_paths(vgh int) returns text
language sql stable parallel safe
return format(
    'select max(v.label) filter (where p.level = 0) as label,
            array_agg(v.label order by p.level) as path
     from anondb.vgh_path as p
     join (select n.vgh, n.node, anondb.label_without_sense(n.label) collate "C" as label
           from anondb.vgh_node as n) as v on v.vgh = p.vgh and v.node = p.node
     where p.vgh = %s group by p.leaf
     union all select null,
                      array_fill(null::text, array[h.height]) || anondb.label_without_sense(r.label)
     from anondb.vgh as h join anondb.vgh_node as r on r.vgh = h.id and r.parent is null
     where h.id = %1$s', vgh);
comment on function anondb.vgh_paths(int) is
'A query for the leaves of a stored hierarchy with their labels up to the root (label, path), and '
'for NULL, which hangs from the root.';

create function anondb.le_figures(
    release regclass, quasi name[], sensitive name, vgh text, e double precision = 0,
    suppressed bigint = 0, kind text = 'apart')
returns table (
    records bigint, classes bigint, smallest bigint, largest bigint, l double precision,
    loss double precision, loss_sum double precision, dot double precision,
    dod_min double precision, dod_max double precision)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_value text := format('t.%I::text collate "C"', sensitive);
    v_paths text := anondb.vgh_paths(anondb.find_vgh(vgh));
    v_outside bigint;
begin
    if (e >= 0 and e < 'infinity') is not true then
        raise exception 'e is not a distance'
            using errcode = 'SA188',
            hint = 'Values at most e apart count as similar; 0 is plain l-diversity.';
    end if;
    if kind is null or kind not in ('apart', 'grouped') then
        raise exception 'there is no (l, e)-diversity of kind "%"', kind
            using errcode = 'SA187', hint = 'There are apart and grouped.';
    end if;
    perform anondb.check_sensitive(release, quasi, sensitive);
    execute format(
        'select count(*) from (select distinct %s as value from %s as t) as v
         left join (%s) as p on p.label = v.value where v.value is not null and p.label is null',
        v_value, release, v_paths) into v_outside;
    if v_outside > 0 then
        raise exception '% distinct values of %.% are no leaves of hierarchy "%"',
            v_outside, release, quote_ident(sensitive), vgh
            using errcode = 'SA189', hint = 'Add them to the hierarchy, or name another one.';
    end if;
    return query select m.*
    from anondb.le_measured(release, quasi, v_value, v_paths, e, suppressed, kind) as m;
end $$;
comment on function anondb.le_figures(regclass, name[], name, text, double precision,
                                      bigint, text) is
'What (l, e)-diversity a release reaches and costs, by classes of the quasi-identifiers (of an '
'Anatomy release: its class_id): records, classes, their sizes, l, the mean information loss of a '
'record (c(v) / |E| - 1)^2, 1 for each suppressed one, and its sum over all, DOT, the mean over '
'the classes of DOD, the summed distances of their values by size, and the least and the greatest '
'DOD. Raises SA187 for another kind, SA188 for an e that is no distance, SA189, with their number, '
'for values that are no leaves.';

create function anondb.le_diversity(
    release regclass, quasi name[], sensitive name, vgh text, e double precision = 0,
    kind text = 'apart')
returns double precision
language sql stable parallel restricted
begin atomic
    select f.l from anondb.le_figures(
        le_diversity.release, le_diversity.quasi, le_diversity.sensitive, le_diversity.vgh,
        le_diversity.e,
        kind => le_diversity.kind) as f;
end;
comment on function anondb.le_diversity(regclass, name[], name, text, double precision, text) is
'The l for which every class of a release is (l, e)-diverse: no value has more than 1 / l of its '
'records, and every two different values of it are more than e apart in the hierarchy; NULL is a '
'value that hangs from the root. 0 where two values of a class are e-similar, and for an empty '
'table. Of kind grouped, close relatives may share a class: no value has more than 1 / l of its '
'records together with all that are e-similar to it.';
