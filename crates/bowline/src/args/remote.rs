//! Flags about a host elsewhere.

use std::path::PathBuf;

use clap::{ArgMatches, Args, parser::ValueSource};

use super::{InputFormat, OutputFormat, RunArgs, UsageError};

/// A host elsewhere.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "A host elsewhere")]
pub(crate) struct RemoteArgs {
    /// Dial this host (`ws://` or `wss://`) and serve it as if it were on stdin and stdout. A token
    /// is taken from CLAUDE_CODE_SESSION_ACCESS_TOKEN, from the descriptor
    /// CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR or from the file CLAUDE_SESSION_INGRESS_TOKEN_FILE;
    /// http_proxy, https_proxy, all_proxy and no_proxy are heeded
    #[arg(long, value_name = "url")]
    pub(crate) sdk_url: Option<String>,

    /// Dial this often before the host is given up; 3 if it is not said
    #[arg(long, value_name = "n", requires = "sdk_url")]
    pub(crate) sdk_attempts: Option<u32>,

    /// Say this when dialing, as in `X-Team: blue`. Secrets belong into BOWLINE_SDK_HEADERS, one
    /// header per line
    #[arg(long, value_name = "header", requires = "sdk_url")]
    pub(crate) sdk_header: Vec<String>,

    /// Believe the authorities in this PEM file, and not the system's
    #[arg(long, value_name = "file", requires = "sdk_url")]
    pub(crate) sdk_ca: Option<PathBuf>,

    /// Milliseconds before the first attempt to dial again; they double with each
    #[arg(long, value_name = "ms", hide = true, requires = "sdk_url")]
    pub(crate) sdk_first_wait: Option<u64>,
}

impl RunArgs {
    /// What follows from a host elsewhere: all that hosts on stdin and stdout ask for by flags.
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
