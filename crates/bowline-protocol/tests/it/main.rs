//! Everything this crate promises about reading and writing.

mod codec;
mod golden;
mod properties;
mod reading;
