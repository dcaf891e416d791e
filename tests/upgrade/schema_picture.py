"""A picture of the installed schema in text, the same on PostgreSQL 14 to 18."""

from __future__ import annotations

from psycopg.rows import args_row

from anondb.db.connection import Connection

# Since version 18 NOT NULL is a constraint of its own (contype 'n'); here it is a property of the column.
TABLES = """
select format('%s %s', case c.relkind when 'r' then 'table' when 'v' then 'view' else c.relkind::text end,
              c.relname),
       split_part(obj_description(c.oid, 'pg_class'), E'\\n', 1),
       array(select concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
                              case when a.attnotnull then 'not null' end,
                              case when a.attidentity <> '' then 'identity' end,
                              'default ' || pg_get_expr(d.adbin, d.adrelid))
             from pg_attribute as a left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum)
       || array(select concat_ws(' ', 'constraint', k.conname, pg_get_constraintdef(k.oid))
                from pg_constraint as k where k.conrelid = c.oid and k.contype <> 'n'
                order by k.contype, k.conname collate "C")
       || array(select pg_get_indexdef(x.indexrelid)
                from pg_index as x join pg_class as i on i.oid = x.indexrelid
                where x.indrelid = c.oid
                  and not exists (select from pg_constraint as k
                                  where k.conindid = i.oid and k.conrelid = c.oid)
                order by i.relname collate "C")
from pg_class as c
where c.relnamespace = 'anondb'::regnamespace and c.relkind not in ('i', 'S', 't', 'c')
order by c.relname collate "C"
"""

ROUTINES = """
select format('%s %s(%s)',
              case p.prokind when 'f' then 'function' when 'p' then 'procedure' when 'a' then 'aggregate' end,
              p.proname, pg_get_function_arguments(p.oid)),
       split_part(obj_description(p.oid, 'pg_proc'), E'\\n', 1),
       array_remove(array[
           'returns ' || pg_get_function_result(p.oid),
           concat_ws(' ', l.lanname,
                     case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
                     'parallel',
                     case p.proparallel when 's' then 'safe' when 'r' then 'restricted' else 'unsafe' end,
                     case when p.proisstrict then 'strict' end,
                     case when p.prosecdef then 'security definer' end),
           'set ' || array_to_string(p.proconfig, '; ')], null)
from pg_proc as p join pg_language as l on l.oid = p.prolang
where p.pronamespace = 'anondb'::regnamespace
order by p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"
"""


def picture(connection: Connection) -> str:
    """One paragraph a table or a routine: its head, its comment, its lines."""
    with connection.transaction():
        # Expressions show the names of what is not in the path, so the path is part of the picture.
        connection.execute("set local search_path = pg_catalog, pg_temp")
        with connection.cursor(row_factory=args_row(_paragraph)) as cursor:
            tables = cursor.execute(TABLES).fetchall()
            return "\n".join(tables + cursor.execute(ROUTINES).fetchall())


def _paragraph(head: str, comment: str | None, lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in (head, f"  -- {comment or ''}", *(f"  {line}" for line in lines)))
