//! Folders and files that only their owner can open, whatever the umask.
//!
//! Everything that Bowline itself writes goes through here: transcripts, command output, logins, logs,
//! recordings. What a tool writes for the user into a project does not; there the umask applies.
//!
//! What another user made is refused: they could read or replace what is put there.

mod file;
mod folder;
mod owner;
mod read;
mod temporary;

pub use file::{append, create, create_new, named_file, open, replace, write};
pub use folder::{folder, folder_as_it_is};
pub use read::read_regular;
pub use temporary::{disposable_folder, temporary_folder, temporary_folder_in};
