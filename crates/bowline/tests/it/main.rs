//! The program as its users meet it: the built binary, real pipes, the script model.

mod commands;
mod door;
mod endings;
mod input;
mod oneshot;
mod place;
mod schema;
mod sessions;
