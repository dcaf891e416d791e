-- What the nodes of a hierarchy mean: a concept for each node, and for each leaf and each of its
-- ancestors.

-- Whatever was kept came from the functions as they were before; what users chose stays.
delete from anondb.vgh_sense as s where not s.chosen;
delete from anondb.vgh_pair;

create function anondb.find_vgh(name text) returns int
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_id int;
begin
    select v.id into v_id from anondb.vgh as v where v.name = find_vgh.name;
    if v_id is null then
        raise exception 'there is no hierarchy "%"', name
            using errcode = 'SA140',
            hint = 'See them: anondb vgh list, or select * from anondb.vgh';
    end if;
    return v_id;
end $$;
comment on function anondb.find_vgh(text) is
'The id of a stored hierarchy by its name. Raises SA140 if there is none.';

create function anondb.lock_vgh(vgh int) returns void
language sql volatile parallel unsafe
begin atomic
    -- not a row lock: it would need the right to change the hierarchy
    select pg_advisory_xact_lock(hashtext('anondb vgh'), lock_vgh.vgh);
end;
comment on function anondb.lock_vgh(int) is
'Until the end of the transaction nobody else stores this hierarchy anew or finds out what it '
'means.';

create function anondb.check_can_keep(vgh int) returns void
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_reason text := case
        when current_setting('transaction_read_only')::boolean then 'this transaction is read-only'
        when not has_table_privilege('anondb.vgh_sense', 'insert')
          or not has_table_privilege('anondb.vgh_sense', 'delete')
          or not has_table_privilege('anondb.vgh_pair', 'insert')
          or not has_table_privilege('anondb.vgh_pair', 'delete')
          or not has_table_privilege('anondb.vgh_loss', 'insert')
          or not has_table_privilege('anondb.concept_similarity', 'insert')
        then format('role %I may not keep it', current_user) end;
begin
    if v_reason is not null then
        raise exception 'hierarchy "%" has to be understood and its losses computed, and %',
            (select v.name from anondb.vgh as v where v.id = check_can_keep.vgh), v_reason
            using errcode = 'SA401',
            hint = 'Score it once, by the same measure, as a role that may write to schema '
                   'anondb; it is kept for all.';
    end if;
end $$;
comment on function anondb.check_can_keep(int) is
'Raises SA401 where what a hierarchy means, and what that costs, could not be kept.';

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
    -- A leaf is understood among the other leaves, an ancestor among all labels. A repeated leaf
    -- (in an unbalanced branch) is the same term again, and means the same.
    insert into anondb.vgh_sense (vgh, node, concept, how, confidence)
    with term as materialized (
        select n.label, min(n.level) > 0 as inner_node
        from anondb.vgh_node as n where n.vgh = understand_nodes.vgh group by n.label
    ), scored as (
        select l.* from anondb.lesk(
            (select array_agg(t.label) from term as t where not t.inner_node),
            understand_nodes.ontology) as l
        union all
        select l.*
        from anondb.lesk((select array_agg(t.label) from term as t), understand_nodes.ontology) as l
        where l.term in (select t.label from term as t where t.inner_node)
    ), ranked as (
        select s.*, lead(s.score) over best_first as next_score,
               row_number() over best_first as rank
        from scored as s
        window best_first as (partition by s.term order by s.score desc, s.sense, s.concept)
    )
    select n.vgh, n.node, r.concept,
           case when r.concept is null then 'unknown'
                when anondb.label_without_sense(n.label) <> n.label then 'given'
                when r.senses > 1 then r.how || ', lesk' else r.how end,
           case when r.concept is null then 0
                when r.next_score is null then 1
                when r.score = 0 then 0
                else (r.score - r.next_score)::double precision / r.score end
    from anondb.vgh_node as n
    left join ranked as r on r.term = n.label and r.rank = 1
    where n.vgh = understand_nodes.vgh
    on conflict on constraint vgh_sense_pkey do nothing;
end;
comment on function anondb.understand_nodes(int, int) is
'Finds the concept of every node of a hierarchy that has none yet.';

