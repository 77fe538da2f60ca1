//! What the reading of command lines promises, case by case.

mod bash;
mod carried;
mod files;
mod fuzz;
mod parts;
mod properties;
mod read_only;
