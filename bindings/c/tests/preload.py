"""C programs that the tests compile, and libraries that replace libc's functions in a child
process.
"""

import os
import pathlib
import shutil
import subprocess

INCLUDE = pathlib.Path(__file__).parents[3] / "include"
COMPILER = shutil.which("cc") or shutil.which("clang")

# System calls by number, for a shim that makes some of them fail. The shim defines `static int
# fails(long number)` before it: whether a call fails, with errno set.
_SYSCALL = r"""
long syscall(long number, ...) {
    static long (*next)(long, ...);
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return fails(number) ? -1 : next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
"""

_INCLUDES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
"""


def build(directory, source, name, *flags):
    """Compiles C source and gives the path of the program."""
    code, program = pathlib.Path(directory, f"{name}.c"), pathlib.Path(directory, name)
    code.write_text(source)
    subprocess.run([COMPILER, "-O1", "-I", INCLUDE, code, "-o", program, *flags], check=True)
    return program


def failing_calls(directory, source):
    """The environment of a child process whose system calls fail as `source` says, which defines
    `fails` and other replacements of libc's functions.
    """
    before, _, after = source.partition("/* syscall */")
    whole = _INCLUDES + before + _SYSCALL + after
    shim = build(directory, whole, "shim.so", "-shared", "-fPIC", "-ldl")
    return os.environ | {"LD_PRELOAD": str(shim)}
