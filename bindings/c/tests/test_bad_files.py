# Tests: CallingThread.swift, HandleOwner.swift
"""Files that are not a database, or one no longer, and places for files that can't have one:

a clear error each.
"""

import contextlib
import ctypes
import os
import pathlib
import random
import resource
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import unittest

from calls import (
    E,
    S,
    ToftError,
    check,
    get,
    open_realm,
    property_schema,
    sized,
    status,
    status_name,
    text,
    values,
)

NOTES = {
    "Note": [
        property_schema("id", E.TOFT_TYPE_INT, E.TOFT_PROPERTY_PRIMARY_KEY),
        property_schema("text", E.TOFT_TYPE_STRING, E.TOFT_PROPERTY_INDEXED),
        property_schema("next", E.TOFT_TYPE_LINK, E.TOFT_PROPERTY_NULLABLE, "Note"),
        property_schema("tags", E.TOFT_TYPE_STRING, E.TOFT_PROPERTY_LIST),
    ]
}
PAGE = 4096


class Notes:
    """A database of numbered notes."""

    def __init__(self, **arguments):
        self.realm = open_realm(NOTES, **arguments)
        self.note = get("toft_realm_find_class", self.realm, text("Note"))
        self.keys = [
            get("toft_realm_find_property", self.realm, self.note, text(name))
            for name in ("id", "text")
        ]

    def add(self, first, count, size=20):
        keys = (ctypes.c_uint32 * 2)(*self.keys)
        check("toft_realm_begin_write", self.realm, None)
        try:
            for number in range(first, first + count):
                check(
                    "toft_realm_create_object",
                    self.realm,
                    self.note,
                    E.TOFT_UPDATE_ERROR,
                    keys,
                    values([number, f"note {number} " + "x" * size]),
                    2,
                    None,
                    None,
                    None,
                )
            check("toft_realm_commit", self.realm, None, None)
        except ToftError:
            status("toft_realm_cancel", self.realm)
            raise

    def count(self):
        return get("toft_realm_object_count", self.realm, self.note)

    def read_all(self):
        """Reads every note; gives their numbers."""
        results = get("toft_realm_objects", self.realm, self.note)
        try:
            numbers = []
            for index in range(get("toft_results_count", results)):
                found = get("toft_results_object", results, index)
                try:
                    number = get("toft_object_get", found, self.keys[0])
                    words = get("toft_object_get", found, self.keys[1])
                finally:
                    check("toft_object_release", found)
                assert words.startswith(f"note {number} ")
                numbers.append(number)
            return numbers
        finally:
            check("toft_results_release", results)

    def problems(self):
        report, room, size = (
            sized(S.toft_check_report),
            ctypes.create_string_buffer(10_000),
            ctypes.c_size_t(),
        )
        check(
            "toft_realm_check", self.realm, ctypes.byref(report), room, 10_000, ctypes.byref(size)
        )
        return room.raw[: min(size.value, 10_000)].decode()

    def close(self):
        check("toft_realm_close", self.realm)
        check("toft_realm_release", self.realm)


