-- The rounds of record fusion (Martinez, Sanchez, Valls, Batet 2012): what is too rare takes the
-- values of what is most similar.
--
-- A run numbers its distinct tuples of values 1 .. p. The similarities of the values of each column
-- are computed once, as whole numbers, so that equal ones are equal; those of tuples are sums of
-- them, and are looked at when they are needed.

create function anondb.check_fusion(counts bigint[], k bigint, variant text, likeness regclass)
returns void
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_tuples bigint := cardinality(counts);
    v_records numeric;
begin
    if v_tuples > 50000 then
        raise exception '% different combinations of values have % pairs, too many to compare',
            v_tuples, v_tuples ^ 2
            using errcode = 'SA145',
            hint = 'Fusion compares up to 50000 combinations: take fewer '
                   'quasi-identifiers, or coarser values.';
    end if;
    if coalesce(variant, '') not in ('semantic', 'h1_h2', 'h1', 'none', 'distributional',
                                     'h1_random', 'random') then
        raise exception 'fusion has no variant "%"', variant
            using errcode = 'SA146',
            hint = 'There are: semantic, h1_h2, h1, none, distributional, h1_random, random.';
    end if;
    if likeness is null and variant not in ('distributional', 'h1_random', 'random') then
        raise exception 'the variant % of fusion needs similarities', variant
            using errcode = 'SA147',
            hint = 'Give a relation (tuple int, likeness int[]) with a row for each tuple below k.';
    end if;
    select sum(u.n) into v_records from unnest(counts) as u (n);
    if v_records < k then
        raise exception 'k = % is larger than the table: % records', k, v_records
            using errcode = 'SA310', hint = 'Lower k, or take a larger table.';
    end if;
end $$;
comment on function anondb.check_fusion(bigint[], bigint, text, regclass) is
'Raises SA145 if there are more than 50000 tuples, SA146 for an unknown variant, SA147 if a '
'variant lacks similarities, SA310 if all records together are fewer than k.';

create function anondb.likeness_row(likeness regclass, codes int[], widths int[], whole int)
returns int[]
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
declare
    v_all int[] := '{}';
    v_row int[];
    v_before int := 0;
begin
    for v_column in 1 .. cardinality(widths) loop
        execute format('select l.likeness from %s as l where l.tuple = $1', likeness) into v_row
        using codes[v_column];
        if v_row is null then
            v_row := array_fill(0, array[widths[v_column]]);
            v_row[codes[v_column] - v_before] := whole;
        end if;
        v_all := v_all || v_row;
        v_before := v_before + widths[v_column];
    end loop;
    return v_all;
end $$;
comment on function anondb.likeness_row(regclass, int[], int[], int) is
'How similar the values of a tuple are to all values of their columns, one column after the other. '
'A value without a row of its own in the relation is like itself alone.';

create function anondb.fusion_candidates(columns int) returns text
language sql immutable parallel safe
-- The sum over the columns, of those tuples alone whose value in one column is similar enough: the
-- others cannot win.
return format(
    'select array_agg(b.likeness) as likeness, array_agg(b.n) as n, array_agg(b.j) as j
     from (select c.likeness, c.n, c.j
           from (select %s - ($5)[p.j] as likeness, ($4)[p.j] as n, p.j
                 from (select ($6)[s.place] as j
                       from generate_series($8, $9) as v (code)
                       cross join lateral generate_series(($7)[v.code - $8 + 1],
                                                          ($7)[v.code - $8 + 2] - 1) as s (place)
                       where ($1)[v.code] >= $10) as p
                 where p.j <> $3 and ($4)[p.j] > 0) as c
           order by c.likeness desc, case when $11 then c.n end, hashint8extended(c.j, $12), c.j
           limit 2) as b',
    (select string_agg(format('($1)[($2)[(p.j - 1) * %s + %s]]', columns, g.d), ' + ' order by g.d)
     from generate_series(1, columns) as g (d)));
comment on function anondb.fusion_candidates(int) is
'The query for the two best partners of a tuple with so many columns: arrays of their '
'similarities, records and numbers.';

create function anondb.fusion_block(
    codes int[], widths int[], out tuples int[], out starts int[], out low int, out high int,
    out candidates text)
