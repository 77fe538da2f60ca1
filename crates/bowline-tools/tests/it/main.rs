//! Behaviour of the tools on real files, processes and sockets.
