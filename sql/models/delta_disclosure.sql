-- delta-disclosure privacy (Brickell, Shmatikov 2008): how much the share of each value in a class
-- differs from that in all rows.

create function anondb.disclosure_reference(reference double precision[]) returns double precision[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_n double precision;
    v_total double precision := 0;
    v_occurring int := 0;
begin
    foreach v_n in array coalesce(reference, '{}') loop
        if v_n > 0 then
            v_total := v_total + v_n;
            v_occurring := v_occurring + 1;
        end if;
    end loop;
    return array[v_total, v_occurring];
end $$;
comment on function anondb.disclosure_reference(double precision[]) is
'What anondb.class_delta needs of a reference: its sum, and the number of values that occur.';

create function anondb.class_delta(
    codes int[], counts bigint[], reference double precision[], prepared double precision[] = null)
returns double precision
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- |ln(q / p)| < delta for every value of the table, q its share in the class, p that in all. A
-- value that is missing in the class has ln 0.
declare
    v_prepared constant double precision[] :=
        coalesce(prepared, anondb.disclosure_reference(reference));
    v_records constant double precision := anondb.sum_of(counts);
    v_n double precision;
    v_seen int := 0;
    v_delta double precision := 0;
begin
    if v_records = 0 then
        return 0;
    end if;
    for i in 1 .. cardinality(codes) loop
        continue when (counts[i] > 0) is not true;
        v_n := coalesce(reference[codes[i]], 0);
        if v_n <= 0 then
            return 'infinity';
        end if;
        v_seen := v_seen + 1;
        v_delta := greatest(v_delta, abs(ln(counts[i] * v_prepared[1] / (v_records * v_n))));
    end loop;
    if v_seen < v_prepared[2] then
        return 'infinity';
    end if;
    return round(v_delta * 1e12) / 1e12;
end $$;
comment on function anondb.class_delta(int[], bigint[], double precision[], double precision[]) is
'The delta that a class is to stay below, by the reference: the greatest |ln(q / p)| of all '
'values. Infinity for a value that the class or the reference does not have; 0 for an empty class. '
'Arguments as for anondb.emd_equal; prepared: anondb.disclosure_reference(reference), so that it '
'need not be computed for each class.';

create function anondb.delta_disclosure(release regclass, quasi name[], sensitive name)
returns double precision
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_delta double precision;
begin
    perform anondb.check_sensitive(release, quasi, sensitive);
    execute format(
        '%s select max(anondb.class_delta(c.codes, c.counts, r.counts,
                                          (select anondb.disclosure_reference(r.counts)
                                           from reference as r)))
        from class as c cross join reference as r',
        anondb.compared_classes(release, quasi, sensitive))
    into v_delta;
    return coalesce(v_delta, 0);
end $$;
comment on function anondb.delta_disclosure(regclass, name[], name) is
'The delta that a table is to stay below for delta-disclosure privacy: the greatest |ln(q / p)| of '
'a sensitive value, q its share in a class by the quasi-identifiers, p that in all rows, NULL '
'counted as a value. Infinity where a class has not every value of the table; 0 for an empty '
'table.';
