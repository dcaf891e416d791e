-- Yes or no, for tests of a database: select ok(anondb.is_k_anonymous('share.admissions', ...)).
-- An empty table has no class that could fail, and passes.

create function anondb.has_no_rows(release regclass) returns boolean
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_has_none boolean;
begin
    execute format('select not exists (select from %s)', release) into v_has_none;
    return v_has_none;
end $$;
comment on function anondb.has_no_rows(regclass) is
'Whether a table, read with the caller''s rights, is empty.';

create function anondb.is_k_anonymous(
    release regclass, quasi name[], k bigint, unit name = null)
returns boolean
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    if k is null or k < 1 then
        raise exception 'k is not a number from 1 on'
            using errcode = 'SA195', hint = 'For example 5: each record looks like four others.';
    end if;
    return anondb.k_anonymity(release, quasi, unit) >= k or anondb.has_no_rows(release);
end $$;
comment on function anondb.is_k_anonymous(regclass, name[], bigint, name) is
'Whether every class by the quasi-identifiers has k records, or with a unit k persons; see '
'anondb.k_anonymity. Raises SA195 for a k below 1.';

create function anondb.is_l_diverse(
    release regclass, quasi name[], sensitive name, l double precision,
    kind text = 'distinct', c double precision = null)
returns boolean
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    if l is null or l < 1 or l = 'NaN' then
        raise exception 'l is not a number from 1 on'
            using errcode = 'SA196', hint = 'For example 3: each class has three sensitive values.';
    end if;
    -- the tolerance with which a run verifies: exp of an entropy is not exact
    return anondb.l_diversity(release, quasi, sensitive, kind, c) >= l - 1e-9 * l
        or anondb.has_no_rows(release);
end $$;
comment on function anondb.is_l_diverse(
    regclass, name[], name, double precision, text, double precision) is
'Whether every class by the quasi-identifiers is l-diverse; see anondb.l_diversity. Raises SA196 '
'for an l below 1.';

create function anondb.is_t_close(
    release regclass, quasi name[], sensitive name, t double precision,
    distance text = 'equal', vgh text = null)
returns boolean
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    if t is null or t < 0 or t = 'NaN' then
        raise exception 't is not a number from 0 on'
            using errcode = 'SA197',
            hint = 'For example 0.2; 0 is the same distribution in each class.';
    end if;
    return anondb.t_closeness(release, quasi, sensitive, distance, vgh) <= t + 1e-9;
end $$;
comment on function anondb.is_t_close(regclass, name[], name, double precision, text, text) is
'Whether no class by the quasi-identifiers is farther than t from all rows; see '
'anondb.t_closeness. Raises SA197 for a t below 0.';
