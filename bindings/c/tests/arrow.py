"""Arrow's C data interface in ctypes: streams made of Python's values, right and wrong ones, and
streams that the library gives, read as plain Python.
"""

import ctypes
import struct
from decimal import Decimal

from toft_header import ArrowArrayStream as Stream


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
GET_LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Stream))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))

Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", RELEASE_SCHEMA),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p),
]


class Column:
    """A column to hand in: its type, and its memory as bytes, one for each buffer."""

    def __init__(
        self, name, format, length, /, *buffers, children=(), dictionary=None, extension="", **wrong
    ):
        """`wrong`: members of the array or the schema that are set in place of the right ones."""
        self.name, self.format, self.length = name, format, length
        self.buffers, self.children, self.dictionary = buffers, children, dictionary
        self.extension, self.wrong = extension, wrong


def ints(name, numbers, **wrong):
    """A column of int64; None is null."""
    bits = sum(1 << row for row, number in enumerate(numbers) if number is not None)
    validity = bits.to_bytes((len(numbers) + 7) // 8, "little")
    packed = struct.pack(f"={len(numbers)}q", *(number or 0 for number in numbers))
    return Column(name, "l", len(numbers), validity, packed, **wrong)


def texts(name, strings, **wrong):
    """A column of utf8; None is null."""
    bits = sum(1 << row for row, string in enumerate(strings) if string is not None)
    data, offsets = b"", [0]
    for string in strings:
        data += (string or "").encode()
        offsets.append(len(data))
    return Column(
        name,
        "u",
        len(strings),
        bits.to_bytes((len(strings) + 7) // 8, "little"),
        struct.pack(f"={len(offsets)}i", *offsets),
        data,
        **wrong,
    )


class Producer:
    """A stream of batches of columns; it counts what the consumer releases."""

    def __init__(self, *batches, error=None, **wrong):
        """`error`: the number that get_next returns at the end, with a message."""
        self.batches, self.error = list(batches), error
        self.released = self.given = 0
        self._kept = []
        self._next = 0
        self._message = ctypes.create_string_buffer(b"the disk is on fire")
        self.functions = (
            GET_SCHEMA(self._get_schema),
            GET_NEXT(self._get_next),
            GET_LAST_ERROR(lambda _: ctypes.addressof(self._message)),
            RELEASE_STREAM(self._release_stream),
        )
        addresses = [ctypes.cast(each, ctypes.c_void_p).value for each in self.functions]
        self.stream = Stream(*addresses, None)
        self._free_schema = RELEASE_SCHEMA(self._release_part)
        self._free_array = RELEASE_ARRAY(self._release_part)
        for name, value in wrong.items():
            setattr(self.stream, name, value)
        self.stream.keep = self

    @property
    def is_released(self):
        """Whether the stream and all that it gave have been released."""
        return not self.stream.release and self.released == self.given

    def _release_stream(self, stream):
        stream.contents.release = None

    def _release_part(self, part):
        part.contents.release = type(part.contents.release)()
        self.released += 1

    def _get_schema(self, _, out):
        root = Column("", "+s", 0, children=self.batches[0] if self.batches else ())
        ctypes.pointer(out.contents)[0] = self._schema(root, is_root=True)
        return 0

    def _get_next(self, _, out):
        if self._next == len(self.batches):
            out.contents.release = RELEASE_ARRAY()
            return self.error or 0
        columns = self.batches[self._next]
        self._next += 1
        length = columns[0].length if columns else 0
        root = Column("", "+s", length, None, children=columns)
        ctypes.pointer(out.contents)[0] = self._array(root, is_root=True)
        return 0

    def _pointers(self, kind, things):
        made = [ctypes.pointer(thing) for thing in things]
        self._kept.append(made)
        found = (ctypes.POINTER(kind) * max(1, len(made)))(*made)
        self._kept.append(found)
        return found

    def _schema(self, column, is_root=False):
        children = [self._schema(child) for child in column.children]
        schema = Schema(
            column.format.encode(), column.name.encode(), n_children=len(children), flags=2
        )
        schema.children = self._pointers(Schema, children)
        if column.extension:
            pair = [b"ARROW:extension:name", column.extension.encode()]
            packed = struct.pack("=i", 1)
            for part in pair:
                packed += struct.pack("=i", len(part)) + part
            memory = ctypes.create_string_buffer(packed, len(packed))
            self._kept.append(memory)
            schema.metadata = ctypes.addressof(memory)
        if column.dictionary:
            schema.dictionary = self._pointers(Schema, [self._schema(column.dictionary)])[0]
        schema.release = self._free_schema
        self.given += is_root
        self._spoil(schema, column)
        return schema

    def _array(self, column, is_root=False):
        memory = [
            None if each is None else ctypes.create_string_buffer(each, len(each) + 1)
            for each in column.buffers
        ]
        addresses = [None if each is None else ctypes.addressof(each) for each in memory]
        buffers = (ctypes.c_void_p * max(1, len(memory)))(*addresses)
        self._kept += [memory, buffers]
        array = Array(column.length, -1, 0, len(memory), len(column.children))
        array.buffers = buffers
        array.children = self._pointers(Array, [self._array(child) for child in column.children])
        if column.dictionary:
            array.dictionary = self._pointers(Array, [self._array(column.dictionary)])[0]
        array.release = self._free_array
        self.given += is_root
        self._spoil(array, column)
        return array

    @staticmethod
    def _spoil(structure, column):
        for name, value in column.wrong.items():
            if name in dict(structure._fields_):
                setattr(structure, name, value)


# ------------------------------------------------------------------------------------------ Reading


class Failed(Exception):
    """A function of a stream returned an error."""


class Table:
    """All of a stream that the library gave: its schema, and its columns as Python's values."""

    def __init__(self, stream):
        self.formats, self.columns, self.batch_sizes = {}, {}, []
        schema = Schema()
        self._call(stream, stream.get_schema, GET_SCHEMA, schema)
        fields = [schema.children[index].contents for index in range(schema.n_children)]
        self.names = [field.name.decode() for field in fields]
        self.formats = {field.name.decode(): format_of(field) for field in fields}
        self.nullable = {field.name.decode() for field in fields if field.flags & 2}
        self.columns = {name: [] for name in self.names}
        while True:
            array = Array()
            self._call(stream, stream.get_next, GET_NEXT, array)
            if not array.release:
                break
            self.batch_sizes.append(array.length)
            for index, field in enumerate(fields):
                child = array.children[index].contents
                self.columns[self.names[index]] += cells(field, child)
            array.release(array)
        schema.release(schema)
        RELEASE_STREAM(stream.release)(stream)

    @staticmethod
    def _call(stream, function, kind, out):
        if kind(function)(stream, out):
            message = GET_LAST_ERROR(stream.get_last_error)(stream)
            raise Failed(ctypes.string_at(message).decode() if message else "")


def format_of(field):
    """A format with those of its children and its dictionary: `+L(l)`."""
    found = field.format.decode()
    if field.metadata:
        found += " " + extension_of(field.metadata)
    if field.dictionary:
        found += f"[{format_of(field.dictionary.contents)}]"
    if field.n_children:
        inner = (field.children[index].contents for index in range(field.n_children))
        found += "(" + ",".join(map(format_of, inner)) + ")"
    return found


def extension_of(metadata):
    """The name of an extension type."""
    size = ctypes.c_int32.from_address(metadata + 4).value
    value = metadata + 8 + size
    count = ctypes.c_int32.from_address(value).value
    return ctypes.string_at(value + 4, count).decode()


CODES = {"l": "q", "f": "f", "g": "d", "i": "i"}


def cells(field, array):
    """The values of an array, None for null."""
    validity = array.buffers[0] if array.n_buffers else None
    found = []
    for row in range(array.length):
        if validity:
            byte = ctypes.c_uint8.from_address(validity + row // 8).value
            if not byte >> row % 8 & 1:
                found.append(None)
                continue
        found.append(cell(field, array, row))
    nulls = sum(each is None for each in found) if validity else 0
    assert array.null_count == nulls, (field.name, array.null_count, nulls)
    return found


def cell(field, array, row):
    """One value that is there."""
    kind = field.format.decode()
    if field.dictionary:
        code = ctypes.c_int32.from_address(array.buffers[1] + 4 * row).value
        values = array.dictionary.contents
        assert 0 <= code < values.length
        return cell(field.dictionary.contents, values, code)
    if kind in CODES:
        size = struct.calcsize(CODES[kind])
        memory = ctypes.string_at(array.buffers[1] + size * row, size)
        return struct.unpack(f"={CODES[kind]}", memory)[0]
    if kind == "b":
        return bool(ctypes.c_uint8.from_address(array.buffers[1] + row // 8).value >> row % 8 & 1)
    if kind == "tsu:UTC":
        return ctypes.c_int64.from_address(array.buffers[1] + 8 * row).value
    if kind.startswith("d:38,"):
        memory = ctypes.string_at(array.buffers[1] + 16 * row, 16)
        number = int.from_bytes(memory, "little", signed=True)
        return Decimal(number).scaleb(-int(kind.split(",")[1]))
    if kind.startswith("w:"):
        size = int(kind[2:])
        return ctypes.string_at(array.buffers[1] + size * row, size)
    if kind == "+s":
        fields = [field.children[index].contents for index in range(field.n_children)]
        return {
            each.name.decode(): cells(each, array.children[index].contents)[row]
            for index, each in enumerate(fields)
        }
    width = ctypes.c_int32 if kind == "+m" else ctypes.c_int64
    step = ctypes.sizeof(width)
    start = width.from_address(array.buffers[1] + step * row).value
    end = width.from_address(array.buffers[1] + step * (row + 1)).value
    if kind in ("U", "Z"):
        data = ctypes.string_at(array.buffers[2] + start, end - start)
        return data.decode() if kind == "U" else data
    inner = cells(field.children[0].contents, array.children[0].contents)[start:end]
    return {each["key"]: each["value"] for each in inner} if kind == "+m" else inner
