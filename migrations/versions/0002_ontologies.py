"""Ontologies, the similarities of their concepts, and what the nodes of a hierarchy mean."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

# concept_edge and concept_closure have no foreign keys: a million checks would double the time of a load,
# and only a load writes them. They go with their ontology by anondb.drop_ontology. A lexeme goes with its
# concept, which goes with its ontology. A kept similarity goes with its first concept: both go together.

ONTOLOGIES = """
create table anondb.ontology (
    id int generated always as identity primary key,
    name text not null unique constraint ontology_has_a_name check (name <> ''),
    kind text not null check (kind in ('wordnet', 'obo', 'csv')),
    version text,
    content_sha256 text not null,
    root_depth int not null check (root_depth >= 0),
    depth int not null,
    concepts int not null,
    loaded_at timestamptz not null default now()
);
comment on table anondb.ontology is 'Knowledge bases, by name.';
comment on column anondb.ontology.content_sha256 is 'Of what was loaded: loading the same again changes nothing.';
comment on column anondb.ontology.root_depth is
'The depth of a concept without parents: 2 for WordNet, whose roots lie under a virtual one, else 0.';
comment on column anondb.ontology.depth is 'Concepts on the longest path from a root, the virtual one not counted.';

create table anondb.concept (
    id int generated always as identity primary key,
    ontology int not null references anondb.ontology on delete cascade,
    key text not null,
    pos text not null,
    label text not null,
    gloss text not null,
    gloss_words text[] not null,
    min_depth int not null,
    max_depth int not null,
    unique (ontology, key)
);
comment on table anondb.concept is 'The concepts of the ontologies.';
comment on column anondb.concept.key is 'Its name in the ontology: dog.n.01, DOID:1612.';
comment on column anondb.concept.pos is 'Part of speech: n or v.';
comment on column anondb.concept.gloss_words is 'Its gloss as stems without stop words, for telling senses apart.';
comment on column anondb.concept.min_depth is 'On the shortest way to a root.';
comment on column anondb.concept.max_depth is 'On the longest way to a root.';

create table anondb.concept_edge (
    child int not null,
    parent int not null,
    kind text not null check (kind in ('isa', 'instance', 'part', 'substance')),
    primary key (child, parent, kind)
);
create index on anondb.concept_edge (parent);
comment on table anondb.concept_edge is 'Child is a parent, an instance of it, a part of it, or its substance.';

create table anondb.concept_closure (
    descendant int not null,
    ancestor int not null,
    distance int not null,
    primary key (descendant, ancestor)
);
comment on table anondb.concept_closure is
'Every concept with all its generalizations (isa and instance), itself included at distance 0.';
comment on column anondb.concept_closure.distance is 'Links on the shortest way.';

create table anondb.lexeme (
    ontology int not null,
    lemma text not null,
    sense int not null check (sense > 0),
    pos text not null,
    concept int not null references anondb.concept on delete cascade,
    kind text not null check (kind in ('lemma', 'synonym', 'irregular')),
    stem text not null,
    primary key (ontology, lemma, pos, sense)
);
create index on anondb.lexeme (ontology, stem);
create index on anondb.lexeme (concept);
comment on table anondb.lexeme is 'Words for concepts, in lower case, each with its senses.';
comment on column anondb.lexeme.kind is
'A name of the concept, a synonym that its ontology lists, or an irregular plural (mice).';
comment on column anondb.lexeme.stem is 'Of each of its words, by anondb.stem.';

create table anondb.term_mapping (
    ontology int not null references anondb.ontology on delete cascade,
    term text not null,
    concept int not null references anondb.concept on delete cascade,
    primary key (ontology, term)
);
create index on anondb.term_mapping (concept);
comment on table anondb.term_mapping is
'Terms that users have mapped to a concept themselves; they go before all other ways to find one.';
"""

SIMILARITIES = """
create table anondb.concept_similarity (
    a int not null references anondb.concept on delete cascade,
    b int not null,
    measure text not null,
    similarity double precision not null check (similarity between 0 and 1),
    primary key (a, b, measure),
    constraint similarity_is_kept_once check (a <= b)
);
comment on table anondb.concept_similarity is
'Similarities in use, computed once; they go with their concepts, and with an upgrade.';
"""

MEANINGS = """
alter table anondb.vgh add column ontology text not null default 'wordnet' check (ontology <> '');
comment on column anondb.vgh.ontology is 'The ontology that says what its labels mean.';

create table anondb.vgh_sense (
    vgh int not null,
    node int not null,
    concept int references anondb.concept on delete cascade,
    how text not null,
    confidence double precision not null default 1 check (confidence between 0 and 1),
    chosen boolean not null default false,
    primary key (vgh, node),
    foreign key (vgh, node) references anondb.vgh_node on delete cascade
);
create index on anondb.vgh_sense (concept);
comment on table anondb.vgh_sense is
'What a node of a hierarchy means by itself; ancestors can mean something else for a leaf: vgh_pair.';
comment on column anondb.vgh_sense.concept is 'NULL where none was found.';
comment on column anondb.vgh_sense.how is
'How it was found: given, chosen, mapping, lemma, synonym, plural, stem, head, ...';
comment on column anondb.vgh_sense.confidence is
'How far the sense is ahead of the next best one: 0 is a tie, 1 where there was nothing to choose between.';
comment on column anondb.vgh_sense.chosen is 'A user chose it: it stays when the others are found anew.';

create table anondb.vgh_pair (
    vgh int not null,
    leaf int not null,
    level int not null,
    leaf_concept int not null references anondb.concept on delete cascade,
    concept int not null references anondb.concept on delete cascade,
    how text not null,
    primary key (vgh, leaf, level),
    foreign key (vgh, leaf, level) references anondb.vgh_path on delete cascade
);
create index on anondb.vgh_pair (leaf_concept);
create index on anondb.vgh_pair (concept);
comment on table anondb.vgh_pair is 'What each ancestor means for each leaf (Procedure 2 of the GSL paper).';
comment on column anondb.vgh_pair.how is
'inherited: found among the leaf''s own generalizations; else as in vgh_sense.';

create table anondb.vgh_loss (
    vgh int not null,
    measure text not null,
    leaf int not null,
    level int not null,
    loss double precision not null check (loss between 0 and 1),
    primary key (vgh, measure, leaf, level),
    foreign key (vgh, leaf, level) references anondb.vgh_pair on delete cascade
);
create index on anondb.vgh_loss (vgh, leaf, level);
comment on table anondb.vgh_loss is
'Semantic loss of each leaf to each ancestor, kept from one score to the next; goes with what it was computed from.';
"""


def upgrade() -> None:
    op.execute(ONTOLOGIES)
    op.execute(SIMILARITIES)
    op.execute(MEANINGS)


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward")
