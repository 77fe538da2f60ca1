//! The program's own stdin and stdout, without a thread between them and the session.
//!
//! What starts a program to talk to it gives it pipes, or a pair of sockets for each, as Node does.
//! Those can be waited for like every other connection. tokio's stdin and stdout, which work on
//! terminals and files too, hand each piece to a thread and wait for its word: for a short line
//! that is most of its cost.

use std::{
    io::{self, IsTerminal},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream as Socket,
    },
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{UnixStream, unix::pipe},
};

use crate::terminal::JsonTerminal;

/// Bytes from whoever started us.
pub(crate) type Input = Box<dyn AsyncRead + Send + Unpin>;

/// Bytes to whoever started us.
pub(crate) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input. Bytes that [`io::stdin`] holds already are not among those that follow.
pub(crate) fn stdin() -> Input {
    if let Ok(pipe) = pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
        return Box::new(pipe);
    }
    match socket(io::stdin().as_fd()) {
        Ok(socket) => Box::new(socket),
        Err(_) => Box::new(tokio::io::stdin()),
    }
}

/// Standard output, for lines of JSON.
pub(crate) fn stdout() -> Output {
    if let Ok(pipe) = pipe::OpenOptions::new().open_sender("/proc/self/fd/1") {
        return Box::new(pipe);
    }
    match socket(io::stdout().as_fd()) {
        Ok(socket) => Box::new(socket),
        Err(_) if io::stdout().is_terminal() => Box::new(JsonTerminal::new(tokio::io::stdout())),
        Err(_) => Box::new(tokio::io::stdout()),
    }
}

/// A socket, if it is one. A pipe is opened anew, so that nobody else who holds it ever finds it
/// not ready; a socket cannot be, but the end of a pair that a program is given is its own.
fn socket(descriptor: BorrowedFd<'_>) -> io::Result<UnixStream> {
    let socket = Socket::from(descriptor.try_clone_to_owned()?);
    // Fails for everything else.
    socket.peer_addr()?;
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}
