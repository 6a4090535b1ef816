#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# run.sh PROGRAM [ARGUMENT...]
#
# Runs PROGRAM as root in a small virtual machine whose kernel has ATM, with
# two virtual ATM interfaces, 0 and 1, joined to each other: what is sent on
# the circuit {0, vpi, vci} arrives on {1, vpi, vci}.  Prints what PROGRAM
# prints (stdout and stderr together) and exits with its exit status.
#
# Needs no KVM, no root, no network card, no kernel installed on this machine:
# the first run takes Debian's kernel package through apt-get into the cache
# folder and builds atmpair.ko (beside this script) for it; later runs need
# neither apt-get nor the compiler.
#
#   run.sh --prepare    only fill the cache
#
# Environment:
#   ATM_VM_CACHE    cache folder        (default: $XDG_CACHE_HOME or ~/.cache, /atm-vm)
#   ATM_VM_TIMEOUT  seconds until the machine is stopped         (default: 120)
#   ATM_VM_ACCEL    tcg or kvm                                   (default: tcg)
#   ATM_VM_MEM      memory of the machine, MiB                   (default: 256 and more)
#   ATM_VM_CPUS     processors of the machine                    (default: 1)
#   ATM_VM_ICOUNT   the clock counts instructions, each of 2^N ns, whatever else the host does; with one processor
#   ATM_VM_PAIRS    pairs of interfaces: 0-1, 2-3, ... up to 4   (default: 1)
#   ATM_VM_ENV      names of variables to hand on to PROGRAM, e.g. "RUST_BACKTRACE"
#   ATM_VM_FILES    more files to take along, one per line, HOSTPATH or
#                   HOSTPATH=GUESTPATH; executables among them get their libraries
#   ATM_VM_VERBOSE  1: also show the machine's console and the timings (stderr)
#
# Exit status: PROGRAM's own; 124 the time is up; 125 the machine could not be
# made or did not finish; 126/127 as of a shell (not executable / not found).

set -Eeuo pipefail
export LC_ALL=C     # the output of apt-cache is read below

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ATM_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/atm-vm}
limit=${ATM_VM_TIMEOUT:-120}
accel=${ATM_VM_ACCEL:-tcg}
cpus=${ATM_VM_CPUS:-1}
pairs=${ATM_VM_PAIRS:-1}
icount=${ATM_VM_ICOUNT:-}
verbose=${ATM_VM_VERBOSE:-}
start=${EPOCHREALTIME/[.,]/}

fail() {
    printf 'atm-vm: %s\n' "$*" >&2
    exit 125
}

note() {
    [ -z "$verbose" ] || printf 'atm-vm: %6.2f s %s\n' \
        "$(( (${EPOCHREALTIME/[.,]/} - start) / 1000 ))e-3" "$*" >&2
}

need() {    # need TOOL PACKAGE...
    command -v "$1" >/dev/null 2>&1 ||
        fail "'$1' is missing; on Debian 12: apt-get install $2"
}

quote() {   # one word, quoted for a POSIX shell
    printf "'%s'" "${1//\'/\'\\\'\'}"
}

[ $# -ge 1 ] || { sed -n '3,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 125; }

if [ "$1" != --prepare ]; then
    need qemu-system-x86_64 qemu-system-x86
    need busybox busybox-static
    need cpio cpio
    busybox=$(type -P busybox)
    if ldd "$busybox" >/dev/null 2>&1; then
        fail "$busybox is not static; on Debian 12: apt-get install busybox-static"
    fi
fi
need flock util-linux
need timeout coreutils
need ldd libc-bin
need sha256sum coreutils

work=$(mktemp -d "${TMPDIR:-/tmp}/atm-vm.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

# ---------------------------------------------------------------- the kernel

apt_quiet=(-qq -o Debug::NoLocking=1)
[ "$(id -u)" -ne 0 ] || apt_quiet+=(-o APT::Sandbox::User=root)

fetch() {   # fetch PACKAGE...: the candidates' .deb files, into the current folder
    need apt-get apt
    apt-get "${apt_quiet[@]}" download "$@" >"$work/apt.log" 2>&1 ||
        { cat "$work/apt.log" >&2; fail "cannot download $* (is 'apt-get update' needed?)"; }
}

depends() { # the packages that $1 depends on, by name
    apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks \
        --no-replaces --no-enhances "$1" 2>/dev/null | sed -n 's/^ *Depends: //p'
}

unpack() {  # unpack MODULE[.xz|.zst|.gz] TARGET
    case $1 in
        *.ko) cp "$1" "$2" ;;
        *.gz) gzip -dc "$1" >"$2" ;;
        *.xz) need xz xz-utils; xz -dc "$1" >"$2" ;;
        *.zst) need zstd zstd; zstd -qdc "$1" >"$2" ;;
    esac
}

