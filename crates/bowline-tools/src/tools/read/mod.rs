//! `Read`: shows a file to the model: text with line numbers, pictures, PDFs, notebooks.

mod media;
mod notebook;
mod pdf;
mod scale;
mod text;

use std::{
    io,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    files,
    output::{ToolFailure, ToolOutput},
    run::size,
    schema::schema_of,
    tool::{Access, Tool, ToolCall, ToolSpec, read_input},
    workspace::Workspace,
};

const DESCRIPTION: &str = "\
Reads a file. Lines come numbered from 1, as `number<TAB>text`.

- Give an absolute path. Several files can be read at once by several calls in one message.
- A large file has to be read in parts with `offset` (the first line) and `limit` (how many).
- Pictures (PNG, JPEG, GIF, WebP), PDFs and Jupyter notebooks are shown as what they are; \
`pages` chooses pages of a PDF, as in \"3\" or \"1-5\".
- It reads files, not directories: use Glob or ls for those.";

/// The largest file that is shown without `offset` or `limit`.
const MAX_WHOLE_BYTES: u64 = 256 * 1024;

/// The largest file of which parts are shown: it has to fit into memory to count its lines.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Extensions of files that are certainly no text.
const BINARY_EXTENSIONS: &[&str] = &[
    "7z", "a", "bin", "bmp", "bz2", "class", "db", "dll", "dmg", "doc", "docx", "dylib", "exe",
    "gz", "ico", "iso", "jar", "mov", "mp3", "mp4", "o", "obj", "odt", "ppt", "pptx", "pyc", "rar",
    "rlib", "so", "sqlite", "tar", "tgz", "tif", "tiff", "ttf", "wasm", "wav", "woff", "woff2",
    "xls", "xlsx", "xz", "zip", "zst",
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Absolute path of the file.
    file_path: String,
    /// The first line to show; only for files too large to read at once.
    offset: Option<i64>,
    /// How many lines to show; only for files too large to read at once.
    limit: Option<i64>,
    /// Pages of a PDF, as in "3" or "1-5"; at most 20.
    pages: Option<String>,
    /// Shows a large file whole all the same.
    allow_large: Option<bool>,
}

impl Input {
    /// Invalid values are treated as absent.
    fn offset(&self) -> Option<usize> {
        self.offset.and_then(|offset| usize::try_from(offset).ok())
    }

    fn limit(&self) -> Option<usize> {
        self.limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0)
    }

    fn allows_large(&self) -> bool {
        self.allow_large.unwrap_or(false)
    }
}

/// Reads files.
pub(super) struct Read {
    spec: ToolSpec,
}

impl Read {
    pub(super) fn new() -> Self {
        // It has limits of its own, and a saved copy of a file would be no help.
        let spec = ToolSpec::new("Read", DESCRIPTION, schema_of::<Input>())
            .read_only()
            .max_result_chars(usize::MAX);
        Self { spec }
    }
}

impl Tool for Read {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, input: &Value, workspace: &Workspace) -> Access {
        let path = workspace.resolve(input["file_path"].as_str().unwrap_or_default());
        Access::Read(vec![path])
    }

    fn check<'a>(
        &'a self,
        input: &'a Value,
        workspace: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        Box::pin(async move {
            let input: Input = read_input(input)?;
            readable(&input, &workspace.resolve(&input.file_path))
        })
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(run(call))
    }
}

/// Refuses what certainly cannot be shown, by name and kind alone.
fn readable(input: &Input, path: &Path) -> Result<(), ToolFailure> {
    let extension = extension(path);
    if BINARY_EXTENSIONS.contains(&extension.as_str()) {
        return Err(ToolFailure::input(format!(
            "This tool cannot read binary files. The file appears to be a binary .{extension} \
             file. Use a program that understands it."
        )));
    }
    if let Some(pages) = &input.pages
        && extension == "pdf"
    {
        pdf::Pages::parse(pages)?;
    }
    if let Ok(metadata) = std::fs::metadata(path) {
        let kind = metadata.file_type();
        if kind.is_char_device() || kind.is_block_device() || kind.is_fifo() || kind.is_socket() {
            return Err(ToolFailure::input(format!(
                "Cannot read {}: this path names a device, a pipe or a socket, which may never \
                 end.",
                path.display()
            )));
        }
    }
    Ok(())
}

async fn run(call: ToolCall) -> Result<ToolOutput, ToolFailure> {
    let input: Input = call.input()?;
    let workspace = &call.workspace;
    let path = workspace.resolve(&input.file_path);
    readable(&input, &path)?;
    let metadata = match tokio::fs::metadata(&path).await {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ToolFailure::running(files::missing(&path, workspace)));
        }
        Err(error) => return Err(files::failed(&error, "read", &path)),
    };
    if metadata.is_dir() {
        let error = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(files::failed(&error, "read", &path));
    }
    match extension(&path).as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" => media::image(&path, metadata.len()).await,
        "pdf" => pdf::read(&input, &path, metadata.len(), workspace).await,
        "ipynb" => notebook::read(&input, &path, metadata.len(), workspace).await,
        _ => text::read(&input, &path, metadata.len(), workspace).await,
    }
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// Reads the bytes of a file that was there a moment ago.
async fn bytes(path: &Path) -> Result<files::OnDisk, ToolFailure> {
    let file = files::load(path).await.map_err(|error| files::failed(&error, "read", path))?;
    let gone = || files::failed(&io::Error::from(io::ErrorKind::NotFound), "read", path);
    file.ok_or_else(gone)
}

/// Refuses a file that is larger than `max`.
fn refuse_larger(bytes: u64, max: u64, advice: &str) -> Result<(), ToolFailure> {
    if bytes <= max {
        return Ok(());
    }
    Err(ToolFailure::running(format!(
        "File content ({}) exceeds maximum allowed size ({}). {advice}",
        size(bytes),
        size(max)
    )))
}

/// Where pages of a PDF are put.
fn pages_dir(workspace: &Workspace) -> PathBuf {
    workspace.results_dir().join(format!("pdf-{}", uuid::Uuid::new_v4().simple()))
}
