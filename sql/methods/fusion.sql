-- Record fusion (Martinez, Sanchez, Valls, Batet 2012): what is too rare takes the values of what is most similar.
--
-- A run numbers its distinct tuples of values 1 .. p. Their similarities are computed once: a relation has for each
-- tuple below k the row of its similarities to all of them, as whole numbers, so that equal ones are equal.

create function anondb.noun_of(term text, ontology int) returns text
language sql stable parallel safe
begin atomic
    -- relax is no noun, and of those of its stem relaxation is made of it in another way than a relaxer
    select l.lemma from anondb.lexeme as l
    where l.ontology = noun_of.ontology and l.pos = 'n' and l.stem = anondb.stem(noun_of.term)
    order by l.lemma ~ '(ion|ment|ing|ance|ence|al|ure|age)$' desc, length(l.lemma), l.lemma collate "C"
    limit 1;
end;
comment on function anondb.noun_of(text, int) is
'The noun for what a verb says, by its stem: relax, relaxation. NULL if there is none; the term is a normal one.';

create function anondb.value_nouns(terms text[], ontology int) returns table (term text, noun text)
language sql stable parallel safe
begin atomic
    -- Who answers "relax" means the same as who answers "relaxation": the noun of the same stem, if there is one
    -- among the values themselves, and else in the ontology.
    with value as materialized (
        -- data has no #senses: an apartment#5 is not one
        select u.term, anondb.label_without_sense(btrim(u.term)) as bare
        from (select distinct t.term from unnest(terms) as t (term)) as u where btrim(u.term) <> ''
    ), bare as materialized (
        select v.bare, anondb.stem(anondb.normal_term(v.bare)) as stem, f.is_noun
        from (select distinct x.bare from value as x) as v
        cross join lateral (select bool_or(s.how <> 'stem' and c.pos <> 'v') as is_noun
                            from anondb.term_senses(v.bare, ontology) as s
                            join anondb.concept as c on c.id = s.concept) as f
        where f.is_noun is not null
    ), noun as (
        select b.stem, min(b.bare collate "C") as bare from bare as b where b.is_noun group by b.stem
    )
    select v.term, case when b.is_noun then b.bare
                        else coalesce(n.bare, anondb.noun_of(anondb.normal_term(b.bare), ontology), b.bare) end
    from value as v
    join bare as b on b.bare = v.bare
    left join noun as n on n.stem = b.stem;
end;
comment on function anondb.value_nouns(text[], int) is
'The words by which the values of a column are looked up; those that the ontology does not know are left out.';

create function anondb.value_concepts(terms text[], ontology text = 'wordnet')
returns table (term text, concept int)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Each value is understood among the others, as the leaves of a hierarchy are. Words of the same senses (sport,
-- sports) take part once, as their glosses would only confirm each other.
declare
    v_ontology int := anondb.find_ontology(ontology);
begin
    return query
        with value as materialized (
            select v.term, v.noun from anondb.value_nouns(terms, v_ontology) as v
        ), noun as materialized (
            select s.noun, min(s.noun collate "C") over (partition by s.senses) as alike
            from (select v.noun, (select array_agg(s.concept order by s.sense, s.concept)
                                  from anondb.term_senses(v.noun, v_ontology) as s) as senses
                  from (select distinct x.noun from value as x) as v) as s
        ), ranked as (
            select l.term, l.concept,
                   row_number() over (partition by l.term order by l.score desc, l.sense, l.concept) as rank
            from anondb.lesk((select array_agg(distinct n.alike) from noun as n), v_ontology) as l
        )
        select v.term, r.concept
        from value as v
        join noun as n on n.noun = v.noun
        join ranked as r on r.term = n.alike and r.rank = 1;
end $$;
comment on function anondb.value_concepts(text[], text) is
'What the values of a column mean, each understood among the others; those that the ontology does not know are left out.';

create function anondb.code_values(
    leaves int[], terms text[], counts bigint[], ontology text = 'wordnet', k bigint = 1)
