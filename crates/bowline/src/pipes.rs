//! Stdin and stdout of the program as asynchronous streams, without a thread in between.
//!
//! Hosts start the program with pipes, or with a pair of sockets for each, as Node does. Both can be
//! polled like every other connection. tokio's stdin and stdout, which also work on terminals and
//! files, pass each read and write to a thread: for a short line that is most of its cost.

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

/// Bytes from the program that started us.
pub(crate) type Input = Box<dyn AsyncRead + Send + Unpin>;

/// Bytes to the program that started us.
pub(crate) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Opens standard input. Bytes in the buffer of [`io::stdin`] are not read again.
pub(crate) fn stdin() -> Input {
    if let Ok(pipe) = pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
        return Box::new(pipe);
    }
    match socket(io::stdin().as_fd()) {
        Ok(socket) => Box::new(socket),
        Err(_) => Box::new(tokio::io::stdin()),
    }
}

/// Opens standard output, for lines of JSON.
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

/// Returns a socket, if the descriptor is one. A pipe is opened again, because non-blocking mode would
/// apply to every process that shares it; a socket cannot be opened again, but the end of a pair
/// belongs to one program.
fn socket(descriptor: BorrowedFd<'_>) -> io::Result<UnixStream> {
    let socket = Socket::from(descriptor.try_clone_to_owned()?);
    // Fails for everything else.
    socket.peer_addr()?;
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}
