-- What persons are called in a release, and how their dates move: by keys of the secret of the
-- installation, so that nobody else can recompute it, whatever he knows. As the hashes, these
-- inline: no key is the argument of a call that a log could show.

create function anondb.text_bytes(value text) returns bytea
language sql stable parallel safe
-- the same bytes in every database; one that knows no encoding has the bytes alone
return convert_to(value, case when getdatabaseencoding() = 'SQL_ASCII' then 'SQL_ASCII'
                              else 'UTF8' end);
comment on function anondb.text_bytes(text) is
'The bytes of a text in UTF-8; of a database without an encoding, as they are.';

create function anondb.pseudonym(inner_key bytea, outer_key bytea, value text) returns uuid
language sql stable parallel safe
return encode(pg_catalog.substring(
    anondb.keyed_hash(inner_key, outer_key, anondb.text_bytes(value)), 1, 16), 'hex')::uuid;
comment on function anondb.pseudonym(bytea, bytea, text) is
'The pseudonym of a value: the first 16 bytes of its HMAC-SHA-256, by a key of '
'anondb.derived_key(''pseudonym'', scope). NULL of NULL.';

create function anondb.shifted_days(inner_key bytea, outer_key bytea, person text, days int)
returns int
language sql stable parallel safe
-- 63 bits for a few thousand numbers: each comes as often as another
return (('x' || encode(pg_catalog.substring(
             anondb.keyed_hash(inner_key, outer_key, anondb.text_bytes(person)), 1, 8),
         'hex'))::bit(64)::bigint & 9223372036854775807) % (2 * days::bigint + 1) - days;
comment on function anondb.shifted_days(bytea, bytea, text, int) is
'By how many days the dates of a person move, at most so many in both directions: by its HMAC with '
'a key of anondb.derived_key(''shift'', scope).';

create function anondb.claim_scope(scope text, targets text[]) returns void
language plpgsql volatile parallel unsafe set search_path = pg_catalog, pg_temp as $$
-- A row for each scope, so that of two runs at once the second one waits, and is refused.
declare
    v_targets text[];
begin
    insert into anondb.pseudonym_scope as p (name, targets)
    values (claim_scope.scope, claim_scope.targets)
    on conflict (name) do nothing;
    if found then
        return;
    end if;
    select p.targets into v_targets
    from anondb.pseudonym_scope as p where p.name = claim_scope.scope;
    if not v_targets <@ claim_scope.targets then
        raise exception 'the scope % is used by %, which this policy does not release', scope,
            (select string_agg(t, ', ' order by t) from unnest(v_targets) as t
             where t <> all (claim_scope.targets))
            using errcode = 'SA270',
            hint = 'Choose another scope, or release all its tables with one policy.';
    end if;
    if v_targets <> claim_scope.targets then
        update anondb.pseudonym_scope as p set targets = claim_scope.targets
        where p.name = claim_scope.scope;
    end if;
exception when serialization_failure then
    raise exception 'another run has just used the scope %', scope
        using errcode = 'SA502', hint = 'Run again.';
end $$;
comment on function anondb.claim_scope(text, text[]) is
'Notes that the pseudonyms of a scope are in these tables. Raises SA270 where others have them '
'that are not among these, SA502 where another run has noted it at the same time.';
