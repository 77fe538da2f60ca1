//! Flags about a remote host (`--sdk-url`).

use std::path::PathBuf;

use clap::{ArgMatches, Args, parser::ValueSource};

use super::{InputFormat, OutputFormat, RunArgs, UsageError};

/// A remote host.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Remote host")]
pub(crate) struct RemoteArgs {
    /// Connect to this host (`ws://` or `wss://`) and serve it as if it were on stdin and stdout. The
    /// token is read from CLAUDE_CODE_SESSION_ACCESS_TOKEN, from the descriptor
    /// CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR or from the file CLAUDE_SESSION_INGRESS_TOKEN_FILE;
    /// http_proxy, https_proxy, all_proxy and no_proxy apply
    #[arg(long, value_name = "url")]
    pub(crate) sdk_url: Option<String>,

    /// Connection attempts before the host counts as lost (default: 3)
    #[arg(long, value_name = "n", requires = "sdk_url")]
    pub(crate) sdk_attempts: Option<u32>,

    /// Header to send when connecting, as in `X-Team: blue`. Secrets belong into BOWLINE_SDK_HEADERS,
    /// one header per line
    #[arg(long, value_name = "header", requires = "sdk_url")]
    pub(crate) sdk_header: Vec<String>,

    /// Trust the certificate authorities in this PEM file instead of the system's
    #[arg(long, value_name = "file", requires = "sdk_url")]
    pub(crate) sdk_ca: Option<PathBuf>,

    /// Milliseconds of backoff before the first reconnect; they double with each attempt
    #[arg(long, value_name = "ms", hide = true, requires = "sdk_url")]
    pub(crate) sdk_first_wait: Option<u64>,
}

impl RunArgs {
    /// Sets what a remote host implies: all flags that hosts on stdin and stdout pass.
    pub(super) fn imply_remote(&mut self, typed: &ArgMatches) -> Result<(), UsageError> {
        if self.remote.sdk_url.is_none() {
            return Ok(());
        }
        let contradicts =
            |flag, fits: bool| !fits && typed.value_source(flag) == Some(ValueSource::CommandLine);
        let output = &mut self.output;
        if contradicts("input_format", output.input_format == InputFormat::StreamJson)
            || contradicts("output_format", output.output_format == OutputFormat::StreamJson)
        {
            return Err(UsageError::Bad(
                "Error: --sdk-url requires both --input-format=stream-json and \
                 --output-format=stream-json."
                    .to_owned(),
            ));
        }
        self.print = true;
        output.input_format = InputFormat::StreamJson;
        output.output_format = OutputFormat::StreamJson;
        output.verbose = true;
        self.permissions.permission_prompt_tool.get_or_insert_with(|| "stdio".to_owned());
        Ok(())
    }
}
