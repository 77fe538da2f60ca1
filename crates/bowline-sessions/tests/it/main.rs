//! What sessions on disk must do.
