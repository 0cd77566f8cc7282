"""Pretends that the machine has more processors: a library to preload into child processes."""

import os
import shutil

import deadline
import pytest

SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#define COUNT %d
static int fill(size_t size, cpu_set_t *set) {
    CPU_ZERO_S(size, set);
    for (int at = 0; at < COUNT; at++) CPU_SET_S(at, size, set);
    return 0;
}
int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set) { return fill(size, set); }
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set) { return fill(size, set); }
int get_nprocs(void) { return COUNT; }
int get_nprocs_conf(void) { return COUNT; }
long sysconf(int name) {
    if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) return COUNT;
    return ((long (*)(int))dlsym(RTLD_NEXT, "sysconf"))(name);
}
"""


def environment(folder, processors):
    """The variables of a child that sees so many processors, and none that say how many threads to use."""
    compiler = shutil.which("cc")
    if compiler is None or not os.path.isdir("/proc/self/task"):
        pytest.skip("needs a C compiler and Linux's /proc")
    source, library = folder / "processors.c", folder / "processors.so"
    source.write_text(SHIM % processors)
    deadline.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return plain() | {"LD_PRELOAD": str(library)}


def plain():
    """The variables of a child, without those that say how many threads to use."""
    names = ("RETROGRADE_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_WAIT_POLICY")
    return {name: value for name, value in os.environ.items() if name not in names}
