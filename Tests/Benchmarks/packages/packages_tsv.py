"""Turns packages as JSON lines (optionally gzipped) into the TSV that the programs read:

packages_tsv.py IN.jsonl[.gz] OUT.tsv
"""

import gzip
import json
import sys

FIELDS = (
    "name version section priority maintainer size installedSize essential description homepage "
    "tags depends recommends"
).split()
opener = gzip.open if sys.argv[1].endswith(".gz") else open
with (
    opener(sys.argv[1], "rt", encoding="utf-8") as source,
    open(sys.argv[2], "w", encoding="utf-8") as target,
):
    for line in source:
        values = (json.loads(line).get(field) for field in FIELDS)
        cells = (
            ",".join(v)
            if isinstance(v, list)
            else str(v).lower()
            if isinstance(v, bool)
            else ""
            if v is None
            else str(v)
            for v in values
        )
        target.write("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in cells) + "\n")
