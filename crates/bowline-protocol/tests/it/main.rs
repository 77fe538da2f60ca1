//! Everything this crate promises about reading and writing.

mod reading;
