"""Toft: an embedded object database in a single file.

    import toft

    class Dog(toft.Object):
        name: str
        age: int = 0

    with toft.open("dogs.toft", [Dog]) as realm:
        with realm.write():
            realm.create(Dog, name="Rex", age=3)
        for dog in realm.objects(Dog).where(Dog.age > 2).sort(Dog.name):
            print(dog.name)

Objects, collections and results are live: they always show their realm's version of the data.
Writes are ACID transactions, over all threads and processes. Observers are notified of changes,
down to the indices.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import errors
from ._ffi import TOFT_VERSION as __version__
from ._ffi import toft_change_kind as ChangeKind
from ._ffi import toft_schema_change_kind as SchemaChangeKind
from ._ffi import toft_status as Status
from ._lib import handle_count
from ._lib import version as library_version
from .conversions import StoredAs
from .database import CheckReport, CompactionStep, Info, Pin, Realm
from .dates import date_trunc
from .dicts import Dict
from .errors import *  # noqa: F403
from .errors import FileExistsError as FileExistsError
from .errors import FileNotFoundError as FileNotFoundError
from .errors import InterruptedError as InterruptedError
from .errors import OverflowError as OverflowError
from .expressions import Condition, Expression, Increment, Order, text
from .grouping import Groups
from .identifiers import ObjectId
from .lists import List
from .log import set_log_level
from .migration import Migration
from .objects import EmbeddedObject, Object, Property
from .observe import Changes, Observation
from .opening import (
    Compaction,
    RealmImport,
    Salvage,
    SalvagedClass,
    SchemaChange,
    change_key,
    compact,
    delete_files,
    dry_run,
    import_realm,
    open_async,
    open_in_memory,
    salvage,
    schema_version,
)
from .opening import open as open
from .prepared import Query
from .query import Results
from .schema import Float32, Mixed, PropertyInfo, field, fields, linking_objects
from .sets import Set
from .timestamps import Timestamp

if _TYPE_CHECKING:
    from .shared import Database

# The names of `from toft import *`: nothing that hides a builtin.
__all__ = [
    "ChangeKind",
    "Changes",
    "CheckReport",
    "Compaction",
    "CompactionStep",
    "Condition",
    "Database",
    "Dict",
    "EmbeddedObject",
    "Expression",
    "Float32",
    "Groups",
    "Increment",
    "Info",
    "List",
    "Migration",
    "Mixed",
    "Object",
    "ObjectId",
    "Observation",
    "Order",
    "Pin",
    "Property",
    "PropertyInfo",
    "Query",
    "Realm",
    "RealmImport",
    "Results",
    "Salvage",
    "SalvagedClass",
    "SchemaChange",
    "SchemaChangeKind",
    "Set",
    "Status",
    "StoredAs",
    "Timestamp",
    "__version__",
    "change_key",
    "compact",
    "date_trunc",
    "delete_files",
    "dry_run",
    "errors",
    "field",
    "fields",
    "handle_count",
    "import_realm",
    "library_version",
    "linking_objects",
    "open_async",
    "open_in_memory",
    "salvage",
    "schema_version",
    "set_log_level",
    "text",
]
__all__ += errors.__all__


if not _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any:
        """`Database` is for servers: other programs do not load it."""
        if name != "Database":
            raise AttributeError(f"module 'toft' has no attribute {name!r}")
        from .shared import Database

        globals()[name] = Database
        return Database
