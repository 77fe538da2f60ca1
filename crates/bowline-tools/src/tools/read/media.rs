//! Pictures.

use std::path::Path;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bowline_protocol::{ContentBlock, ImageBlock, Source};
use serde_json::json;

use super::bytes;
use crate::{
    output::{ToolFailure, ToolOutput},
    run::size,
};

/// What model APIs take: 5 MB in base 64.
const MAX_IMAGE_BYTES: u64 = 5 * 1024 * 1024 / 4 * 3;

pub(super) async fn image(path: &Path, bytes_on_disk: u64) -> Result<ToolOutput, ToolFailure> {
    if bytes_on_disk == 0 {
        return Err(ToolFailure::running(format!("Image file is empty: {}", path.display())));
    }
    if bytes_on_disk > MAX_IMAGE_BYTES {
        return Err(ToolFailure::running(format!(
            "Image file is too large ({}; at most {}): {}. Scale it down first.",
            size(bytes_on_disk),
            size(MAX_IMAGE_BYTES),
            path.display()
        )));
    }
    let file = bytes(path).await?;
    let Some(media_type) = media_type(&file.bytes) else {
        return Err(ToolFailure::running(format!(
            "{} is not a valid PNG/JPEG/GIF/WebP image.",
            path.display()
        )));
    };
    let data = BASE64_STANDARD.encode(&file.bytes);
    let structured = json!({
        "type": "image",
        "file": { "base64": data, "type": media_type, "originalSize": file.bytes.len() },
    });
    Ok(ToolOutput::blocks(vec![image_block(media_type, data)]).structured(structured))
}

pub(super) fn image_block(media_type: &str, data: String) -> ContentBlock {
    let source = Source::base64(media_type, data);
    ContentBlock::Image(ImageBlock { source, extra: Default::default() })
}

/// What the bytes are, whatever the file is called.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
