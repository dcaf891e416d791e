"""Keyed hashes are HMAC-SHA-256: the test cases of RFC 4231, and keys of their own for each purpose."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from anondb.db.connection import Connection

HASH = """
select encode(anondb.keyed_hash(anondb.padded_key(k.key, '36'), anondb.padded_key(k.key, '5c'), %s), 'hex')
from (select %s::bytea as key) as k
"""
DERIVED = "select d.inner_key, d.outer_key from anondb.derived_key(%s, %s) as d"

# key, message and HMAC of the cases 1 to 4, 6 and 7; of 5 the RFC has a truncated one alone
CASES = [
    (
        b"\x0b" * 20,
        b"Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    ),
    (
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ),
    (
        b"\xaa" * 20,
        b"\xdd" * 50,
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
    ),
    (
        bytes(range(1, 26)),
        b"\xcd" * 50,
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    ),
    (
        b"\xaa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
    (
        b"\xaa" * 131,
        b"This is a test using a larger than block-size key and a larger than block-size data. "
        b"The key needs to be hashed before being used by the HMAC algorithm.",
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
    ),
]


@pytest.mark.parametrize(("key", "message", "expected"), CASES)
def test_a_keyed_hash_is_that_of_the_rfc(
    connection: Connection, key: bytes, message: bytes, expected: str
) -> None:
    assert hmac.new(key, message, "sha256").hexdigest() == expected
    short = key if len(key) <= 64 else hashlib.sha256(key).digest()  # as HMAC does with a long one
    assert connection.execute(HASH, (message, short)).fetchone() == (expected,)


def test_rows_are_ordered_by_the_hash_of_a_key_and_what_is_kept_of_them(connection: Connection) -> None:
    ask = "select anondb.order_hash(%s::bytea, %s::bytea)"
    for key, message in ((b"k" * 64, b"{1,x}"), (bytes(64), b"")):
        assert connection.execute(ask, (key, message)).fetchone() == (hashlib.sha256(key + message).digest(),)


def test_a_derived_key_is_the_hash_of_purpose_and_scope_by_the_secret(connection: Connection) -> None:
    secret = hashlib.sha256(b"a secret that everybody knows").digest()
    key = hmac.new(secret, b"{draw,7}", "sha256").digest()
    padded = tuple(bytes(byte ^ pad for byte in key.ljust(64, b"\0")) for pad in (0x36, 0x5C))
    assert connection.execute(DERIVED, ("draw", "7")).fetchone() == padded


def test_purpose_and_scope_are_told_apart(connection: Connection) -> None:
    pairs = [("draw", ""), ("draw", "7"), ("draw,7", ""), ("", "draw"), ("row order", ""), ("class id", "7")]
    assert len({connection.execute(DERIVED, pair).fetchone() for pair in pairs}) == len(pairs)


def test_a_new_secret_is_another_one_each_time(connection: Connection) -> None:
    read = "select s.key from anondb.secret as s"
    seen = [connection.execute(read).fetchall()]
    for _ in range(2):
        connection.execute("select anondb.renew_secret()")
        seen.append(connection.execute(read).fetchall())
    assert all(len(rows) == 1 for rows in seen)
    assert len({rows[0] for rows in seen}) == 3
    connection.execute("delete from anondb.secret")
    connection.execute("select anondb.renew_secret()")
    assert len(connection.execute(read).fetchall()) == 1
