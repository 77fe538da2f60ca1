//! Who may do what.

mod bench;
mod commands;
mod confined;
mod hooks;
mod listing;
mod modes;
mod properties;
mod questions;
mod rules;
mod settings_file;
mod updates;
