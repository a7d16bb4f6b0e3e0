"""Owns what a process gives up before it runs the code of strangers, without needing any right to
do so.

    memory and files   resource limits: address space, no new files, no core, few descriptors
    files              Landlock: reads only where Python and the package are, writes nowhere
    calls              seccomp: no sockets of any kind, no programs, processes, signals, tracing

Each is taken for good: nothing later in the process, whoever's code it is, can undo it. `confine`
says which are in force; a system that has not all of them does not confine, and its caller is told.
It runs in the child, and touches nothing else.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import signal
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

# Room for Python, this program's modules and an object's data; more is a MemoryError there.
MEMORY_BYTES_MAX = 512 * 1024 * 1024
DESCRIPTORS_MAX = 64

FILES, CALLS, LIMITS = "files", "calls", "limits"
ALL = frozenset({FILES, CALLS, LIMITS})

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_MODE_FILTER = 2


def confine(readable: Iterable[Path]) -> frozenset[str]:
    """Gives up all but reading below `readable`; which limits are in force."""
    if sys.platform != "linux":
        return frozenset()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    done = set()
    if _limit_resources():
        done.add(LIMITS)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        if _limit_files(libc, readable):
            done.add(FILES)
        if _limit_calls(libc):
            done.add(CALLS)
    return frozenset(done)


def _limit_resources() -> bool:
    import resource  # noqa: PLC0415 - not on every system

    wanted = {
        resource.RLIMIT_AS: MEMORY_BYTES_MAX,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: DESCRIPTORS_MAX,
    }
    try:
        for kind, most in wanted.items():
            resource.setrlimit(kind, (most, most))
    except (OSError, ValueError):
        return False
    return True


# Landlock. Numbers of <linux/landlock.h>; the calls have the same numbers on all machines.

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# Rights on files that each version of Landlock knows, and so can take away.
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}


def _limit_files(libc: ctypes.CDLL, readable: Iterable[Path]) -> bool:
    version = libc.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    if version < 1:
        return False
    rights = max(known for least, known in _FILE_RIGHTS.items() if version >= least)
    # All handled rights are refused where no rule allows them. From version 4 on also TCP, from 6
    # on also abstract sockets and signals; the filter of calls has these as well.
    attributes = struct.pack("=Q", rights)
    ruleset = libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    try:
        for path in readable:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
                allowed = _READ_FILE | (_READ_DIR if path.is_dir() else 0)
                rule = struct.pack("=Qi", allowed, descriptor)
                added = libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
                os.close(descriptor)
                if added != 0:
                    return False
        return bool(libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


# seccomp: a small program of the kernel's own machine, run at each system call.

_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_CLONE_THREAD = 0x10000
_X32_CALLS = 0x40000000

# Numbers of calls on these machines, in the order of `_MACHINES`; 0 where there is no such call.
_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # and of the machines, when audited
_REFUSED: dict[str, tuple[int, int]] = {
    # the network, and every other socket
    "socket": (41, 198),
    "socketpair": (53, 199),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "connect": (42, 203),
    # programs, processes and their signals
    "fork": (57, 0),
    "vfork": (58, 0),
    "execve": (59, 221),
    "execveat": (322, 281),
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    # looking into others
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    "open_by_handle_at": (304, 265),
    # another view of the system
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "personality": (135, 92),
    # what has opened kernels before, and goes around this filter
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
}
_CLONE = (56, 220)
_CLONE3 = 435


class _Filter(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("jump_true", ctypes.c_uint8),
        ("jump_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("filters", ctypes.POINTER(_Filter))]


def _limit_calls(libc: ctypes.CDLL) -> bool:
    machine = platform.machine()
    if machine not in _MACHINES or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    steps = _steps(machine)
    filters = (_Filter * len(steps))(*(_Filter(*step) for step in steps))
    program = _Program(len(steps), filters)
    done = libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)
    return bool(done == 0)


def _steps(machine: str) -> list[tuple[int, int, int, int]]:
    """The filter; offsets are those of struct seccomp_data: 0 the call, 4 the machine, 16 its first
    argument."""
    column = list(_MACHINES).index(machine)
    refused = [numbers[column] for numbers in _REFUSED.values() if numbers[column]]
    refuse = (_RETURN, 0, 0, _REFUSE | errno.EPERM)
    steps = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, _MACHINES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
    ]
    steps += [(_AT_LEAST, 0, 1, _X32_CALLS), refuse]
    for number in refused:
        steps += [(_EQUAL, 0, 1, number), refuse]
    # A thread is no process. The newer call hides its flags; libraries then use the older one.
    steps += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _REFUSE | errno.ENOSYS)]
    steps += [(_EQUAL, 0, 3, _CLONE[column]), (_LOAD, 0, 0, 16)]
    steps += [(_HAS_BITS, 1, 0, _CLONE_THREAD), refuse, (_RETURN, 0, 0, _ALLOW)]
    return steps