# The kernel proper, out of the self-extracting image: unpacking it here takes
# one second, in the emulated machine four.  (Boot protocol: sectors of set-up
# code at 0x1f1; payload's offset and length at 0x248; the last four octets of
# the payload are not part of the compressed stream.)
extract_kernel() {  # extract_kernel VMLINUZ TARGET
    local sectors at size magic
    local -a unpacker
    read -r sectors < <(od -An -tu1 -j $((0x1f1)) -N1 "$1")
    read -r at size < <(od -An -tu4 -j $((0x248)) -N8 "$1")
    at=$((at + (sectors + 1) * 512))
    magic=$(od -An -tx1 -j "$at" -N4 "$1" | tr -d ' \n')
    case $magic in
        fd377a58) unpacker=(xz -dc) ;;
        28b52ffd) unpacker=(zstd -qdc) ;;
        1f8b*) unpacker=(gzip -dc) ;;
        *) return 1 ;;
    esac
    command -v "${unpacker[0]}" >/dev/null 2>&1 || return 1
    dd if="$1" bs=1M iflag=skip_bytes,count_bytes skip="$at" count=$((size - 4)) 2>/dev/null |
        "${unpacker[@]}" >"$2" 2>/dev/null &&
        [ "$(head -c 4 "$2" | tail -c 3)" = ELF ]
}

