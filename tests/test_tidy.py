"""The source is under test too: its shape, its borders, and what must not stand in it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.file_writing import writes
from tests.source_tree import PACKAGES, ROOT, files, shown

COLUMNS_MAX = 100
LINES_MAX = 550
# Files that are longer, each with the reason why it is not two files.
LONG_FILES: dict[str, str] = {
    "native/include/qsm.h": "the whole public interface of the engine, one text for cffi",
}

WRITER = "transport/whole_file.py"
# Modules and folders that write, rename or create files by themselves, each with its reason.
OTHERS: dict[str, str] = {
    "transport/bulk.py": "a part grows over many connections; the one writer gives it its name",
    "transport/simulated_streams.py": "the same in a simulation",
    "transport/event_log.py": "segments are appended to for hours, and may lose their end",
    "liveobj/storage/": "databases, which SQLite writes and syncs",
    "liveobj/channels/order_binding.py": "an empty file to lock",
    "widgets/files/file_opening.py": "copies for other programs, gone with the program",
    "widgets/files/files_view.py": "fills a file of the one writer",
    "app/json_file.py": "gives a damaged file another name",
    "app/small_disk.py": "fills a disk up, for soaks and tests",
    "pipeline/": "a program of its own, which imports none of the layers; see pipeline/files.py",
}

CODE = (".py", ".pyi", ".c", ".h")
TEXT = (*CODE, ".md", ".toml", ".sh", ".txt", ".cdef", ".in", ".svg", ".qss", ".xml", "")

# Paths of one person's machine. The checkout's own path is added when the test runs.
MACHINE_PATH = re.compile(r"(?<![\w.~})-])/(?:work|root|home)/\w")

# The engine's core takes datagrams, time and randomness as arguments; drivers alone ask the system.
SYSTEM_HEADER = re.compile(
    r"(?:sys/|net/|netinet/|arpa/|linux/|winsock|windows)[\w./]*\w*|"
    r"(?:time|unistd|poll|fcntl|signal|pthread|threads|netdb|ifaddrs|dirent|locale)\.h"
)
SYSTEM_CALL = re.compile(
    r"(?<![\w.>])(?:"
    r"socket|bind|connect|setsockopt|poll|select|epoll_\w+|sendto|sendmsg|sendmmsg|"
    r"recvfrom|recvmsg|"
    r"recvmmsg|open|fopen|fread|fwrite|fputs|puts|printf|fprintf|vfprintf|getenv|"
    r"time|clock|clock_gettime|gettimeofday|timespec_get|sleep|usleep|nanosleep|"
    r"rand|random|srand|drand48|getrandom|getentropy|arc4random\w*|randombytes\w*|"
    # libsodium's own ways to draw a key; those from a seed are allowed
    r"crypto_\w+_keygen|crypto_(?:box|sign|kx)_keypair|crypto_box_seal|"
    r"exit|abort|signal|fork|system"
    r")\s*\("
)


def test_lines_fit_the_page() -> None:
    wide = [
        f"{shown(path)}:{number} has {len(line)} columns"
        for path in files(*CODE)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > COLUMNS_MAX
    ]
    assert not wide, "\n".join(wide)


def test_files_are_short_or_say_why_not() -> None:
    lengths = {shown(path): path.read_bytes().count(b"\n") for path in files(*CODE)}
    long = {name for name, lines in lengths.items() if lines > LINES_MAX}
    assert long == LONG_FILES.keys(), "split these, or list them with a reason"
    assert all(LONG_FILES.values())


def test_every_module_says_what_it_is() -> None:
    silent = [
        shown(path)
        for path in files(".py")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent, "modules without a docstring: " + ", ".join(silent)


def test_every_c_file_or_its_header_says_what_it_is() -> None:
    silent = [
        shown(path)
        for path in files(".c", ".h")
        if not (path.suffix == ".c" and path.with_suffix(".h").exists())
        and not path.read_text(encoding="utf-8").lstrip().startswith(("/*", "//"))
    ]
    assert not silent, "C files without a comment at the top: " + ", ".join(silent)


@pytest.mark.parametrize("package", [*PACKAGES, "installers"])
def test_every_folder_has_a_page_for_newcomers(package: str) -> None:
    page = ROOT / package / "README.md"
    assert page.is_file(), f"{package} has no README.md"
    assert page.read_text(encoding="utf-8").startswith("# ")


def has_code(package: str) -> bool:
    trees = (ast.parse(path.read_text("utf-8")) for path in files(".py", under=ROOT / package))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) for tree in trees for node in ast.walk(tree))


@pytest.mark.parametrize("package", [*filter(has_code, PACKAGES), "installers"])
def test_every_folder_has_its_tests(package: str) -> None:
    assert list(files(".py", under=ROOT / "tests" / package)), f"tests/{package} has no tests"


def test_tests_mirror_the_source() -> None:
    """A folder of tests is named after what it tests, or is one of the few that test the whole."""
    whole = {"flow", "fuzz"}
    strangers = [
        shown(folder)
        for folder in {path.parent for path in files(".py", under=ROOT / "tests")}
        if folder != ROOT / "tests"
        and folder.relative_to(ROOT / "tests").parts[0] not in whole
        and not (ROOT / folder.relative_to(ROOT / "tests")).is_dir()
    ]
    assert not strangers, "no such folder in the source: " + ", ".join(strangers)


def test_no_path_of_one_machine_stands_in_a_file() -> None:
    here = str(ROOT) + "/"
    found = [
        f"{shown(path)}:{number}: {line.strip()}"
        for path in files(*TEXT)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if MACHINE_PATH.search(line) or here in line
    ]
    assert not found, "\n".join(found)


def test_a_machine_path_would_be_noticed() -> None:
    assert MACHINE_PATH.search('open("' + "/".join(["", "home", "me", "x"]) + '")')
    assert not MACHINE_PATH.search("https://example.org/home/page")


def without_comments_and_strings(code: str) -> str:
    """C code in which every comment and literal is blank, at unchanged line numbers."""
    token = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    return re.sub(token, lambda match: "\n" * match[0].count("\n"), code, flags=re.S)


def system_uses(code: str) -> list[tuple[int, str]]:
    """Line and text of each use of the operating system in C code."""
    includes = re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', code, flags=re.M)
    found = [(0, f"includes {name}") for name in includes if SYSTEM_HEADER.fullmatch(name)]
    for number, line in enumerate(without_comments_and_strings(code).splitlines(), 1):
        found += [(number, f"calls {call[0]}") for call in SYSTEM_CALL.finditer(line)]
    return found


def core_sources() -> list[Path]:
    source = ROOT / "native" / "src"
    return [path for path in files(".c", ".h", under=source) if "drivers" not in path.parts]


def test_core_of_the_engine_never_asks_the_system() -> None:
    found = [
        f"{shown(path)}:{line} {use}"
        for path in core_sources()
        for line, use in system_uses(path.read_text(encoding="utf-8"))
    ]
    assert core_sources()
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "code",
    [
        "#include <sys/socket.h>",
        "#include <time.h>",
        "x = time(NULL);",
        "randombytes_buf(key, sizeof key);",
        'printf("%d", 1);',
        "clock_gettime(CLOCK_MONOTONIC, &now);",
    ],
)
def test_use_of_the_system_is_noticed(code: str) -> None:
    assert system_uses(code)


@pytest.mark.parametrize(
    "code",
    [
        "#include <stdio.h>\nsnprintf(text, sizeof text, format);",
        "/* calls time() once */ // rand()",
        'log("time(now)");',
        "driver->clock(driver);",
        "alarm_time(alarm); qsm_open(engine);",
    ],
)
def test_what_only_looks_like_the_system_is_not_reported(code: str) -> None:
    assert not system_uses(code)


def test_nobody_but_the_one_writer_writes_files() -> None:
    found: dict[str, list[str]] = {}
    for package in PACKAGES:
        for path in files(".py", under=ROOT / package):
            lines = [f"{line} {text}" for line, text in writes(path.read_text(encoding="utf-8"))]
            if lines and shown(path) != WRITER:
                found[shown(path)] = lines
    unknown = [
        f"{name}:{line}"
        for name, lines in found.items()
        if not name.startswith(tuple(OTHERS))
        for line in lines
    ]
    assert not unknown, "use transport/whole_file.py, or list the module:\n" + "\n".join(unknown)
    idle = [other for other in OTHERS if not any(name.startswith(other) for name in found)]
    assert not idle, "these do not write any more"
    assert all(OTHERS.values()), "each has its reason"


@pytest.mark.parametrize(
    "code",
    [
        "path.write_text('x')",
        "file.write_bytes(data)",
        "open(path, 'w')",
        "path.open('ab')",
        "open(path, mode='x')",
        "os.replace(a, b)",
        "os.open(path, os.O_WRONLY | os.O_CREAT)",
        "self._part.replace(destination)",
        "self._path.rename(other)",
        "shutil.copyfile(a, b)",
        "QSaveFile(name)",
    ],
)
def test_way_to_write_a_file_is_noticed(code: str) -> None:
    assert list(writes(code))


@pytest.mark.parametrize(
    "code",
    [
        "path.open('rb')",
        "open(path)",
        "name.replace('a', 'b')",
        "replace(settings, file=1)",
        "shared.rename(title)",
        "os.open(path, os.O_RDONLY)",
        "write_whole(path, data)",
    ],
)
def test_what_only_looks_like_writing_is_not_reported(code: str) -> None:
    assert not list(writes(code))
