-- What the nodes of a hierarchy mean: a concept for each node, and for each leaf and each of its ancestors.

create function anondb.find_vgh(name text) returns int
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_id int;
begin
    select v.id into v_id from anondb.vgh as v where v.name = find_vgh.name;
    if v_id is null then
        raise exception 'there is no hierarchy "%"', name
            using errcode = 'SA140', hint = 'See them: anondb vgh list, or select * from anondb.vgh';
    end if;
    return v_id;
end $$;
comment on function anondb.find_vgh(text) is 'The id of a stored hierarchy by its name. Raises SA140 if there is none.';

create function anondb.forget_meanings(vgh int) returns void
language sql volatile parallel unsafe
begin atomic
    delete from anondb.vgh_sense as s where s.vgh = forget_meanings.vgh and not s.chosen;
    delete from anondb.vgh_pair as p where p.vgh = forget_meanings.vgh;
end;
comment on function anondb.forget_meanings(int) is
'Lets a hierarchy be understood anew when it is needed next; what users chose stays.';

create function anondb.understand_nodes(vgh int, ontology int) returns void
language sql volatile parallel unsafe
begin atomic
    -- A leaf is understood among the other leaves, an ancestor among all labels. A repeated leaf (in an
    -- unbalanced branch) is the same term again, and means the same.
    insert into anondb.vgh_sense (vgh, node, concept, how)
    with term as materialized (
        select n.label, min(n.level) > 0 as inner_node
        from anondb.vgh_node as n where n.vgh = understand_nodes.vgh group by n.label
    ), scored as (
        select l.* from anondb.lesk(
            (select array_agg(t.label) from term as t where not t.inner_node), understand_nodes.ontology) as l
        union all
        select l.* from anondb.lesk((select array_agg(t.label) from term as t), understand_nodes.ontology) as l
        where l.term in (select t.label from term as t where t.inner_node)
    ), best as (
        select distinct on (s.term) s.* from scored as s order by s.term, s.score desc, s.sense, s.concept
    )
    select n.vgh, n.node, b.concept,
           case when b.concept is null then 'unknown'
                when anondb.label_without_sense(n.label) <> n.label then 'given'
                when b.senses > 1 then b.how || ', lesk' else b.how end
    from anondb.vgh_node as n
    left join best as b on b.term = n.label
    where n.vgh = understand_nodes.vgh
    on conflict on constraint vgh_sense_pkey do nothing;
end;
comment on function anondb.understand_nodes(int, int) is
'Finds the concept of every node of a hierarchy that has none yet.';

create function anondb.understand_pairs(vgh int, ontology int) returns void
language sql volatile parallel unsafe
begin atomic
    -- Ayala-Rivera et al., Procedure 2: an ancestor means, for a leaf, the sense that is among the leaf's
    -- own generalizations; only if there is none, the sense that was given or found for it.
    insert into anondb.vgh_pair (vgh, leaf, level, leaf_concept, concept, how)
    with candidate as materialized (
        select t.label, s.concept, s.sense
        from (select distinct n.label from anondb.vgh_node as n
              where n.vgh = understand_pairs.vgh and n.level > 0) as t
        cross join lateral anondb.term_senses(
            anondb.label_without_sense(t.label), understand_pairs.ontology) as s
    ), pair as materialized (
        select p.leaf, p.level, p.node, s.concept as leaf_concept, n.label, own.concept, own.how, own.chosen,
               n.label = l.label as same
        from anondb.vgh_path as p
        join anondb.vgh_node as l on l.vgh = p.vgh and l.node = p.leaf
        join anondb.vgh_node as n on n.vgh = p.vgh and n.node = p.node
        join anondb.vgh_sense as s on s.vgh = p.vgh and s.node = p.leaf
        join anondb.vgh_sense as own on own.vgh = p.vgh and own.node = p.node
        where p.vgh = understand_pairs.vgh and p.level > 0 and s.concept is not null
    ), inherited as (
        select distinct on (p.leaf, p.level) p.leaf, p.level, c.concept
        from pair as p
        join candidate as c on c.label = p.label
        join anondb.concept_closure as t on t.descendant = p.leaf_concept and t.ancestor = c.concept
        where not p.chosen and not p.same
        order by p.leaf, p.level, t.distance, c.sense
    )
    select understand_pairs.vgh, p.leaf, p.level, p.leaf_concept,
           case when p.same then p.leaf_concept else coalesce(i.concept, p.concept) end,
           case when p.same then 'leaf' when i.concept is not null then 'inherited' else p.how end
    from pair as p
    left join inherited as i on i.leaf = p.leaf and i.level = p.level
    where p.same or coalesce(i.concept, p.concept) is not null
    on conflict do nothing;
