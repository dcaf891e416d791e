-- The ledger of a series of releases: what its hashes are made of, and the temporary tables in
-- which a run, or a procedure without Python, compares the source with it. docs/releases.md has the
-- rule.
--
--   ledger_delta  what is not as the ledger has it: records that nobody knows (spot is null), and
--                 members that are gone (class is null), in another class, or withdrawn before
--   ledger_held   persons of whom something else in the delta is a member already
--   ledger_part   records that would do the same together: enter a class, move, leave, remain; and
--                 the shares of those who enter, which are cohorts (joins: with another share)
--   ledger_cell   how often each value of a judged column occurs in a part
--   ledger_code   the number by which the models of the run know a value
--   ledger_leaving  the rows of the last release of those who would leave
--   ledger_out    rows of the last release that are not in the next one

-- Stable, as the encoding's functions are: a function that claimed more would be called for each
-- row, and could not become a part of the statement that asks for it.
create function anondb.keyed_number(key bytea, fields text) returns bigint
language sql stable parallel safe
return ('x' || encode(substring(sha256(key || convert_to(fields, getdatabaseencoding()))
                                from 1 for 8), 'hex'))::bit(64)::bigint;
comment on function anondb.keyed_number(bytea, text) is
'The first 8 bytes of SHA-256 of a key and a text, as a number.';

create function anondb.row_number_of(seed bigint, fields text) returns bigint
language sql immutable parallel safe
return hashtextextended(fields collate "C", seed);
comment on function anondb.row_number_of(bigint, text) is
'A number for what a recipient can read anyway, by a seed that nobody else knows: it decides the '
'order of released rows, and by it the ledger knows them again.';

create function anondb.person_hash(inner_key bytea, outer_key bytea, fields text) returns uuid
language sql stable parallel safe
return encode(substring(anondb.keyed_hash(inner_key, outer_key,
                                          convert_to(fields, getdatabaseencoding()))
                        from 1 for 16), 'hex')::uuid;
comment on function anondb.person_hash(bytea, bytea, text) is
'The first 16 bytes of the HMAC of a key of a record.';

create function anondb.ledger_keys(series int)
returns table (inner_key bytea, outer_key bytea, mark_key bytea, row_seed bigint, class_seed bigint)
language sql stable parallel safe set row_security = on
begin atomic
    -- what orders released rows is the same for each series: same data, same bytes
    select p.inner_key, p.outer_key, m.inner_key, anondb.keyed_number(r.inner_key, 'seed'),
           anondb.keyed_number(c.inner_key, 'seed')
    from anondb.series as s
    cross join lateral anondb.derived_key('member', s.uid::text) as p
    cross join lateral anondb.derived_key('member mark', s.uid::text) as m
    cross join anondb.derived_key('released row') as r
    cross join anondb.derived_key('released class') as c
    where s.id = series;
end;
comment on function anondb.ledger_keys(int) is
'The keys of a series, derived from the secret of the installation and the number that the series '
'has drawn.';

create function anondb.ledger_open(series int) returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp set row_security = on as $$
begin
    create temporary table ledger_key as
    select k.inner_key, k.outer_key, k.mark_key, k.row_seed, k.class_seed
    from anondb.ledger_keys(series) as k;
    if not exists (select from pg_temp.ledger_key) then
        raise exception 'the ledger has no series %, or the installation no secret', series
            using errcode = 'SA137',
            hint = 'Run the policy again; anondb releases lists the series.';
    end if;
    analyze pg_temp.ledger_key;
    create temporary table ledger_part (
        part int generated always as identity, kind text not null, cohort int not null,
        class bigint, persons bigint not null, records bigint not null,
        digest numeric not null default 0,
        ok boolean not null, goes boolean not null default false, becomes int,
        share int, joins int, is_judged boolean not null default false,
        withheld boolean not null default false);
    -- of those who leave a cohort each asks for its parts
    create index on pg_temp.ledger_part (cohort);
    create temporary table ledger_cell (part int, of_column int, value bigint, n bigint);
    create temporary table ledger_code (of_column int, value bigint, code int);
    create temporary table ledger_held (person uuid primary key);
    create temporary table ledger_out (class bigint, kept bigint, n bigint);
    create temporary table ledger_turn (
        cohort int primary key, moves boolean, leaves boolean, whole boolean);
    create temporary table ledger_leaving (part int, class bigint, kept bigint, n bigint);
end $$;
comment on function anondb.ledger_open(int) is
'Makes the temporary tables in which a source is compared with the ledger. Raises SA137 where '
'there is no such series.';

create function anondb.ledger_version() returns int
language sql immutable parallel safe
return 1;
comment on function anondb.ledger_version() is 'The form in which members are kept today.';

create function anondb.ledger_start(target text, source text, key text[], policy text, changes text)
returns int
language sql volatile parallel unsafe set row_security = on
begin atomic
    insert into anondb.series (target, source, key, policy, changes, version)
    values (ledger_start.target, ledger_start.source, ledger_start.key, ledger_start.policy,
            ledger_start.changes, anondb.ledger_version())
    returning id;
end;
comment on function anondb.ledger_start(text, text, text[], text, text) is
'Begins a series of releases; returns its number.';

create function anondb.ledger_end(series int) returns void
language sql volatile parallel unsafe set row_security = on
begin atomic
    delete from anondb.member as m where m.series = ledger_end.series;
    update anondb.series as s set ended_at = clock_timestamp()
    where s.id = ledger_end.series and s.ended_at is null;
end;
comment on function anondb.ledger_end(int) is
'Ends a series: its members are forgotten, and what it has released is remembered in numbers.';

create function anondb.ledger_at(target text)
returns table (series int, source text, key text[], policy text, changes text, levels int[],
               release int, run bigint, version int, members boolean, batch int)
language sql stable parallel restricted set row_security = on
begin atomic
    select s.id, s.source, s.key, s.policy, s.changes, s.levels, s.release, s.run, s.version,
           exists (select from anondb.cohort as c where c.series = s.id), s.batch
    from anondb.series as s
    where s.target = ledger_at.target and s.ended_at is null
    order by s.id desc limit 1;
end;
comment on function anondb.ledger_at(text) is
'The series of a target as the history spells it, if there is one.';

create function anondb.ledger_classes(series int)
returns table (class bigint, records bigint, digest numeric, cohorts bigint, fewest int)
language sql stable parallel restricted set row_security = on
begin atomic
    select c.class, sum(c.records)::bigint, sum(c.digest), count(*), min(c.persons)
    from anondb.cohort as c
    where c.series = ledger_classes.series and c.class is not null and c.records > 0
    group by c.class;
end;
comment on function anondb.ledger_classes(int) is
'The classes that a series publishes, by the hash of their labels: their records and the sum of '
'their hashes, their cohorts, and the fewest persons of one.';

create function anondb.ledger_strays(series int) returns bigint
language sql stable parallel restricted set row_security = on
begin atomic
    -- a role sees its own series, also where rows of the source must not be hidden from it
    select count(*)
    from (select c.id, c.records from anondb.cohort as c
          where c.series = ledger_strays.series and c.records > 0) as c
    full join (select m.cohort, count(*) as records from anondb.member as m
               where m.series = ledger_strays.series group by m.cohort) as m on m.cohort = c.id
    where m.records is distinct from c.records;
end;
comment on function anondb.ledger_strays(int) is
'How many cohorts of a series have other members than they say.';
