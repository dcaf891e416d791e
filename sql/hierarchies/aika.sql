-- AIKA (Ayala-Rivera): what the knowledge base says of the values of a column, for hierarchies to
-- be built from.

create function anondb.column_values(source regclass, source_column name)
returns table (value text, n bigint)
language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
begin
    perform anondb.check_columns(source, array[source_column]);
    return query execute format(
        'select v.value, v.n
         from (select t.%1$I::text collate "C" as value, count(*) as n
               from %2$s as t where t.%1$I is not null group by 1) as v
         order by v.value', source_column, source);
end $$;
comment on function anondb.column_values(regclass, name) is
'The distinct values of a column as text, byte by byte, and how often each occurs; NULLs are left '
'out.';

create function anondb.value_senses(terms text[], ontology text = 'wordnet')
returns table (term text, concept int, how text, confidence double precision, senses bigint)
language sql stable parallel safe
begin atomic
    -- adapted Lesk among the values, as the leaves of a stored hierarchy are understood
    with ranked as (
        select l.*, lead(l.score) over best_first as next_score,
               row_number() over best_first as rank
        from anondb.lesk(terms, anondb.find_ontology(ontology)) as l
        window best_first as (partition by l.term order by l.score desc, l.sense, l.concept)
    )
    select r.term, r.concept, r.how,
           case when r.next_score is null then 1 when r.score = 0 then 0
                else (r.score - r.next_score)::double precision / r.score end,
           r.senses
    from ranked as r where r.rank = 1;
end;
comment on function anondb.value_senses(text[], text) is
'The concept of each term that an ontology knows, told apart by the glosses of the others; '
'confidence is 0 for a tie between senses, 1 where there is nothing to choose.';

create function anondb.hypernyms_above(concepts int[])
returns table (
    concept int, key text, label text, pos text, depth int, parents int[], names text[])
language sql stable parallel safe
begin atomic
    select c.id, c.key, c.label, c.pos, c.min_depth,
           array(select e.parent from anondb.concept_edge as e
                 where e.child = c.id and e.kind in ('isa', 'instance') order by e.parent),
           array(select l.lemma from anondb.lexeme as l
                 where l.concept = c.id and l.kind <> 'irregular'
                 order by l.sense, l.lemma collate "C")
    from (select distinct t.ancestor as id
          from unnest(concepts) as k (id)
          cross join lateral (
              select a.ancestor from anondb.concept_closure as a
              where a.descendant = k.id offset 0) as t) as u
    join anondb.concept as c on c.id = u.id
    order by c.key collate "C";
end;
comment on function anondb.hypernyms_above(int[]) is
'These concepts and all their generalizations: the direct ones of each, its shortest depth, and '
'its other names.';

create function anondb.perspectives(concepts int[], bound double precision = 0.8, most int = 8)
returns table (concept int, other int, key text, label text, similarity double precision)
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_concepts int[];
    v_others int[];
begin
    -- siblings, parts and substances of each concept
    select array_agg(f.concept), array_agg(f.other) into v_concepts, v_others
    from (select k.id as concept, s.child as other
          from unnest(concepts) as k (id)
          join anondb.concept_edge as u on u.child = k.id and u.kind in ('isa', 'instance')
          join anondb.concept_edge as s on s.parent = u.parent and s.kind = 'isa'
              and s.child <> k.id
          union
          select k.id, e.child
          from unnest(concepts) as k (id)
          join anondb.concept_edge as e on e.parent = k.id
              and e.kind in ('part', 'substance')) as f;
    if v_concepts is null then
        return;
    end if;
    return query
        select r.concept, r.other, r.key, r.label, r.similarity
        from (select f.concept, f.other, c.key, c.label, s.similarity,
                     row_number() over (partition by f.concept
                                        order by s.similarity desc, c.key collate "C") as place
              from unnest(v_concepts, v_others) as f (concept, other)
              join anondb.similarities(v_concepts, v_others, 'wup') as s on s.a = f.concept
                  and s.b = f.other
              join anondb.concept as c on c.id = f.other
              where s.similarity >= bound) as r
        where r.place <= most
        order by r.concept, r.place;
end $$;
comment on function anondb.perspectives(int[], double precision, int) is
'What a class of a hierarchy could be called from another side: the siblings, parts and substances '
'of each concept whose wup similarity to it is at least the bound, the most similar first.';

create function anondb.built_pairs(vghs int[])
returns table (vgh int, leaf int, level int, leaf_concept int, concept int)
language sql stable parallel safe
-- candidates are a moment old: the planner takes them for a single row, and would go through all of
-- them for each
set enable_nestloop = off set jit = off
begin atomic
    -- every class has its concept by construction; a node without one repeats its leaf to balance
    -- the branch
    select p.vgh, p.leaf, p.level, l.concept,
           case when n.node is null then l.concept else n.concept end
    from anondb.vgh_path as p
    join anondb.vgh_sense as l on l.vgh = p.vgh and l.node = p.leaf and l.concept is not null
    left join anondb.vgh_sense as n on n.vgh = p.vgh and n.node = p.node and n.chosen
    where p.vgh = any (vghs) and p.level > 0 and (n.node is null or n.concept is not null);
end;
comment on function anondb.built_pairs(int[]) is
'What each ancestor means for each leaf in hierarchies that were built from concepts, as '
'anondb.understand_vgh would find it, without keeping it.';

create function anondb.copy_vgh(vgh text, copy_name text) returns int
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_vgh int := anondb.find_vgh(vgh);
    v_copy int;
begin
    insert into anondb.vgh (name, height, leaves, ontology)
    select copy_name, v.height, v.leaves, v.ontology from anondb.vgh as v where v.id = v_vgh
    returning id into v_copy;
    insert into anondb.vgh_node (vgh, node, level, label, parent)
    select v_copy, n.node, n.level, n.label, n.parent from anondb.vgh_node as n where n.vgh = v_vgh;
    insert into anondb.vgh_path (vgh, leaf, level, node)
    select v_copy, p.leaf, p.level, p.node from anondb.vgh_path as p where p.vgh = v_vgh;
    insert into anondb.vgh_sense (vgh, node, concept, how, confidence, chosen)
    select v_copy, s.node, s.concept, s.how, s.confidence, s.chosen from anondb.vgh_sense as s
    where s.vgh = v_vgh;
    insert into anondb.vgh_pair (vgh, leaf, level, leaf_concept, concept, how)
    select v_copy, p.leaf, p.level, p.leaf_concept, p.concept, p.how from anondb.vgh_pair as p
    where p.vgh = v_vgh;
    insert into anondb.vgh_loss (vgh, measure, leaf, level, loss)
    select v_copy, t.measure, t.leaf, t.level, t.loss from anondb.vgh_loss as t where t.vgh = v_vgh;
    return v_copy;
end $$;
comment on function anondb.copy_vgh(text, text) is
'Stores a hierarchy once more under another name, with what is known of its meaning; returns the '
'id of the copy.';
