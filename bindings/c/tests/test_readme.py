"""The program in README.md is one: it compiles without a warning and says what it should."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIBRARY = pathlib.Path(os.environ["TOFT_LIBRARY"]).resolve()


class ReadmeTests(unittest.TestCase):
    def test_the_program_compiles_and_runs(self):
        program = re.search(r"```c\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
        with tempfile.TemporaryDirectory() as directory:
            source, binary = pathlib.Path(directory) / "dogs.c", pathlib.Path(directory) / "dogs"
            source.write_text(program)
            flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT / 'include'}", str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}"]
            subprocess.run(["cc", str(source), "-o", str(binary), *flags], check=True)
            for _ in range(2):
                result = subprocess.run([str(binary)], cwd=directory, capture_output=True, text=True, timeout=60)
                self.assertEqual((result.returncode, result.stdout), (0, "1 young dogs\n"), result.stderr)

    def test_its_commands_exist_and_ci_runs_the_second(self):
        text = (ROOT / "README.md").read_text()
        main, tests = re.findall(r"^    (\S+)$", text, re.MULTILINE)[:2]
        for command in (main, tests):
            self.assertTrue(os.access(ROOT / command, os.X_OK), command)
        self.assertRegex((ROOT / ".ci" / "run").read_text(), rf"CI=true exec {re.escape(tests)}\n")


if __name__ == "__main__":
    unittest.main()
