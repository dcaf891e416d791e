-- beta-likeness (Cao, Karras 2012): what a value of a class gains over its share in all rows.

create function anondb.class_beta(
    codes int[], counts bigint[], reference double precision[], kind text = 'basic',
    total double precision = null)
returns double precision
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Definitions 2 and 3: (q - p) / p <= beta for each value that is more frequent in the class, q,
-- than in all, p; enhanced, also (q - p) / p <= -ln p. A gain equals -ln p for p = 1 alone, where
-- both are 0: the tolerance of that comparison is for what is rounded, and decides nothing else.
declare
    v_records constant double precision := anondb.sum_of(counts);
    v_total constant double precision := coalesce(total, anondb.sum_of(reference));
    v_p double precision;
    v_gain double precision;
    v_beta double precision := 0;
begin
    for i in 1 .. coalesce(cardinality(codes), 0) loop
        continue when (counts[i] > 0) is not true;
        v_p := coalesce(reference[codes[i]], 0);
        if v_p <= 0 then
            return 'infinity';
        end if;
        v_gain := counts[i] * v_total / (v_records * v_p) - 1;
        if kind = 'enhanced' and v_gain > 1e-9 - ln(v_p / v_total) then
            return 'infinity';
        end if;
        v_beta := greatest(v_beta, v_gain);
    end loop;
    return round(v_beta * 1e12) / 1e12;
end $$;
comment on function anondb.class_beta(int[], bigint[], double precision[], text,
                                      double precision) is
'The least beta for which a class has beta-likeness, basic or enhanced, by the reference. Infinity '
'where no beta is enough: for a value that the reference does not have, and for an enhanced gain '
'above -ln of the share. Arguments as for anondb.emd_equal.';

create function anondb.beta_likeness(release regclass, quasi name[], sensitive name,
                                     kind text = 'basic')
returns double precision
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_beta double precision;
begin
    if kind is null or kind not in ('basic', 'enhanced') then
        raise exception 'there is no beta-likeness of kind "%"', kind
            using errcode = 'SA120', hint = 'There are basic and enhanced.';
    end if;
    perform anondb.check_sensitive(release, quasi, sensitive);
    execute format(
        '%s select max(anondb.class_beta(c.codes, c.counts, r.counts, $1,
                                         (select anondb.sum_of(r.counts) from reference as r)))
        from class as c cross join reference as r',
        anondb.compared_classes(release, quasi, sensitive))
    into v_beta using kind;
    return coalesce(v_beta, 0);
end $$;
comment on function anondb.beta_likeness(regclass, name[], name, text) is
'The least beta for which a table has beta-likeness: the most that a sensitive value gains in a '
'class by the quasi-identifiers over its share in all rows, (q - p) / p, NULL counted as a value; '
'0 for an empty table. Enhanced, infinity where a gain is above -ln p, which no beta allows. '
'Raises SA120 for another kind.';