class BadFileTests(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="toft-"))
        os.chmod(self.directory, 0o755)
        self.path = self.directory / "notes.toft"

    def tearDown(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def refuse(self, expected, *words, path=None, **arguments):
        """Opening fails with a code, and the message has the words in it."""
        with self.assertRaises(ToftError) as caught:
            check("toft_realm_close", open_realm(NOTES, path=str(path or self.path), **arguments))
        self.assertEqual(status_name(caught.exception.status), expected, caught.exception.message)
        for word in words:
            self.assertIn(word, caught.exception.message)

    def sound(self, count=2000):
        """A database of some hundred pages, closed."""
        notes = Notes(path=str(self.path))
        notes.add(0, count)
        self.assertEqual(notes.problems(), "")
        notes.close()

    # --- Files of others

    def test_a_file_of_another_kind_is_refused_and_left_as_it_is(self):
        for name, content in {
            "text": b"Dear diary,\n" * 1000,
            "zeros": b"\0" * 20_000,
            "noise": random.Random(1).randbytes(20_000),
            "short": b"x",
            "PNG": b"\x89PNG\r\n\x1a\n" + b"\0" * 9000,
        }.items():
            with self.subTest(name):
                self.path.write_bytes(content)
                self.refuse("TOFT_ERROR_NOT_A_DATABASE", str(self.path))
                self.refuse("TOFT_ERROR_NOT_A_DATABASE", str(self.path), mode=E.TOFT_MODE_READ_ONLY)
                self.assertEqual(self.path.read_bytes(), content)

    def test_a_file_without_a_byte_becomes_a_database_but_not_for_who_may_make_none(self):
        self.path.touch(mode=0o640)
        for mode in (E.TOFT_MODE_READ_ONLY, E.TOFT_MODE_EXISTING):
            self.refuse("TOFT_ERROR_NOT_A_DATABASE", str(self.path), "is an empty file", mode=mode)
            self.assertEqual(self.path.stat().st_size, 0)
        self.sound(10)
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o640)
        notes = Notes(path=str(self.path), mode=E.TOFT_MODE_EXISTING)
        self.assertEqual(notes.problems(), "")
        notes.close()

    def test_a_realm_file_is_called_by_its_name(self):
        header = bytes(16) + b"T-DB" + bytes([24, 24, 0, 0])
        self.path.write_bytes(header + bytes(8192))
        self.refuse("TOFT_ERROR_NOT_A_DATABASE", "Realm file")

    def test_an_sqlite_database_is_called_by_its_name(self):
        connection = sqlite3.connect(self.path)
        connection.execute("CREATE TABLE note (id INTEGER)")
        connection.commit()
        connection.close()
        self.refuse("TOFT_ERROR_NOT_A_DATABASE", "SQLite")

    # --- Files that were ours

    def test_a_truncated_file_is_refused_or_gives_an_error_when_it_is_read(self):
        self.sound()
        whole = self.path.read_bytes()
        sizes = [
            1,
            100,
            PAGE - 1,
            PAGE,
            PAGE + 1,
            2 * PAGE,
            3 * PAGE,
            len(whole) // 2,
            len(whole) - PAGE,
            len(whole) - 1,
        ]
        for size in sizes:
            for mode in (E.TOFT_MODE_READ_WRITE, E.TOFT_MODE_READ_ONLY):
                with self.subTest(size=size, mode=mode):
                    self.path.write_bytes(whole[:size])
                    self.assertIn(
                        self.read_damaged(mode),
                        ("TOFT_ERROR_CORRUPT", "TOFT_ERROR_NOT_A_DATABASE", "found by the check"),
                    )

    def test_a_damaged_page_is_found_by_reading_or_by_the_check_unless_it_is_free(self):
        self.sound()
        whole = self.path.read_bytes()
        generator = random.Random(20)
        # Frames that are no longer replayed are not read.
        log = self.log_pages(whole)
        pages = [page for page in range(2, len(whole) // PAGE, 3) if page not in log]
        found = 0
        for page in pages:
            damaged = bytearray(whole)
            at = page * PAGE + generator.randrange(PAGE)
            damaged[at] ^= 1 << generator.randrange(8)
            self.path.write_bytes(damaged)
            result = self.read_damaged(E.TOFT_MODE_READ_WRITE)
            self.assertIn(
                result,
                ("TOFT_OK", "TOFT_ERROR_CORRUPT", "found by the check"),
                f"bit flipped in page {page}, at {at}",
            )
            found += result != "TOFT_OK"
        used = (self.used_pages(whole) - len(log)) / (len(whole) / PAGE - len(log))
        self.assertGreater(
            found,
            0.8 * used * len(pages),
            f"{found} of {len(pages)}, while {used:.2f} of the file is in use",
        )

    def log_pages(self, whole):
        """The pages that the newest meta lists as the log's."""
        newest = max(
            (whole[:PAGE], whole[PAGE : 2 * PAGE]),
            key=lambda meta: struct.unpack_from("<Q", meta, 64),
        )
        (count,) = struct.unpack_from("<I", newest, 176)
        segments = [struct.unpack_from("<QQ", newest, 312 + 24 * index) for index in range(count)]
        return {page for first, length in segments for page in range(first, first + length)}

    def used_pages(self, whole):
        self.path.write_bytes(whole)
        notes = Notes(path=str(self.path))
        report, size = sized(S.toft_check_report), ctypes.c_size_t()
        check("toft_realm_check", notes.realm, ctypes.byref(report), None, 0, ctypes.byref(size))
        notes.close()
        return report.page_count

    def read_damaged(self, mode):
        """Opens, reads everything and checks:

        TOFT_OK, with right answers, or how the damage was found.
        """
        try:
            realm = open_realm(None, path=str(self.path), mode=mode)
        except ToftError as error:
            return status_name(error.status)
        notes = Notes.__new__(Notes)
        notes.realm = realm
        try:
            notes.note = get("toft_realm_find_class", realm, text("Note"))
            notes.keys = [
                get("toft_realm_find_property", realm, notes.note, text(name))
                for name in ("id", "text")
            ]
            self.assertEqual(notes.read_all(), list(range(2000)))
            return "found by the check" if notes.problems() else "TOFT_OK"
        except ToftError as error:
            notes.problems()
            return status_name(error.status)
        finally:
            notes.close()

    def test_a_file_of_a_later_format_is_refused(self):
        self.sound(10)
        content = bytearray(self.path.read_bytes())
        for page in (0, 1):
            content[page * PAGE + 8] = 99
        self.path.write_bytes(content)
        with self.assertRaises(ToftError) as caught:
            open_realm(NOTES, path=str(self.path))
        self.assertEqual(status_name(caught.exception.status), "TOFT_ERROR_UNSUPPORTED_FORMAT")
        self.assertIn("99", caught.exception.detail)
        # Calls on damaged files read no flag that they do not know.
        names = text(str(self.path)), text(str(self.directory / "new.toft"))
        options = sized(S.toft_salvage_options, path=names[0], new_path=names[1])
        report, sizes = sized(S.toft_salvage_report), sized(S.toft_compaction)
        for name, arguments in {
            "toft_salvage": (ctypes.byref(options), ctypes.byref(report)),
            "toft_compact": (names[0], ctypes.byref(sizes)),
            "toft_change_key": (names[0], None, 0, None, 0),
        }.items():
            self.assertEqual(
                status_name(status(name, *arguments)), "TOFT_ERROR_UNSUPPORTED_FORMAT", name
            )
        self.assertEqual(self.path.read_bytes(), content)

    # --- Places

    def test_a_directory_and_missing_places_are_told_apart(self):
        self.refuse("TOFT_ERROR_IS_DIRECTORY", path=self.directory)
        self.refuse("TOFT_ERROR_FILE_NOT_FOUND", path=self.directory / "missing" / "notes.toft")
        self.refuse("TOFT_ERROR_FILE_NOT_FOUND", mode=E.TOFT_MODE_EXISTING)
        self.refuse("TOFT_ERROR_FILE_NOT_FOUND", mode=E.TOFT_MODE_READ_ONLY)
        self.assertFalse(self.path.exists())
        self.refuse("TOFT_ERROR_FILE_ACCESS", path=self.directory / ("n" * 300))
        self.sound(10)
        self.refuse("TOFT_ERROR_FILE_NOT_FOUND", path=self.path / "notes.toft")

    def test_a_file_that_could_have_no_lock_file_is_not_made(self):
        for name, code in (
            ("n" * 251, "TOFT_ERROR_FILE_ACCESS"),
            ("directory", "TOFT_ERROR_INCOMPATIBLE_PROCESS"),
            ("pipe", "TOFT_ERROR_INCOMPATIBLE_PROCESS"),
            ("text", "TOFT_ERROR_INCOMPATIBLE_PROCESS"),
        ):
            path = self.directory / name
            lock = self.directory / f"{name}.lock"
            if name == "directory":
                lock.mkdir()
            elif name == "pipe":
                os.mkfifo(lock)
            elif name == "text":
                lock.write_text("Dear diary")
            with self.subTest(name[:9]):
                self.refuse(code, str(lock), path=path)
                self.assertFalse(path.exists())

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become nobody")
    def test_permissions_that_are_missing_are_told(self):
        programs = pathlib.Path(tempfile.mkdtemp(prefix="toft-program-"))
        self.addCleanup(shutil.rmtree, programs)
        os.chmod(programs, 0o755)
        shutil.copy(os.environ["TOFT_HELLO"], programs / "hello")
        shutil.copy(os.environ["TOFT_LIBRARY"], programs / "libtoft.so.1")
        self.sound(10)
        for name, file_mode, directory_mode, path in (
            ("a file that may not be read", 0o600, 0o777, self.path),
            ("a file that may not be written", 0o644, 0o777, self.path),
            ("a directory that may not be entered", 0o666, 0o600, self.path),
            (
                "a new file in a directory that may not be written",
                0o666,
                0o555,
                self.directory / "new.toft",
            ),
        ):
            with self.subTest(name):
                os.chmod(self.path, file_mode)
                os.chmod(self.directory, directory_mode)
                result = self.as_nobody(programs, path)
                self.assertEqual(result.returncode, 1, result)
                self.assertIn("TOFT_ERROR_PERMISSION_DENIED", result.stderr)
                self.assertIn(str(self.directory), result.stderr)

    @staticmethod
    def as_nobody(programs, path):
        """Runs the example hello on a file, without rights."""
        command = [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            str(programs / "hello"),
            str(path),
        ]
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": str(programs) + ":" + os.environ.get("LD_LIBRARY_PATH", ""),
        }
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount")
    def test_a_full_disk_changes_nothing_and_goes_on_when_there_is_room(self):
        with self.small_disk("3m") as disk:
            notes = Notes(path=str(disk / "notes.toft"))
            notes.add(0, 100)
            written = 100
            with self.assertRaises(ToftError) as caught:
                while written < 100_000:
                    notes.add(written, 500, size=200)
                    written += 500
            self.assertEqual(status_name(caught.exception.status), "TOFT_ERROR_DISK_FULL")
            self.assertEqual(notes.count(), written)
            self.assertEqual(notes.read_all(), list(range(written)))
            self.assertEqual(notes.problems(), "")
            check("toft_realm_begin_write", notes.realm, None)
            check("toft_realm_cancel", notes.realm)
            subprocess.run(["mount", "-o", "remount,size=30m", str(disk)], check=True)
            notes.add(written, 500, size=200)
            self.assertEqual(notes.count(), written + 500)
            self.assertEqual(notes.problems(), "")
            notes.close()

    def test_a_file_as_long_as_it_may_be_stays_whole_and_goes_on_when_it_may_grow(self):
        notes = Notes(path=str(self.path))
        notes.add(0, 100)
        written = 100
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, hard))
            with self.assertRaises(ToftError) as caught:
                while written < 100_000:
                    notes.add(written, 500, size=200)
                    written += 500
            self.assertEqual(status_name(caught.exception.status), "TOFT_ERROR_FILE_TOO_LARGE")
            self.assertIn(f"'{self.path}' would grow beyond", str(caught.exception))
            self.assertGreater(written, 1000)
            self.assertEqual(notes.read_all(), list(range(written)))
            self.assertLessEqual(self.path.stat().st_size, 4 << 20)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        notes.add(written, 500, size=200)
        self.assertEqual(notes.count(), written + 500)
        self.assertEqual(notes.problems(), "")
        notes.close()

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount")
    def test_a_disk_too_small_for_a_new_file_is_told(self):
        with self.small_disk("8k") as disk:
            (disk / "filler").write_bytes(b"x" * 4096)
            self.refuse("TOFT_ERROR_DISK_FULL", path=disk / "notes.toft")

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount")
    def test_a_read_only_disk_can_be_read_and_not_written(self):
        with self.small_disk("10m") as disk:
            notes = Notes(path=str(disk / "notes.toft"))
            notes.add(0, 10)
            notes.close()
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            for name in ("notes.toft", "new.toft"):
                self.refuse("TOFT_ERROR_READ_ONLY", str(disk), path=disk / name)
            reading = Notes(path=str(disk / "notes.toft"), mode=E.TOFT_MODE_READ_ONLY)
            self.assertEqual(reading.count(), 10)
            self.assertEqual(
                status_name(status("toft_realm_begin_write", reading.realm, None)),
                "TOFT_ERROR_READ_ONLY",
            )
            reading.close()

    @contextlib.contextmanager
    def small_disk(self, size):
        disk = self.directory / "disk"
        disk.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], capture_output=True
        )
        if mounted.returncode != 0:
            self.skipTest("mounting is not allowed here")
        try:
            yield disk
        finally:
            subprocess.run(["umount", "-l", str(disk)], check=True)

    def test_a_read_only_realm_reads_and_refuses_to_write(self):
        self.sound(10)
        notes = Notes(path=str(self.path), mode=E.TOFT_MODE_READ_ONLY)
        self.assertEqual(notes.read_all(), list(range(10)))
        self.assertEqual(
            status_name(status("toft_realm_begin_write", notes.realm, None)), "TOFT_ERROR_READ_ONLY"
        )
        notes.close()

    def test_a_copy_of_a_closed_file_is_all_there_is(self):
        self.sound(10)
        copy = self.directory / "copy.toft"
        shutil.copy(self.path, copy)
        notes = Notes(path=str(copy))
        self.assertEqual(notes.read_all(), list(range(10)))
        notes.add(10, 5)
        notes.close()


if __name__ == "__main__":
    unittest.main()
