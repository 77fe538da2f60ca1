//! Lays out the release program so that the functions an ordinary session runs are side by side: that is a third
//! of its memory. `benches/hot_first.py` makes the list and says more.

use std::env;

const LAYOUT: &str = "hot-first.ld";

fn main() {
    println!("cargo::rerun-if-changed={LAYOUT}");
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") && has_the_usual_linker() {
        let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/{LAYOUT}");
    }
}

/// Whether the linker is the one that comes with the compiler; others may not read such a list.
fn has_the_usual_linker() -> bool {
    let target = env::var("TARGET").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    target == "x86_64-unknown-linux-gnu"
        && env::var_os("RUSTC_LINKER").is_none()
        && !flags.contains("link")
}
