-- Where a hierarchy is wrong, by what its ontology knows: each fault with what to do about it.

create function anondb.concept_term(concept int) returns text
language sql stable parallel safe
begin atomic
    select c.label || case when s.senses > 1 then '#' || s.sense else '' end
    from anondb.concept as c
    left join lateral (
        select max(l.sense) as senses, min(l.sense) filter (where l.concept = c.id) as sense
        from anondb.lexeme as l
        where l.ontology = c.ontology and l.lemma = anondb.normal_term(c.label)
          and l.pos = c.pos) as s on true
    where c.id = concept_term.concept;
end;
comment on function anondb.concept_term(int) is
'A concept as a hierarchy''s file names it: its label, with the number of the sense where there '
'are several.';

create function anondb.vgh_steps(vgh int)
returns table (leaf int, level int, node int, concept int, subsumes boolean, repeated boolean)
language sql stable parallel safe
begin atomic
    select s.node, 0, s.node, s.concept, true, false
    from anondb.vgh_sense as s
    join anondb.vgh_node as n on n.vgh = s.vgh and n.node = s.node and n.level = 0
    where s.vgh = vgh_steps.vgh and s.concept is not null
    union all
    select p.leaf, p.level, t.node, p.concept,
           exists (select from anondb.concept_closure as k
                   where k.descendant = p.leaf_concept and k.ancestor = p.concept),
           p.how = 'leaf'
    from anondb.vgh_pair as p
    join anondb.vgh_path as t on t.vgh = p.vgh and t.leaf = p.leaf and t.level = p.level
    where p.vgh = vgh_steps.vgh;
end;
comment on function anondb.vgh_steps(int) is
'What each leaf of a hierarchy means at each level from 0 up, whether that is one of its '
'generalizations, and whether it is the leaf repeated.';

create function anondb.concepts_above(concept int) returns table (ancestor int, distance int)
language sql stable parallel safe
begin atomic
    -- offset 0 keeps it a lookup by index, whatever the planner believes of the tables around it
    select t.ancestor, t.distance from anondb.concept_closure as t
    where t.descendant = concepts_above.concept offset 0;
end;
comment on function anondb.concepts_above(int) is
'All generalizations of a concept, itself included at distance 0.';

create function anondb.fitting_concepts(vgh int, unit int[], level int[], leaf int[])
returns table (unit int, concept int, fits boolean)
language sql stable parallel safe
begin atomic
    -- What may stand at a level for some leaves lies above the highest right concept below that
    -- level, and fits if it lies below the lowest right one above it. Of these, the nearest to what
    -- is below.
    with step as materialized (
        select u.unit, u.leaf, u.level as wanted, s.level, s.concept
        from unnest(fitting_concepts.unit, fitting_concepts.level,
                    fitting_concepts.leaf) as u (unit, level, leaf)
        join anondb.vgh_steps(fitting_concepts.vgh) as s on s.leaf = u.leaf and s.subsumes
    ), base as (
        select distinct b.unit, b.concept
        from (select distinct on (s.unit, s.leaf) s.unit, s.concept from step as s
              where s.level < s.wanted order by s.unit, s.leaf, s.level desc) as b
    ), ceiling as (
        select b.unit, array_agg(distinct b.concept) as concepts
        from (select distinct on (s.unit, s.leaf) s.unit, s.concept from step as s
              where s.level > s.wanted order by s.unit, s.leaf, s.level) as b
        group by b.unit
    ), common as (
        select b.unit, t.ancestor, sum(t.distance) as links
        from (select k.*, count(*) over (partition by k.unit) as bases from base as k) as b
        cross join lateral anondb.concepts_above(b.concept) as t
        group by b.unit, t.ancestor, b.bases
        having count(*) = b.bases and min(t.distance) > 0
    )
    select distinct on (k.unit) k.unit, k.ancestor, f.fits
    from common as k
    join anondb.concept as c on c.id = k.ancestor
    left join ceiling as h on h.unit = k.unit
    cross join lateral (
        select h.concepts is null or coalesce(h.concepts <@ array_agg(t.ancestor), false) as fits
        from anondb.concepts_above(k.ancestor) as t where t.distance > 0) as f
    order by k.unit, f.fits desc, k.links, c.min_depth desc, c.key collate "C";
