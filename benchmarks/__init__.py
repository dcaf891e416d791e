"""What anondb costs, measured beside what PostgreSQL itself needs for the same rows: `python -m benchmarks`."""