language sql immutable parallel safe
begin atomic
    with wide as (
        select u.d, u.width, (sum(u.width) over (order by u.d) - u.width)::int as before
        from unnest(widths) with ordinality as u (width, d)
    ), block as (
        select w.d, w.before + 1 as low, w.before + w.width as high from wide as w
        order by w.width desc, w.d limit 1
    ), valued as (
        select row_number() over (order by u.code, u.i) as place, u.code,
               ((u.i - 1) / cardinality(widths) + 1)::int as tuple
        from block as b
        join unnest(codes) with ordinality as u (code, i) on u.code between b.low and b.high
    )
    select (select array_agg(v.tuple order by v.place) from valued as v),
           (select array_agg(s.start order by s.code)
            from (select g.code,
                         (1 + sum(count(v.tuple)) over (order by g.code)
                          - count(v.tuple))::int as start
                  from generate_series(b.low, b.high + 1) as g (code)
                  left join valued as v on v.code = g.code
                  group by g.code) as s),
           b.low, b.high, anondb.fusion_candidates(cardinality(widths))
    from block as b;
end;
comment on function anondb.fusion_block(int[], int[]) is
'The column of most values, by which the partners of a tuple are sought: the tuples in the order '
'of its codes low to high, where those of each code start, and the query that looks among them.';

create function anondb.fuse(
    counts bigint[], k bigint, likeness regclass = null, variant text = 'semantic', seed bigint = 0,
    rare boolean[] = null, codes int[] = null, widths int[] = null, whole int = 0,
    failing boolean[] = null)
returns table (round int, tuple int, partner int, released_as int)
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp set jit = off as $$
-- In a round, one tuple takes the values of another. No tuple is ever new and none gets smaller, so
-- that the best partner that was found for a tuple bounds what it can still find: H2 and H3 hold
-- for the first of the tuples by these bounds as soon as its own is exact, and hardly any others
-- have to look again. What comes first can only come later, so that it is one of the first 64 of
-- some rounds ago, as long as one of these is before all others.
declare
    v_by_count constant boolean := variant not in ('none', 'random');  -- H1
    v_by_likeness constant boolean := variant in ('semantic', 'h1_h2');  -- H2
    v_by_union constant boolean := variant = 'semantic';  -- H3
    v_n bigint[] := coalesce(counts, '{}');  -- 0 once it is gone
    v_tuples constant int := cardinality(v_n);
    -- different values of each column
    v_widths constant int[] := coalesce(widths, array[v_tuples]);
    v_columns constant int := cardinality(v_widths);
    v_codes constant int[] := coalesce(codes, array(select generate_series(1, v_tuples)));
    v_rest constant int := (v_columns - 1) * whole;  -- what all columns but one can add
    -- A tuple of rare texts comes after all others as a partner, however similar it is. Which ones
    -- these are does not change, so that bounds stay bounds.
    v_last constant int[] :=
        array(select case when coalesce(rare[g.i], false) then 1000000000 else 0 end
              from generate_series(1, v_tuples) as g (i) order by g.i);
    v_rank constant bigint[] := array(select hashint8extended(g.i, seed)
                                      from generate_series(1, v_tuples) as g (i) order by g.i);
    v_best int[] := array_fill(2147483647, array[v_tuples]);  -- at most so similar to another
    v_fewest bigint[] := array_fill(0::bigint, array[v_tuples]);  -- at least so many in that one
    v_witness int[] := array_fill(0, array[v_tuples]);  -- who was so when it was looked for
    v_sole boolean[] := array_fill(false, array[v_tuples]);  -- and no other was as similar
    -- It is fused, however large. Whatever has the values of another takes them as one that is
    -- judged anew, which the caller does.
    v_fails boolean[] := coalesce(failing, array_fill(false, array[v_tuples]));
    v_from int[] := '{}';
    v_into int[] := '{}';
    v_final int[];
    v_first int[];
    v_others bigint[];  -- all others come after this
    v_block record;
    v_likes int[];
    v_least int;
    v_tuple int;
    v_partner int;
    v_found record;
