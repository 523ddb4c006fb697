# What people do here, by name; `.ci/run` and the public workflow run these recipes. `just` is `rust-just` on PyPI.

set shell := ["bash", "-euo", "pipefail", "-c"]

# The Python environment with vLLM, see `just vllm`.
vllm := justfile_directory() / "target/vllm/bin"

# The emulated library, as `just test` builds it.
emulator := justfile_directory() / "target/debug/deps/libSynapse.so"

# The triple of this machine.
host := arch() + "-unknown-linux-gnu"

# These recipes.
help:
    @just --list --unsorted

# All tests of Rust and C.
test *ARGS:
    cargo test --workspace {{ARGS}}

# Format, clippy and docs.
lint:
    cargo fmt --all --check
    # Default features need no run of their own: with all features the same code is compiled, and the generators'.
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    cargo clippy --workspace --all-targets --no-default-features -- -D warnings
    cargo clippy -p gaudi-kv --no-default-features --features cli -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features --document-private-items

# Who imports whom, circles, lengths, doc comments; prints what it finds.
architecture:
    cargo test -p gaudi-kv-architecture -- --nocapture

# Bans, licences and sources of dependencies; needs cargo-deny.
deny:
    cargo deny --workspace --all-features check --hide-inclusion-graph bans licenses sources

# Whether generated files are current: expected reports, bindings, the C header.
generated:
    python3 tests/oracle/expected_inspect.py --check
    cargo run --quiet -p habana-sys --features bindgen --bin generate -- --check
    cargo test -p habana-sys --features bindgen --test generator
    cargo run --quiet -p gaudi-kv-c-header -- --check

# Makes the Python environment with the newest transformers.
oracle:
    python3 -m venv target/oracle
    target/oracle/bin/pip install --quiet --no-cache-dir --no-deps -r tests/oracle/requirements.txt

# Whether the table of model types is what transformers says, see `just oracle`.
model-types:
    target/oracle/bin/python tests/oracle/model_types.py --check

# Whether what vLLM takes from configurations is what the tests hold, see `just vllm`.
engine-configs:
    env -u PYTHONDONTWRITEBYTECODE {{vllm}}/python tests/oracle/engine_configs.py --check

# A bench of any package by its name: attention, convert, inspect, fp8, mme, gemm, abi.
bench NAME *ARGS:
    cargo bench --workspace --bench {{NAME}} {{ARGS}}

# The tests for people with a card, over the emulated library instead of one.
emulated-hardware:
    for device in gaudi2 gaudi3; do \
        GAUDI_KV_SYNAPSE={{emulator}} SYNAPSE_EMU_DEVICE=$device cargo test --workspace --test hardware -- --ignored; \
    done

# The tests for people with a card.
hardware:
    cargo test --test hardware -- --ignored --nocapture

# Each call failing in turn under valgrind; C programs under it and the thread sanitizer.
sanitizers:
    cargo test --workspace --test hpu -- --ignored valgrind
    cargo test --workspace --test programs -- --ignored

# The long runs: every float32, 100,000 damaged folders.
long:
    cargo test --release -p gaudi-numerics -- --ignored every
    cargo test --release --test models -- --ignored hostile

# Builds the fuzz targets. Stable Rust can do it: the coverage is a pass of LLVM's, and no sanitizer is linked in.
fuzz-build PROFILE="release":
    cd fuzz && RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table" \
        cargo build --profile {{PROFILE}} --target {{host}}

# Fuzzes a reader for some seconds: header, config, measurements or recipe.
fuzz NAME SECONDS="60": fuzz-build
    mkdir -p fuzz/corpus/{{NAME}}
    cd fuzz && target/{{host}}/release/{{NAME}} -max_total_time={{SECONDS}} -timeout=10 corpus/{{NAME}}

# Fuzzes each reader for ten minutes.
fuzz-all:
    for name in header config measurements recipe; do just fuzz $name 600; done

# Compiles everything; for other versions of Rust.
check:
    cargo check --workspace --all-targets --all-features

# The oldest Rust that is supported.
rust-version:
    @sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml

# The portable code under Miri; needs a nightly Rust with it.
miri:
    GAUDI_KV_ISA=scalar MIRIFLAGS=-Zmiri-disable-isolation cargo miri test -p gaudi-numerics --lib

# Makes the Python environment with vLLM.
vllm:
    python3 -m venv target/vllm
    {{vllm}}/pip install --quiet uv==0.13.9
    {{vllm}}/uv pip install --quiet --python {{vllm}}/python --no-deps \
        -r python/tests/engine/requirements.txt -r python/tests/engine/requirements-test.txt

# Builds the wheel and installs it there.
wheel:
    {{vllm}}/pip install --quiet --no-deps --force-reinstall ./python

# The sources beside the tests have no native module and must not be imported in place of the wheel.
# All tests of Python, with NumPy, torch and vLLM; none may be skipped but those of vllm-gaudi itself.
engine *ARGS:
    # What the first test compiles serves the others.
    cd python/tests && env -u PYTHONDONTWRITEBYTECODE {{vllm}}/pytest --quiet --only-skip "needs vllm-gaudi" --durations=10 {{ARGS}}

# Types of the Python package and its tests; needs mypy, NumPy and pytest.
types:
    cd python && mypy

# Everything that must hold before a change lands.
ci:
    bash .ci/run
