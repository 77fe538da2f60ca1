//! Compaction: manual, automatic, and failed.

mod automatic;
mod manual;
mod transcript;
