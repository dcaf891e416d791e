-- The secret of the installation, and the keyed hashes that come from it: whatever a recipient must
-- not be able to guess (numbers of classes, the order of rows, draws). A hash is HMAC-SHA-256 (RFC
-- 2104) by pg_catalog.sha256.
--
-- All of these inline, so that no key is ever the argument of a call that a log could show.

create function anondb.padded_key(key bytea, pad text) returns bytea
language sql immutable parallel safe
-- bits are the one thing that PostgreSQL xors; a key of fewer bytes is filled up with zeros
return pg_catalog.substring(
    pg_catalog.bit_send(('x'
                         || pg_catalog.encode(key,
                                              'hex'))::bit(512) # (
                                                  'x' || pg_catalog.repeat(pad, 64))::bit(512)),
    5);
comment on function anondb.padded_key(bytea, text) is
'A key of up to 64 bytes as HMAC uses it: 36 as the pad makes the inner key, 5c the outer one.';

create function anondb.keyed_hash(inner_key bytea, outer_key bytea, message bytea) returns bytea
language sql immutable parallel safe
return sha256(outer_key || sha256(inner_key || message));
comment on function anondb.keyed_hash(bytea, bytea, bytea) is
'HMAC-SHA-256 of a message by a key that is padded already, as anondb.derived_key gives it.';

create function anondb.order_hash(key bytea, message bytea) returns bytea
language sql immutable parallel safe
return sha256(key || message);
comment on function anondb.order_hash(bytea, bytea) is
'What rows are sorted by: SHA-256 of a key of full length and a message, half the work of '
'anondb.keyed_hash. Nobody sees the hash, only which of two is the smaller; without its bytes '
'nothing can be hashed on from it, and that is all that the outer hash of HMAC is for.';

create function anondb.derived_key(purpose text, scope text = '')
returns table (inner_key bytea, outer_key bytea)
language sql stable parallel safe
begin atomic
    -- a key for each purpose, and for each scope of it: who learns one learns nothing of the others
    select anondb.padded_key(d.key, '36'), anondb.padded_key(d.key, '5c')
    from (select anondb.keyed_hash(anondb.padded_key(s.key, '36'), anondb.padded_key(s.key, '5c'),
                                   convert_to(array[purpose, scope]::text, 'UTF8')) as key
          from anondb.secret as s) as d;
end;
comment on function anondb.derived_key(text, text) is
'The key of a purpose (row order, row in its class, record number, class id, draw) and of a scope '
'of it (a seed), '
'derived from the secret of the installation: its HMAC of array[purpose, scope] as text, padded '
'for anondb.keyed_hash. Whoever may read anondb.secret may call it.';

create function anondb.renew_secret() returns void
language sql volatile parallel unsafe
begin atomic
    insert into anondb.secret as s (key)
    values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
    on conflict (singleton) do update set key = excluded.key, made_at = excluded.made_at;
end;
comment on function anondb.renew_secret() is
'Makes a new secret for the installation: for a copy of a database. Numbers of classes, orders of '
'rows and draws are others from the next run on.';
