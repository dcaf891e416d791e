"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
from typing import Any

from anondb.db.connection import Connection

# those that decide how fast tables are read, grouped, sorted and written
_SETTINGS = """
autovacuum checkpoint_timeout effective_cache_size effective_io_concurrency fsync full_page_writes
hash_mem_multiplier io_method jit maintenance_work_mem max_parallel_workers max_parallel_workers_per_gather
max_wal_size shared_buffers synchronous_commit temp_buffers wal_compression wal_level wal_skip_threshold work_mem
""".split()


def facts(connection: Connection) -> dict[str, Any]:
    """Cores, memory, versions, and the server's settings that matter."""
    rows = connection.execute(
        "select s.name, current_setting(s.name) from pg_catalog.pg_settings as s"
        " where s.name = any(%s) order by s.name",
        (_SETTINGS,),
    )
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "postgresql": connection.info.parameter_status("server_version"),
        "settings": dict(rows.fetchall()),  # type: ignore[arg-type]
    }
