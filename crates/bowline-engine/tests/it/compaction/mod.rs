//! Compaction: by hand, by itself, and when it fails.

mod automatic;
mod manual;
mod transcript;
