//! Everything this crate promises, over real sockets and files.
