"""python -m anondb"""

from anondb.cli import main

main()
