//! Guarantees of the command line parser, case by case.

#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]

mod bash;
mod files;
mod fuzz;
mod nested;
mod parts;
mod properties;
mod read_only;