prepare_kernel() {
    local image tree
    need apt-cache apt
    need dpkg-deb dpkg
    image=$(depends linux-image-amd64 | grep '^linux-image-[0-9]') ||
        fail "apt knows no linux-image-amd64 (Debian amd64 is needed; is 'apt-get update' needed?)"
    image=${image%%$'\n'*}
    note "fetching $image"
    rm -rf "$cache/kernel" "$cache/debs"
    mkdir -p "$work/image" "$cache/debs" "$cache/kernel"
    (cd "$work/image" && fetch "$image")
    tree=$work/tree
    mkdir -p "$tree"
    dpkg-deb --fsys-tarfile "$work"/image/*.deb | tar -x -C "$tree" --wildcards \
        './boot/vmlinuz-*' './boot/config-*' '*/kernel/net/atm/*' '*/kernel/drivers/atm/atmtcp*'
    grep -q '^CONFIG_ATM=[ym]' "$tree"/boot/config-* || fail "$image is built without CONFIG_ATM"
    extract_kernel "$tree"/boot/vmlinuz-* "$cache/kernel/vmlinux" ||
        cp "$tree"/boot/vmlinuz-* "$cache/kernel/vmlinux"
    unpack "$(find "$tree" -path '*/kernel/net/atm/atm.ko*')" "$cache/kernel/atm.ko"
    rm -rf "$tree" "$work/image"

    # The headers are kept, packed, to build atmpair.ko again when it changes.
    local headers=${image/linux-image-/linux-headers-} p
    local -a more
    mapfile -t more < <(depends "$headers" | grep -E '^linux-(headers|kbuild|compiler)-')
    [ ${#more[@]} -gt 0 ] || fail "apt knows no $headers"
    note "fetching $headers and ${more[*]}"
    (cd "$cache/debs" && fetch "$headers" "${more[@]}")
    printf '%s\n' "$image" >"$cache/kernel/name"
}

build_module() {
    local sum tree src common d
    sum=$(sha256sum <"$here/atmpair.c")
    [ "$(cat "$cache/kernel/atmpair.sum" 2>/dev/null)" != "$sum" ] || return 0
    need make make
    note "building atmpair.ko"
    tree=$work/headers
    mkdir -p "$tree" "$work/mod"
    for d in "$cache"/debs/*.deb; do dpkg-deb -x "$d" "$tree"; done
    # usr/src/linux-headers-VERSION-amd64 and usr/src/linux-headers-VERSION-common
    src=$(find "$tree/usr/src" -maxdepth 1 -name 'linux-headers-*-amd64')
    common=$(find "$tree/usr/src" -maxdepth 1 -name 'linux-headers-*-common')
    printf 'include %s/Makefile\n' "$common" >"$src/Makefile"
    cp "$here/atmpair.c" "$work/mod/"
    echo 'obj-m := atmpair.o' >"$work/mod/Kbuild"
    # shellcheck disable=SC2016
    d=$(sed -n 's/^CC = .*\(gcc-[0-9]*\).*/\1/p' "$src/.kernelvariables")
    need "${d:-gcc}" "${d:-gcc}"
    make -C "$src" M="$work/mod" modules >"$work/make.log" 2>&1 ||
        { cat "$work/make.log" >&2; fail "atmpair.ko does not build"; }
    if command -v strip >/dev/null 2>&1; then strip --strip-debug "$work/mod/atmpair.ko"; fi
    cp "$work/mod/atmpair.ko" "$cache/kernel/"
    printf '%s\n' "$sum" >"$cache/kernel/atmpair.sum"
    rm -rf "$tree"
}

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9     # one filler of the cache at a time
[ -f "$cache/kernel/name" ] || prepare_kernel
build_module
exec 9>&-
note "kernel ready: $(cat "$cache/kernel/name")"
[ "$1" != --prepare ] || exit 0

# ------------------------------------------------------------- the initramfs

root=$work/root
mkdir -p "$root"/{bin,dev,proc,sys,tmp,etc,test}
cp "$busybox" "$root/bin/busybox"
cp "$cache/kernel/atm.ko" "$cache/kernel/atmpair.ko" "$root/"
echo 'root:x:0:0::/:/bin/sh' >"$root/etc/passwd"
echo '127.0.0.1 localhost' >"$root/etc/hosts"

take_libs() {   # the shared libraries of the executable $1
    local list lib
    list=$(ldd "$1" 2>/dev/null) || return 0     # static
    case $list in
        *'not found'*) fail "$1 needs libraries that are not here: $(grep 'not found' <<<"$list")" ;;
    esac
    while read -r lib; do
        [ -e "$root$lib" ] || { mkdir -p "$root${lib%/*}"; cp -L "$lib" "$root$lib"; }
    done < <(sed -n 's/.*=> \(\/[^ ]*\) (.*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' <<<"$list")
}

program=$1
name=${program##*/}
shift
if [[ $program != */* && ! -f $program ]]; then
    program=$(type -P "$program") || { echo "atm-vm: no program '$name'" >&2; exit 127; }
fi
[ -f "$program" ] || { echo "atm-vm: no file $program" >&2; exit 127; }
[ -x "$program" ] || { echo "atm-vm: $program is not executable" >&2; exit 126; }
cp -L "$program" "$root/test/$name"
take_libs "$program"
while IFS= read -r f; do
    [ -n "$f" ] || continue
    to=${f#*=}
    f=${f%%=*}
    [ "$to" != "$f" ] || to=/test/${f##*/}
    [ -e "$f" ] || fail "ATM_VM_FILES: no file $f"
    mkdir -p "$root${to%/*}"
    cp -RL "$f" "$root$to"
    if [ -f "$f" ] && [ -x "$f" ]; then take_libs "$f"; fi
done <<<"${ATM_VM_FILES:-}"

{
    echo 'cd /test'
    for v in ${ATM_VM_ENV:-}; do
        [ -z "${!v+set}" ] || printf 'export %s=%s\n' "$v" "$(quote "${!v}")"
    done
    printf 'exec %s' "$(quote "./$name")"
    for a in "$@"; do printf ' %s' "$(quote "$a")"; done
    echo
} >"$root/run"

cat >"$root/init" <<EOF
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/test HOME=/tmp TMPDIR=/tmp
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mkdir -p /dev/shm && mount -t tmpfs shm /dev/shm
ifconfig lo 127.0.0.1 up
stty -F /dev/ttyS1 raw -echo
stty -F /dev/ttyS2 raw -echo
if insmod /atm.ko && insmod /atmpair.ko pairs=$pairs; then
    echo up >/dev/ttyS2
    sh /run </dev/null >/dev/ttyS1 2>&1
    echo "status \$?" >/dev/ttyS2
else
    echo "atm-vm: the modules cannot be loaded"
fi
poweroff -f
EOF
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$work/initrd"
size=$(( $(stat -c %s "$work/initrd") >> 20 ))
mem=${ATM_VM_MEM:-$((256 + 3 * size))}
note "initramfs made, $size MiB"

# --------------------------------------------------------------- the machine

: >"$work/status"
code=0
timeout --foreground -k 5 "$limit" qemu-system-x86_64 \
    -machine pc -accel "$accel" -cpu max -smp "$cpus" -m "$mem" ${icount:+-icount shift="$icount",sleep=off} \
    -nodefaults -no-user-config -no-reboot -display none \
    -kernel "$cache/kernel/vmlinux" -initrd "$work/initrd" \
    -append 'console=ttyS0 quiet panic=-1 rdinit=/init mitigations=off nokaslr cryptomgr.notests apparmor=0 audit=0 no_timer_check' \
    -serial file:"$work/console" -serial stdio -serial file:"$work/status" \
    </dev/null 2>"$work/qemu.log" &
pid=$!
trap 'kill "$pid" 2>/dev/null || true; exit 125' INT TERM HUP
wait "$pid" || code=$?
note "machine ended"

status=$(sed -n 's/^status //p' "$work/status")
if [ -n "$verbose" ] || [ -z "$status" ]; then
    sed 's/\r$//; s/^/console: /' "$work/console" >&2 || true
    cat "$work/qemu.log" >&2
fi
[ -z "$status" ] || exit "$status"
if [ "$code" -eq 124 ] || [ "$code" -eq 137 ]; then
    echo "atm-vm: stopped after $limit s" >&2
    exit 124
fi
grep -q up "$work/status" || fail "the machine did not get as far as the program"
fail "the machine ended before the program did"
