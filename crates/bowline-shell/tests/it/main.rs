//! Guarantees of the command line parser, case by case.

mod bash;
mod files;
mod fuzz;
mod nested;
mod parts;
mod properties;
mod read_only;
