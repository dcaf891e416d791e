"""Files that come in: tables as CSV, and projects of ARX."""