end;
comment on function anondb.fitting_concepts(int, int[], int[], int[]) is
'For each unit of leaves of a hierarchy at a level, the nearest generalization that they share, '
'one that fits between what stands below and above if there is any.';

create function anondb.falling_losses(vgh int, measure text)
returns table (
    kind text, level int, node text, other text, leaves text[], loss double precision,
    suggestion text, advice text)
language sql stable parallel safe
begin atomic
    with fall as (
        select t.leaf, t.level, s.node, u.node as above, t.loss,
               case when not s.subsumes then '"%s" is no generalization of them: see no_hypernym'
                    when s.concept <> u.concept
                     and s.concept in (select k.ancestor from anondb.concepts_above(u.concept) as k)
                    then '"%s" is less specific than "%s" above it: exchange the two'
                    else 'by this measure "%2$s" is nearer to them than "%1$s": '
                         'leave "%1$s" out here' end as advice
        from anondb.vgh_loss as t
        join anondb.vgh_loss as h
          on h.vgh = t.vgh and h.measure = t.measure and h.leaf = t.leaf and h.level = t.level + 1
        join anondb.vgh_steps(falling_losses.vgh) as s on s.leaf = t.leaf and s.level = t.level
        join anondb.vgh_steps(falling_losses.vgh) as u on u.leaf = h.leaf and u.level = h.level
        where t.vgh = falling_losses.vgh and t.measure = falling_losses.measure
          and t.loss > h.loss + 1e-9  -- more than the last digits
    )
    select 'falling', f.level, n.label, a.label, array_agg(l.label order by f.leaf),
           max(f.loss), null::text,
           format(f.advice, n.label, a.label)
    from fall as f
    join anondb.vgh_node as n on n.vgh = falling_losses.vgh and n.node = f.node
    join anondb.vgh_node as a on a.vgh = falling_losses.vgh and a.node = f.above
    join anondb.vgh_node as l on l.vgh = falling_losses.vgh and l.node = f.leaf
    group by f.level, f.node, n.label, a.label, f.advice;
end;
comment on function anondb.falling_losses(int, text) is
'Nodes of a prepared hierarchy that lose more of their leaves'' meaning than the node above them '
'does.';

create function anondb.wrong_ancestors(vgh int)
returns table (node int, leaves int[], home int, concept int, fits boolean)
language sql stable parallel safe
begin atomic
    with step as materialized (
        select s.*, n.parent, bool_or(s.subsumes) over (partition by s.node) as right_for_some
        from anondb.vgh_steps(wrong_ancestors.vgh) as s
        join anondb.vgh_node as n on n.vgh = wrong_ancestors.vgh and n.node = s.node
    ), class as materialized (
        select distinct s.node, s.level, s.parent, s.concept from step as s
        where s.level > 0 and not s.repeated
    ), wrong as materialized (
        select w.leaf, w.level, w.node, w.parent, z.concept as leaf_concept,
               w.parent is null or not w.right_for_some as whole
        from step as w join step as z on z.leaf = w.leaf and z.level = 0
        where not w.subsumes
    ), home as (
        -- a class of the same level that the leaf does belong to, and to what is above it too
        select distinct on (w.leaf, w.level) w.leaf, w.level, h.node
        from wrong as w
        cross join lateral anondb.concepts_above(w.leaf_concept) as t
        join class as h on h.concept = t.ancestor and h.level = w.level and h.node <> w.node
        join class as p on p.node = h.parent
        where exists (select from anondb.concepts_above(w.leaf_concept) as u
                      where u.ancestor = p.concept)
        order by w.leaf, w.level, h.parent = w.parent desc, t.distance, h.node
    ), unit as materialized (
        -- A class that is right for no leaf is judged as a whole, and so is the root; else each
        -- leaf by itself.
        select row_number() over (order by u.node, u.home, u.judged) as id, u.*
        from (select w.node, w.level, w.whole, h.node as home,
                     array_agg(w.leaf order by w.leaf) as leaves,
                     case when h.node is null and not w.whole then w.leaf end as judged
              from wrong as w left join home as h on h.leaf = w.leaf and h.level = w.level
              group by w.node, w.level, w.whole, h.node, 6) as u
    ), asked as (
        select u.id, u.level, u.judged as leaf from unit as u where u.judged is not null
        union all
        select u.id, u.level, s.leaf from unit as u join step as s on s.node = u.node
        where u.home is null and u.whole
    ), fitting as (
        select f.* from (select array_agg(a.id::int) as ids, array_agg(a.level) as levels,
                                array_agg(a.leaf) as leaves
                         from asked as a) as a
        cross join lateral anondb.fitting_concepts(wrong_ancestors.vgh, a.ids, a.levels,
                                                   a.leaves) as f
    )
    select u.node, array_agg(l.leaf order by l.leaf), u.home, f.concept, f.fits
    from unit as u
    cross join lateral unnest(u.leaves) as l (leaf)
    left join fitting as f on f.unit = u.id
    group by u.node, u.home, f.concept, f.fits;
