-- Privacy models on the histogram of one class: how often each sensitive value occurs in it.
--
-- A search asks them of thousands of classes in a statement. So they are loops in PL/pgSQL, which
-- unpack an array once a call: as SQL they took two to ten times as long, and minutes where a
-- reference lay compressed in a table. What depends on the reference alone can be had once for all
-- classes: the last argument of each emd_ function. Results are rounded, so that 1/5 is 0.2 in
-- whatever order the shares were added.

create function anondb.entropy_l(counts bigint[]) returns double precision
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Machanavajjhala et al. 2007, 4.1. With N the sum of the n: entropy = ln N - (sum of n ln n) / N.
declare
    v_n double precision;
    v_total double precision := 0;
    v_weighted double precision := 0;
begin
    foreach v_n in array coalesce(counts, '{}') loop
        if v_n > 0 then
            v_total := v_total + v_n;
            v_weighted := v_weighted + v_n * ln(v_n);
        end if;
    end loop;
    if v_total = 0 then
        return 0;
    end if;
    return round(exp(ln(v_total) - v_weighted / v_total) * 1e9) / 1e9;
end $$;
comment on function anondb.entropy_l(bigint[]) is
'The l for which a class with these counts is entropy l-diverse: exp of the entropy of the shares, '
'to 9 decimals; 0 for an empty class.';

create function anondb.recursive_l(counts bigint[], c double precision) returns int
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Machanavajjhala et al. 2007, 4.1: r1 < c * (r_l + ... + r_m); 1-diversity is always satisfied.
-- In numeric, because a c such as 0.1 is no binary fraction, and the comparison is strict.
declare
    v_c constant numeric := c::numeric;
    v_n bigint;
    v_most bigint;
    v_tail bigint := 0;  -- r_(l + 1) + ... + r_m
    v_l int := 0;
begin
    foreach v_n in array coalesce(counts, '{}') loop
        v_tail := v_tail + greatest(v_n, 0);
    end loop;
    for v_n in select k.n from unnest(counts) as k (n) where k.n > 0 order by k.n desc loop
        v_most := coalesce(v_most, v_n);
        exit when v_l > 0 and (v_most < v_c * v_tail) is not true;
        v_l := v_l + 1;
        v_tail := v_tail - v_n;
    end loop;
    return v_l;
end $$;
comment on function anondb.recursive_l(bigint[], double precision) is
'The greatest l for which a class with these counts is recursive (c, l)-diverse; 0 for an empty '
'class.';

create function anondb.is_recursive(counts bigint[], c double precision, l int) returns boolean
language sql immutable parallel safe
return anondb.recursive_l(counts, c) >= l;
comment on function anondb.is_recursive(bigint[], double precision, int) is
'Whether a class with these counts is recursive (c, l)-diverse.';

create function anondb.sum_of(parts double precision[]) returns double precision
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_part double precision;
    v_sum double precision := 0;
begin
    foreach v_part in array coalesce(parts, '{}') loop
        v_sum := v_sum + coalesce(v_part, 0);
    end loop;
    return v_sum;
end $$;
comment on function anondb.sum_of(double precision[]) is
'The sum of an array''s elements, NULL counted as 0.';

create function anondb.emd_equal(
    codes int[], counts bigint[], reference double precision[], total double precision = null)
returns double precision
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Li et al. 2007, 4.2: half of the sum of |p - q|, which is the sum of p - q where a class has more
-- than its share. So only the values of the class are looked at.
declare
    v_total constant double precision := nullif(coalesce(total, anondb.sum_of(reference)), 0);
    v_records constant double precision := nullif(anondb.sum_of(counts), 0);
    v_moved double precision := 0;
begin
    for i in 1 .. coalesce(cardinality(codes), 0) loop
        v_moved := v_moved
            + greatest(counts[i] / v_records - coalesce(reference[codes[i]], 0) / v_total, 0);
    end loop;
    return round(v_moved * 1e12) / 1e12;
end $$;
comment on function anondb.emd_equal(int[], bigint[], double precision[], double precision) is
'Earth mover''s distance of a class from the reference where any two values are equally far apart. '
'codes: positions in the reference, each once; counts: how often they occur in the class; '
'reference: the count or share of each value in all released rows; total: its sum, where it is '
'known, so that it need not be added up for each class.';

