#!/usr/bin/env bash
# The arithmetic on AArch64, under a user-mode emulator: the vendor's vectors and all other tests of numerics, and those of fast
# attention, on NEON. Needs cargo, and installs the rest as Debian packages where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu

# Whether a compiler has the standard library of the target.
has_std() {
    local libraries
    libraries=$("$1" --print target-libdir --target $target 2>/dev/null) && compgen -G "$libraries/libstd-*" >/dev/null
}

install=()
command -v aarch64-linux-gnu-gcc >/dev/null || install+=(gcc-aarch64-linux-gnu)
command -v qemu-aarch64 >/dev/null || install+=(qemu-user)
if ! has_std rustc && ! rustup target add $target && ! has_std /usr/bin/rustc; then
    # Debian's own compiler has the library where rustup cannot get it.
    dpkg --add-architecture arm64
    install+=(rustc-web libstd-rust-web-dev:arm64)
fi
if ((${#install[@]})); then
    echo "packages: ${install[*]}"
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "${install[@]}"
fi
has_std rustc || export RUSTC=/usr/bin/rustc

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
# A folder of its own: the compiler may be another one.
export CARGO_TARGET_DIR=target/aarch64

# The emulator does not follow a test that starts itself with another environment.
cargo test -p gaudi-numerics --lib --tests --target $target -- --skip dispatch_follows_the_environment
cargo test -p gaudi-kv --lib --target $target emulated::fast
