# What is typed daily. `just` lists it; each line also works without just.

_default:
    @just --list --unsorted

# The demo: an agent with a scripted model, offline
demo:
    cargo run -p bowline -- demo

# Tests of the workspace, or of one crate: `just test bowline-peer`, `just test bowline-peer reconnect`
test crate="" filter="":
    cargo test {{ if crate == "" { "--workspace" } else { "-p " + crate } }} --no-fail-fast -- {{ filter }}

# Tests by nextest, which names the slow ones
nextest *args:
    cargo nextest run --workspace {{ args }}

# Format and lints, as CI wants them
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Formats the sources
fmt:
    cargo fmt --all

# Updates snapshots (`expect![…]`) of a crate; read the difference afterwards
snapshots crate:
    UPDATE_EXPECT=1 cargo test -p {{ crate }}

# Writes docs/cli.md from the flags of the program
reference:
    BOWLINE_WRITE_DOCS=1 cargo test -p bowline reference

# Layers, module cycles, documents and words
tidy:
    cargo test -p bowline-testkit

# Documentation of all crates
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Licenses, duplicate versions, advisories; and spelling
audit:
    cargo deny check
    typos

# The release program
release:
    cargo build --release -p bowline

# The official SDKs against the release program: `just interop`, `just interop python`
interop *suites: release
    BOWLINE="$PWD/target/release/bowline" interop/run {{ suites }}

# Everything that a change must pass
ci:
    .ci/run
