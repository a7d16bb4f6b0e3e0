#!/usr/bin/env bash
# Makes a checkout ready to run: system packages, virtual environment, Python packages.
#
#   setup.sh packages SECTION…   installs what is missing of these sections of debian-packages.txt
#   setup.sh fuzzer              installs clang and its fuzzing runtime, and the fuzzer for Python
#   setup.sh python              makes .venv and installs this checkout and its tools into it
#   setup.sh pipeline            adds what the Spark jobs of pipeline/ need
#   setup.sh engine              compiles the engine again, into the checkout; needs no network
#
# Called by the Makefile, which knows when each step is needed. Every step can be repeated, does only
# what is missing, and ends with one sentence and exit code 2 when a person has to do something.
#
#   PYTHON=…                 the interpreter to use, where it is not python3
#   SYSTEM_PACKAGES=skip     take the system as it is (for systems without apt)

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
package_list=$root/installers/debian-packages.txt
venv=$root/.venv

fail() {
    printf 'live-objects: %s\n' "$1" >&2
    exit 2
}

say() {
    printf -- '-- %s\n' "$1"
}

# The names in one section of the list, without comments.
section() {
    awk -v wanted="[$1]" '
        { sub(/#.*/, "") }
        /^\[/ { inside = ($1 == wanted); next }
        inside && NF { print $1 }
    ' "$package_list"
}

# Of the names on standard input, those that no installed package has or provides.
not_installed() {
    awk '
        NR == FNR {
            if ($1 != "installed") next
            gsub(/\([^)]*\)|,/, " ")
            for (field = 2; field <= NF; field++) {
                sub(/:.*/, "", $field)
                present[$field]
            }
            next
        }
        NF && !($1 in present)
    ' <(dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n') -
}

# `as_root COMMAND…`, or a failure when this user may not become root.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -- "$@"
    fi
}

may_become_root() {
    [ "$(id -u)" -eq 0 ] && return 0
    command -v sudo >/dev/null || return 1
    sudo -n true 2>/dev/null && return 0
    # Asking for a password needs somebody who can type it.
    [ -t 0 ] && sudo -v
}

install_packages() {
    local missing=("$@")
    local list="${missing[*]}"
    may_become_root || fail "these system packages are missing and installing them needs root, \
which was refused; ask an administrator to run: apt-get install --no-install-recommends $list"
    say "installing system packages: $list"
    as_root apt-get update -q ||
        fail "apt-get could not read its package lists (see above); is there a network?"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends "${missing[@]}" ||
        fail "apt-get could not install these packages (see above): $list"
}

ensure_packages() {
    [ "${SYSTEM_PACKAGES:-}" != skip ] || return 0
    local names
    names=$(for name in "$@"; do section "$name"; done)
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        fail "this system has no apt-get, so its packages cannot be installed for you; install what \
corresponds to these Debian packages, then add SYSTEM_PACKAGES=skip to the make command: \
$(tr '\n' ' ' <<<"$names")"
    fi
    local missing
    mapfile -t missing < <(not_installed <<<"$names")
    [ "${#missing[@]}" -eq 0 ] || install_packages "${missing[@]}"
}

is_recent_python() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

# Prints the interpreter to use; fails when there is none of 3.11 or later.
find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if command -v "$candidate" >/dev/null && is_recent_python "$candidate"; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

packages() {
    ensure_packages "$@"
    if [[ " $* " == *" build "* ]] && [ -z "${PYTHON:-}" ] && ! find_python >/dev/null; then
        ensure_packages old-python
    fi
}

# The compiler's runtime for fuzzing is a package of its own whose name holds the compiler's version.
fuzzer() {
    ensure_packages fuzz
    command -v clang >/dev/null || fail "fuzzing needs the compiler clang, which was not found"
    "$root/.venv/bin/python" -c 'import atheris' 2>/dev/null ||
        "$root/.venv/bin/python" -m pip install --quiet --editable "$root[fuzz]" ||
        fail "the fuzzer for Python could not be installed (see above)"
    has_fuzzer_runtime && return 0
    local version candidate
    version=$(clang -dumpversion | cut -d. -f1)
    if [ "${SYSTEM_PACKAGES:-}" != skip ]; then
        for candidate in "libclang-rt-$version-dev" "libclang-common-$version-dev"; do
            if apt-cache show "$candidate" >/dev/null 2>&1; then
                install_packages "$candidate"
                break
            fi
        done
    fi
    has_fuzzer_runtime ||
        fail "clang $version has no runtime for -fsanitize=fuzzer; install libclang-rt-$version-dev"
}

has_fuzzer_runtime() {
    local program
    program=$(mktemp)
    echo 'int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return !data && size; }' |
        clang -fsanitize=fuzzer,address,undefined -x c - -o "$program" 2>/dev/null
    local result=$?
    rm -f "$program"
    return $result
}

check_compiler() {
    command -v "${CC:-cc}" >/dev/null ||
        fail "no C compiler was found (looked for ${CC:-cc}); install gcc or set CC"
    pkg-config --exists libsodium 2>/dev/null ||
        fail "libsodium or pkg-config was not found; install libsodium-dev and pkg-config"
}

make_venv() {
    local python
    python=$(find_python) || fail "Python 3.11 or later was not found; install it, or name it with \
PYTHON=… on the make command"
    "$python" -c 'import ensurepip, sysconfig, pathlib, sys
sys.exit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())' 2>/dev/null ||
        fail "$python cannot make virtual environments or lacks its header Python.h; install its \
venv and dev packages"
    say "making a virtual environment with $("$python" --version)"
    "$python" -m venv "$venv"
}

python_packages() {
    check_compiler
    [ -x "$venv/bin/python" ] || make_venv
    say "compiling the engine and installing Python packages"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --editable "$root[dev]" ||
        fail "the Python packages could not be installed (see above)"
}

# Half a gigabyte that the application does not need: only for tests, checks and the jobs themselves.
pipeline() {
    ensure_packages pipeline
    say "installing Spark and what its jobs need"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-build-isolation \
        --editable "$root[pipeline]" ||
        fail "the Python packages of the pipeline could not be installed (see above)"
}

engine() {
    check_compiler
    say "compiling the engine"
    local log=$root/build/engine.log
    mkdir -p "$root/build"
    if ! (cd "$root" && "$venv/bin/python" setup.py --quiet build_ext --inplace) >"$log" 2>&1; then
        cat "$log" >&2
        fail "the engine could not be compiled (see above)"
    fi
}

case ${1:-} in
packages | fuzzer | engine | pipeline) "$@" ;;
python) python_packages ;;
*) fail "usage: setup.sh packages SECTION… | fuzzer | python | pipeline | engine" ;;
esac
