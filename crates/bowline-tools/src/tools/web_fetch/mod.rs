//! `WebFetch`: reads a page of the web.

mod address;
mod cache;
mod fetch;
mod markdown;
mod stop;
mod table;
mod tags;
mod tree;

use std::{sync::Arc, time::Instant};

use futures_util::future::BoxFuture;
use reqwest::Url;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use self::{
    cache::Cache,
    fetch::{Clients, Fetched, Page},
    stop::Stop,
};
use crate::{
    files::blocking,
    output::{ToolFailure, ToolOutput},
    schema::schema_of,
    tool::{Access, Tool, ToolCall, ToolSpec},
    workspace::Workspace,
};

const DESCRIPTION: &str = "\
Fetches a page of the web, turns it into Markdown, and answers the prompt about it.

The address must be complete; http becomes https. A redirect to another site is reported and not \
followed: fetch the new address if you trust it. A long page comes in parts; go on with `offset`. \
Pages behind a login and addresses of this machine or of private networks cannot be fetched. If \
there is an MCP tool or a command-line program for the site (such as gh for GitHub), prefer it.";

/// How much of a page is read at once.
const PART_CHARS: usize = 100_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The address to fetch.
    #[schemars(extend("format" = "uri"))]
    url: String,
    /// What you want to know about the page.
    prompt: String,
    /// The first character to read, for long pages.
    offset: Option<u64>,
}

/// Reads pages of the web.
pub(super) struct WebFetch {
    spec: ToolSpec,
    clients: Clients,
    cache: Cache,
}

impl WebFetch {
    pub(super) fn new() -> Self {
        let spec = ToolSpec::new("WebFetch", DESCRIPTION, schema_of::<Input>())
            .read_only()
            .open_world()
            .max_result_chars(2 * PART_CHARS);
        Self { spec, clients: Clients::default(), cache: Cache::default() }
    }

    /// The page, from memory if it was fetched a moment ago.
    async fn fetch(&self, url: &Url, workspace: &Workspace) -> Result<Arc<Fetched>, ToolFailure> {
        let options = workspace.options();
        let private_allowed = options.private_addresses;
        if !private_allowed && address::is_private(url) {
            return Err(ToolFailure::running(address::private(&address::host(url))));
        }
        if let Some(known) = self.cache.get(url, private_allowed) {
            return Ok(known);
        }
        let fetched = self.clients.fetch(url, private_allowed);
        let fetched = match tokio::time::timeout(options.fetch_timeout, fetched).await {
            Ok(fetched) => fetched.map_err(ToolFailure::running)?,
            Err(_) => {
                let seconds = options.fetch_timeout.as_secs();
                return Err(ToolFailure::running(format!(
                    "The page did not arrive within {seconds} s."
                )));
            }
        };
        Ok(self.cache.put(url, private_allowed, fetched))
    }
}

impl Tool for WebFetch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, input: &Value, _: &Workspace) -> Access {
        let given = input["url"].as_str().unwrap_or_default();
        // Spelled as it will be fetched: there are many ways to write a host.
        Access::Fetch(Url::parse(given).map_or_else(|_| given.to_owned(), String::from))
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let began = Instant::now();
            let input: Input = call.input()?;
            let url = address::parse(&input.url).map_err(ToolFailure::running)?;
            let url = address::upgraded(&url);
            let fetched = self.fetch(&url, &call.workspace).await?;
            let (status, bytes, text) = match &*fetched {
                Fetched::Moved { to, status } => (*status, 0, moved(&input.url, to)),
                Fetched::Page(page) if !page.status.is_success() => (page.status, 0, refused(page)),
                Fetched::Page(page) => {
                    (page.status, page.body.len(), read(&input, page, &call).await?)
                }
            };
            let structured = json!({
                "bytes": bytes,
                "code": status.as_u16(),
                "codeText": status.canonical_reason().unwrap_or_default(),
                "result": text,
                "durationMs": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
                "url": input.url,
            });
            Ok(ToolOutput::text(text).structured(structured))
        })
    }
}

fn moved(from: &str, to: &Url) -> String {
    format!(
        "REDIRECT DETECTED: The page is on another site.\n\nOriginal URL: {from}\nRedirect URL: \
         {to}\n\nCall WebFetch again with the redirect URL if you want to read it there."
    )
}

fn refused(page: &Page) -> String {
    let reason = page.status.canonical_reason().unwrap_or_default();
    format!(
        "The server returned HTTP {} {reason}. Check the address, or look for the page elsewhere.",
        page.status.as_u16()
    )
}

/// The requested part of the page, summarized or verbatim.
async fn read(input: &Input, page: &Page, call: &ToolCall) -> Result<String, ToolFailure> {
    let text = match page.media_type.as_str() {
        "text/html" | "application/xhtml+xml" => {
            let html = String::from_utf8_lossy(&page.body).into_owned();
            let cancel = call.cancel.child_token();
            // Ends the conversion when its caller is gone.
            let _stop = cancel.clone().drop_guard();
            let deadline = Instant::now() + call.workspace.options().fetch_timeout;
            let stop = Stop { deadline, cancel };
            let converted = blocking(move || Ok(markdown::from_html(&html, &stop))).await;
            converted
                .map_err(|error| error.to_string())
                .flatten()
                .map_err(|error| ToolFailure::running(format!("Cannot read this page: {error}")))?
        }
        _ if is_text(page) => String::from_utf8_lossy(&page.body).into_owned(),
        _ => return save(page, call),
    };
    let total = text.chars().count();
    let start = usize::try_from(input.offset.unwrap_or(0)).unwrap_or(usize::MAX);
    let part: String = text.chars().skip(start).take(PART_CHARS).collect();
    let mut answer = match call.workspace.summarize() {
        Some(model) => model.summarize(&part, &input.prompt).await.map_err(ToolFailure::running)?,
        None => part,
    };
    let end = start.saturating_add(PART_CHARS);
    if end < total {
        answer.push_str(&format!(
            "\n\n[WebFetch note: this is a part of the page, characters {start} to {end} of \
             {total}. Go on with offset {end}.]"
        ));
    }
    Ok(answer)
}

fn is_text(page: &Page) -> bool {
    let kind = page.media_type.as_str();
    let named = kind.starts_with("text/")
        || ["json", "xml", "yaml", "javascript", "toml", "x-sh"]
            .iter()
            .any(|word| kind.contains(word));
    named || (kind.is_empty() && std::str::from_utf8(&page.body).is_ok())
}

/// Keeps what is no text for other programs.
fn save(page: &Page, call: &ToolCall) -> Result<String, ToolFailure> {
    let path = call.workspace.result_file(call.id.as_str(), "bin");
    let (kind, bytes) = (&page.media_type, page.body.len());
    match crate::run::save(&path, &page.body) {
        Ok(()) => {
            Ok(format!("[Binary content ({kind}, {bytes} bytes) also saved to {}]", path.display()))
        }
        Err(error) => Err(ToolFailure::running(format!("Cannot save binary content: {error}"))),
    }
}
