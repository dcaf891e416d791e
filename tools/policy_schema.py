"""Writes anondb/policy/schema.json, by which editors complete policies: `python tools/policy_schema.py`."""

from __future__ import annotations

from anondb.policy.schema import FILE, written

if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
