"""objects.py DATABASE FOLDER fill | write | read: objects of every type, and the files of a folder
that hold those of each class, as JSON lines and as comma-separated values.
"""

from __future__ import annotations

import sys
from pathlib import Path

import toft
from things import CLASSES, Part, Thing, fill


def main(database: str, folder: str, command: str) -> None:
    with toft.open(database, CLASSES) as realm:
        if command == "fill":
            with realm.write():
                fill(realm)
        for how in ("json_lines", "csv") if command in ("write", "read") else ():
            if command == "read":
                with realm.write():
                    realm.delete_all()
            for cls in (Thing, Part):
                path = Path(folder) / f"{cls.__name__}.{how}"
                with path.open(command[0], encoding="utf-8", newline="") as file:
                    if command == "write":
                        getattr(realm.objects(cls), f"write_{how}")(file)
                        continue
                    with realm.write():
                        print(how, cls.__name__, getattr(realm, f"read_{how}")(cls, file))
        assert not realm.check().problems


if __name__ == "__main__":
    main(*sys.argv[1:])
