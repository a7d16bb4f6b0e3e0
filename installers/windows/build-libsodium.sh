#!/usr/bin/env bash
# Builds libsodium for 64-bit Windows from the distribution's own, signed source package.
#
#   build-libsodium.sh [FOLDER]    default: build/windows/libsodium in the checkout
#
# Leaves FOLDER/lib/libsodium.a and FOLDER/include; does nothing if they are there. Needs a network
# the first time, no root, and the packages below. Where packages come from is taken from this
# machine's own apt configuration, so that mirrors and proxies are respected, and the lists are kept
# in a folder of our own, so that the machine's are left as they are.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
host=x86_64-w64-mingw32
target=${1:-$root/build/windows/libsodium}

fail() {
    printf 'build-libsodium: %s\n' "$1" >&2
    exit 2
}

say() {
    printf -- '-- %s\n' "$1"
}

if [ -f "$target/lib/libsodium.a" ] && [ -f "$target/include/sodium.h" ]; then
    say 'libsodium for Windows is there already'
    exit 0
fi

packages='dpkg-dev make autoconf automake libtool gcc-mingw-w64-x86-64-win32'
for program in apt-get dpkg-source make autoreconf aclocal libtoolize $host-gcc; do
    command -v "$program" >/dev/null ||
        fail "$program is missing; run: apt-get install --no-install-recommends $packages"
done

mkdir -p "$target"
target=$(cd "$target" && pwd)
work=$target/work
rm -rf "$work"
mkdir -p "$work/apt/sources" "$work/apt/lists/partial" "$work/apt/cache/archives/partial" \
    "$work/source"

# The configuration files of the archives that offer libsodium, with sources asked for instead of
# packages.
offers=$(apt-cache madison libsodium-dev)
[ -n "$offers" ] || fail 'apt knows no libsodium-dev; run: apt-get update'
apt-get indextargets --format '$(SITE) $(SOURCESENTRY)' 'Created-By: Packages' | sort -u |
    while read -r site entry; do
        case $offers in
        *" $site "*) printf '%s\n' "${entry%:*}" ;;
        esac
    done | sort -u > "$work/apt/files"
while read -r file; do
    copy=$work/apt/sources/$(basename "$file")
    case $file in
    *.sources) sed -E 's/^Types:.*/Types: deb-src/' "$file" > "$copy" ;;
    *.list) sed -nE 's/^[[:space:]]*deb(-src)?[[:space:]]/deb-src /p' "$file" > "$copy" ;;
    esac
done < "$work/apt/files"
[ -n "$(ls "$work/apt/sources")" ] || fail 'apt does not say where libsodium comes from'

apt_options=(
    -q
    -o Dir::Etc::SourceList=/dev/null
    -o Dir::Etc::SourceParts="$work/apt/sources"
    -o Dir::State::Lists="$work/apt/lists"
    -o Dir::Cache="$work/apt/cache"
    -o Debug::NoLocking=1
)
# As root apt would drop its rights to a user who may not write here.
[ "$(id -u)" -ne 0 ] || apt_options+=(-o APT::Sandbox::User=root)

log=$target/build.log
quietly() {
    "$@" >> "$log" 2>&1 || {
        tail -n 20 "$log" >&2
        fail "failed: $1 (all of its output is in $log)"
    }
}
: > "$log"

say 'fetching the source package of libsodium'
quietly apt-get "${apt_options[@]}" update
cd "$work/source"
quietly apt-get "${apt_options[@]}" source libsodium
cd "$work"/source/libsodium-*/

say 'compiling libsodium for Windows'
# The archive's copy of the source is the bare one, without what autoconf makes.
quietly autoreconf --install --force
# The stack protector would need another library of the compiler at run time.
quietly ./configure --host=$host --prefix="$target" --disable-shared --enable-static --disable-ssp \
    --disable-dependency-tracking --disable-silent-rules
quietly make -j"$(nproc 2>/dev/null || echo 2)" -C src/libsodium
quietly make -C src/libsodium install
cd "$root"
rm -rf "$work"
[ -f "$target/lib/libsodium.a" ] || fail "there is no libsodium.a after all; see $log"
say 'libsodium for Windows is built'