begin
    perform anondb.check_fusion(counts, k, variant, likeness);
    v_block := anondb.fusion_block(v_codes, v_widths);
    loop
        loop
            select x.i into v_tuple
            from (select f.i, array[case when v_by_count then v_n[f.i] end,
                                    case when v_by_likeness then - v_best[f.i] end,
                                    case when not v_by_union then 0
                                         when v_sole[f.i] and v_n[v_witness[f.i]] > 0
                                         then v_n[v_witness[f.i]]
                                         else v_fewest[f.i] end,
                                    v_rank[f.i], f.i] as place
                  from unnest(v_first) as f (i)
                  where v_n[f.i] > 0 and (v_n[f.i] < k or v_fails[f.i])) as x
            where v_others is null or x.place < v_others
            order by x.place limit 1;
            if v_tuple is null then
                select array_agg(y.i) filter (where y.number <= 64),
                       max(y.place) filter (where y.number > 64)
                into v_first, v_others
                from (select x.i, row_number() over (order by x.place) as number, x.place
                      from (select x.i, array[case when v_by_count then x.n end,
                                              case when v_by_likeness then - x.best end,
                                              case when not v_by_union then 0
                                                   when x.sole and v_n[x.witness] > 0
                                                   then v_n[x.witness]
                                                   else x.fewest end,
                                              x.rank, x.i] as place
                            from unnest(v_n, v_best, v_fewest, v_witness, v_sole, v_rank, v_fails)
                                 with ordinality as x (n, best, fewest, witness, sole,
                                                       rank, fails, i)
                            where x.n > 0 and (x.n < k or x.fails)) as x
                      order by x.place limit 65) as y;
                exit when v_first is null;
                continue;
            end if;
            v_partner := v_witness[v_tuple];
            exit when v_by_likeness and v_partner > 0 and v_n[v_partner] > 0
                  and (not v_by_union or v_sole[v_tuple] or v_n[v_partner] = v_fewest[v_tuple]);
            exit when variant in ('distributional', 'h1_random', 'random');
            -- first those that have the value of the block in common, then whoever can still be as
            -- similar
            v_likes := anondb.likeness_row(
                likeness, v_codes[(v_tuple - 1) * v_columns + 1:v_tuple * v_columns],
                v_widths, whole);
            v_least := case when v_columns = 1 then 0 else whole end;
            loop
                execute v_block.candidates into v_found
                using v_likes, v_codes, v_tuple, v_n, v_last, v_block.tuples, v_block.starts,
                      v_block.low, v_block.high,
                      v_least, v_by_union, v_rank[v_tuple];
                exit when v_least <= 0 or v_found.likeness[1] >= v_least + v_rest;
                v_least :=
                    greatest(0, coalesce(v_found.likeness[1] - v_rest, v_least - whole / 5 - 1));
            end loop;
            v_partner := v_found.j[1];
            exit when not v_by_likeness or v_partner is null;
            v_best[v_tuple] := v_found.likeness[1];
            v_fewest[v_tuple] := v_found.n[1];
            v_witness[v_tuple] := v_partner;
            v_sole[v_tuple] := v_found.likeness[2] is distinct from v_found.likeness[1];
        end loop;
        exit when v_first is null;
        if variant in ('distributional', 'h1_random', 'random') then
            select x.j into v_partner
            from unnest(v_n, v_last) with ordinality as x (n, last, j)
            where x.n > 0 and x.j <> v_tuple
            order by x.last, case when variant = 'distributional' then x.n end,
                     hashint8extended(x.j, v_rank[v_tuple]), x.j
            limit 1;
        end if;
        exit when v_partner is null;  -- a last tuple that fails has no other
        v_n[v_partner] := v_n[v_partner] + v_n[v_tuple];
        v_n[v_tuple] := 0;
        v_fails[v_partner] := false;
        v_from := v_from || v_tuple;
        v_into := v_into || v_partner;
    end loop;
    -- a partner may itself have gone on later
    select array_agg(g.i order by g.i) into v_final from generate_series(1, v_tuples) as g (i);
    for v_round in reverse cardinality(v_from) .. 1 loop
        v_final[v_from[v_round]] := v_final[v_into[v_round]];
    end loop;
    return query select f.i::int, f.tuple, f.partner, v_final[f.tuple]
                 from unnest(v_from, v_into) with ordinality as f (tuple, partner, i);
end $$;
comment on function anondb.fuse(bigint[], bigint, regclass, text, bigint, boolean[], int[], int[],
                                int, boolean[]) is
'Which tuple takes the values of which partner, round by round, until every tuple has k records or '
'more, and as which tuple its records are released in the end. counts are the records of tuple 1, '
'2 ..; likeness is a relation (tuple int, likeness int[]). The variant: semantic (H1, H2, H3), '
'h1_h2, h1, none (any tuple below k, its most similar partner), distributional (the partner with '
'fewest records), h1_random (H1, any partner), random (any tuple below k, any partner); what is '
'then equal is drawn by the seed. A tuple that is rare, because few have written a text of it, is '
'a partner only if there is no other. With codes, the likeness of two tuples is the sum over their '
'columns: widths are the numbers of different values of the columns, codes those of tuple 1, tuple '
'2 .., counted on from column to column, and the relation has for such a code its likeness to all '
'values of its column, of which whole is the greatest. A tuple that fails is fused as one below k '
'is, and a tuple that takes in another fails no more.';