returns table (leaf int, code int, concept int, spelling text, is_rare boolean, n bigint)
language sql stable parallel safe
begin atomic
    with value as (
        select u.leaf, u.term collate "C" as term, u.n, m.concept,
               coalesce(m.concept::text, anondb.normal_term(u.term)) as meaning, m.concept is null as is_unknown
        from unnest(leaves, terms, counts) as u (leaf, term, n)
        left join anondb.value_concepts(terms, ontology) as m on m.term = u.term
    ), spelt as (
        select v.leaf, min(v.leaf) over same as code, v.concept, v.n,
               first_value(v.term) over best as spelling, first_value(v.n) over best as records
        from value as v
        window same as (partition by v.is_unknown, v.meaning),
               best as (partition by v.is_unknown, v.meaning order by v.n desc, v.term)
    )
    -- what only a few have written is theirs: its concept says the same in nobody's words, and no concept says nothing
    select s.leaf, s.code, s.concept,
           case when s.spelling is null or s.records >= code_values.k then s.spelling else coalesce(c.label, '*') end,
           s.spelling is not null and s.records < code_values.k, s.n
    from spelt as s left join anondb.concept as c on c.id = s.concept;
end;
comment on function anondb.code_values(int[], text[], bigint[], text, bigint) is
'Values of a column, each with a code that it shares with those of the same concept (or, unknown, of the same '
'normal form), and the most frequent spelling among them. If that is rare, of fewer than k records, the label of the '
'concept stands for it, or * if there is none. NULL is a value of its own.';

create function anondb.concept_likeness(codes int[], concepts int[], measure text, whole int)
returns table (a int, b int, likeness int)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
    return query
        with pair as materialized (
            select x.code as a, y.code as b, x.concept as first, y.concept as second
            from unnest(codes, concepts) as x (code, concept)
            join unnest(codes, concepts) as y (code, concept) on x.concept < y.concept
        ), found as materialized (
            select s.a, s.b, round(s.similarity * whole)::int as likeness
            from anondb.similarities((select array_agg(p.first) from pair as p),
                                     (select array_agg(p.second) from pair as p), measure) as s
        )
        select e.a, e.b, f.likeness
        from pair as p join found as f on f.a = p.first and f.b = p.second
        cross join lateral (values (p.a, p.b), (p.b, p.a)) as e (a, b)
        where f.likeness > 0;
end $$;
comment on function anondb.concept_likeness(int[], int[], text, int) is
'The similarity of every two different concepts, in both directions, in parts of a whole; those of none are left out.';

create function anondb.check_fusion(counts bigint[], k bigint, variant text, likeness regclass) returns void
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_tuples bigint := cardinality(counts);
    v_records numeric;
begin
    if v_tuples > 10000 then
        raise exception '% different combinations of values have % pairs, too many to compare', v_tuples, v_tuples ^ 2
            using errcode = 'SA145',
            hint = 'Fusion compares every two of up to 10000 combinations: take fewer quasi-identifiers, or coarser values.';
    end if;
    if coalesce(variant, '') not in ('semantic', 'h1_h2', 'h1', 'none', 'distributional', 'random') then
        raise exception 'fusion has no variant "%"', variant
            using errcode = 'SA146', hint = 'There are: semantic, h1_h2, h1, none, distributional, random.';
    end if;
    if likeness is null and variant not in ('distributional', 'random') then
        raise exception 'the variant % of fusion needs similarities', variant
            using errcode = 'SA147', hint = 'Give a relation (tuple int, likeness int[]) with a row for each tuple below k.';
    end if;
    select sum(u.n) into v_records from unnest(counts) as u (n);
    if v_records < k then
        raise exception 'k = % is larger than the table: % records', k, v_records
            using errcode = 'SA310', hint = 'Lower k, or take a larger table.';
    end if;
end $$;
comment on function anondb.check_fusion(bigint[], bigint, text, regclass) is
'Raises SA145 if there are more than 10000 tuples, SA146 for an unknown variant, SA147 if a variant lacks '
'similarities, SA310 if all records together are fewer than k.';

create function anondb.fuse(
    counts bigint[], k bigint, likeness regclass = null, variant text = 'semantic', seed bigint = 0,
    rare boolean[] = null)