end;
comment on function anondb.wrong_ancestors(int) is
'Nodes of a hierarchy that are no generalization of leaves below them, with another node that is, '
'or else the nearest concept that is.';

create function anondb.no_hypernyms(vgh int, measure text)
returns table (
    kind text, level int, node text, other text, leaves text[], loss double precision,
    suggestion text, advice text)
language sql stable parallel safe
begin atomic
    select 'no_hypernym', n.level, n.label, h.label,
           array(select l.label from anondb.vgh_node as l
                 where l.vgh = n.vgh and l.node = any (w.leaves) order by l.node),
           (select max(t.loss) from anondb.vgh_loss as t
            where t.vgh = n.vgh and t.measure = no_hypernyms.measure and t.level = n.level
              and t.leaf = any (w.leaves)),
           coalesce(h.label, c.term),
           case when h.label is not null then format('move to "%s"', h.label)
                when c.term is null
                then format('nothing else is above them; is "%s" right?', n.label)
                when n.parent is null then format('to cover all leaves it has to be "%s"', c.term)
                when not w.fits
                then format('"%s" is the nearest, and nothing fits between: leave '
                            'this level out here', c.term)
                else format('"%s" is the nearest that fits here', c.term) end
    from anondb.wrong_ancestors(no_hypernyms.vgh) as w
    join anondb.vgh_node as n on n.vgh = no_hypernyms.vgh and n.node = w.node
    left join anondb.vgh_node as h on h.vgh = n.vgh and h.node = w.home
    cross join lateral anondb.concept_term(w.concept) as c (term);
end;
comment on function anondb.no_hypernyms(int, text) is
'Nodes of a prepared hierarchy that are no generalization of leaves below them, with what would '
'be.';

create function anondb.same_meanings(vgh int)
returns table (
    kind text, level int, node text, other text, leaves text[], loss double precision,
    suggestion text, advice text)
language sql stable parallel safe
begin atomic
    with meaning as materialized (
        select distinct s.node, s.level, s.concept, n.label
        from anondb.vgh_steps(same_meanings.vgh) as s
        join anondb.vgh_node as n on n.vgh = same_meanings.vgh and n.node = s.node
        join anondb.vgh_sense as o on o.vgh = same_meanings.vgh and o.node = s.node
        -- the head of a phrase says only what kind of thing it is: a civil engineer is no software
        -- engineer
        where not s.repeated and o.how not like 'head%'
    )
    select 'synonym', a.level, a.label, b.label, null::text[], null::double precision,
           anondb.concept_term(a.concept),
           case when exists (
                    select from anondb.vgh_path as x
                    join anondb.vgh_path as y on y.vgh = x.vgh and y.leaf = x.leaf
                        and y.node = b.node
                    where x.vgh = same_meanings.vgh and x.node = a.node)
                then format('both mean the same, and "%s" stands above: one of the two is enough',
                            b.label)
                when a.level = b.level then 'both mean the same: make them one'
                else format('both mean the same: "%s" belongs below "%s"', a.label, b.label) end
    from meaning as a
    join meaning as b on b.concept = a.concept and b.node > a.node
     and anondb.label_without_sense(b.label) <> anondb.label_without_sense(a.label);
