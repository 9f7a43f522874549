"""The main job on the bundled sample: its answers against those worked out here, from the same file, without a database."""

import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["TOFT_PACKAGES"]
SAMPLE = pathlib.Path(__file__).parents[1] / "examples" / "packages" / "sample.jsonl"


def grouped(number):
    return f"{number:,}"


class Expected:
    """What the program has to say about some packages."""

    def __init__(self, packages):
        self.packages = packages
        self.names = {package["name"] for package in packages}

    def links(self, kind):
        return sum(1 for package in self.packages for name in package[kind] if name in self.names)

    def missing(self, kind):
        return sum(1 for package in self.packages for name in package[kind] if name not in self.names)

    def dependents(self, name):
        """How many need a package directly, and how many in the end."""
        needed_by = collections.defaultdict(set)
        for package in self.packages:
            for needed in package["depends"]:
                needed_by[needed].add(package["name"])
        seen, queue = {name}, [name]
        while queue:
            for other in needed_by[queue.pop()]:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
        return len(needed_by[name] - {name}), len(seen) - 1

    def lines(self):
        sizes = [package["installedSize"] for package in self.packages]
        libraries = sorted((p for p in self.packages if p["section"] == "libs"), key=lambda p: -p["installedSize"])[:5]
        section = {package["name"]: package["section"] for package in self.packages}
        python = sum(
            1
            for package in self.packages
            if section[package["name"]] != "python" and any(n.startswith("python3") and n in self.names for n in package["depends"])
        )
        alone = sum(1 for p in self.packages if not any(n in self.names for n in p["depends"] + p["recommends"]))
        languages = [
            (language, sum(1 for p in self.packages if f"implemented-in::{language}" in p["tags"])) for language in ("c", "c++", "python", "perl")
        ]
        direct, total = self.dependents("libc6")
        return [
            f"Linked {grouped(self.links('depends'))} dependencies and {grouped(self.links('recommends'))} recommendations; "
            f"{grouped(self.missing('depends'))} and {grouped(self.missing('recommends'))} name no package of these.",
            f"1. Installed, all of it takes {grouped(sum(sizes))} KiB, on average {sum(sizes) / len(sizes):.1f} KiB; "
            f"the largest package takes {grouped(max(sizes))} KiB.",
            "2. The largest libraries: " + ", ".join(f"{p['name']} ({grouped(p['installedSize'])} KiB)" for p in libraries) + ".",
            f"3. libc6 is needed by {grouped(direct)} packages directly, and by {grouped(total)} in the end.",
            f"4. {grouped(python)} packages outside section python depend on a package of Python 3; "
            f"{grouped(alone)} depend on nothing and recommend nothing.",
            "5. Their tags say that they are implemented in "
            + ", ".join(f"{language}: {grouped(count)}" for language, count in languages)
            + f"; {grouped(sum(1 for p in self.packages if len(p['tags']) > 3))} have more than three tags.",
        ]


def run(*arguments):
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, f"{arguments}: {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout


class PackagesTests(unittest.TestCase):
    maxDiff = None

    def check(self, output, packages):
        self.assertIn(f"Loaded {grouped(len(packages))} packages from ", output)
        for line in Expected(packages).lines():
            self.assertIn(line, output.splitlines())

    def check_observation(self, output):
        followed = re.findall(r"version \d+(.*)", output)
        self.assertEqual(
            followed,
            [
                "; inserted 0, 1, 2 -> now example-apple example-banana example-date",
                "; inserted 2; modified 1 -> now example-apple example-banana example-cherry example-date",
                "; deleted 0; modified 3 -> now example-banana example-cherry example-date",
            ],
        )
        self.assertIn("The copy that followed the indices equals the results.", output)

    def test_the_sample_is_loaded_linked_asked_and_observed(self):
        output = run(SAMPLE)
        self.check(output, [json.loads(line) for line in SAMPLE.read_text().splitlines()])
        self.check_observation(output)

    def test_a_status_file_gives_the_same_answers_as_the_same_packages_in_json(self):
        packages = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
        with tempfile.TemporaryDirectory() as directory:
            status = pathlib.Path(directory) / "status"
            status.write_text("\n".join(paragraph(package) for package in packages), encoding="utf-8")
            self.check(run(status), packages)

    def test_a_database_that_was_named_stays_and_is_loaded_again(self):
        with tempfile.TemporaryDirectory() as directory:
            database = pathlib.Path(directory) / "packages.toft"
            first = run("--database", database, SAMPLE)
            self.assertGreater(database.stat().st_size, 100_000)
            second = run("--database", database, SAMPLE)
            answers = [line for line in first.splitlines() if re.match(r"\d\. ", line)]
            self.assertEqual(answers, [line for line in second.splitlines() if re.match(r"\d\. ", line)])

    def test_the_packages_of_this_machine_can_be_loaded(self):
        if not os.access("/var/lib/dpkg/status", os.R_OK):
            self.skipTest("no dpkg here")
        output = run()
        self.assertIn("from /var/lib/dpkg/status", output)
        self.check_observation(output)

    def test_malformed_sources_say_where(self):
        cases = {
            '{"name":"a","size":x}': "an integer is missing",
            '{"name":"a","tags":["b"': "an unfinished list",
            '{"name":"\\ud800"}': "half a surrogate pair",
            '{"name":"a': "an unfinished string",
            '{"name":""}': "a package without a name",
            '{"colour":"red"}': "an unknown key",
        }
        with tempfile.TemporaryDirectory() as directory:
            source = pathlib.Path(directory) / "source"
            for text, problem in cases.items():
                source.write_text('{"name":"first"}\n' + text)
                result = subprocess.run([PROGRAM, str(source)], capture_output=True, text=True, timeout=60)
                self.assertEqual((result.returncode, result.stderr), (1, f"{source}:2: {problem}\n"))


def paragraph(package):
    """A package as dpkg writes it."""
    fields = {
        "Package": package["name"],
        "Essential": "yes" if package["essential"] else None,
        "Status": "install ok installed",
        "Priority": package["priority"],
        "Section": package["section"],
        "Installed-Size": package["installedSize"],
        "Maintainer": package["maintainer"],
        "Version": package["version"],
        "Depends": ", ".join(f"{name} (>= 1.0)" for name in package["depends"]),
        "Recommends": " | ".join(package["recommends"]),
        "Description": package["description"] + "\n A longer one: with a colon.",
        "Homepage": package["homepage"],
        "Tag": ", ".join(package["tags"]),
        "Size": package["size"],
    }
    return "".join(f"{field}: {text}\n" for field, text in fields.items() if text not in (None, ""))


if __name__ == "__main__":
    unittest.main()
