//! What only Bowline's own tests need. The direction of crate dependencies is checked here, too.