end;
comment on function anondb.same_meanings(int) is
'Nodes of a hierarchy with other labels and the same meaning.';

create function anondb.overlapping_classes(vgh int)
returns table (
    kind text, level int, node text, other text, leaves text[], loss double precision,
    suggestion text, advice text)
language sql stable parallel safe
begin atomic
    with step as materialized (
        select s.*, n.parent
        from anondb.vgh_steps(overlapping_classes.vgh) as s
        join anondb.vgh_node as n on n.vgh = overlapping_classes.vgh and n.node = s.node
    ), sibling as (
        -- classes that a leaf belongs to beside the one that it is in, under the same parent
        select distinct z.leaf, own.level, own.node, h.node as sibling, h.concept
        from step as z
        cross join lateral anondb.concepts_above(z.concept) as t
        join step as h on h.concept = t.ancestor and h.level > 0 and not h.repeated
        join step as own on own.leaf = z.leaf and own.level = h.level and own.parent = h.parent
            and own.node <> h.node
        where z.level = 0 and t.distance > 0 and own.subsumes and own.concept <> h.concept
    ), highest as (
        -- of what the leaf becomes up to that level, the highest that belongs to the sibling too
        select distinct on (i.leaf, i.level, i.sibling) i.leaf, i.level, i.sibling, s.node,
               s.level as at_level
        from sibling as i
        join step as s on s.leaf = i.leaf and s.level <= i.level and s.subsumes
        where i.concept in (select t.ancestor from anondb.concepts_above(s.concept) as t)
        order by i.leaf, i.level, i.sibling, s.level desc, s.node
    )
    select 'overlap', h.at_level, n.label, o.label, array_agg(l.label order by h.leaf),
           null::double precision, o.label,
           case when h.at_level = h.level
                then format('"%s" is a kind of "%s" beside it: put it below', n.label, o.label)
                else format('"%s" is a kind of "%s" as well: the classes are not disjoint', n.label,
                            o.label) end
    from highest as h
    join anondb.vgh_node as n on n.vgh = overlapping_classes.vgh and n.node = h.node
    join anondb.vgh_node as o on o.vgh = overlapping_classes.vgh and o.node = h.sibling
    join anondb.vgh_node as l on l.vgh = overlapping_classes.vgh and l.node = h.leaf
    group by h.level, h.at_level, h.node, n.label, h.sibling, o.label;
end;
comment on function anondb.overlapping_classes(int) is
'Nodes of a hierarchy that belong under a sibling of a class above them as well.';

create function anondb.find_faults(vgh int, measure text)
returns table (
    kind text, level int, node text, other text, leaves text[], loss double precision,
    suggestion text, advice text)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
-- as for anondb.understand_pairs: the planner takes what is a moment old for a single row
set enable_nestloop = off set jit = off as $$
begin
    return query
        select f.*
        from (select w.* from anondb.falling_losses(vgh, measure) as w
              union all select w.* from anondb.no_hypernyms(vgh, measure) as w
              union all select w.* from anondb.same_meanings(vgh) as w
              union all select w.* from anondb.overlapping_classes(vgh) as w) as f
        order by array_position(array['falling', 'no_hypernym', 'synonym', 'overlap'], f.kind),
                 f.loss desc nulls last, f.level, f.node collate "C", f.other collate "C",
                 f.leaves collate "C";
end $$;
comment on function anondb.find_faults(int, text) is
'The faults of a prepared hierarchy, as anondb.vgh_faults lists them.';

create function anondb.vgh_faults(vgh text, measure text = 'wup', unmapped text = 'error')
returns table (
    kind text, level int, node text, other text, leaves text[], loss double precision,
    suggestion text, advice text)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_vgh int := anondb.prepare_gsl(vgh, measure, unmapped);
begin
    return query select f.* from anondb.find_faults(v_vgh, measure) as f;
end $$;
comment on function anondb.vgh_faults(text, text, text) is
'What is wrong with a hierarchy and what to do: falling (a node loses more than the one above it), '
'no_hypernym (an ancestor is no generalization of these leaves), synonym (two nodes mean the '
'same), overlap (a node belongs under a sibling of a class above it as well).';