create function anondb.understand_pairs(vgh int, ontology int) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp
-- The planner knows nothing of senses that are a moment old, takes them for a single row, and would
-- go through all of them again for each leaf. The closure is reached by its index all the same:
-- lateral.
set enable_nestloop = off set jit = off as $$
begin
    -- Ayala-Rivera et al., Procedure 2: an ancestor means, for a leaf, the sense that is among the
    -- leaf's own generalizations; only if there is none, the sense that was given or found for it.
    insert into anondb.vgh_pair (vgh, leaf, level, leaf_concept, concept, how)
    with candidate as materialized (
        select t.label, s.concept, s.sense
        from (select distinct n.label from anondb.vgh_node as n
              where n.vgh = understand_pairs.vgh and n.level > 0) as t
        cross join lateral anondb.term_senses(
            anondb.label_without_sense(t.label), understand_pairs.ontology) as s
    ), pair as materialized (
        select p.leaf, p.level, p.node, s.concept as leaf_concept, n.label, own.concept,
               own.how, own.chosen,
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
        cross join lateral (
            select t.distance from anondb.concept_closure as t
            where t.descendant = p.leaf_concept and t.ancestor = c.concept offset 0) as t
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
end $$;
comment on function anondb.understand_pairs(int, int) is
'Finds what each ancestor in a hierarchy means for each of its leaves.';

create function anondb.is_understood(vgh int) returns boolean
language sql stable parallel safe
-- a plan that was kept since there was a single hierarchy would read all of them
set enable_seqscan = off
begin atomic
    -- Meanings go when a node or a concept goes, so that a node without any tells that they are
    -- stale; pairs go too when a user chooses a sense. All come from one ontology: a single pair
    -- tells which.
    select (select count(*) from anondb.vgh_node as n where n.vgh = is_understood.vgh)
         = (select count(*) from anondb.vgh_sense as s where s.vgh = is_understood.vgh)
       and exists (
           select from anondb.vgh_pair as p
           join anondb.concept as c on c.id = p.leaf_concept
           join anondb.ontology as o on o.id = c.ontology
           join anondb.vgh as v on v.id = p.vgh and v.ontology = o.name
           where p.vgh = is_understood.vgh);
end;
comment on function anondb.is_understood(int) is
'Whether it is known, by the ontology that the hierarchy uses now, what its nodes mean.';

create function anondb.understand_vgh(vgh text) returns int
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_vgh int := anondb.find_vgh(vgh);
    v_ontology int;
    v_parts text;
begin
    if anondb.is_understood(v_vgh) then
        return v_vgh;
    end if;
    select anondb.find_ontology(v.ontology) into v_ontology from anondb.vgh as v where v.id = v_vgh;
    perform anondb.check_can_keep(v_vgh);
    perform anondb.lock_vgh(v_vgh);
    if anondb.is_understood(v_vgh) then
        return v_vgh;  -- by whoever held the lock
    end if;
    perform anondb.forget_meanings(v_vgh);
    delete from anondb.vgh_sense as s using anondb.concept as c
    where s.vgh = v_vgh and c.id = s.concept and c.ontology <> v_ontology;
    perform anondb.understand_nodes(v_vgh, v_ontology);
    select string_agg(distinct c.pos, ', ' order by c.pos) into v_parts
    from anondb.vgh_sense as s join anondb.concept as c on c.id = s.concept
    where s.vgh = v_vgh and s.how <> 'root';
    if v_parts like '%,%' then
        raise exception 'hierarchy "%" mixes parts of speech: %', vgh, v_parts
            using errcode = 'SA142',
            hint = 'Nouns and verbs share no generalization: use terms of one kind.';
    end if;
    perform anondb.understand_pairs(v_vgh, v_ontology);
    if not exists (select from anondb.vgh_pair as p where p.vgh = v_vgh) then
        raise exception 'hierarchy "%" has no meaning: ontology "%" knows none of its leaves '
                        'with what is above them',
            vgh, (select v.ontology from anondb.vgh as v where v.id = v_vgh)
            using errcode = 'SA141',
            hint = 'Codes and numbers mean nothing. Map terms with anondb.map_term, '
            'choose concepts with anondb vgh senses NAME --set LABEL=CONCEPT, or load it with '
            'another --ontology.';
    end if;
    return v_vgh;
end $$;
comment on function anondb.understand_vgh(text) is
'Finds the concepts of a hierarchy, unless they are known; returns its id. '
'Raises SA141 if nothing in it has a meaning, SA142 if it mixes nouns and verbs.';

create function anondb.vgh_senses(vgh text)
returns table (
    level int, label text, concept text, meaning text, how text, confidence double precision,
    leaves bigint)
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
    v_vgh int := anondb.understand_vgh(vgh);
begin
    return query
        with used as (
            select t.node, p.concept, bool_or(p.how = 'inherited') as inherited, count(*) as leaves
            from anondb.vgh_pair as p
            join anondb.vgh_path as t on t.vgh = p.vgh and t.leaf = p.leaf and t.level = p.level
            where p.vgh = v_vgh group by t.node, p.concept
        )
        select n.level, n.label, c.key, c.gloss,
               case when u.inherited then 'inherited' else s.how end,
               case when u.inherited then 1 else s.confidence end,
               coalesce(u.leaves, (n.level = 0)::int)
        from anondb.vgh_node as n
        join anondb.vgh_sense as s on s.vgh = n.vgh and s.node = n.node
        left join used as u on u.node = n.node
        left join anondb.concept as c on c.id = coalesce(u.concept, s.concept)
        where n.vgh = v_vgh
        order by n.node, u.leaves desc, c.key collate "C";
end $$;
comment on function anondb.vgh_senses(text) is
'What every node of a hierarchy means, how that was found, how sure it is (0 a tie between senses, '
'1 nothing to choose), and for how many leaves. An ancestor whose sense differs from leaf to leaf '
'has a row for each; concept is NULL where none was found.';

create function anondb.choose_sense(vgh text, label text, concept text) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- The choice holds for every node of this label, and for ancestors it holds for every leaf below
-- them.
declare
    v_vgh int := anondb.find_vgh(vgh);
    v_nodes int[];
begin
    perform anondb.lock_vgh(v_vgh);
    select array_agg(n.node) into v_nodes
    from anondb.vgh_node as n
    where n.vgh = v_vgh and choose_sense.label in (n.label, anondb.label_without_sense(n.label));
    if v_nodes is null then
        raise exception 'hierarchy "%" has no node "%"', vgh, label
            using errcode = 'SA143', hint = 'See its nodes: anondb vgh senses NAME';
    end if;
    delete from anondb.vgh_sense as s where s.vgh = v_vgh and s.node = any (v_nodes);
    insert into anondb.vgh_sense (vgh, node, concept, how, chosen)
    select v_vgh, n.node, anondb.find_concept(choose_sense.concept, v.ontology), 'chosen', true
    from anondb.vgh as v cross join unnest(v_nodes) as n (node)
    where v.id = v_vgh and choose_sense.concept is not null;
    perform anondb.forget_meanings(v_vgh);
end $$;
comment on function anondb.choose_sense(text, text, text) is
'Says what a label of a hierarchy means: choose_sense(''animals'', ''Bat'', ''bat#1''); a NULL '
'concept takes the choice back. Raises SA143 for an unknown label.';
