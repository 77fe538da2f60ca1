//! Lays out the release program so that the functions an ordinary session runs are side by side: that saves a
//! third of its memory. `benches/hot_first.py` makes the list and says more.
//!
//! The names of functions are left out of the program, unless `BOWLINE_NAMES` is set. The profile could do that
//! too, but then a program with names would have other names than one without.

use std::env;

const LAYOUT: &str = "hot-first.ld";

fn main() {
    println!("cargo::rerun-if-changed={LAYOUT}");
    println!("cargo::rerun-if-env-changed=BOWLINE_NAMES");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if !is_release || !has_the_usual_linker() {
        return;
    }
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo::rustc-link-arg-bins=-T{folder}/{LAYOUT}");
    if env::var_os("BOWLINE_NAMES").is_none() {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
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