end;
comment on function anondb.understand_pairs(int, int) is
'Finds what each ancestor in a hierarchy means for each of its leaves.';

create function anondb.understand_vgh(vgh text) returns int
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- Meanings go when a node or a concept goes, so that a node without any tells that they are stale.
declare
    v_vgh int := anondb.find_vgh(vgh);
    v_ontology int;
    v_parts text;
begin
    if (select count(*) from anondb.vgh_node as n where n.vgh = v_vgh)
        = (select count(*) from anondb.vgh_sense as s where s.vgh = v_vgh)
    then
        return v_vgh;
    end if;
    select anondb.find_ontology(v.ontology) into v_ontology from anondb.vgh as v where v.id = v_vgh;
    perform anondb.forget_meanings(v_vgh);
    perform anondb.understand_nodes(v_vgh, v_ontology);
    if not exists (select from anondb.vgh_sense as s where s.vgh = v_vgh and s.concept is not null) then
        raise exception 'no label of hierarchy "%" is a term of its ontology', vgh
            using errcode = 'SA141', hint = 'Codes have no meaning; map terms with anondb.map_term, or use another ontology.';
    end if;
    select string_agg(distinct c.pos, ', ' order by c.pos) into v_parts
    from anondb.vgh_sense as s join anondb.concept as c on c.id = s.concept where s.vgh = v_vgh;
    if v_parts like '%,%' then
        raise exception 'hierarchy "%" mixes parts of speech: %', vgh, v_parts
            using errcode = 'SA142', hint = 'Nouns and verbs share no generalization: use terms of one kind.';
    end if;
    perform anondb.understand_pairs(v_vgh, v_ontology);
    return v_vgh;
end $$;
comment on function anondb.understand_vgh(text) is
'Finds the concepts of a hierarchy, unless they are known; returns its id. Raises SA141 if nothing in it has a meaning, SA142 if it mixes nouns and verbs.';

create function anondb.vgh_senses(vgh text)
returns table (level int, label text, concept text, meaning text, how text)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_vgh int := anondb.understand_vgh(vgh);
begin
    return query
        select n.level, n.label, c.key, c.gloss, s.how
        from anondb.vgh_node as n
        join anondb.vgh_sense as s on s.vgh = n.vgh and s.node = n.node
        left join anondb.concept as c on c.id = s.concept
        where n.vgh = v_vgh
        order by n.level, n.node;
end $$;
comment on function anondb.vgh_senses(text) is
'What every node of a hierarchy means by itself, and how that was found.';

create function anondb.choose_sense(vgh text, label text, concept text) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- The choice holds for every node of this label, and for ancestors it holds for every leaf below them.
declare
    v_vgh int := anondb.find_vgh(vgh);
    v_concept int;
    v_rows bigint;
begin
    select anondb.find_concept(choose_sense.concept, v.ontology) into v_concept
    from anondb.vgh as v where v.id = v_vgh;
    insert into anondb.vgh_sense as s (vgh, node, concept, how, chosen)
    select n.vgh, n.node, v_concept, 'chosen', true
    from anondb.vgh_node as n
    where n.vgh = v_vgh
      and choose_sense.label in (n.label, anondb.label_without_sense(n.label))
    on conflict on constraint vgh_sense_pkey
    do update set concept = excluded.concept, how = excluded.how, chosen = true;
    get diagnostics v_rows = row_count;
    if v_rows = 0 then
        raise exception 'hierarchy "%" has no node "%"', vgh, label
            using errcode = 'SA143', hint = 'See its nodes: anondb vgh senses NAME';
    end if;
    perform anondb.forget_meanings(v_vgh);
end $$;
comment on function anondb.choose_sense(text, text, text) is
'Says what a label of a hierarchy means: choose_sense(''animals'', ''Bat'', ''bat#1''). Raises SA143 for an unknown label.';
