//! Slash commands.

mod builtin;
mod clear;
mod custom;
mod settings;