returns table (round int, tuple int, partner int, released_as int)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
-- In a round, one tuple takes the values of another. No tuple is ever new and none gets smaller, so that the best
-- partner that was found for a tuple bounds what it can still find: H2 and H3 hold for the first of the tuples by
-- these bounds as soon as its own is exact, and hardly any others have to look again.
declare
    v_by_count constant boolean := variant not in ('none', 'random');             -- H1
    v_by_likeness constant boolean := variant in ('semantic', 'h1_h2');           -- H2
    v_by_union constant boolean := variant = 'semantic';                          -- H3
    v_n bigint[] := coalesce(counts, '{}');                                       -- 0 once it is gone
    v_tuples constant int := cardinality(v_n);
    -- A tuple of rare texts comes after all others as a partner, however similar it is. Which ones these are does
    -- not change, so that bounds stay bounds.
    v_last constant int[] := array(select case when coalesce(rare[g.i], false) then 1000000000 else 0 end
                                   from generate_series(1, v_tuples) as g (i) order by g.i);
    v_best int[] := array_fill(2147483647, array[v_tuples]);                      -- at most so similar to another
    v_fewest bigint[] := array_fill(0::bigint, array[v_tuples]);                  -- at least so many in that one
    v_witness int[] := array_fill(0, array[v_tuples]);                            -- who was so when it was looked for
    v_sole boolean[] := array_fill(false, array[v_tuples]);                       -- and no other was as similar
    v_from int[] := '{}';
    v_into int[] := '{}';
    v_final int[];
    v_likes int[];
    v_draw bigint;
    v_tuple int;
    v_partner int;
    v_found record;
begin
    perform anondb.check_fusion(counts, k, variant, likeness);
    loop
        v_draw := hashint8extended(cardinality(v_from), seed);
        loop
            select x.i into v_tuple
            from unnest(v_n, v_best, v_fewest, v_witness, v_sole) with ordinality as x (n, best, fewest, witness, sole, i)
            where x.n between 1 and k - 1
            order by case when v_by_count then x.n end,
                     case when v_by_likeness then x.best end desc,
                     case when v_by_union then case when x.sole and v_n[x.witness] > 0 then v_n[x.witness] else x.fewest end end,
                     hashint8extended(x.i, v_draw), x.i
            limit 1;
            exit when v_tuple is null or not v_by_likeness;
            v_partner := v_witness[v_tuple];
            exit when v_partner > 0 and v_n[v_partner] > 0
                  and (not v_by_union or v_sole[v_tuple] or v_n[v_partner] = v_fewest[v_tuple]);
            v_likes := anondb.likeness_row(likeness, v_tuple);
            select array_agg(b.likeness) as best, array_agg(b.n) as n, array_agg(b.j) as j into v_found
            from (select x.likeness - x.last as likeness, x.n, x.j
                  from unnest(v_likes, v_n, v_last) with ordinality as x (likeness, n, last, j)
                  where x.n > 0 and x.j <> v_tuple order by x.likeness - x.last desc, x.n, x.j limit 2) as b;
            v_best[v_tuple] := v_found.best[1];
            v_fewest[v_tuple] := v_found.n[1];
            v_witness[v_tuple] := v_found.j[1];
            v_sole[v_tuple] := v_found.best[2] is distinct from v_found.best[1];
        end loop;
        exit when v_tuple is null;
        if not (v_by_likeness and v_sole[v_tuple]) then
            v_likes := case when likeness is not null and variant not in ('distributional', 'random')
                            then anondb.likeness_row(likeness, v_tuple) end;
            select x.j into v_partner
            from unnest(v_likes, v_n, v_last) with ordinality as x (likeness, n, last, j)
            where x.n > 0 and x.j <> v_tuple
            order by x.last, x.likeness desc, case when v_by_union or variant = 'distributional' then x.n end,
                     hashint8extended(x.j, v_draw), x.j
            limit 1;
        end if;
        v_n[v_partner] := v_n[v_partner] + v_n[v_tuple];
        v_n[v_tuple] := 0;
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
comment on function anondb.fuse(bigint[], bigint, regclass, text, bigint, boolean[]) is
'Which tuple takes the values of which partner, round by round, until every tuple has k records or more, and as '
'which tuple its records are released in the end. counts are the records of tuple 1, 2 ..; likeness is a relation '
'(tuple int, likeness int[]). The variant: semantic (H1, H2, H3), h1_h2, h1, none (any tuple below k, its most '
'similar partner), distributional (the partner with fewest records), random (any partner); what is then equal is '
'drawn by the seed. A tuple that is rare, because few have written a text of it, is a partner only if there is no other.';

create function anondb.likeness_row(likeness regclass, tuple int) returns int[]
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_row int[];
begin
    execute format('select l.likeness from %s as l where l.tuple = $1', likeness) into v_row using tuple;
    return v_row;
end $$;
comment on function anondb.likeness_row(regclass, int) is 'How similar a tuple is to each tuple, by the relation of a fusion.';
