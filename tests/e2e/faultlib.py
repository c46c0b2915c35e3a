"""Steering of the interposer tests/fault/fault.c: one call of a kind fails.

FAULTS in the environment says which calls: nothing for a sample, a number for
so many of each kind, "all" for every one, "kind:number" for that one alone.
"""

import contextlib
import mmap
import os
import struct
import subprocess

import lib

# In the order of enum fault_kind in tests/fault/fault.h, from 1 on.
KINDS = ("alloc open read write sync socket connect bind accept recv send "
         "epoll pipe splice option map thread stat").split()
FIELDS = 4 + 1 + len(KINDS)
WANTED = os.environ.get("FAULTS", "")


def numbers(kind, count, most):
    """Which of the calls 1 ... COUNT of KIND are to fail: at most MOST, the
    first and the last ones and others between them."""
    if ":" in WANTED:
        only, number = WANTED.split(":")
        return [int(number)] if only == kind else []
    if WANTED.isdigit():
        most = int(WANTED)
    if WANTED == "all" or count <= most:
        return list(range(1, count + 1))
    if most == 1:
        return [(count + 1) // 2]
    return sorted({1 + i * (count - 1) // (most - 1) for i in range(most)})


class Found(list):
    """What was found wrong: all of it is told, not the first alone."""

    @contextlib.contextmanager
    def collect(self):
        try:
            yield
        except AssertionError as e:
            self.append(str(e))

    def none(self):
        lib.check(not self, "\n\n".join([f"{len(self)} found", *self[:20]]))


def interposer():
    """The library to load first: of the build that is tested."""
    path = os.path.join(lib.TOP, "build", "tests", "fault.so")
    subprocess.run(["make", "-s", "--no-print-directory", "-C", str(lib.TOP),
                    "fault"], check=True)
    return path


class Faults:
    """The plan that a program and its test share."""

    def __init__(self, where, library):
        self.path = where / "fault-plan"
        self.path.write_bytes(bytes(4 * FIELDS))
        with open(self.path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        # The leak check has the last word on the exit code: 23.
        asan = os.environ.get("ASAN_OPTIONS", "")
        self.env = {"FAULT_FILE": str(self.path), "LD_PRELOAD": library,
                    "ASAN_OPTIONS": ":".join(filter(None, [
                        asan, "verify_asan_link_order=0",
                        "allocator_may_return_null=1"]))}

    def _get(self, i):
        return struct.unpack_from("=I", self._map, 4 * i)[0]

    def _set(self, i, value):
        struct.pack_into("=I", self._map, 4 * i, value)

    def arm(self, kind, nth, times=1):
        """Let the NTH call of KIND from now on fail, and TIMES - 1 more."""
        self.disarm()
        self._set(1, nth - 1)
        self._set(2, times)
        self._set(3, 0)
        self._set(0, 1 + KINDS.index(kind))

    def disarm(self):
        self._set(0, 0)

    @property
    def fired(self):
        return self._get(3)

    def counts(self):
        return {kind: self._get(5 + i) for i, kind in enumerate(KINDS)}

    def close(self):
        self._map.close()
