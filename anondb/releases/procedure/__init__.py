"""A refresh inside the database: the statements of a run, written down as a procedure."""