create function anondb.ordered_reference(reference double precision[]) returns double precision[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_total constant double precision := anondb.sum_of(reference);
    v_n double precision;
    v_seen double precision := 0;
    v_area double precision := 0;
    v_occurring int := 0;
    v_cumulated double precision[] := '{}';
    v_areas double precision[] := '{0}';
    v_places double precision[] := '{0}';
    v_code int := 0;
begin
    foreach v_n in array coalesce(reference, '{}') loop
        v_code := v_code + 1;
        if v_n > 0 then
            v_seen := v_seen + v_n / v_total;
            v_area := v_area + v_seen;
            v_occurring := v_occurring + 1;
        end if;
        v_cumulated[v_code] := v_seen;
        v_areas[v_code + 1] := v_area;
        v_places[v_code + 1] := v_occurring;
    end loop;
    return v_cumulated || v_areas || v_places;
end $$;
comment on function anondb.ordered_reference(double precision[]) is
'What anondb.emd_ordered needs of a reference of m values, in an array of 3 m + 2: the shares '
'cumulated up to each value; the sums of these up to none, and to each value; the values that '
'occur, counted in the same way.';

create function anondb.emd_ordered(
    codes int[], counts bigint[], reference double precision[], prepared double precision[] = null)
returns double precision
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Li et al. 2007, 4.3: the sum of |P - Q| over the values, P and Q cumulated, divided by their
-- number - 1. From one value of the class to the next P stays, and Q rises: it is below P up to a
-- split, then above. With the sums of Q at hand the split is all that has to be found, however many
-- values lie between.
declare
    v_codes int[] := codes;
    v_counts bigint[] := counts;
    v_records constant double precision := nullif(anondb.sum_of(counts), 0);
    v_prepared constant double precision[] :=
        coalesce(prepared, anondb.ordered_reference(reference));
    v_m constant int := cardinality(v_prepared) / 3;
    a constant int := v_m + 1;  -- v_prepared[a + i]: the sum of Q up to the value i
    b constant int := 2 * v_m + 2;  -- v_prepared[b + i]: the number of values up to i that occur
    v_before int := 0;  -- the last value that is added
    v_last int;
    v_split int;  -- the last value where Q is not above P
    v_above int;
    v_middle int;
    v_seen double precision := 0;
    v_p double precision := 0;
    v_sum double precision := 0;
begin
    if v_records is null or v_prepared[b + v_m] <= 1 then
        return 0;
    end if;
    for i in 2 .. cardinality(codes) loop
        if codes[i] < codes[i - 1] then
            select array_agg(k.code order by k.code), array_agg(k.n order by k.code)
            into v_codes, v_counts
            from unnest(codes, counts) as k (code, n);
            exit;
        end if;
    end loop;
    for i in 1 .. cardinality(codes) + 1 loop
        v_last := coalesce(v_codes[i] - 1, v_m);  -- up to here P stays
        if v_last > v_before then
            v_split := v_before;
            v_above := v_last;
            while v_split < v_above loop
                v_middle := (v_split + v_above + 1) / 2;
                if v_prepared[v_middle] <= v_p then
                    v_split := v_middle;
                else
                    v_above := v_middle - 1;
                end if;
            end loop;
            v_sum := v_sum
                + v_p * (2 * v_prepared[b + v_split] - v_prepared[b + v_before]
                         - v_prepared[b + v_last])
                - (2 * v_prepared[a + v_split] - v_prepared[a + v_before] - v_prepared[a + v_last]);
            v_before := v_last;
        end if;
        v_seen := v_seen + coalesce(v_counts[i], 0);
        v_p := v_seen / v_records;
    end loop;
    return round(v_sum / (v_prepared[b + v_m] - 1) * 1e12) / 1e12;
end $$;
comment on function anondb.emd_ordered(int[], bigint[], double precision[], double precision[]) is
'Earth mover''s distance of a class from the reference where values are as far apart as their '
'places in the order of those that occur. Arguments as for anondb.emd_equal; prepared: '
'anondb.ordered_reference(reference), so that it need not be computed for each class. Codes that '
'ascend are quickest.';

create function anondb.hierarchical_reference(reference double precision[], nodes int[], height int)
returns double precision[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_total constant double precision := nullif(anondb.sum_of(reference), 0);
    v_m constant int := coalesce(cardinality(reference), 0);
    v_masses double precision[];  -- of one level, by node
    v_node int;
    v_shares double precision[] := '{}';
begin
    for v_level in 0 .. height - 1 loop
        v_masses := '{}';
        for v_code in 1 .. v_m loop
            v_node := nodes[v_level * v_m + v_code];
            v_masses[v_node] := coalesce(v_masses[v_node], 0) + coalesce(reference[v_code], 0);
        end loop;
        for v_code in 1 .. v_m loop
            v_shares[v_level * v_m + v_code] := v_masses[nodes[v_level * v_m + v_code]] / v_total;
        end loop;
    end loop;
    return v_shares;
end $$;
comment on function anondb.hierarchical_reference(double precision[], int[], int) is
'What anondb.emd_hierarchical needs of a reference: for each level and value, in the order of '
'nodes, the share of all values below the value''s ancestor at that level.';

create function anondb.emd_hierarchical(
    codes int[], counts bigint[], reference double precision[], nodes int[], height int,
    prepared double precision[] = null)
returns double precision
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Li et al. 2007, 4.3: two values are as far apart as their lowest common ancestor is high. What
-- has to leave a node, or enter it, climbs one level: so it is the mean over the levels of the
-- equal distance of their nodes.
declare
    v_prepared constant double precision[]
        := coalesce(prepared, anondb.hierarchical_reference(reference, nodes, height));
    v_m constant int := cardinality(reference);
    v_records constant double precision := nullif(anondb.sum_of(counts), 0);
    v_shares double precision[];  -- of the class, by node
    v_node int;
    v_moved double precision := 0;
begin
    for v_level in 0 .. height - 1 loop
        v_shares := '{}';
        for i in 1 .. coalesce(cardinality(codes), 0) loop
            v_node := nodes[v_level * v_m + codes[i]];
            v_shares[v_node] := coalesce(v_shares[v_node], 0) + counts[i] / v_records;
        end loop;
        for i in 1 .. coalesce(cardinality(codes), 0) loop
            v_node := nodes[v_level * v_m + codes[i]];
            v_moved := v_moved
                + greatest(v_shares[v_node] - v_prepared[v_level * v_m + codes[i]], 0);
            v_shares[v_node] := 0;  -- a node counts once
        end loop;
    end loop;
    return round(v_moved / height * 1e12) / 1e12;
end $$;
comment on function anondb.emd_hierarchical(
    int[], bigint[], double precision[], int[], int, double precision[]) is
'Earth mover''s distance of a class from the reference where two values are as far apart as the '
'level of their lowest common ancestor, divided by the height. Arguments as for anondb.emd_equal; '
'nodes: for each level from 0 to height - 1 the ancestor of each value, as small numbers '
'(nodes[level * m + code], m the length of the reference); prepared: '
'anondb.hierarchical_reference(reference, nodes, height), so that it need not be computed for each '
'class.';
