"""Builds the wheel: the package with the shared library inside.

The library is the one that TOFT_LIBRARY names, else the one that CMake has built in the checkout's
build/ folder:

    cmake -S ../../cmake -B ../../build && cmake --build ../../build && pip wheel .
"""

import os
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before version 70
    from wheel.bdist_wheel import bdist_wheel

BUILT = Path(__file__).resolve().parent.parent.parent / "build" / "libtoft.so"


class BuildWithLibrary(build_py):
    """Puts the library beside the modules."""

    def run(self):
        super().run()
        library = Path(os.environ.get("TOFT_LIBRARY") or BUILT)
        if not library.exists():
            raise SystemExit(
                f"{library} is not there: build it with CMake first, or set TOFT_LIBRARY to its "
                f"path"
            )
        shutil.copyfile(library, Path(self.build_lib) / "toft" / "libtoft.so")


class WheelOfThisMachine(bdist_wheel):
    """A wheel for any Python 3, but only for this kind of machine."""

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform


class WithLibrary(Distribution):
    """Is installed in the place of compiled packages."""

    def has_ext_modules(self):
        return True


setup(
    distclass=WithLibrary,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelOfThisMachine},
)
