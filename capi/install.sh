#!/bin/sh
# Builds gaudi-kv for C and installs it: header, shared and static library, pkg-config and CMake files.
#
#   capi/install.sh [--prefix DIR] [--libdir DIR] [--includedir DIR] [--destdir DIR] [--from DIR]
#
# The prefix is /usr/local; libdir and includedir are lib and include below it. --destdir is put in front of every path
# that is written to, for packagers. --from takes the libraries from a folder instead of building them. What is
# installed may be moved as a whole. `cargo cinstall -p gaudi-kv-c` of cargo-c installs the same files.
set -eu

package=$(cd "$(dirname "$0")" && pwd)
prefix=/usr/local libdir= includedir= destdir= from=
while [ $# -gt 0 ]; do
    case $1 in
        --prefix | --libdir | --includedir | --destdir | --from)
            [ $# -ge 2 ] || { echo "$1 needs a folder" >&2; exit 2; }
            eval "${1#--}=\$2"
            shift 2 ;;
        *) echo "$1: no such option" >&2; exit 2 ;;
    esac
done
: "${libdir:=$prefix/lib}" "${includedir:=$prefix/include}"
for folder in "$prefix" "$libdir" "$includedir"; do
    case $folder in
        /*) ;;
        *) echo "$folder is no absolute path" >&2; exit 2 ;;
    esac
done

if [ -z "$from" ]; then
    # cargo takes a relative folder from where it runs.
    target=$(realpath -m "${CARGO_TARGET_DIR:-$package/../target}")
    (cd "$package" && CARGO_TARGET_DIR=$target cargo build --release --locked -p gaudi-kv-c)
    from=$target/release
fi

# The version of a section of Cargo.toml.
version_in() {
    awk -v section="[$1]" \
        '$0 == section { found = 1 } found && $1 == "version" { gsub(/"/, "", $3); print $3; exit }' "$2"
}
version=$(version_in workspace.package "$package/../Cargo.toml")
interface=$(version_in package.metadata.capi.library "$package/Cargo.toml")

install -d "$destdir$includedir" "$destdir$libdir/pkgconfig" "$destdir$prefix/share/cmake/gaudi_kv"
install -m 644 "$package/include/gaudi_kv.h" "$destdir$includedir"
install -m 755 "$from/libgaudi_kv.so" "$destdir$libdir/libgaudi_kv.so.$interface"
ln -sf "libgaudi_kv.so.$interface" "$destdir$libdir/libgaudi_kv.so.${interface%%.*}"
ln -sf "libgaudi_kv.so.$interface" "$destdir$libdir/libgaudi_kv.so"
install -m 644 "$from/libgaudi_kv.a" "$destdir$libdir"
install -m 644 "$package"/packaging/*.cmake "$destdir$prefix/share/cmake/gaudi_kv"
# What sed is to put in place of something, between bars.
literal() {
    printf '%s' "$1" | sed 's/[&|\\]/\\&/g'
}
config=$destdir$prefix/share/cmake/gaudi_kv/gaudi_kv-config.cmake
sed -e "s|^set(_gaudi_kv_libdir .*|set(_gaudi_kv_libdir \"$(literal "${libdir#"$prefix"/}")\")|" \
    -e "s|^set(_gaudi_kv_includedir .*|set(_gaudi_kv_includedir \"$(literal "${includedir#"$prefix"/}")\")|" \
    "$package/packaging/gaudi_kv-config.cmake" >"$config"
# Paths below the prefix are written as such, so that the files may be moved.
below() {
    case $1 in
        "$prefix"/*) printf '${prefix}/%s' "${1#"$prefix"/}" ;;
        *) printf '%s' "$1" ;;
    esac
}
up=$(realpath -m --relative-to="$libdir/pkgconfig" "$prefix")
sed -e "s|@PREFIX@|$(literal "$up")|" -e "s|@LIBDIR@|$(literal "$(below "$libdir")")|" \
    -e "s|@INCLUDEDIR@|$(literal "$(below "$includedir")")|" -e "s|@VERSION@|$version|" \
    "$package/packaging/gaudi_kv.pc.in" >"$destdir$libdir/pkgconfig/gaudi_kv.pc"
chmod 644 "$destdir$libdir/pkgconfig/gaudi_kv.pc"
