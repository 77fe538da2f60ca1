//! Limits of servers, and the identity of this client.

use std::time::Duration;

/// Limits and switches of a session's servers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The identity of this client.
    pub client: ClientInfo,
    /// How long connecting a server may take, handshake and first lists included.
    pub connect_timeout: Duration,
    /// How long a call may run without progress, unless the server's configuration says otherwise. Progress
    /// restarts it.
    pub call_timeout: Duration,
    /// How long other requests may take: lists, resources, prompts.
    pub request_timeout: Duration,
    /// A result of more tokens than this is saved to a file and replaced by a preview.
    pub max_output_tokens: usize,
    /// The backoff of reconnects.
    pub backoff: Backoff,
}

/// About how many characters a token has.
const CHARS_PER_TOKEN: usize = 4;

impl Options {
    /// How many characters a result may have, unless its tool says otherwise.
    pub(crate) fn max_result_chars(&self) -> usize {
        self.max_output_tokens.saturating_mul(CHARS_PER_TOKEN)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            client: ClientInfo::default(),
            connect_timeout: Duration::from_secs(30),
            // A tool may work for hours; a user who cannot wait sets less or interrupts.
            call_timeout: Duration::from_secs(100_000),
            request_timeout: Duration::from_secs(60),
            max_output_tokens: 25_000,
            backoff: Backoff::default(),
        }
    }
}

/// The identity of this client in `initialize`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientInfo {
    /// For programs.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// In a sentence.
    pub description: Option<String>,
    /// Where to read more.
    pub website_url: Option<String>,
    /// Which version.
    pub version: String,
}

impl Default for ClientInfo {
    fn default() -> Self {
        Self {
            name: "bowline".to_owned(),
            title: Some("Bowline".to_owned()),
            description: None,
            website_url: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// The backoff of reconnects after a lost connection: a pause that doubles each time, a few
/// times. A server that could not be connected at all is left alone until it is reconnected by request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backoff {
    /// The first pause.
    pub first: Duration,
    /// No pause is longer.
    pub longest: Duration,
    /// How often to try.
    pub attempts: u32,
    /// A connection that held this long makes all attempts available again.
    pub steady: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(30),
            attempts: 5,
            steady: Duration::from_secs(60),
        }
    }
}

impl Backoff {
    /// The pause before the attempt of this number (from 0), if there is one.
    pub(crate) fn pause(&self, attempt: u32) -> Option<Duration> {
        let doubled = self.first.saturating_mul(2u32.saturating_pow(attempt));
        (attempt < self.attempts).then(|| doubled.min(self.longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_end() {
        let backoff =
            Backoff { longest: Duration::from_secs(5), attempts: 4, ..Backoff::default() };
        let pauses: Vec<_> =
            (0..5).map(|n| backoff.pause(n).map(|pause| pause.as_secs())).collect();
        assert_eq!(pauses, [Some(1), Some(2), Some(4), Some(5), None]);
    }
}
